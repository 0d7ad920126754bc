// What every page can do: notes, copying, keys. No other script imports it: under another address it would run twice.
import { say } from "./saying.js";

/** Notes of words close with Escape, and open with a tap where nothing hovers. */
function watchNotes() {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const open of document.querySelectorAll(".term.open")) open.classList.remove("open");
    if (document.activeElement?.classList.contains("term")) document.activeElement.blur();
  });
  document.addEventListener("click", (event) => {
    const term = event.target.closest(".term");
    for (const open of document.querySelectorAll(".term.open")) if (open !== term) open.classList.remove("open");
    term?.classList.toggle("open");
  });
}

/** Buttons with data-copy copy the text of the element of that id. */
function watchCopying() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    say("Copied.");
  });
}

/** Keys of one letter, outside of fields: ? shows them all, / searches, G and a letter goes to a page. */
function watchKeys() {
  let going = false;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, textarea, select, [contenteditable], sql-editor")) return;
    if (going) {
      going = false;
      const links = [...document.querySelectorAll(".top .nav a")];
      links.find((link) => link.textContent[0].toLowerCase() === event.key.toLowerCase())?.click();
    } else if (event.key === "?") document.getElementById("keys")?.showModal();
    else if (event.key === "g") going = true;
    else if (event.key === "/") {
      const field = document.querySelector("input[type=search]");
      if (field) {
        event.preventDefault();
        field.focus();
      }
    }
  });
}

watchNotes();
watchCopying();
watchKeys();
