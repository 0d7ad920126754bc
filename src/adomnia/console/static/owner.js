// The live ledger: it looks for new entries while somebody looks at it, and searches as one types.
import { debounce, fetchPart, replacePart, tellTrouble } from "./parts.js";

const EVERY = 3000; // milliseconds
const ALONE = 10 * 60 * 1000; // after so long without a hand on it, it rests: looking on must not keep a visit open

const entries = document.getElementById("entries");
const form = document.getElementById("filter");
const pause = document.getElementById("pause");
const live = document.getElementById("live");
const news = document.getElementById("news");
let paused = false;
let touched = Date.now();
let looking = false;

/** The facts of the part that is shown: its newest entry, and whether it is the first page. */
function shown() {
  return entries.querySelector("[data-newest]")?.dataset ?? { newest: "0", live: "no" };
}

/** The address of what is filtered now. */
function addressOf(fields) {
  const query = new URLSearchParams([...fields].filter(([, value]) => value));
  return `${form.action}?${query}`;
}

/** Ask whether there is anything new; the server sends nothing if there is not. */
async function look() {
  if (looking || paused || document.hidden || shown().live !== "yes" || Date.now() - touched > ALONE) return;
  const before = Number(shown().newest);
  const address = new URL(location.href);
  address.searchParams.set("seen", before);
  looking = true;
  try {
    const part = await fetchPart("entries", address);
    tellTrouble(entries, part.problem);
    if (!part.problem && part.status !== 204 && !paused) take(part, before);
  } catch {
    tellTrouble(entries); // the next look may find the server again
  } finally {
    looking = false;
  }
}

/** Show what came, and say how much of it is new. */
function take(part, before) {
  replacePart(entries, part.html);
  const number = Number(shown().newest) - before;
  if (number <= 0) return;
  for (const row of entries.querySelectorAll("tbody tr")) {
    row.classList.toggle("new", Number(row.cells[0].textContent) > before);
  }
  news.textContent = number === 1 ? "One new entry." : `${number} new entries.`;
}

/** Search as one types, and keep the address in step, so that it can be shared and reloaded. */
const search = debounce(async (signal) => {
  const address = addressOf(new FormData(form));
  try {
    const part = await fetchPart("entries", address, { signal });
    if (part.problem) return tellTrouble(entries, part.problem);
    replacePart(entries, part.html);
    history.replaceState(null, "", address);
  } catch (error) {
    if (error.name !== "AbortError") tellTrouble(entries);
  }
}, 250);

live.hidden = pause.hidden = false;
pause.addEventListener("click", () => {
  paused = !paused;
  pause.textContent = paused ? "Go on" : "Pause";
  live.textContent = paused ? "paused" : "live";
  live.classList.toggle("good", !paused);
});
form.addEventListener("input", search);
for (const kind of ["pointerdown", "keydown", "scroll"]) {
  document.addEventListener(kind, () => (touched = Date.now()), { passive: true });
}
document.addEventListener("visibilitychange", look);
setInterval(look, EVERY);
