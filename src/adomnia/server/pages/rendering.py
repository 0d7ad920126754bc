"""Renders pages from templates; all values are escaped here, and only here."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path
from string import Template

from starlette.responses import Response

HTML = "text/html; charset=utf-8"
_FOLDER = Path(__file__).parent


def render_page(template: str, /, status: int = 200, headers: dict[str, str] | None = None, **parts: str) -> Response:
    """Render a template with its values, inside the frame that all pages share."""
    inner = _template(template).substitute({key: escape(part) for key, part in parts.items()})
    title = escape(parts.get("title", "Ad Omnia"))
    return Response(_template("frame").substitute(title=title, inner=inner), status, headers, HTML)


@cache
def read_stylesheet() -> bytes:
    """The one stylesheet."""
    return (_FOLDER / "style.css").read_bytes()


@cache
def _template(name: str) -> Template:
    return Template((_FOLDER / f"{name}.html").read_text(encoding="utf-8"))
