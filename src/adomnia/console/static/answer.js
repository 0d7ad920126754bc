// How an answer is read: table, chart or both; other intervals and rows in place; lists that close by themselves.
import { fetchPart, replacePart, tellTrouble } from "./parts.js";
import { say } from "./saying.js";

const SHOWN = ["table", "chart", "both"];
const KEPT = "answer-shows";

/** Show the table, the chart or both, and remember it for the next answer. */
function show(what) {
  const card = document.querySelector("[data-answer-card]");
  if (!card?.querySelector("[data-show-as]")) return;
  card.dataset.shows = what;
  for (const button of card.querySelectorAll("[data-show]")) button.setAttribute("aria-pressed", button.dataset.show === what);
  sessionStorage.setItem(KEPT, what);
}

/** Make a new answer usable: its switch appears, and many rows scroll quickly. */
function prepare() {
  const choice = document.querySelector("[data-show-as]");
  if (choice) choice.hidden = false;
  const kept = sessionStorage.getItem(KEPT);
  show(SHOWN.includes(kept) ? kept : "both");
  if (document.querySelector("answer-rows")) import("./rows.js").catch(() => {}); // the first rows are there without it
}

/** Links that read the same answer otherwise replace it in place. */
async function reread(link) {
  const place = document.getElementById("answer");
  if (!place) return location.assign(link.href);
  place.classList.add("busy");
  try {
    const { html, problem } = await fetchPart("answer", link.href);
    if (problem) return tellTrouble(place, problem);
    replacePart(place, html);
    history.replaceState(null, "", link.href);
    document.getElementById(new URL(link.href).hash.slice(1))?.focus();
    say("The answer is shown anew.");
  } catch {
    tellTrouble(place);
  } finally {
    place.classList.remove("busy");
  }
}

function closeLists(besides = null) {
  for (const list of document.querySelectorAll("details.drop[open]")) if (list !== besides) list.open = false;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-show]");
  if (button) show(button.dataset.show);
  closeLists(event.target.closest("details.drop"));
  const link = event.target.closest("a[data-reread]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  reread(link);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    const open = document.querySelector("details.drop[open]");
    closeLists();
    open?.querySelector("summary").focus();
  }
  if (event.altKey && event.code === "KeyT" && document.querySelector("[data-show-as]")) {
    event.preventDefault();
    const now = document.querySelector("[data-answer-card]").dataset.shows;
    const next = SHOWN[(SHOWN.indexOf(now) + 1) % SHOWN.length];
    show(next);
    say(`Shown: ${next}.`);
  }
});

document.addEventListener("part", prepare);
prepare();
