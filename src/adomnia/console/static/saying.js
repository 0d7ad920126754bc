// Words for those who do not see the page.

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
