// Parts of pages: a script asks for one block of a page, and puts it where the old one was.

/** Ask for a part of a page; returns its HTML and where it came from. An error page has a part of its own. */
export async function fetchPart(part, address, { form = null, signal = null } = {}) {
  const reply = await fetch(address, {
    method: form ? "POST" : "GET",
    body: form ? new URLSearchParams(form) : null,
    headers: { "X-Part": part },
    credentials: "same-origin",
    signal,
  });
  if (new URL(reply.url).pathname === "/sign-in") location.assign("/sign-in"); // the visit has ended
  return { html: await reply.text(), status: reply.status, address: reply.url };
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
