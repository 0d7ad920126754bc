// A column of an answer, for the table of all its rows: what its cells say, and in which order they can stand.

const SAMPLES = 200; // rows whose texts tell how wide a column is
const WIDEST = 40; // letters of a key
const LONGEST = 1e16; // from here on a double has no more digits
const ROUNDED = 1e4; // from here on a fact has no digits after the point
const ALONE = "value chosen by rank, without an interval";

export class Column {
  constructor({ name, kind, type, values, lower, upper, method }, rows) {
    Object.assign(this, { name, type, values, lower, upper });
    this.noisy = kind !== "key";
    this.measured = kind === "value";
    this.alone = method === ALONE;
    this.numeric = type === "integer" || type === "number";
    [this.letters, this.intervalLetters] = this.#measure(rows);
  }

  makeCell() {
    const cell = make("div", this.numeric ? "cell number" : "cell", { role: "cell" });
    cell.append(make("span", this.measured ? "est" : ""), ...this.makeIntervals());
    for (const part of cell.children) part.append(""); // a text to write into
    return cell;
  }

  /** The place of the interval, as wide in the head as below; keys have none. */
  makeIntervals() {
    if (!this.measured) return [];
    const interval = make("span", "iv");
    interval.style.setProperty("--interval", `${this.intervalLetters}ch`);
    return [interval];
  }

  write(cell, row) {
    const [text, interval] = this.texts(row);
    cell.firstChild.firstChild.data = text;
    if (!this.measured) return;
    cell.lastChild.firstChild.data = interval;
    const kind = this.values[row] === null ? "nothing" : "est";
    if (cell.firstChild.className !== kind) cell.firstChild.className = kind;
  }

  /** The value and its interval, with as many digits as the interval is worth. */
  texts(row) {
    const value = this.values[row];
    if (!this.measured) return [this.#plain(value), ""];
    if (value === null) return ["no reply", ""];
    if (this.alone) return [this.#plain(value), "interval not bought"];
    const [lower, upper] = [this.lower[row], this.upper[row]];
    if (lower === null || upper === null) return [this.#plain(value), "unbounded"];
    if (this.type === "date") return [value, `${lower} to ${upper}`];
    const digits = countDigits(lower, upper, this.type === "integer");
    return [write(value, digits), `${write(lower, digits)} to ${write(upper, digits)}`];
  }

  /** Places of rows, sorted by value; those without one are the last. */
  order(down) {
    const { values } = this;
    const sign = down ? -1 : 1;
    const compare = this.numeric ? (left, right) => Number(left) - Number(right) : new Intl.Collator("en").compare;
    const known = [];
    const rest = [];
    values.forEach((value, place) => (value === null ? rest : known).push(place));
    known.sort((left, right) => sign * compare(values[left], values[right]) || left - right);
    return Uint32Array.from([...known, ...rest]);
  }

  /** Without an interval: keys as they are; what follows from noisy numbers in four digits, more would say nothing. */
  #plain(value) {
    if (value === null) return "";
    if (!this.noisy || this.type !== "number") return String(value);
    if (!this.alone && Math.abs(value) >= ROUNDED) return write(value, 0);
    return Number(value.toPrecision(this.alone ? 7 : 4)).toLocaleString("en-US", { maximumFractionDigits: 20 });
  }

  /** The value as it was released. */
  tellExactly(row) {
    const value = this.values[row];
    if (!this.measured || this.alone || value === null) return String(value ?? "");
    return `${value}, from ${this.lower[row] ?? "-∞"} to ${this.upper[row] ?? "∞"}`;
  }

  /** How wide the column is; on a phone its intervals stand below its values. */
  countLetters(stacked) {
    return (stacked ? Math.max(this.letters, this.intervalLetters) : this.letters + this.intervalLetters) + 5;
  }

  /** Letters of the longest texts, as some rows and the greatest value tell. */
  #measure(rows) {
    let [text, interval] = [this.name.length + 2, 0];
    for (const row of this.#sample(rows)) {
      const found = this.texts(row);
      text = Math.max(text, found[0].length);
      interval = Math.max(interval, found[1].length);
    }
    return [Math.min(text, WIDEST), interval];
  }

  #sample(rows) {
    const step = Math.max(1, Math.floor(rows / SAMPLES));
    const some = Array.from({ length: Math.ceil(rows / step) }, (_, place) => place * step);
    if (!this.numeric) return some;
    const greatest = this.values.reduce((found, value, row, all) => (size(value) > size(all[found]) ? row : found), 0);
    return rows ? [...some, greatest] : [];
  }
}

/** Decimal places that show two digits of an interval's half; below zero: whole tens, hundreds and so on. */
function countDigits(lower, upper, whole) {
  const half = (upper - lower) / 2;
  if (!(half > 0)) return 0;
  const places = 1 - Math.floor(Math.log10(half));
  return Math.min(whole ? Math.min(places, 0) : places, 15);
}

function size(value) {
  return Math.abs(Number(value));
}

const formats = new Map();

/** A number rounded to decimal places, which may be below zero, with separators between thousands. */
function write(number, places) {
  if (Math.abs(number) >= LONGEST) return number.toPrecision(7);
  const shown = Math.max(places, 0);
  if (!formats.has(shown)) {
    formats.set(shown, new Intl.NumberFormat("en-US", { minimumFractionDigits: shown, maximumFractionDigits: shown }));
  }
  const unit = 10 ** -places;
  const rounded = places < 0 ? Math.round(number / unit) * unit : number;
  return formats.get(shown).format(rounded).replace(/^-(?=[0.]*$)/, "");
}

/** An element with its attributes and text. */
export function make(tag, className, attributes = {}, text = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}
