"""Renders pages from templates: whatever is put into one is escaped, unless a template made it itself."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from adomnia.console.assets import address_of_asset
from adomnia.console.words import FILTERS
from adomnia.errors import Refusal
from adomnia.explaining.glossary import NOTES

HTML = "text/html; charset=utf-8"
PART = "x-part"  # the header by which a script asks for one block of a page
_FRAME = "frame.html"
_FOLDER = Path(__file__).parent / "templates"


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
