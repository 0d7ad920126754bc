// One place of the text that is underlined because it cannot be answered, and what is said of it.

import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, hoverTooltip } from "@codemirror/view";

export const setMark = StateEffect.define();
export const clearMark = StateEffect.define();

/** The mark, which moves with the text around it and goes when its own text does. */
const field = StateField.define({
  create: () => null,
  update(mark, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(clearMark)) mark = null;
      if (effect.is(setMark)) mark = within(effect.value, transaction.newDoc.length);
    }
    return mark && transaction.docChanged ? moved(mark, transaction.changes) : mark;
  },
  provide: (own) => EditorView.decorations.from(own, decorate),
});

/** What the editor shows of a mark: the underline, and on hover its message. */
export const markPlaces = [
  field,
  hoverTooltip((view, place) => {
    const mark = view.state.field(field);
    if (!mark || place < mark.from || place > mark.to) return null;
    return { pos: mark.from, end: mark.to, above: true, create: () => ({ dom: write(mark.message) }) };
  }),
];

/** What is said of the mark, or nothing. */
export function markDescription(state) {
  return state.field(field)?.message ?? "";
}

/** From where to where to underline, if the server says line and column: the word there, or one character. */
export function findPlace(doc, line, column) {
  const row = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const before = [...row.text].slice(0, Math.max(column - 1, 0)).join("").length; // a character may be two units
  const from = row.from + Math.min(before, Math.max(row.length - 1, 0));
  const word = /^(\w+|'[^']*'|"[^"]*"|.)?/su.exec(doc.sliceString(from, row.to))[0];
  return [from, from + word.length];
}

function within({ from, to, message }, length) {
  const start = Math.min(Math.max(from, 0), length);
  return { from: start, to: Math.min(Math.max(to, start), length), message: String(message) };
}

function moved(mark, changes) {
  const from = changes.mapPos(mark.from, 1);
  const to = changes.mapPos(mark.to, -1);
  return from < to ? { ...mark, from, to } : null;
}

function decorate(mark) {
  if (!mark || mark.from === mark.to) return Decoration.none;
  return Decoration.set([Decoration.mark({ class: "cm-wrong" }).range(mark.from, mark.to)]);
}

function write(message) {
  return Object.assign(document.createElement("div"), { className: "cm-message", textContent: message });
}
