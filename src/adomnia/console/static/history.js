// Searches as one types: the list is the server's, and the address follows, so that it can be kept.
import { debounce, fetchPart, replacePart, tellTrouble } from "./parts.js";

const form = document.querySelector("[data-search]");
const found = document.getElementById("found");

const search = debounce(async (signal) => {
  const query = new FormData(form).get("q").trim();
  const address = query ? `/answers?${new URLSearchParams({ q: query })}` : "/answers";
  try {
    const { html, problem } = await fetchPart("found", address, { signal });
    if (problem) return tellTrouble(found, problem);
    replacePart(found, html);
    history.replaceState(null, "", address);
  } catch (error) {
    if (error.name !== "AbortError") tellTrouble(found); // else another letter was typed meanwhile
  }
}, 150);

form.addEventListener("input", () => search());
