"""What an exhibit of the gallery is: a page of numbers beside those of a paper, and a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from unittest import mock

import pandas as pd

import adomnia
from kit.bits import SeededBits

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from adomnia.session.own_session import OwnSession
    from exhibits.drawing import Picture

PAPERS = {
    "statistics": "Dwork & Smith 2009, *Differential Privacy for Statistics: What we Know and What we Want to Learn*",
    "negative": "Dwork 2011, *Differential Privacy and the Power of (Formalizing) Negative Thinking*",
    "strengths": "Wright & Rumsey, *The Strengths, Weaknesses and Promise of Differential Privacy as a "
    "Privacy-Protection Framework*",
    "theory": "Smith 2008, *Integrating Differential Privacy with Statistical Theory* (slides)",
    "notes": "MIT lecture notes, *Differential Privacy* (lecture 21)",
}

Verdict = Literal["agrees", "corrected", ""]
Results = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Row:
    """One number: what it is, what the paper prints, what we compute, and whether both agree."""

    what: str
    printed: str
    ours: str
    verdict: Verdict = ""

    @classmethod
    def compare(cls, what: str, printed: float, ours: float, digits: str = ".3g") -> Row:
        """A row whose verdict is whether our number, written as the paper writes its own, is the same."""
        same = f"{printed:{digits}}" == f"{ours:{digits}}"
        return cls(what, f"{printed:,{digits}}", f"{ours:,{digits}}", "agrees" if same else "corrected")


@dataclass(frozen=True)
class Page:
    """What one exhibit says. `beyond` is what we have to add that no paper printed, in Markdown."""

    shows: str
    rows: tuple[Row, ...]
    why: str
    how: str
    picture: Picture
    beyond: str = ""

    @property
    def verdict(self) -> str:
        """Agrees, or how many of its numbers are corrected."""
        wrong = sum(row.verdict == "corrected" for row in self.rows)
        return f"{wrong} corrected" if wrong else "agrees"


@dataclass(frozen=True)
class Simulation:
    """What takes too long for a test: its results are kept, and a test draws the first few repetitions of some again.

    `run` takes the name of a case and a number of repetitions; the first few of many are the same as few.
    """

    run: Callable[[str, int], dict[str, float]]
    cases: tuple[str, ...]
    repetitions: int
    few: int
    quick: str  # the case that a test draws again


@dataclass(frozen=True)
class Exhibit:
    """One page of the gallery: `build` makes it from what was simulated, if anything was."""

    name: str
    title: str
    paper: str
    place: str
    build: Callable[[Results], Page]
    simulation: Simulation | None = field(default=None)


@contextmanager
def protect_people(seed: str, values: Mapping[str, np.ndarray], **declared: Any) -> Iterator[OwnSession]:  # noqa: ANN401
    """A session of `adomnia.protect` whose noise follows from a seed, as only tests and this gallery may have it."""
    with mock.patch("adomnia.session.own_tables.SystemBits", return_value=SeededBits(seed)):
        session = adomnia.protect(pd.DataFrame(values), unit="row", **declared)
    with session:
        yield session


def tabulate(head: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    """A table in Markdown: words to the left, all other columns to the right."""
    rule = "|---|" + "---:|" * (len(head) - 1)
    return "\n".join([_line(head), rule, *map(_line, lines)]) + "\n"


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"
