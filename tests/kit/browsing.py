"""A real browser at a real server: people who are signed in, and whatever goes wrong on the pages that they see."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from shutil import which
from typing import TYPE_CHECKING, Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from adomnia.api.access import Access, Role
from adomnia.session.curator import STATE
from kit import serving
from kit.example import write_example
from kit.waiting import HANG_SECONDS, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page, Playwright, Route

# The same browser without its windows starts pages four times as fast, where it is there.
CHROMIUM = which("chromium-headless-shell") or which("chromium") or "chromium"
PASSWORD = "correct horse battery staple"
ROLES = {"olga": Role.OWNER, "alice": Role.ANALYST, "bob": Role.ANALYST, "audrey": Role.AUDITOR}
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
PATIENCE = 1000 * HANG_SECONDS
_SWITCHES = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)
_COLOURS = ["color-contrast", "link-in-text-block"]  # the rules of axe that look at them
# What the browser itself says about a page whose status is an error, which some tests are about.
_EXPECTED = "Failed to load resource: the server responded with a status of 4"


@dataclass
class Console:
    """A server, a browser, and the cookies of everybody."""

    address: str
    folder: Path
    browser: Browser
    _cookies: dict[str, list[Any]] = field(default_factory=dict)

    @contextmanager
    def visit(
        self, name: str | None = "alice", path: str = "/", expected: tuple[str, ...] = (_EXPECTED,), **options: Any
    ) -> Iterator[Page]:
        """A page that somebody sees; at the end, nothing may have gone wrong on it but what is expected.

        `phone`, `dark` and `scripts=False` are how they see it; other options are the browser's.
        """
        with self._context(**options) as context:
            if name is not None:
                context.add_cookies(self._sign_in(name))
            page, faults = context.new_page(), list[str]()
            _watch(page, self.address, faults, expected)
            _let_load(page)
            page.goto(self.address + path)
            yield page
            assert not faults, faults

    @contextmanager
    def _context(
        self, *, phone: bool = False, dark: bool = False, scripts: bool = True, **options: Any
    ) -> Iterator[BrowserContext]:
        context = self.browser.new_context(
            viewport=PHONE if phone else WIDE,  # type: ignore[arg-type]
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            has_touch=phone,
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
            **options,
        )
        context.set_default_timeout(PATIENCE)
        try:
            yield context
        finally:
            context.close()

    def _sign_in(self, name: str) -> list[Any]:
        """The cookies of a visit, which is begun once."""
        if name not in self._cookies:
            context = self.browser.new_context()
            context.set_default_timeout(PATIENCE)
            page = context.new_page()
            page.goto(f"{self.address}/sign-in")
            page.fill("#name", name)
            page.fill("#password", PASSWORD)
            page.click("text=Sign in >> nth=-1")
            page.wait_for_url(lambda address: "/sign-in" not in address)
            self._cookies[name] = context.cookies()
            context.close()
        return self._cookies[name]


def _let_load(page: Page) -> None:
    """A click or key that leads to another page returns as soon as that page begins: have it wait until it is there."""
    for name in ("click", "press"):
        before = getattr(page, name)

        def act(*given: Any, _before: Callable[..., object] = before, **options: Any) -> None:
            _before(*given, **options)
            page.wait_for_load_state()

        setattr(page, name, act)


def wait_for(page: Page, expression: str, *given: object) -> None:
    """Wait until an expression holds on a page: Playwright's own way needs `eval` there, unless it holds at once."""
    wait_until(lambda: page.evaluate(expression, *given), page.content)


def intercept(page: Page, path: str, handle: Callable[[Route], object]) -> None:
    """Handle requests of a page that is there, from now on: the browser lets some pass while it begins with that."""
    page.route(path, handle)
    page.route("**/health", lambda route: route.fulfill(body="handled"))
    wait_until(lambda: page.evaluate("fetch('/health').then((reply) => reply.text())") == "handled")
    page.unroute("**/health")


def _watch(page: Page, address: str, faults: list[str], expected: tuple[str, ...]) -> None:
    """Collect errors of scripts, broken policies, and requests to anywhere else."""

    def hear(kind: str, text: str) -> None:
        if kind in {"error", "warning"} and not text.startswith(expected):
            faults.append(f"{page.url}: {text}")

    page.on("console", lambda message: hear(message.type, message.text))
    page.on("pageerror", lambda error: faults.append(f"{page.url}: {error}"))
    page.on("request", lambda sent: None if _is_own(sent.url, address) else faults.append(f"asked {sent.url}"))


def _is_own(url: str, address: str) -> bool:
    return url.startswith((f"{address}/", "data:", "blob:", "about:"))


@contextmanager
def opened(playwright: Playwright, folder: Path, people: int = 20_000) -> Iterator[Console]:
    """A server over the hospital of the examples, and a browser."""
    allow_publishing(write_example(folder / "hospital", people) / "catalog.toml")
    add_people(folder / "hospital")
    expect.set_options(timeout=PATIENCE)
    browser = playwright.chromium.launch(timeout=PATIENCE, executable_path=CHROMIUM, args=list(_SWITCHES))
    try:
        with serving.served(folder / "hospital", "--workers", "1", "--bucket", "0", "--rate", "1000") as server:
            yield Console(f"http://127.0.0.1:{server.port}", folder / "hospital", browser)
    finally:
        browser.close()


def allow_publishing(catalog: Path) -> None:
    """Alice may publish releases."""
    catalog.write_text(catalog.read_text().replace("[analysts.alice]", "[analysts.alice]\npublish = true\n#", 1))


def add_people(folder: Path) -> None:
    """Somebody of every role, with a password."""
    (folder / STATE).mkdir(mode=0o700, exist_ok=True)
    with Access.open(folder / STATE) as access:
        for name, role in ROLES.items():
            access.add_user(name, role, PASSWORD)


def find_barriers(page: Page) -> list[str]:
    """What axe finds on a page that keeps somebody from using it."""
    return _list_violations(page, {"resultTypes": ["violations"]})


def find_barriers_by_day_and_night(page: Page) -> list[str]:
    """The same for both schemes of colours: in the dark nothing is different but those."""
    found = find_barriers(page)
    page.emulate_media(color_scheme="dark")
    found += _list_violations(page, {"runOnly": _COLOURS, "resultTypes": ["violations"]})
    page.emulate_media(color_scheme="light")
    return found


def _list_violations(page: Page, options: dict[str, Any]) -> list[str]:
    found = Axe().run(page, options=options).response["violations"]
    return [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]]
