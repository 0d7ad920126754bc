// <sql-editor dataset="hospital"><textarea name="sql"></textarea></sql-editor>
// An editor for questions around the textarea that a page has without scripts. The textarea stays what the form
// sends: its value is kept in step, and it fires "input" when somebody types.

import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentService } from "@codemirror/language";
import { Compartment, Prec } from "@codemirror/state";
import { keymap, lineNumbers, placeholder } from "@codemirror/view";
import { EditorView, minimalSetup } from "codemirror";

import { completeFrom } from "./completion.js";
import { highlightWords } from "./highlighting.js";
import { clearMark, findPlace, markDescription, markPlaces, setMark } from "./marking.js";
import { hostSheet, look } from "./sheets.js";

const NO_WORDS = { tables: [], functions: [], methods: [] };
const LEAVING = "Escape, then Tab, leaves the editor. Control Enter asks.";

class SqlEditor extends HTMLElement {
  #view = null;
  #textarea = null;
  #words = new Compartment();
  #described = null;

  connectedCallback() {
    if (this.#view) return; // moved within the page
    this.#textarea = this.querySelector("textarea");
    const root = this.attachShadow({ mode: "open", delegatesFocus: false });
    root.adoptedStyleSheets = [hostSheet];
    this.#described = Object.assign(document.createElement("p"), { id: "described", textContent: LEAVING });
    root.append(this.#described);
    this.#view = new EditorView({ doc: this.#textarea.value, extensions: this.#extensions(), root, parent: root });
    this.#watchTextarea();
    this.#fetchWords();
  }

  /** The text, with "\n" between its lines. */
  get value() {
    return this.#view.state.doc.toString();
  }

  set value(text) {
    this.#textarea.value = text; // as of a field, which fires nothing when a script sets it
    const there = this.#view.state.doc;
    if (there.toString() !== text) this.#view.dispatch({ changes: { from: 0, to: there.length, insert: text } });
  }

  focus() {
    this.#view.focus();
  }

  /** Underline a place and say what is wrong there; offsets are those of `value`, as selectionStart counts. */
  mark(from, to, message) {
    this.#view.dispatch({ effects: setMark.of({ from, to, message }) });
  }

  /** The same where the server says it is: line and column from 1, columns in whole characters. */
  markPlace(line, column, message) {
    this.mark(...findPlace(this.#view.state.doc, line, column), message);
  }

  /** Nothing is underlined any more. */
  clear() {
    this.#view.dispatch({ effects: clearMark.of(null) });
  }

  #extensions() {
    const hint = this.#textarea.placeholder;
    return [
      Prec.highest(keymap.of([{ key: "Ctrl-Enter", mac: "Cmd-Enter", run: () => this.#submit() }])),
      Prec.highest(keymap.of([{ key: "Escape", run: leaveWithTab }])),
      this.#words.of(knowing(NO_WORDS)),
      minimalSetup,
      lineNumbers(),
      bracketMatching(),
      indentService.of((context, place) => context.lineIndent(place, -1)), // a new line begins as the one before
      closeBrackets(),
      keymap.of([...closeBracketsKeymap, indentWithTab]),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of(() => this.#attributes()),
      EditorView.updateListener.of((update) => this.#tell(update)),
      hint ? placeholder(hint) : [],
      markPlaces,
      look,
    ];
  }

  #attributes() {
    const label = [...this.#textarea.labels].map((each) => each.textContent.trim()).join(" ");
    return {
      "aria-label": label || this.#textarea.getAttribute("aria-label") || "SQL",
      "aria-describedby": "described",
      spellcheck: "false",
    };
  }

  /** Tell the form what was typed, and those who do not see the underline what it says. */
  #tell(update) {
    const said = markDescription(update.state);
    this.#view?.contentDOM.setAttribute("aria-invalid", String(Boolean(said)));
    this.#described.textContent = said ? `${said} ${LEAVING}` : LEAVING;
    if (!update.docChanged) return;
    update.view.setTabFocusMode(false);
    if (this.#textarea.value === this.value) return; // it came from there
    this.#textarea.value = this.value;
    this.#textarea.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /** What other scripts, the label and the form do to the textarea happens here too. */
  #watchTextarea() {
    const follow = () => (this.value = this.#textarea.value);
    this.#textarea.addEventListener("input", follow);
    this.#textarea.form?.addEventListener("reset", () => setTimeout(follow));
    for (const label of this.#textarea.labels) label.addEventListener("click", () => this.focus());
    if (this.#textarea.autofocus) this.focus();
  }

  /** Send the form by the button that pays, unless that cannot be pressed now. */
  #submit() {
    const form = this.#textarea.form;
    const button = [...(form?.elements ?? [])].find((each) => each.type === "submit" && [each.name, each.id].includes("pay"));
    if (!button?.disabled) form?.requestSubmit(button);
    return true;
  }

  async #fetchWords() {
    if (!this.hasAttribute("dataset")) return;
    const address = `/ask/words?dataset=${encodeURIComponent(this.getAttribute("dataset"))}`;
    const reply = await fetch(address, { credentials: "same-origin" }).catch(() => null);
    if (!reply?.ok) return; // one can type without it
    const words = await reply.json();
    this.#view.dispatch({ effects: this.#words.reconfigure(knowing(words)) });
    this.setAttribute("ready", "");
  }
}

function knowing(words) {
  return [highlightWords(words), completeFrom(words)];
}

/** From now on Tab leaves, until something is typed; what Escape does besides, it still does. */
function leaveWithTab(view) {
  view.setTabFocusMode(true);
  return false;
}

customElements.define("sql-editor", SqlEditor);
