// Bundles the editor into the console's static files, and lists the licences of what is in it.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";

const STATIC = new URL("../../src/adomnia/console/static/", import.meta.url);
const MOST_BYTES = 150_000;

const own = JSON.parse(readFileSync("package.json", "utf8"));
checkInstalled({ ...own.dependencies, ...own.devDependencies });

const result = await build({
  entryPoints: ["editor.js"],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none", // the licences stand in a file of their own
  metafile: true,
  write: false,
});
const packages = listPackages(Object.keys(Object.values(result.metafile.outputs)[0].inputs));
const versions = packages.map((name) => `${name}@${own.dependencies[name]}`);
const comment = `/*! The SQL editor of Ad Omnia, made by tools/editor. It contains ${versions.join(", ")}, all under the MIT licence: see editor-licences.txt. */\n`;
const bundle = comment + result.outputFiles[0].text;
writeFileSync(new URL("editor.js", STATIC), bundle);
writeFileSync(new URL("editor-licences.txt", STATIC), packages.map(licenceOf).join("\n"));
report(bundle);

/** What is installed must be what is pinned, or the bundle would not be the same elsewhere. */
function checkInstalled(pinned) {
  for (const [name, version] of Object.entries(pinned)) {
    const found = aboutPackage(name).version;
    if (found !== version) throw new Error(`${name} must be ${version}, and ${found} is installed.`);
  }
}

/** The packages whose code is in the bundle; one that is not pinned is an error. */
function listPackages(inputs) {
  const names = inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter(Boolean);
  const nested = inputs.filter((path) => path.split("node_modules/").length > 2);
  const unpinned = names.filter((name) => !(name in own.dependencies));
  if (nested.length || unpinned.length) throw new Error(`Not pinned: ${[...nested, ...unpinned].join(", ")}`);
  return [...new Set(names)].sort();
}

function licenceOf(name) {
  const { version, license } = aboutPackage(name);
  if (license !== "MIT") throw new Error(`${name} is under ${license}.`);
  return `${name} ${version} (${license})\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
}

function aboutPackage(name) {
  return JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
}

function report(text) {
  const size = gzipSync(text).length;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  console.log(`editor.js: ${text.length} characters, ${size} bytes gzipped (at most ${MOST_BYTES}), sha256 ${digest}`);
  if (size > MOST_BYTES) process.exit(1);
}
