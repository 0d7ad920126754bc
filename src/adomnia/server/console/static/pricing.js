// Prices a form as it changes.
import { debounce, fetchPart, replacePart } from "./parts.js";

/** Watch a form; returns how to price it now, and whether what is shown is still what is typed. */
export function watchPrice(form) {
  const panel = form.querySelector("#price");
  let isStale = false;
  async function price(signal) {
    try {
      const reply = await fetchPart(form.dataset.part ?? "price", form.dataset.price, { form: new FormData(form), signal });
      isStale = false;
      const parsed = new DOMParser().parseFromString(reply.html, "text/html");
      for (const companion of parsed.querySelectorAll("template[data-for]")) {
        const place = document.getElementById(companion.dataset.for);
        if (place && place.innerHTML.trim() !== companion.innerHTML.trim()) replacePart(place, companion.innerHTML);
        companion.remove();
      }
      replacePart(panel, parsed.body.innerHTML);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }
  const soon = debounce(price, 150);
  form.addEventListener("input", () => {
    isStale = true;
    soon();
  });
  return { now: () => price(null), isStale: () => isStale };
}
