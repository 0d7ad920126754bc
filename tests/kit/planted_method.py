"""A planted method with an argument of every kind, whose table shows what it was given."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest

from adomnia.messages.texts import Note
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.contract import BY, BadArgument, Factor, Method, NumberColumn, Parameter
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import NonNull
from adomnia.statistics.contract import Estimate, Measured, ResultTable

if TYPE_CHECKING:
    from adomnia.privacy.relations import Relation


@dataclass(frozen=True)
class Tally(SingleRound):
    """How many values a column has, said three times."""

    tag: ClassVar[str] = "Tally"
    name: ClassVar[str] = "tally"
    relation: Relation
    by: tuple[Factor, ...]
    column: NumberColumn

    @property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, keys_of(*self.by), NonNull(self.column.value)), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        found = float(measured[0].values)
        half = measured[0].noise.interval(0.95).half_width
        values = np.array([found, -found, np.nan])
        return ResultTable(
            {"term": ("plus", "minus", "nothing"), "place": (1, 2, 3)},
            {"estimate": Estimate(values, lambda *_: (values - half, values + half), "noisy count")},
            (Note("The interval is about the data."),),
            {"kind": "points", "x": "term", "y": "estimate"},
            {"p_value": lambda: (0.25, None, 0.5)},
        )


def build(frame, arguments):
    BUILT.append((frame, arguments))
    if arguments["text"] == "wrong here":
        raise BadArgument("text", "has a wrong word", "leave it out", offset=6)
    column = arguments["column"]
    return Tally(with_values(frame.relation, column.value), arguments["by"], column)


BUILT: list = []
METHOD = Method(
    "tally",
    "describe",
    "Counts values.",
    (
        Parameter("column", "column", "what to count", required=True),
        Parameter("columns", "columns", "more of them"),
        Parameter("factor", "factor", "a factor"),
        Parameter("share", "number", "a share", default=Fraction(1, 2), lower=0, upper=1),
        Parameter("shares", "numbers", "shares"),
        Parameter("places", "integer", "places", default=3, lower=1, upper=10),
        Parameter("side", "choice", "a side", default="both", choices=("both", "left", "right")),
        Parameter("text", "text", "a text"),
        Parameter("formula", "formula", "a formula"),
        Parameter("exact", "boolean", "whether", default=False),
        BY,
    ),
    build,
    {"term": "what", "place": "where", "estimate": "how many", "p_value": "nothing"},
    "SELECT * FROM tally(people, column => salary)",
    {"R": "length"},
)


@pytest.fixture
def tally(monkeypatch):
    """The planted method, as if it were in the registry."""
    registered = {"tally": METHOD}
    monkeypatch.setattr("adomnia.sql.methods.calls.METHODS", registered)
    for module in ("sql.methods.calls", "sql.rows.blocks"):
        monkeypatch.setattr(f"adomnia.{module}.find_method", lambda name: registered.get(name.lower()))
    BUILT.clear()
    return METHOD
