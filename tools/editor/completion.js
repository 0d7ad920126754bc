// What is offered while one types: tables, their columns, functions, methods and their arguments.

import { autocompletion, insertBracket, pickedCompletion, snippetCompletion } from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";

import { KEYWORDS } from "./highlighting.js";

const MOST_OFFERED = 10; // at a time, so that the list needs no scrolling; keys reach the others
const SILENT = /String|Comment|Number/;
const NAMED = /\b(?:from|join|,)\s*("?)(\w+)\1(?:\s+(?:as\s+)?(?!(?:where|group|join|left|inner|cross|full|on|using|order|limit|having|union)\b)(\w+))?/gi;

/** Completion from the words that a server told. */
export function completeFrom(words) {
  const offers = new Offers(words);
  const override = [(context) => offers.find(context)];
  return autocompletion({ override, icons: false, maxRenderedOptions: MOST_OFFERED });
}

class Offers {
  constructor({ tables, functions, methods }) {
    this.columns = new Map(tables.map((table) => [table.name.toLowerCase(), table.columns.map(offerColumn)]));
    this.tables = tables.map(({ name, note }) => ({ label: name, type: "class", detail: note }));
    this.methods = methods.map((method) => offerMethod(method, tables[0]?.name ?? "rows"));
    this.arguments = new Map(methods.map((method) => [method.name, method.arguments.map(offerArgument)]));
    this.words = [...functions.map(offerFunction), ...KEYWORDS.map(offerKeyword)];
  }

  /** What fits where the cursor is, if anything. */
  find(context) {
    const word = context.matchBefore(/\w*/);
    const before = context.state.sliceDoc(0, word.from);
    if (SILENT.test(syntaxTree(context.state).resolveInner(context.pos, -1).name)) return null;
    const after = /(\w+)\.$/.exec(before);
    if (after) return this.offer(word, this.columnsOf(context.state.doc.toString(), after[1]));
    if (word.from === word.to && !context.explicit) return null;
    if (/\b(from|join)\s+$/i.test(before)) return this.offer(word, [...this.tables, ...this.methods]);
    const named = this.argumentsAt(before);
    return this.offer(word, [...named, ...this.named(context.state.doc.toString()), ...this.words]);
  }

  offer(word, options) {
    return options.length ? { from: word.from, options, validFor: /^\w*$/ } : null;
  }

  /** The columns of a table, or of what FROM calls so. */
  columnsOf(text, name) {
    const wanted = name.toLowerCase();
    const called = findTables(text).find((each) => each.alias === wanted || each.table === wanted);
    return this.columns.get(called?.table ?? wanted) ?? this.columns.get(wanted) ?? [];
  }

  /** The columns of all tables that FROM names, each once; of all tables while it names none. */
  named(text) {
    const tables = findTables(text).map((each) => each.table).filter((table) => this.columns.has(table));
    const found = (tables.length ? tables : [...this.columns.keys()]).flatMap((table) => this.columns.get(table));
    const offered = [...new Map(found.map((column) => [column.label, column])).values(), ...this.tables];
    return offered.map((each) => ({ boost: 1, ...each }));
  }

  /** The arguments of the method whose brackets are open. */
  argumentsAt(before) {
    let open = 0;
    for (let place = before.length - 1; place >= 0; place -= 1) {
      if (before[place] === ")") open += 1;
      else if (before[place] === "(" && (open -= 1) < 0) {
        const name = /(\w+)\s*$/.exec(before.slice(0, place))?.[1] ?? "";
        return /,\s*$/.test(before) ? (this.arguments.get(name.toLowerCase()) ?? []) : [];
      }
    }
    return [];
  }
}

/** The tables that a question names after FROM, JOIN or a comma, and what it calls them. */
function findTables(text) {
  return [...text.matchAll(NAMED)].map((match) => ({
    table: match[2].toLowerCase(),
    alias: (match[3] ?? match[2]).toLowerCase(),
  }));
}

function offerColumn({ name, type, note }) {
  return { label: name, type: "property", detail: type, info: note || undefined, boost: 2 };
}

function offerKeyword(word) {
  return { label: word.toUpperCase(), type: "keyword", boost: -1 };
}

function offerFunction({ name, kind }) {
  return { label: name, type: "function", detail: kind, apply: callFunction };
}

/** The name and its brackets, the second of which may be typed over. */
function callFunction(view, completion, from, to) {
  const insert = completion.label;
  const selection = { anchor: from + insert.length };
  view.dispatch({ changes: { from, to, insert }, selection, annotations: pickedCompletion.of(completion) });
  const opened = view.state.sliceDoc(selection.anchor, selection.anchor + 1) !== "(" && insertBracket(view.state, "(");
  if (opened) view.dispatch(opened);
}

/** A method with all that it needs: the rows first, here those of a table. */
function offerMethod({ name, summary, arguments: given }, table) {
  const needed = given.filter((each) => each.required).map((each) => `${each.name} => \${${sample(each)}}`);
  return snippetCompletion(`${name}(${[`\${${table}}`, ...needed].join(", ")})\${}`, {
    label: name,
    type: "method",
    detail: "method",
    info: summary,
  });
}

function offerArgument(each) {
  const info = `${each.meaning} (${each.takes})`;
  return snippetCompletion(`${each.name} => \${${sample(each)}}`, { label: each.name, info, boost: 3, detail: "argument" });
}

/** What stands for an argument until one is written. */
function sample({ name, kind, choices }) {
  if (choices.length) return `'${choices[0]}'`;
  return { formula: "'y ~ x'", number: "0.5", integer: "10", boolean: "TRUE", text: "'text'" }[kind] ?? name;
}
