"""The list of methods, and how one is found by the name that another program has for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.explaining.methods import CHAPTERS, list_methods
from adomnia.methods.registry import METHODS, find_method

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.methods.contract import Method


@dataclass(frozen=True)
class MethodView:
    """A method in the list; `words` are what it is found by, in lower case."""

    name: str
    summary: str
    known_as: tuple[tuple[str, str], ...]
    words: str


@dataclass(frozen=True)
class ChapterView:
    """A chapter, with those of its methods that were searched for."""

    title: str
    methods: tuple[MethodView, ...]


def list_chapters(query: str = "") -> tuple[ChapterView, ...]:
    """All methods that have every word of the query, by their chapters."""
    return tuple(_list_found(query.lower().split()))


def require_method(name: str) -> Method:
    """The method of that name; a Refusal where there is none."""
    method = find_method(name)
    if method is not None:
        return method
    try:
        return METHODS[list_methods().page(name).name]
    except Refusal as cause:
        raise Refusal(cause.what, cause.why, cause.fix, code="unknown_route") from None


def _list_found(words: list[str]) -> Iterator[ChapterView]:
    for chapter, title in CHAPTERS.items():
        views = (_view(method) for method in METHODS.values() if method.chapter == chapter)
        found = tuple(view for view in views if all(word in view.words for word in words))
        if found:
            yield ChapterView(title, found)


def _view(method: Method) -> MethodView:
    known_as = tuple(method.known_as.items())
    said = (method.name, method.name.replace("_", " "), CHAPTERS[method.chapter], method.summary)
    words = " ".join((*said, *(f"{program} {name}" for program, name in known_as)))
    return MethodView(method.name, method.summary, known_as, words.lower())
