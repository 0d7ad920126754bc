// The owner's catalog: the preview follows what is typed, and the state of a saved text is looked at until it is known.

import { debounce, fetchPart, replacePart } from "./parts.js";

const REST = 350; // milliseconds without a key press
const AGAIN = 1000; // between two looks at what is being opened

/** Show what the change so far would do, once typing rests. */
function followTyping(form, preview) {
  const update = debounce(async (signal) => {
    preview.classList.add("busy");
    try {
      const { html } = await fetchPart("preview", form.dataset.preview, { form: new FormData(form), signal });
      replacePart(preview, html);
      preview.classList.remove("busy");
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }, REST);
  form.addEventListener("input", (event) => {
    if (event.target.type !== "password") update();
  });
}

/** Look again until the server serves the text, or says why it does not. */
async function watchOpening(status) {
  while (status.querySelector("[data-opening]")) {
    await new Promise((done) => setTimeout(done, AGAIN));
    const { html } = await fetchPart("status", location.pathname);
    if (!html.includes("data-opening")) location.replace(location.pathname); // all of the page is about another text now
  }
}

const form = document.querySelector("form[data-preview]");
if (form) followTyping(form, document.getElementById("preview"));
const status = document.getElementById("status");
if (status) watchOpening(status);
