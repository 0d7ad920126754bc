"""Goodness of fit: whether the values of a factor have given probabilities (chi-square)."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.contract import BY, Arguments, BadArgument, Factor, Frame, Method, Parameter, demand_few_tables
from adomnia.methods.parts.testing.departures import Departures
from adomnia.methods.parts.testing.report import ADJUST, demand_one_row_a_person, returns, tabulate_test
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Floats, Measured, ResultTable

MOST_CELLS = 1_000
_SLACK = Fraction(1, 1_000)  # by which probabilities may fail to add up to 1: thirds are written as 0.333


@dataclass(frozen=True)
class GoodnessOfFit(SingleRound):
    """Whether a factor has given probabilities.

    Method      noisy counts; the sum of (count - expected)**2 / (expected + variance of the noise). Null: a multinomial
                distribution of these probabilities and the noisy number of rows, and fresh noise.
    Guarantee   one measurement at the whole price.
    Bias        none.
    Cite        Gaboardi, Lim, Rogers & Vadhan 2016; Kifer & Rogers 2017.
    """

    tag: ClassVar[str] = "GoodnessOfFit"
    name: ClassVar[str] = "goodness_of_fit"
    relation: Relation
    by: tuple[Factor, ...]
    column: Factor
    probabilities: tuple[Fraction, ...]

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, keys_of(*self.by, self.column), Rows()), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        chances = np.array([float(each) for each in self.probabilities])

        def expect(counts: Floats) -> Floats:
            expected: Floats = np.maximum(counts.sum(axis=-1, keepdims=True), 0.0) * chances
            return expected

        most = float(np.sqrt(1 / chances.min() - 1))
        doubt = chances * np.sqrt(len(chances) * measured[0].noise.cumulants.variance)
        departures = Departures(measured[0], expect, most, doubt, self.by)
        return tabulate_test(
            [f"effect size w of {self.column.name}"],
            np.array([departures.effect]),
            departures.interval,
            lambda: departures.statistic,
            lambda: departures.null_distribution.p_value(departures.statistic),
            limits=(0.0, most),
            notes=departures.notes,
        )


def build(frame: Frame, arguments: Arguments) -> GoodnessOfFit:
    """The test that the arguments ask for."""
    demand_one_row_a_person(frame, "goodness_of_fit")
    column = arguments["column"]
    levels = len(column.levels)
    if not 2 <= levels <= MOST_CELLS:
        raise BadArgument(
            "column",
            f"must have between 2 and {MOST_CELLS} values, and {column.name} has {levels}",
            "choose another column, or make fewer groups in the bracketed SELECT",
        )
    demand_few_tables(arguments["by"], levels)
    given = arguments["probabilities"] or (Fraction(1, levels),) * levels
    if len(given) != levels:
        raise BadArgument(
            "probabilities",
            f"number {len(given)}, and {column.name} has {levels} values",
            f"give one for each of {', '.join(map(str, column.levels[:20]))}, in that order",
        )
    if min(given) <= 0 or abs(sum(given) - 1) > _SLACK:
        raise BadArgument(
            "probabilities",
            f"must be positive and add up to 1, and add up to {float(sum(given)):g}",
            "divide them by their sum",
        )
    chances = tuple(each / sum(given) for each in given)
    return GoodnessOfFit(with_values(frame.relation, column), arguments["by"], column, chances)


METHOD = Method(
    name="goodness_of_fit",
    chapter="testing",
    summary="Tests whether the values of a factor have given probabilities (chi-square).",
    parameters=(
        Parameter("column", "factor", "the column whose values are counted", required=True),
        Parameter(
            "probabilities", "numbers", "the probability of each value, in their order; equal ones if none are given"
        ),
        BY,
        ADJUST,
    ),
    build=build,
    returns=returns("Cohen's w, corrected for chance: 0 where the probabilities are the given ones"),
    example="SELECT * FROM goodness_of_fit(people, column => city)",
    known_as={"R": "chisq.test(x, p = ...)", "SAS": "PROC FREQ / CHISQ TESTP=", "SciPy": "chisquare"},
    notes=("A person must have one row.",),
)
