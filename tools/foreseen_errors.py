"""From how many people a method is useful: the errors that its price foresees, as a table.

What is priced is each method's example about the hospital, at epsilon 1, before any data is read. So the table follows
from the code alone, and a test makes it again.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import adomnia
from adomnia.explaining.methods import list_methods
from kit.example import write_example

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adomnia.pricing.bills import Expected, Quote

PEOPLE = (100, 1_000, 10_000, 100_000)
USEFUL = 0.1
_FIRST = ("estimate", "mean")  # the number that an answer is about, where it has one of this name


def render_table() -> str:
    """The table in Markdown, and below it the methods of which nothing is foreseen."""
    lines = [
        "| method | its | " + " | ".join(f"of {people:,}" for people in PEOPLE) + " | useful from |",
        "|---|---|" + "---:|" * (len(PEOPLE) + 1),
    ]
    silent = []
    with tempfile.TemporaryDirectory() as folder, adomnia.open(write_example(Path(folder) / "h", people=10)) as curator:
        price = curator.session("alice").price
        for page in list_methods():
            found = [_foresee(price, page.record["example"], people) for people in PEOPLE]
            if _size(found[-1]) is None:
                silent.append(f"`{page.name}`")
            else:
                name, number = f"[`{page.name}`](#{page.name})", f"`{found[-1].name}`"
                lines.append(f"| {' | '.join([name, number, *map(_write, found), _find_useful(found)])} |")
    return "\n".join([*lines, "", f"No error is foreseen for {', '.join(silent)}."])


def _foresee(price: Callable[..., Quote], question: str, people: int) -> Expected | None:
    """What a price foresees of the number that an answer is about."""
    try:
        outputs = price(question, epsilon=1, rows=people).outputs
    except adomnia.Refusal:  # some methods need a delta
        outputs = price(question, epsilon=1, delta=1e-6, rows=people).outputs
    named = [each for name in _FIRST for each in outputs if each.name == name]
    return next(iter([*named, *outputs]), None)


def _size(found: Expected | None) -> float | None:
    """The error as a part of the number, or as it is where the number is about 0; None where none is foreseen."""
    if found is None or not found.error:
        return None
    return found.error if found.relative is None else found.relative


def _write(found: Expected) -> str:
    size = _size(found)
    if size is None:
        return "not estimable"
    if found.relative is None:
        return f"± {float(f'{size:.2g}'):g}"
    return "100% or more" if size >= 1 else f"{float(f'{100 * size:.2g}'):g}%"


def _find_useful(found: Sequence[Expected]) -> str:
    sizes = zip(PEOPLE, map(_size, found), strict=True)
    enough = (f"{people:,}" for people, size in sizes if size is not None and size <= USEFUL)
    return next(enough, f"more than {PEOPLE[-1]:,}")
