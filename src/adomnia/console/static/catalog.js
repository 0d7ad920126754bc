// The owner's catalog: the preview follows what is typed, and the state of a saved text is looked at until it is known.

import { debounce, fetchPart, replacePart, tellTrouble } from "./parts.js";

const REST = 350; // milliseconds without a key press
const AGAIN = 1000; // between two looks at what is being opened

/** Show what the change so far would do, once typing rests. */
function followTyping(form, preview) {
  const update = debounce(async (signal) => {
    preview.classList.add("busy");
    try {
      const sent = { form: new FormData(form), signal };
      const { html, problem } = await fetchPart("preview", form.dataset.preview, sent);
      if (problem) tellTrouble(preview, problem);
      else replacePart(preview, html);
    } catch (error) {
      if (error.name === "AbortError") return; // the next one is under way
      tellTrouble(preview);
    }
    preview.classList.remove("busy");
  }, REST);
  form.addEventListener("input", (event) => {
    if (event.target.type !== "password") update();
  });
}

/** Look again until the server serves the text, or says why it does not. */
async function watchOpening(status) {
  while (status.querySelector("[data-opening]")) {
    await new Promise((done) => setTimeout(done, AGAIN));
    const { html, problem } = await fetchPart("status", location.pathname).catch(() => ({ problem: undefined }));
    tellTrouble(status, problem);
    if (problem === "" && !html.includes("data-opening")) location.replace(location.pathname); // all of the page is about another text now
  }
}

const form = document.querySelector("form[data-preview]");
if (form) followTyping(form, document.getElementById("preview"));
const status = document.getElementById("status");
if (status) watchOpening(status);
