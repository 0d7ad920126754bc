// The list of tables follows what is typed into its search field.
import { debounce, fetchPart, replacePart } from "./parts.js";

const field = document.getElementById("find");
const place = document.getElementById("tables");
const find = debounce(async (signal) => {
  const address = field.value ? `/data?${new URLSearchParams({ find: field.value })}` : "/data";
  const { html } = await fetchPart("tables", address, { signal });
  replacePart(place, html);
  history.replaceState(null, "", address);
}, 150);

field.addEventListener("input", () => find());
