// Methods: the list filters as one types; the form follows its rows, and says what it means and what is wrong.
import { debounce, fetchPart, replacePart } from "./parts.js";

/** Show only what has every word of the field; groups without anything are hidden with it. */
function watchFilter(field) {
  const place = document.getElementById(field.dataset.filter);
  const count = document.querySelector("[data-filter-count]");
  const entries = [...place.querySelectorAll("[data-words]")];
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const entry of entries) entry.hidden = !words.every((word) => entry.dataset.words.includes(word));
    for (const group of place.querySelectorAll("[data-filter-group]")) {
      group.hidden = ![...group.querySelectorAll("[data-words]")].some((entry) => !entry.hidden);
    }
    const seen = entries.filter((entry) => !entry.hidden).length;
    place.querySelector("[data-filter-none]").hidden = seen > 0;
    if (count) count.textContent = words.length ? `${seen} of ${entries.length} methods` : `${entries.length} methods`;
  });
}

/** Other rows have other columns: the fields come again from the server, with what is typed in them. */
function watchRows(form) {
  const fields = document.getElementById("fields");
  const fetchFields = debounce(async (signal) => {
    const sent = new FormData(form);
    sent.set("use", "rows");
    try {
      const { html } = await fetchPart("form", form.dataset.price, { form: sent, signal });
      replacePart(fields, html);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
      return;
    }
    showChips();
    form.dispatchEvent(new Event("input", { bubbles: true })); // which has its price
  }, 60);
  form.addEventListener("change", (event) => {
    if (event.target.matches("[data-rows]")) fetchFields();
  });
}

/** Buttons that put a column into a formula, where the cursor is. Without scripts they would do nothing. */
function showChips() {
  for (const chips of document.querySelectorAll("[data-insert-into]")) chips.hidden = false;
}

function watchChips(form) {
  form.addEventListener("click", (event) => {
    const chip = event.target.closest("[data-insert]");
    if (!chip) return;
    const field = document.getElementById(chip.parentElement.dataset.insertInto);
    const before = field.value.slice(0, field.selectionStart).trimEnd();
    const after = field.value.slice(field.selectionEnd).trimStart();
    const glue = before && !/[~+\-*:^(,]$/.test(before) ? (before.includes("~") ? " + " : " ~ ") : before ? " " : "";
    field.value = before + glue + chip.dataset.insert + (after && !/^[~+\-*:^),]/.test(after) ? " + " : after ? " " : "") + after;
    const cursor = (before + glue + chip.dataset.insert).length;
    field.focus();
    field.setSelectionRange(cursor, cursor);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

/** With the price come the question as text, and what is wrong with which field. */
function watchNews(form) {
  form.addEventListener("part", () => {
    const news = form.querySelector("[data-news]");
    if (!news) return;
    for (const place of form.querySelectorAll(".problem")) place.replaceChildren();
    for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
    for (const piece of news.querySelectorAll("[data-news-of]")) {
      const place = document.getElementById(piece.dataset.newsOf);
      place?.replaceChildren(...piece.childNodes);
      const id = piece.dataset.newsOf.replace(/-problem$/, "");
      if (place?.classList.contains("problem")) document.getElementById(id)?.setAttribute("aria-invalid", "true");
    }
    news.remove();
  });
}

for (const field of document.querySelectorAll("[data-filter]")) watchFilter(field);
const form = document.getElementById("method");
if (form) {
  watchRows(form);
  watchChips(form);
  watchNews(form);
  showChips();
}
