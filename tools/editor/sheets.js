// How the editor looks: the colours are the page's own, whose variables reach into the shadow root.

import { EditorView } from "@codemirror/view";

const MOST_LINES = 20;

/** The element itself; an adopted sheet, which the page's policy lets through. */
export const hostSheet = new CSSStyleSheet();
hostSheet.replaceSync(`
  :host { display: block; font: 400 0.875rem/1.75 var(--mono); }
  :host([hidden]) { display: none; }
  #described { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); }
  /* Phones zoom into fields with smaller letters. */
  @media (max-width: 640px), (pointer: coarse) { :host { font-size: 16px; } }
`);

/** What is inside it. */
export const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--sunk)", borderRadius: "inherit" },
  "&.cm-focused": { outline: "none", boxShadow: "var(--focus)" },
  ".cm-scroller": {
    font: "inherit",
    overflow: "auto",
    minHeight: "calc(5 * 1.75em + 24px)",
    maxHeight: `calc(${MOST_LINES} * 1.75em + 24px)`,
  },
  ".cm-content": { padding: "12px 0", caretColor: "var(--data)" },
  ".cm-line": { padding: "0 16px 0 4px" },
  ".cm-gutters": { backgroundColor: "transparent", border: "0", color: "var(--soft)" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "2.5rem", padding: "0 12px 0 8px" },
  ".cm-placeholder": { color: "var(--soft)" },
  ".cm-cursor": { borderLeft: "2px solid var(--data)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "var(--data-soft)",
  },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--data-soft)", outline: "1px solid var(--edge)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--stop-soft)" },
  ".cm-wrong": {
    textDecoration: "underline wavy var(--stop) 1.5px",
    textUnderlineOffset: "5px",
    textDecorationSkipInk: "none",
    backgroundColor: "var(--stop-soft)",
    borderRadius: "2px",
  },
  ".cm-tooltip": {
    border: "1px solid var(--edge)",
    borderRadius: "6px",
    backgroundColor: "var(--card)",
    color: "var(--ink)",
    font: "400 0.8125rem/1.5 var(--sans)",
    zIndex: "60",
  },
  ".cm-message": { padding: "8px 12px", maxWidth: "26rem", color: "var(--stop)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { font: "400 0.8125rem/1.5 var(--mono)", maxHeight: "none", overflow: "hidden", borderRadius: "6px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "4px 12px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--data-soft)", color: "var(--ink)" },
  ".cm-completionMatchedText": { textDecoration: "none", color: "var(--data)", fontWeight: "600" },
  ".cm-completionDetail": { color: "var(--soft)", fontStyle: "normal", marginLeft: "1.5em" },
  ".cm-completionInfo": { padding: "8px 12px", maxWidth: "20rem" },
  ".cm-snippetField": { backgroundColor: "var(--price-soft)" },
});
