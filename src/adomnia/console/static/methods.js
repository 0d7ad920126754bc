// The list of methods filters as one types.

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

for (const field of document.querySelectorAll("[data-filter]")) watchFilter(field);
