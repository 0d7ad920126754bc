"""Renders pages from templates: whatever is put into one is escaped, unless a template made it itself.

Pages load files of this folder alone, and explain words that not everybody knows.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from functools import cache
from hashlib import sha256
from math import cos, pi, sin
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response

from adomnia.errors import Refusal
from adomnia.privacy.amounts import show_down, show_up

if TYPE_CHECKING:
    from collections.abc import Callable

HTML = "text/html; charset=utf-8"
PART = "x-part"  # the header by which a script asks for one block of a page
_FRAME = "frame.html"
_FOLDER = Path(__file__).parent / "templates"
NOTES = {
    "epsilon": (
        "The price of an answer in privacy. The more is spent, the further the answers can move what somebody believes "
        "about what is hidden: one person, or one row. It is never paid back."
    ),
    "rho": "The price of an answer with Gaussian noise. Many small prices in rho add up to less than in epsilon.",
    "delta": "A small chance with which the bound of epsilon may be exceeded; usually less than one in a million.",
    "interval": "Where the exact answer lies, 19 times in 20. It is about the noise, unless it says population.",
    "noise": "A random number that is added to the exact answer, so that nobody can tell whether one person is in it.",
    "group": "Every declared group comes back, whether or not anybody is in it, so that who appears says nothing.",
    "nothing": "The interval is all that was possible before: too few people for this price.",
    "person": "Whose presence is hidden: everything that one person adds to the data, all their rows together.",
    "row": "Each row is hidden by itself, not each person: somebody with several rows is protected less.",
    "bounds": "Values beyond them are read as the bound. The owner declares them; they are never taken from the data.",
    "cap": "How many rows of one person count at most; more are left out, by chance.",
    "ledger": "The list of everything that was ever paid for. Each entry holds the hash of the one before.",
    "hash": "A fingerprint of an entry and of all before it: if any were changed, it would differ.",
    "replay": "The same question at the same price gets the same answer again, free.",
    "policy": "Who sets the price of a question: the analyst, or the owner by a rule.",
    "made up": "Rows drawn from what the catalog declares, not from the data: good for trying a question out.",
    "public": "A table about nobody: its rows are read exactly, and cost nothing.",
    "coalition": "Analysts who put their answers together. The dataset's budget bounds what they can learn.",
}
_ASSETS_FOLDER = Path(__file__).parent / "static"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
# An address with the version that it names never means another content.
_FOR_EVER = "public, max-age=31536000, immutable"
RADIUS = 7  # of the dots


@dataclass(frozen=True)
class Page:
    """A template, what it is filled with, and the status of the reply."""

    template: str
    filling: dict[str, Any] = field(default_factory=dict)
    status: int = 200


def render(page: Page, part: str | None = None, **frame: Any) -> bytes:  # noqa: ANN401 - whatever its template shows
    """The whole page, or the part of it that a script replaces: a block of its template."""
    filling = {**frame, **page.filling}
    if part is None:
        return _environment().get_template(page.template).render(filling).encode()
    for template in map(_environment().get_template, (page.template, _FRAME)):
        if part in template.blocks:
            return "".join(template.blocks[part](template.new_context(filling))).encode()
    raise Refusal("The part", "is none of this page", "ask for the whole page", code="unknown_route")


def prepare_pages() -> None:
    """Compile all templates and read the files that they refer to, so that the first visitor does not wait for it."""
    environment = _environment()
    for name in environment.list_templates():
        environment.get_template(name)
    address_of_asset("console.css")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {"asset": address_of_asset, "notes": NOTES}
    environment.filters |= FILTERS
    environment.globals["marks"] = environment.get_template("marks.html").module
    return environment


"""By the word: at most 40 words each."""


def show_count(number: float) -> str:
    """A number with separators between thousands.

    >>> show_count(1234567)
    '1,234,567'
    """
    return f"{number:,}"


def percent(share: float) -> str:
    """A share as a length of SVG, which is an attribute and not a style.

    >>> percent(0.125)
    '12.50%'
    """
    return f"{100 * min(max(float(share), 0.0), 1.0):.2f}%"


def show_time(moment: str | None) -> str:
    """A time of the ledger, in UTC, to the minute.

    >>> show_time("2026-11-16T00:37:12.123456+00:00")
    '16 Nov 2026, 00:37'
    """
    return f"{datetime.fromisoformat(moment):%-d %b %Y, %H:%M}" if moment else ""


def _left(amount: Fraction | str) -> str:
    return show_down(Fraction(amount))


def _spent(amount: Fraction | str) -> str:
    return show_up(Fraction(amount))


FILTERS: dict[str, Callable[..., Any]] = {
    "count": show_count,
    "percent": percent,
    "time": show_time,
    "left": _left,
    "spent": _spent,
}


"""The filters of templates. What is left is rounded down, what was spent is rounded up."""


@dataclass(frozen=True)
class Asset:
    """A file, as it is and compressed. Nothing secret is in it, so that its compressed size tells nothing."""

    content: bytes
    compressed: bytes
    media_type: str
    version: str


async def asset(name: str, request: Request) -> Response:
    """One of the files."""
    found = _read_assets().get(name)
    if found is None:
        raise Refusal("The address", "names nothing here", "go back to the start page", code="unknown_route")
    headers = {"Vary": "Accept-Encoding", "ETag": f'"{found.version}"', "Cache-Control": "no-cache"}
    if request.query_params.get("v") == found.version:
        headers["Cache-Control"] = _FOR_EVER
    elif request.headers.get("if-none-match") == headers["ETag"]:  # scripts that scripts import
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(found.compressed, headers=headers, media_type=found.media_type)
    return Response(found.content, headers=headers, media_type=found.media_type)


def address_of_asset(name: str) -> str:
    """Where a page finds a file: its name, and the version of its content."""
    return f"/static/{name}?v={_read_assets()[name].version}"


@cache
def _read_assets() -> dict[str, Asset]:
    return {path.name: _read(path) for path in sorted(_ASSETS_FOLDER.iterdir()) if path.suffix in _TYPES}


def _read(path: Path) -> Asset:
    content = path.read_bytes()
    return Asset(content, gzip.compress(content, mtime=0), _TYPES[path.suffix], sha256(content).hexdigest()[:16])


def cut_slice(x: int, y: int, part: float) -> str:
    """The part of the dot at this place, clockwise from its top.

    >>> cut_slice(10, 10, 0.25)
    'M10 10V3A7 7 0 0 1 17.00 10.00Z'
    """
    end_x, end_y = x + RADIUS * sin(2 * pi * part), y - RADIUS * cos(2 * pi * part)
    return f"M{x} {y}V{y - RADIUS}A{RADIUS} {RADIUS} 0 {int(part > 1 / 2)} 1 {end_x:.2f} {end_y:.2f}Z"
