// The page of a question: prices it as one types, asks it, waits for the answer, and says what happens.

import { say } from "./saying.js";
import { fetchPart, replacePart } from "./parts.js";
import { watchPrice } from "./pricing.js";

const form = document.getElementById("ask");
const answer = document.getElementById("answer");
const LONGEST = 4000; // characters of a question in an address
const OF_ONE_REQUEST = new Set(["csrf", "request_id", "seen", "change", "allow_uninformative"]);

document.documentElement.classList.add("scripted");
const pricing = watchPrice(form);
let asking = null;

/** Underline in the editor what a refusal is about. */
function markRefusal() {
  const refusal = document.querySelector("#told [data-start]");
  const editor = form.querySelector("sql-editor");
  form.elements.sql.toggleAttribute("aria-invalid", Boolean(document.querySelector("#told .refusal")));
  if (refusal) editor?.mark?.(Number(refusal.dataset.start), Number(refusal.dataset.end), refusal.dataset.says);
  else editor?.clear?.();
}

/** Wait for an answer in its place: how long it took so far, and a way to stop waiting. */
function showWaiting(controller) {
  const begun = performance.now();
  answer.replaceChildren(document.getElementById("measuring").content.cloneNode(true));
  answer.querySelector("[data-stop]").addEventListener("click", () => controller.abort());
  const clock = setInterval(() => {
    const place = answer.querySelector("[data-waited]");
    if (place) place.textContent = `${Math.floor((performance.now() - begun) / 1000)} s`;
  }, 1000);
  return () => clearInterval(clock);
}

/** Pay and ask; with scripts the answer comes in place. What is not priced yet is priced first, and not paid unseen. */
async function ask(changes = {}) {
  if (asking) return;
  if (pricing.isStale()) {
    const before = form.querySelector("#pay").textContent;
    await pricing.now();
    if (pricing.isStale()) return; // no price came, and the panel says why
    const button = form.querySelector("#pay");
    if (button.disabled || button.textContent !== before) return say(`Look at the price first: ${button.textContent}.`);
  }
  if (form.querySelector("#pay").disabled && !("request_id" in changes)) return;
  const sent = new URLSearchParams(new FormData(form));
  for (const [name, value] of Object.entries(changes)) sent.set(name, value);
  await receive("/ask", sent);
}

async function receive(address, sent) {
  asking = new AbortController();
  setAsking(true);
  document.getElementById("coming").replaceChildren();
  const finish = showWaiting(asking);
  try {
    const reply = await fetchPart("answer", address, { form: sent, signal: asking.signal });
    if (reply.problem && !reply.html.includes("data-problem")) throw new Error(reply.problem); // no page of this server
    replacePart(answer, reply.html);
    const path = new URL(reply.address).pathname;
    if (reply.status < 400 && path.startsWith("/answers/")) moveTo(path, sent);
    if (reply.status < 400) say("The answer is there.");
    answer.focus({ preventScroll: true });
    await Promise.all([refreshPurse().catch(() => {}), pricing.now()]); // the answer stays, whatever becomes of these
    if (reply.status < 400) document.getElementById("coming").replaceChildren();
  } catch (error) {
    const which = error.name === "AbortError" ? "stopped" : "lost";
    answer.replaceChildren(document.getElementById(which).content.cloneNode(true));
    const place = answer.querySelector("[data-place]");
    if (place) place.href = `/answers/${encodeURIComponent(sent.get("request_id"))}`;
  } finally {
    finish();
    asking = null;
    setAsking(false);
  }
}

/** The page is that of the answer now; the way back leads to the question as it was asked. */
function moveTo(path, sent) {
  const asked = new URLSearchParams([...sent].filter(([name, value]) => value && !OF_ONE_REQUEST.has(name)));
  if (location.pathname === "/ask" && `${asked}`.length < LONGEST) history.replaceState(null, "", `/ask?${asked}`);
  history.pushState(null, "", path);
  document.title = "Answer - Ad Omnia";
}

function setAsking(busy) {
  form.classList.toggle("asking", busy);
  for (const button of form.querySelectorAll("#pay, .paybar button")) button.setAttribute("aria-disabled", String(busy));
}

async function refreshPurse() {
  const reply = await fetchPart("purse", "/ask");
  if (reply.status < 400) replacePart(document.getElementById("purse"), reply.html);
}

form.addEventListener("submit", (event) => {
  const to = event.submitter?.getAttribute("formaction");
  if (to === form.dataset.price) return;
  event.preventDefault();
  if (to === "/ask/mock") receive(to, new URLSearchParams(new FormData(form)));
  else ask(event.submitter?.name === "change" ? Object.fromEntries(new URLSearchParams(event.submitter.value)) : {});
});

document.getElementById("told").addEventListener("part", markRefusal);
window.addEventListener("popstate", () => location.reload());

// Before the editor hears them: it has keys of its own.
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask();
  else if (event.altKey && event.code === "KeyP") (document.getElementById("slider") ?? document.getElementById("amount"))?.focus();
  else if (event.altKey && event.code === "KeyF") document.querySelector("button.fix")?.click();
  else return;
  event.preventDefault();
  event.stopPropagation();
}, true);

markRefusal();
