"""Pages from their templates: whatever is put into one is escaped here, and nowhere else."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path
from string import Template

from starlette.responses import Response

HTML = "text/html; charset=utf-8"
_FOLDER = Path(__file__).parent


def page(template: str, /, status: int = 200, headers: dict[str, str] | None = None, **parts: str) -> Response:
    """A template with its parts, inside the frame that all pages share."""
    inner = _template(template).substitute({key: escape(part) for key, part in parts.items()})
    title = escape(parts.get("title", "Ad Omnia"))
    return Response(_template("frame").substitute(title=title, inner=inner), status, headers, HTML)


@cache
def style() -> bytes:
    """The one stylesheet."""
    return (_FOLDER / "style.css").read_bytes()


@cache
def _template(name: str) -> Template:
    return Template((_FOLDER / f"{name}.html").read_text(encoding="utf-8"))
