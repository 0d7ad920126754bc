// Parts of pages: a script asks for one block of a page, and puts it where the old one was.

const LOST = "The server cannot be reached: what is shown is not current.";

/** Ask for a part of a page; returns its HTML and where it came from, and of an error page what it says. */
export async function fetchPart(part, address, { form = null, signal = null } = {}) {
  const reply = await fetch(address, {
    method: form ? "POST" : "GET",
    body: form ? new URLSearchParams(form) : null,
    headers: { "X-Part": part, Accept: "text/html" },
    credentials: "same-origin",
    signal,
  });
  if (new URL(reply.url).pathname === "/sign-in") {
    location.assign("/sign-in"); // the visit has ended, and with it this page: nothing is shown any more
    return new Promise(() => {});
  }
  const html = await reply.text();
  const isPage = reply.headers.get("Content-Type")?.startsWith("text/html");
  const said = reply.status >= 400 && isPage ? readProblem(html) : "";
  // What stands between may send anything, pages too; replies of the server itself carry a request id.
  const isForeign = reply.status >= 400 && !said && !(isPage && reply.headers.has("X-Request-Id"));
  const problem = isForeign ? `${LOST} (${reply.status})` : said;
  return { html, status: reply.status, address: reply.url, problem };
}

/** What an error page says; nothing of a page that goes on with what is wrong. */
function readProblem(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  return parsed.querySelector("[data-problem] [role=alert] p")?.textContent.trim() ?? "";
}

/** Say above what an element shows that it is old, and why; no words take it back. */
export function tellTrouble(element, words = LOST) {
  const said = element.querySelector(":scope > [data-lost]");
  if (said?.textContent === words) return;
  said?.remove();
  if (!words) return;
  const place = Object.assign(document.createElement("p"), { className: "lost", textContent: words });
  place.setAttribute("role", "alert");
  place.dataset.lost = "";
  element.prepend(place);
}

/** Replace what is inside an element; the focus stays where it was, if that is still there. */
export function replacePart(element, html) {
  const focused = element.contains(document.activeElement) ? document.activeElement.id : "";
  const parsed = new DOMParser().parseFromString(html, "text/html"); // runs nothing
  const problem = parsed.querySelector("[data-problem]"); // a whole page that says what went wrong
  element.replaceChildren(...(problem ?? parsed.body).childNodes);
  if (focused) document.getElementById(focused)?.focus();
  element.dispatchEvent(new CustomEvent("part", { bubbles: true }));
}

/** Call `work` once nothing has been asked of it for some milliseconds; the one before is given up. */
export function debounce(work, milliseconds) {
  let timer = 0;
  let running = null;
  return (...parts) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running?.abort();
      running = new AbortController();
      work(running.signal, ...parts);
    }, milliseconds);
  };
}
