"""Takes pictures of every page of the console, light, dark and on a phone, into docs/images/console.

Fails where a picture is too large, or where the place of a figure in it is empty.
"""

from __future__ import annotations

import sys
from base64 import b64encode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from kit import browsing  # noqa: E402 - found through the path above

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

FOLDER = ROOT / "docs" / "images" / "console"
LARGEST = 300_000  # bytes of a picture
FIGURE = "img.chart"
WITH_FIGURES = {"answer", "release"}  # pages whose picture without a figure would show nothing
FEWEST_COLOURS = 20  # of a figure: its letters alone have more, by their smooth edges; an empty place has one
COUNT_COLOURS = """async ([picture, box]) => {
  const bitmap = await createImageBitmap(await (await fetch("data:image/png;base64," + picture)).blob());
  const pixels = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
  pixels.drawImage(bitmap, 0, 0);
  const words = new Uint32Array(pixels.getImageData(box.x, box.y, box.width, box.height).data.buffer);
  return new Set(words).size;
}"""
QUESTION = """SELECT FLOOR(age / 10) * 10 AS age_from,
       COUNT(*) AS people,
       AVG(salary) AS salary
FROM people
GROUP BY age_from"""
EARLIER = (
    "SELECT city, COUNT(*) AS people FROM people GROUP BY city",
    "SELECT sex, MEDIAN(salary) AS salary FROM people GROUP BY sex",
    "SELECT hospital, SUM(cost) AS cost FROM visits GROUP BY hospital",
)
REFUSED = "SELECT citty, AVG(salary) AS salary FROM people GROUP BY citty"


def main() -> None:
    """Take them all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        sync_playwright() as playwright,
        TemporaryDirectory() as folder,
        browsing.opened(playwright, Path(folder)) as console,
    ):
        for sql in EARLIER:
            with console.visit("alice", "/ask") as page:
                ask(page, sql, "0.1")
        with console.visit("alice", "/methods/marginals") as page:
            publish(page, "people_by_city")
        for name, who, path, prepare in PAGES:
            for look, options in LOOKS.items():
                with console.visit(who, path, **options) as page:
                    prepare(page)
                    wait_for_figures(page, expected=name in WITH_FIGURES)
                    take(page, FOLDER / f"{name}-{look}.png")
                    if (name, look) == ("answer", "light"):
                        take_top(page, FOLDER / "chart-light.png")


def take(page: Page, path: Path) -> None:
    """Take one of the whole page, or of as much of its top as makes no larger a file than it may be."""
    page.evaluate("scrollTo(0, 0)")
    width, height = page.viewport_size["width"], page.evaluate("document.documentElement.scrollHeight")
    for part in (1.0, 0.8, 0.6, 0.4):
        clip = {"x": 0, "y": 0, "width": width, "height": int(part * height)}
        page.screenshot(path=path, full_page=True, clip=clip, animations="disabled")
        if path.stat().st_size <= LARGEST:
            break
    else:
        sys.exit(f"{path.name} is larger than {LARGEST // 1000} kB.")
    check_figures(page, path, clip["height"])
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size // 1000} kB")


def take_top(page: Page, path: Path) -> None:
    """Take one of an answer from the top of the page to the end of its figure, for pages that have little room."""
    figure = page.locator(FIGURE).first.bounding_box()
    clip = {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": int(figure["y"] + figure["height"])}
    page.screenshot(path=path, full_page=True, clip=clip, animations="disabled")
    check_figures(page, path, clip["height"] + 1)
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size // 1000} kB")


def wait_for_figures(page: Page, expected: bool) -> None:
    """Wait until the figures of a page are drawn: an answer comes after its address, and its figure after that."""
    if expected:
        page.locator(FIGURE).first.wait_for()
    page.wait_for_load_state("networkidle")
    for image in page.locator("img:visible").all():
        image.evaluate("image => { image.decoding = 'sync'; return image.decode(); }")


def check_figures(page: Page, path: Path, height: int) -> None:
    """End with an error where the picture has nothing in the place of a figure."""
    picture = b64encode(path.read_bytes()).decode()
    boxes = [image.bounding_box() for image in page.locator(f"{FIGURE}:visible").all()]
    reader = page.context.browser.new_page()
    for box in boxes:
        if box["y"] + box["height"] <= height and reader.evaluate(COUNT_COLOURS, [picture, box]) < FEWEST_COLOURS:
            sys.exit(f"{path.name} has an empty figure.")
    reader.close()


def type_question(page: Page, sql: str, amount: str) -> None:
    """Type a question and its price as the page's own fields hold them."""
    page.goto(page.url.partition("/ask")[0] + f"/ask?{encode(sql=sql, pay='epsilon', amount=amount)}")
    page.wait_for_selector("#price")


def ask(page: Page, sql: str, amount: str = "0.25") -> None:
    """Ask a question, and wait for its answer."""
    type_question(page, sql, amount)
    page.click("#pay")
    page.wait_for_url("**/answers/**")


def publish(page: Page, name: str) -> None:
    """Publish what the form of a method makes, and wait for its page."""
    page.check("[name=keep][value=publish]")
    page.fill("#release-name", name)
    page.wait_for_selector("#pay:enabled:has-text('and publish')")
    page.click("#pay")
    page.wait_for_url(f"**/releases/{name}")


def encode(**fields: str) -> str:
    """The fields of a form as a part of an address."""
    from urllib.parse import urlencode

    return urlencode(fields)


def stay(_page: Page) -> None:
    """Nothing is to be done on the page."""


LOOKS = {"light": {}, "dark": {"dark": True}, "phone": {"phone": True}}
PAGES: tuple[tuple[str, str | None, str, Callable[[Page], None]], ...] = (
    ("sign-in", None, "/sign-in", stay),
    ("ask", "alice", "/ask", lambda page: type_question(page, QUESTION, "0.25")),
    ("answer", "alice", "/ask", lambda page: ask(page, QUESTION)),
    ("refused", "alice", "/ask", lambda page: type_question(page, REFUSED, "0.25")),
    ("methods", "alice", "/methods", stay),
    ("method", "alice", "/methods/lm", stay),
    ("releases", "alice", "/releases", stay),
    ("release", "alice", "/releases/people_by_city", stay),
    ("data", "alice", "/data", stay),
    ("table", "alice", "/data/people", stay),
    ("budget", "alice", "/budget", stay),
    ("history", "alice", "/answers", stay),
    ("account", "alice", "/account", stay),
    ("overview", "olga", "/owner", stay),
    ("ledger", "olga", "/owner/ledger", stay),
    ("budgets", "olga", "/owner/budgets", stay),
    ("people", "olga", "/owner/people", stay),
    ("catalog", "olga", "/owner/catalog", stay),
    ("editor", "olga", "/owner/catalog/edit", stay),
)

if __name__ == "__main__":
    main()
