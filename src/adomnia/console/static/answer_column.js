// A column of an answer, for the table of all its rows: what its cells say, and in which order they can stand.

const SAMPLES = 200; // rows whose texts tell how wide a column is
const WIDEST = 40; // letters of a key
const LONGEST = 1e15; // from here on digits are left out, which a double does not have
const FINEST = 15; // decimal places
const ROUNDED = 1e4; // from here on a fact has no digits after the point
const ALONE = "value chosen by rank, without an interval";
const NOT_ESTIMABLE = "not estimable";
const UNBOUNDED = "unbounded";

export class Column {
  constructor({ name, kind, type, values, lower, upper, method, possible, missing, floor }, rows) {
    Object.assign(this, { name, type, values, lower, upper, missing: missing ?? [] });
    this.floor = floor ?? null; // a fact that is not above it says no more than that
    this.possible = possible ?? [null, null]; // what the exact value can be; null: without an end
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
    const { text, interval, word } = this.read(row);
    cell.firstChild.firstChild.data = word || text;
    const kind = word ? "nothing" : this.measured ? "est" : "";
    if (cell.firstChild.className !== kind) cell.firstChild.className = kind;
    if (this.measured) cell.lastChild.firstChild.data = interval;
  }

  /** A text and its interval, with a word in the place of a number that is missing: as the server writes them. */
  read(row) {
    const value = this.values[row];
    if (!this.measured) return this.#readPublic(value);
    const [lower, upper] = [this.lower[row], this.upper[row]];
    if (this.alone) return value === null ? { word: NOT_ESTIMABLE } : { text: this.#plain(value), interval: "not bought" };
    const found = this.type === "date" ? { text: value, interval: between(lower ?? "", upper ?? "") } : this.#readNumber(value, lower, upper);
    if (value !== null) return found;
    const word = this.missing[row] ?? NOT_ESTIMABLE;
    return { word, interval: word === NOT_ESTIMABLE ? found.interval.replace(UNBOUNDED, "") : found.interval };
  }

  #readPublic(value) {
    if (value === null) return this.noisy ? { text: "" } : { word: "NULL" };
    return value === "" ? { word: "empty text" } : { text: this.#plain(value) };
  }

  /** Digits that the interval is worth; its ends go outwards, and those of counts stop at 0. */
  #readNumber(value, lower, upper) {
    const stopped = this.possible[0] === 0 && (upper === null || upper >= 0);
    const [shown, low] = stopped ? [Math.max(value ?? 0, 0), Math.max(lower ?? 0, 0)] : [value ?? NaN, lower];
    const places = countPlaces(shown, low, upper, this.type === "integer");
    const ends = [low === null ? "" : write(low, places, Math.floor), upper === null ? "" : write(upper, places, Math.ceil)];
    return { text: write(shown, places, roundToEven), interval: between(...ends) };
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
    if (!this.noisy || this.type !== "number") return String(value);
    if (this.floor !== null && value <= this.floor) return `< ${this.floor}`;
    if (!this.alone && Math.abs(value) >= ROUNDED) return write(value, 0, roundToEven);
    return Number(value.toPrecision(this.alone ? 7 : 4)).toLocaleString("en-US", { maximumFractionDigits: 20 });
  }

  /** The value as it was released. */
  tellExactly(row) {
    const value = this.values[row];
    if (!this.measured || this.alone || value === null) return String(value ?? "");
    return `${value}, ${this.lower[row] ?? "no end"} to ${this.upper[row] ?? "no end"}`;
  }

  /** How wide the column is; on a phone its intervals stand below its values. */
  countLetters(stacked) {
    return (stacked ? Math.max(this.letters, this.intervalLetters) : this.letters + this.intervalLetters) + 5;
  }

  /** Letters of the longest texts, as some rows and the greatest value tell. */
  #measure(rows) {
    let [text, interval] = [this.name.length + 2, 0];
    for (const row of this.#sample(rows)) {
      const found = this.read(row);
      text = Math.max(text, (found.word ?? found.text).length);
      interval = Math.max(interval, found.interval?.length ?? 0);
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

/** Decimal places that show two digits of an interval's half; below zero: whole tens, hundreds and so on.
    An end that is missing counts as far away as the other. */
function countPlaces(value, lower, upper, whole) {
  const half = lower === null ? upper - value : upper === null ? value - lower : (upper - lower) / 2;
  const places = half > 0 ? 1 - Math.floor(Math.log10(half)) : 4;
  return Math.max(Math.min(places, whole ? 0 : FINEST), -FINEST);
}

function between(low, high) {
  if (low && high) return `${low} to ${high}`;
  return low ? `from ${low} on` : high ? `up to ${high}` : UNBOUNDED;
}

function size(value) {
  return Math.abs(Number(value));
}

const formats = new Map();

/** A number rounded to decimal places, which may be below zero, with separators between thousands. */
function write(number, places, round) {
  if (Math.abs(number) >= LONGEST) return writeLong(number, round);
  const shown = Math.max(places, 0);
  if (!formats.has(shown)) {
    formats.set(shown, new Intl.NumberFormat("en-US", { minimumFractionDigits: shown, maximumFractionDigits: shown }));
  }
  return formats.get(shown).format(shift(round(shift(number, places)), -places)).replace(/^-(?=[0.]*$)/, "");
}

/** The first seven digits of a number, rounded as others are: ends of intervals go outwards here too. */
function writeLong(number, round) {
  const [digits, power] = number.toExponential().split("e");
  return shift(round(shift(Number(digits), 6)), Number(power) - 6).toPrecision(7).replace(/\.?0+e/, "e");
}

/** The nearest whole number, and of two that are as near the even one, as the server rounds. */
function roundToEven(number) {
  return Math.abs(number % 1) === 0.5 ? 2 * Math.round(number / 2) : Math.round(number);
}

/** A number times a power of ten, exactly as its digits say: multiplying would add an error of its own. */
function shift(number, places) {
  const [digits, power = "0"] = String(number).split("e");
  return Number(`${digits}e${Number(power) + places}`);
}

/** An element with its attributes and text. */
export function make(tag, className, attributes = {}, text = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}
