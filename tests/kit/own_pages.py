"""Pages that a test writes itself, under the same policy as those of the server: an element and what it is told."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kit.browsing import intercept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from playwright.sync_api import Page, Route

    from kit.browsing import Console

_PATH = "/account"  # of a real page, whose headers the test's own has
_DOCUMENT = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Own</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/static/console.css"><script type="module" src="/static/{script}"></script></head>
<body><main><h1>Own page</h1>{body}</main></body></html>"""


@contextmanager
def shown(
    console: Console, script: str, body: str, answers: Mapping[str, str] | None = None, **options: Any
) -> Iterator[Page]:
    """A page with some HTML and one of the console's scripts, seen by alice; `answers`: JSON by its address."""
    with console.visit("alice", _PATH, **options) as page:
        for path, text in (answers or {}).items():
            page.route(f"**{path}", _tell(text))
        document = _DOCUMENT.format(script=script, body=body)
        intercept(page, f"**{_PATH}", lambda route: route.fulfill(response=route.fetch(), body=document))
        page.reload()
        yield page
        page.unroute_all(behavior="wait")


def _tell(text: str) -> Callable[[Route], None]:
    return lambda route: route.fulfill(body=text, content_type="application/json")
