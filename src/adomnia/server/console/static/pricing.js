// The price of what a form asks, as one types.
import { debounce, fetchPart, replacePart } from "./parts.js";

for (const form of document.querySelectorAll("form[data-price]")) {
  const price = debounce(async (signal) => {
    const { html } = await fetchPart("price", form.dataset.price, { form: new FormData(form), signal });
    replacePart(form.querySelector("#price"), html);
  }, 120);
  form.addEventListener("input", price);
}
