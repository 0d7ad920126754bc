"""Releases with made-up measurements, whose exact errors are known."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product as combine
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from adomnia.asking.purchase import Outcome
from adomnia.privacy.filters import Left
from adomnia.releases.answering import answer_released
from adomnia.releases.facts import ReleaseFacts
from adomnia.releases.model import Release
from adomnia.session.building import build_answers
from adomnia.sql.reading.released import parse_released
from adomnia.statistics.products import Attribute, Product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.session.answer import Answer
    from adomnia.statistics.products import LinearRelease

NOTHING = Left(Fraction(0), Fraction(0), Fraction(0))
ATTRIBUTES = (
    Attribute("sex", ("f", "m", None)),
    Attribute(
        "age",
        (*(f"{start} to {start + 9}" for start in range(0, 60, 10)), None),
        "integer",
        tuple(start - 0.5 for start in range(0, 70, 10)),
    ),
    Attribute("kids", (0, 1, 2, None), "integer"),
    Attribute("smokes", (False, True, None), "boolean"),
)
ABOUT = {"mechanism": "marginals", "version": 1, "guarantee": "It was made with rho 0.1."}


def made_up_counts(seed_of_counts: int) -> np.ndarray:
    """How many rows each cell of the attributes has."""
    generator = np.random.default_rng(seed_of_counts)
    return generator.integers(0, 20, [len(each) for each in ATTRIBUTES]).astype(float)


def rows_of(counts: np.ndarray) -> list[tuple[dict[str, Any], float]]:
    """The rows of a table of counts, each with how often it occurs; of a bin the first value."""
    values = [
        [None if level is None else 10 * place if each.edges else level for place, level in enumerate(each.levels)]
        for each in ATTRIBUTES
    ]
    names = [each.name for each in ATTRIBUTES]
    cells = zip(combine(*values), counts.ravel().tolist(), strict=True)
    return [(dict(zip(names, row, strict=True)), many) for row, many in cells]


def make_release(
    estimates: LinearRelease | None,
    attributes: tuple[Attribute, ...] = ATTRIBUTES,
    table: pa.Table | None = None,
    **fields: Any,
) -> Release:
    """A release of such measurements, called people."""
    product = Product(attributes, estimates, **fields)
    facts = ReleaseFacts.from_record(ABOUT)
    return Release("people", product, "SELECT * FROM marginals(people)", facts, (), table or pa.table({}))


def ask(text: str, asked: LinearRelease | Release, confidence: float = 0.95) -> Answer:
    """The answer to a question about a release called people."""
    release = asked if isinstance(asked, Release) else make_release(asked)
    select = parse_released(text)
    assert select is not None
    found = answer_released(select, lambda _: release, confidence)
    return build_answers(Outcome([found], None, replayed=False, left=NOTHING))[0]


def tell(text: str, attributes: tuple[Attribute, ...], estimates: LinearRelease) -> list[Any]:
    """The column n of the answer, rounded."""
    return [round(each) for each in ask(text, make_release(estimates, attributes))["n"]]


@dataclass(frozen=True)
class NoisyTable:
    """A table of all columns with independent noise of one variance on every cell; `sets` are measured together."""

    values: np.ndarray
    variance: float
    sets: tuple[frozenset[int], ...] | None = None

    def covers(self, columns: Sequence[int]) -> bool:
        return self.sets is None or any(set(columns) <= each for each in self.sets)

    def count(self, columns: Sequence[int], groups: np.ndarray, number: int) -> tuple[np.ndarray, ...]:
        return self._add(columns, groups, number, np.ones(groups.shape))

    def _add(
        self, columns: Sequence[int], groups: np.ndarray, number: int, weights: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        others = tuple(axis for axis in range(self.values.ndim) if axis not in columns)
        table = self.values.sum(axis=others)
        cells = np.prod([self.values.shape[axis] for axis in others], dtype=float)
        inside = groups >= 0
        found = np.bincount(groups[inside], (weights * table)[inside], minlength=number)
        squares = np.bincount(groups[inside], (weights**2)[inside], minlength=number)
        return found, self.variance * cells * squares


@dataclass(frozen=True)
class WeighedTable(NoisyTable):
    """The same, which also adds up weights of cells."""

    def add(
        self, columns: Sequence[int], groups: np.ndarray, number: int, weights: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        return self._add(columns, groups, number, weights)
