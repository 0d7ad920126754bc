// Words for those who do not see the page. Scripts that others import do nothing by themselves: a page's own have
// another address than those that are imported, and would run twice.

/** Tell those who do not see the page what happened. */
export function say(words) {
  let place = document.getElementById("said");
  if (!place) {
    place = Object.assign(document.createElement("p"), { id: "said", className: "hidden" });
    place.setAttribute("role", "status");
    document.body.append(place);
  }
  place.textContent = words;
}
