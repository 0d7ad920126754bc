// The form of a method: it follows its rows, says what it means and costs, and shows the answer in place.

import { say } from "./saying.js";
import "./methods.js";
import { debounce, fetchPart, replacePart, tellTrouble } from "./parts.js";
import { watchPrice } from "./pricing.js";

const form = document.getElementById("method");
const answer = document.getElementById("answer");
const LONGEST = 4000; // characters of a form in an address

document.documentElement.classList.add("scripted");
const pricing = watchPrice(form);
let asking = null;

/** Other rows have other columns: the fields come again from the server, with what is typed in them. */
function watchRows() {
  const fields = document.getElementById("fields");
  const fetchFields = debounce(async (signal) => {
    const sent = new FormData(form);
    sent.set("use", "rows");
    try {
      const { html, problem } = await fetchPart("form", form.dataset.price, { form: sent, signal });
      if (problem) return tellTrouble(fields, problem);
      replacePart(fields, html);
    } catch (error) {
      if (error.name !== "AbortError") tellTrouble(fields);
      return;
    }
    showChips();
    pricing.now();
  }, 60);
  form.addEventListener("change", (event) => {
    if (event.target.matches("[data-rows]")) fetchFields();
  });
}

/** Buttons that put a column into a formula, where the cursor is. Without scripts they would do nothing. */
function showChips() {
  for (const chips of document.querySelectorAll("[data-insert-into]")) chips.hidden = false;
}

function watchChips() {
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

/** A field that something is wrong with says so to those who do not see it. */
function watchProblems() {
  form.addEventListener("part", (event) => {
    if (!event.target.classList.contains("problem")) return;
    const field = document.getElementById(event.target.id.replace(/-problem$/, ""));
    if (event.target.textContent.trim()) field?.setAttribute("aria-invalid", "true");
    else field?.removeAttribute("aria-invalid");
  });
}

/** Pay and ask; the answer comes in place. What is not priced yet is priced first, and not paid unseen. */
async function ask() {
  if (asking) return;
  const before = form.querySelector("#pay").textContent;
  if (pricing.isStale()) await pricing.now();
  if (pricing.isStale()) return; // no price came, and the panel says why
  const button = form.querySelector("#pay");
  if (button.disabled || button.textContent !== before) return say(`Look at the price first: ${button.textContent}.`);
  asking = new AbortController();
  answer.replaceChildren(document.getElementById("measuring").content.cloneNode(true));
  answer.querySelector("[data-stop]").addEventListener("click", () => asking.abort());
  answer.scrollIntoView({ block: "nearest" });
  try {
    await receive(await fetchPart("answer", form.action, { form: new FormData(form), signal: asking.signal }));
  } catch {
    answer.replaceChildren(document.getElementById("unheard").content.cloneNode(true));
  }
  asking = null;
}

/** Show an answer, or why there is none; what is left has changed with it. */
async function receive(reply) {
  if (reply.problem && !reply.html.includes("data-problem")) throw new Error(reply.problem); // no page of this server
  replacePart(answer, reply.html);
  const path = new URL(reply.address).pathname;
  if (reply.status < 400 && path.startsWith("/releases/")) return location.assign(path); // it was kept, and has a page
  if (reply.status < 400 && path.startsWith("/answers/")) moveTo(path);
  if (reply.status < 400) say("The answer is there.");
  answer.focus({ preventScroll: true });
  const purse = await fetchPart("purse", "/methods").catch(() => null); // the answer stays, whatever becomes of it
  if (purse?.status < 400) replacePart(document.getElementById("purse"), purse.html);
  await pricing.now();
}

/** The page is that of the answer now; the way back leads to the form as it was filled in. */
function moveTo(path) {
  const filled = new URLSearchParams(new FormData(form));
  for (const name of ["csrf", "request_id"]) filled.delete(name);
  if (`${filled}`.length < LONGEST) history.replaceState(null, "", `${new URL(form.action).pathname}?${filled}`);
  history.pushState(null, "", path);
  document.title = "Answer - Ad Omnia";
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.submitter?.getAttribute("formaction") === form.dataset.price) pricing.now();
  else ask();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit(form.querySelector("#pay"));
});
window.addEventListener("popstate", () => location.reload());

watchRows();
watchChips();
watchProblems();
showChips();
