// Prices a form as it changes: the panel #price, and whatever else the server sends with it, follow what is typed.

import { say } from "./saying.js";
import { debounce, fetchPart, replacePart, tellTrouble } from "./parts.js";

const REST = 150; // milliseconds after which typing has stopped, and after which waiting is shown
const AGAIN = 3000; // milliseconds until a price that did not come is asked for again
const QUIET = 900; // milliseconds without a change, after which a price is spoken
const STEPS = 1000; // of the slider

/** Watch a form; returns how to price it now, and whether what is shown is still what is typed. */
export function watchPrice(form) {
  const panel = form.querySelector("#price");
  let isStale = panel.querySelector("[data-pending]") !== null; // the page came first, its price is to follow
  let typed = 0; // how often something was changed: what is told of an earlier state would undo what was typed since
  let dragging = false;
  let changed = {}; // fields that the panel does not show yet

  async function price(signal, changes = {}) {
    changed = { ...changed, ...changes };
    const before = typed;
    const sent = new URLSearchParams(new FormData(form));
    for (const [name, value] of Object.entries(changed)) sent.set(name, value);
    const waiting = setTimeout(() => setBusy(true), REST);
    try {
      const reply = await fetchPart(form.dataset.part ?? "price", form.dataset.price, { form: sent, signal });
      if (signal?.aborted || typed !== before) return;
      if (reply.problem) return fail(reply.problem, reply.status === 429 || reply.status >= 500);
      isStale = false;
      changed = {};
      showPart(panel, reply.html);
    } catch (error) {
      if (error.name !== "AbortError") fail();
    } finally {
      clearTimeout(waiting);
      if (!signal?.aborted) setBusy(false);
    }
  }

  function setBusy(busy) {
    panel.classList.toggle("busy", busy);
    panel.setAttribute("aria-busy", String(busy));
  }

  /** What is shown stays, with why it is old; what passes is tried again. */
  function fail(words, passes = true) {
    isStale = true;
    tellTrouble(panel, words);
    if (passes) retry();
  }

  function touch() {
    isStale = true;
    typed += 1;
  }

  const retry = debounce((signal) => isStale && price(signal), AGAIN);
  const soon = debounce(price, REST);
  const atOnce = debounce(price, 0);
  const change = (changes) => {
    touch();
    if (!panel.contains(document.activeElement)) focusText(form); // what was pressed will be gone
    const { sql, ...others } = changes;
    if (sql !== undefined) setText(form, sql);
    atOnce(others);
  };

  form.addEventListener("input", (event) => {
    touch();
    if (event.target.id !== "slider") soon();
    else {
      const changes = preview(form, amountAt(event.target));
      if (!dragging) soon(changes);
    }
  });
  panel.addEventListener("pointerdown", (event) => (dragging = event.target.id === "slider"));
  panel.addEventListener("change", (event) => {
    if (event.target.id !== "slider") return;
    dragging = false;
    atOnce(preview(form, amountAt(event.target)));
  });
  panel.addEventListener("keydown", (event) => {
    if (event.target.id !== "slider") return;
    const amount = stepAmount(event.target, currentAmount(form, event.target), event.key);
    if (amount === null) return;
    event.preventDefault();
    touch();
    event.target.value = String(Math.round(placeOf(event.target, amount) * STEPS));
    soon(preview(form, amount));
  });
  // Buttons that change fields or only show the price: those of this form, wherever they stand.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.form !== form || button.getAttribute("formaction") !== form.dataset.price) return;
    event.preventDefault();
    change(button.name === "change" ? Object.fromEntries(new URLSearchParams(button.value)) : {});
  });
  watchSpoken(panel);
  if (isStale) price(null);
  return { change, now: () => price(null), isStale: () => isStale };
}

/** Speak the price once it rests. */
function watchSpoken(panel) {
  const read = () => document.getElementById("spoken")?.dataset.spoken;
  let spoken = read();
  let speaking = 0;
  panel.addEventListener("part", () => {
    clearTimeout(speaking);
    speaking = setTimeout(() => {
      if (read() && read() !== spoken) say(read());
      spoken = read();
    }, QUIET);
  });
}

/** Put a panel in its place, and its companions in theirs; what was open stays open, and the caret where it was. */
function showPart(panel, html) {
  const open = [...panel.querySelectorAll("details[open]")].map((each) => each.id);
  const field = panel.contains(document.activeElement) ? document.activeElement : null;
  const caret = ["text", "textarea"].includes(field?.type) ? field.selectionStart : null;
  replacePart(panel, html);
  if (field && document.activeElement === document.body) panel.querySelector("#amount, #pay")?.focus({ preventScroll: true });
  for (const companion of panel.querySelectorAll("template[data-for]")) {
    showCompanion(document.getElementById(companion.dataset.for), companion.content);
    companion.remove();
  }
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (caret !== null && document.activeElement?.id === field.id) document.activeElement.setSelectionRange(caret, caret);
}

/** Replace what a place holds, if it is not the same: a refusal that stays is not spoken again. */
function showCompanion(place, content) {
  if (!place) return;
  const next = place.cloneNode(false);
  next.append(content);
  if (next.isEqualNode(place)) return;
  place.replaceChildren(...next.childNodes);
  place.dispatchEvent(new CustomEvent("part", { bubbles: true }));
}

/** Go on in the question; not where that would bring up a keyboard on the glass. */
function focusText(form) {
  const field = form.elements.sql;
  if (!field || matchMedia("(pointer: coarse)").matches) return;
  const editor = field.closest("sql-editor");
  (editor?.shadowRoot ? editor : field).focus();
}

/** Write a question into the editor. */
function setText(form, text) {
  const field = form.elements.sql;
  if (!field || field.value === text) return;
  const editor = field.closest("sql-editor");
  if (editor && "value" in editor) editor.value = text;
  field.value = text;
}

/** The scale of a slider: least and most, on logarithms. */
function scaleOf(slider) {
  const figure = slider.closest(".funnel");
  return [Number(figure.dataset.least), Number(figure.dataset.most)];
}

function placeOf(slider, amount) {
  const [least, most] = scaleOf(slider);
  return Math.min(Math.max(Math.log(amount / least) / Math.log(most / least), 0), 1);
}

/** The amount at the slider's place, in two digits; at its end, all that is left. */
function amountAt(slider) {
  const [least, most] = scaleOf(slider);
  const place = Number(slider.value) / STEPS;
  return limit(slider, place >= 1 ? most : Number((least * (most / least) ** place).toPrecision(2)));
}

function limit(slider, amount) {
  const [least, most] = scaleOf(slider);
  return Math.min(Math.max(amount, least), most);
}

function currentAmount(form, slider) {
  const typed = Number(form.elements.amount?.value);
  return form.elements.pay.value !== "error" && typed > 0 ? typed : amountAt(slider);
}

/** The amount that a key leads to: arrows go on by one of two digits, Page Up and Page Down double and halve. */
function stepAmount(slider, amount, key) {
  const [least, most] = scaleOf(slider);
  const unit = 10 ** (Math.floor(Math.log10(amount) + 1e-9) - 1);
  const digits = Math.round(amount / unit);
  const below = digits <= 10 ? amount - unit / 10 : amount - unit;
  const moves = {
    ArrowRight: amount + unit, ArrowUp: amount + unit, ArrowLeft: below, ArrowDown: below,
    PageUp: amount * 2, PageDown: amount / 2, Home: least, End: most,
  };
  if (!(key in moves)) return null;
  const moved = moves[key];
  return limit(slider, moved === most || moved === least ? moved : Number(moved.toPrecision(2)));
}

/** Show at once where the slider stands, with about the error there; returns the fields that it changes. */
function preview(form, amount) {
  const slider = form.querySelector("#slider");
  const figure = slider.closest(".funnel");
  const words = String(Number(amount.toPrecision(6)));
  const inError = form.elements.pay.value === "error";
  if (!inError) form.elements.amount.value = words;
  const points = JSON.parse(figure.dataset.points);
  let says = `Price ${words}`;
  const knob = figure.querySelector(".knob");
  if (knob && points.length > 1) {
    const place = placeOf(slider, amount);
    const error = errorAt(points, place);
    const half = (36 * error) / Math.max(...points.map((point) => point[1]));
    const [line, top, bottom] = knob.querySelectorAll("line");
    knob.setAttribute("x", `${(100 * place).toFixed(2)}%`);
    line.setAttribute("y1", 38 - half);
    for (const [each, y] of [[top, 38 - half], [bottom, 38 + half]]) {
      each.setAttribute("y1", y);
      each.setAttribute("y2", y);
    }
    const shown = Number(error.toPrecision(2)).toLocaleString("en");
    const text = knob.querySelector("text");
    text.textContent = `about ± ${shown}`;
    text.setAttribute("text-anchor", place > 0.6 ? "end" : "start");
    text.setAttribute("x", place > 0.6 ? -11 : 11);
    says = `Price ${words}: ${figure.dataset.column} within about ${shown} ${figure.dataset.where}`;
  }
  slider.setAttribute("aria-valuetext", says);
  return inError ? { pay: "epsilon", amount: words, rows: "" } : { amount: words };
}

/** The error at a place, between the two that are known beside it: a power of the price. */
function errorAt(points, place) {
  const after = Math.max(points.findIndex((point) => point[0] >= place), 1);
  const [[left, first], [right, second]] = [points[after - 1], points[after]];
  const share = Math.min(Math.max((place - left) / (right - left || 1), 0), 1);
  return first * (second / first) ** share;
}
