// <answer-rows src="/api/v1/datasets/hospital/answers/ID">the first rows, from the server</answer-rows>
// All rows of a large answer: only those that are seen are in the page, whatever their number. Until they have come,
// and where they cannot come, what the server wrote inside is shown.

import { Column, make } from "./answer_column.js";

const MORE = 8; // rows above and below what is seen
const TALLEST = 8_000_000; // pixels that browsers can surely scroll; beyond, a pixel stands for several
const NARROW = matchMedia("(max-width: 640px)");
const HEIGHTS = { wide: 36, narrow: 56 };
const NOISY = "Sorted in your browser, by noisy values: where intervals overlap, the true order may be another.";

const sheet = new CSSStyleSheet();
sheet.replaceSync(`
  :host { display: block; font: 400 var(--t-3)/1.5 var(--sans); font-variant-numeric: tabular-nums; }
  :host([hidden]) { display: none; }
  * { box-sizing: border-box; }
  .said { margin: 0; padding: 8px 24px; color: var(--soft); font-size: var(--t-2); }
  .table { max-height: min(36rem, 80vh); overflow: auto; overflow-anchor: none; contain: strict; }
  .table:focus { outline: none; }
  .table:focus-visible { box-shadow: var(--focus); }
  .row { display: grid; grid-template-columns: var(--columns); min-width: var(--width); height: 36px; border-bottom: 1px solid var(--line); contain: layout style; }
  .head { position: sticky; top: 0; z-index: 1; background: var(--card); }
  .rows { position: relative; }
  .seen { position: absolute; inset: 0 0 auto; will-change: transform; }
  .cell { display: flex; align-items: center; gap: 0 12px; min-width: 0; padding: 0 12px; overflow: hidden; white-space: nowrap; }
  .cell:first-child { padding-left: 24px; }
  .cell:last-child { padding-right: 24px; }
  .number { justify-content: flex-end; }
  .cell > span { overflow: hidden; text-overflow: ellipsis; }
  .est { font-weight: 600; }
  .iv, .nothing { color: var(--soft); font-size: var(--t-2); }
  .iv { flex: none; width: var(--interval); }
  button { min-height: 32px; padding: 0; border: 0; background: none; color: var(--soft); font: 500 var(--t-2)/1.5 var(--sans); cursor: pointer; }
  button > span:not(:empty) { margin-left: 6px; }
  button:hover { color: var(--ink); }
  button:focus-visible { outline: 2px solid var(--data); outline-offset: 2px; border-radius: 4px; }
  .row:not(.head):hover { background: var(--sunk); }
  @media (max-width: 640px) {
    .row { height: 56px; }
    .row:not(.head) .cell { flex-direction: column; align-items: flex-start; justify-content: center; }
    .row:not(.head) .number { align-items: flex-end; }
    .iv { width: auto; }
    button { min-height: 44px; }
  }
`);

class AnswerRows extends HTMLElement {
  #columns = [];
  #order = null; // which row stands where; null: as they came
  #sorted = { column: -1, down: false };
  #rows = 0;
  #pool = [];
  #first = -1;
  #due = 0;
  #parts = {};
  #height = HEIGHTS.wide;

  connectedCallback() {
    if (this.shadowRoot) return;
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [sheet];
    root.append(document.createElement("slot"));
    this.#load();
  }

  disconnectedCallback() {
    NARROW.removeEventListener("change", this.#redraw);
  }

  async #load() {
    const headers = { Accept: "application/json" };
    const reply = await fetch(this.getAttribute("src"), { headers, credentials: "same-origin" }).catch(() => null);
    if (!reply?.ok) return;
    const answer = await reply.json().catch(() => null); // cut off on its way
    if (answer && this.isConnected) this.#show(answer);
  }

  #show({ columns, rows, confidence }) {
    this.#columns = columns.map((column) => new Column(column, rows));
    this.#rows = rows;
    this.#build(`${rows.toLocaleString("en-US")} rows`, confidence);
    NARROW.addEventListener("change", this.#redraw);
    new ResizeObserver(this.#redraw).observe(this.#parts.table);
    this.setAttribute("ready", "");
  }

  #build(words, confidence) {
    const said = make("p", "said", { role: "status" }, words);
    const table = make("div", "table", { role: "table", tabindex: "0", "aria-rowcount": this.#rows + 1 });
    table.setAttribute("aria-label", `All ${words}, with ${Number((100 * confidence).toPrecision(4))}% intervals`);
    const head = make("div", "row head", { role: "row", "aria-rowindex": 1 });
    head.append(...this.#columns.map((column, place) => this.#head(column, place)));
    const rows = make("div", "rows", { role: "rowgroup" });
    const seen = make("div", "seen", { role: "presentation" });
    rows.append(seen);
    table.append(head, rows);
    this.#parts = { said, table, head, rows, seen, words };
    table.addEventListener("scroll", () => this.#plan(), { passive: true });
    table.addEventListener("pointerover", (event) => this.#tellExactly(event.target.closest("[role=cell]")));
    this.shadowRoot.replaceChildren(said, table);
    this.#redraw();
  }

  #head(column, place) {
    const cell = make("div", column.numeric ? "cell number" : "cell", { role: "columnheader", "aria-sort": "none" });
    const button = make("button", "", { type: "button" }, column.name);
    button.append(make("span", "", { "aria-hidden": "true" }, ""));
    button.addEventListener("click", () => this.#sort(place));
    cell.append(button, ...column.makeIntervals());
    return cell;
  }

  /** All digits, where somebody points at a number. */
  #tellExactly(cell) {
    const row = cell && this.#pool.find((each) => each.element === cell.parentNode);
    if (row) cell.title = this.#columns[row.cells.indexOf(cell)].tellExactly(row.row);
  }

  /** Upwards, downwards, and as it came; what was noisy is sorted by what is known of it. */
  #sort(place) {
    const { column, down } = this.#sorted;
    const next = column !== place ? { column: place, down: false } : down ? { column: -1, down: false } : { column, down: true };
    this.#sorted = next;
    this.#order = next.column < 0 ? null : this.#columns[next.column].order(next.down);
    [...this.#parts.head.children].forEach((cell, at) => {
      const way = at !== next.column ? "none" : next.down ? "descending" : "ascending";
      cell.setAttribute("aria-sort", way);
      cell.querySelector("span").textContent = { none: "", ascending: "↑", descending: "↓" }[way];
    });
    const noisy = next.column >= 0 && this.#columns[next.column].noisy;
    this.#parts.said.textContent = noisy ? `${this.#parts.words}. ${NOISY}` : this.#parts.words;
    this.#parts.table.scrollTop = 0;
    this.#redraw();
  }

  /** Room for as many rows as are seen, and all of them anew. */
  #redraw = () => {
    const { table, rows, seen, head } = this.#parts;
    this.#height = NARROW.matches ? HEIGHTS.narrow : HEIGHTS.wide;
    const letters = this.#columns.map((column) => column.countLetters(NARROW.matches));
    table.style.setProperty("--columns", letters.map((each) => `minmax(0, ${each}fr)`).join(" "));
    table.style.setProperty("--width", `max(100%, ${letters.reduce((all, each) => all + each, 0)}ch)`);
    const all = this.#rows * this.#height;
    const tall = Math.min(all, TALLEST);
    rows.style.height = `${tall}px`;
    table.style.height = `${tall + head.offsetHeight}px`; // at most: the sheet says
    const room = Math.min(Math.ceil(table.clientHeight / this.#height) + 2 * MORE, this.#rows);
    while (this.#pool.length < room) this.#pool.push(new Row(this.#columns));
    this.#pool.length = room;
    seen.replaceChildren(...this.#pool.map((row) => row.element));
    this.#first = -1;
    this.#draw();
  };

  #plan() {
    this.#due ||= requestAnimationFrame(() => this.#draw());
  }

  /** Write the rows that are seen into the elements that there are. */
  #draw() {
    this.#due = 0;
    const { table, rows, seen } = this.#parts;
    const tall = rows.offsetHeight;
    const view = table.clientHeight - this.#parts.head.offsetHeight;
    const scale = tall > view ? (this.#rows * this.#height - view) / (tall - view) : 1;
    const top = table.scrollTop * scale;
    const last = Math.max(this.#rows - this.#pool.length, 0);
    const first = Math.min(Math.max(Math.floor(top / this.#height) - MORE, 0), last);
    seen.style.transform = `translateY(${table.scrollTop - (top - first * this.#height)}px)`;
    if (first === this.#first) return;
    this.#first = first;
    this.#pool.forEach((row, place) => row.write(first + place, this.#order?.[first + place] ?? first + place));
  }
}

/** One row's elements, into which any row can be written. */
class Row {
  constructor(columns) {
    this.columns = columns;
    this.element = make("div", "row", { role: "row" });
    this.cells = columns.map((column) => column.makeCell());
    this.element.append(...this.cells);
  }

  write(place, row) {
    this.row = row;
    this.element.setAttribute("aria-rowindex", place + 2);
    this.columns.forEach((column, at) => column.write(this.cells[at], row));
  }
}

customElements.define("answer-rows", AnswerRows);
