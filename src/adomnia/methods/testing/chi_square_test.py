"""The chi-square test of independence of two factors."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import ClassVar

import numpy as np

from adomnia.distributions.projections import project_shares
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.contract import BY, Arguments, BadArgument, Factor, Frame, Method, Parameter, demand_few_tables
from adomnia.methods.parts.testing.departures import Departures
from adomnia.methods.parts.testing.report import ADJUST, demand_one_row_a_person, returns, tabulate_test
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Bounds, Floats, Measured, ResultTable

MOST_CELLS = 1_000


@dataclass(frozen=True)
class ChiSquareTest(SingleRound):
    """Whether two factors are independent.

    Method      noisy counts of all pairs of values; expected counts from their margins, projected to be shares; the sum
                of (count - expected)**2 / (expected + variance of the noise). Null: a multinomial distribution of the
                product of the margins and the noisy number of rows, and fresh noise.
    Guarantee   one measurement at the whole price.
    Bias        none.
    Cite        Gaboardi, Lim, Rogers & Vadhan 2016.
    """

    tag: ClassVar[str] = "ChiSquareTest"
    name: ClassVar[str] = "chi_square_test"
    relation: Relation
    by: tuple[Factor, ...]
    rows: Factor
    columns: Factor

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, keys_of(*self.by, self.rows, self.columns), Rows()), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        shape = (len(self.rows.levels), len(self.columns.levels))
        spread = sqrt(min(shape) - 1)  # the largest w, which Cramer's V is a share of
        departures = Departures(
            measured[0], lambda counts: _expect(counts, shape), spread, _doubt(measured[0], shape), self.by
        )

        def interval(confidence: float, cells: int) -> Bounds:
            lower, upper = departures.interval(confidence, cells)
            return lower / spread, upper / spread

        return tabulate_test(
            [f"Cramer's V of {self.rows.name} and {self.columns.name}"],
            np.array([departures.effect / spread]),
            interval,
            lambda: departures.statistic,
            lambda: departures.null_distribution.p_value(departures.statistic),
            limits=(0.0, 1.0),
            notes=departures.notes,
        )


def _expect(counts: Floats, shape: tuple[int, int]) -> Floats:
    """The counts that independence expects, given noisy ones on the last axis."""
    table = counts.reshape(*counts.shape[:-1], *shape)
    product = project_shares(table.sum(axis=-1))[..., :, None] * project_shares(table.sum(axis=-2))[..., None, :]
    expected: Floats = np.maximum(counts.sum(axis=-1, keepdims=True), 0.0) * product.reshape(counts.shape)
    return expected


def _doubt(measured: Measured, shape: tuple[int, int]) -> Floats:
    """How far the noise of margins, of which each is so many counts, puts off what is expected in each cell."""
    table = np.asarray(measured.values, dtype=np.float64).reshape(shape)
    rows, columns = project_shares(table.sum(axis=1)), project_shares(table.sum(axis=0))
    squares = shape[1] * columns[None, :] ** 2 + shape[0] * rows[:, None] ** 2
    found: Floats = np.sqrt(measured.noise.cumulants.variance * squares).ravel()
    return found


def build(frame: Frame, arguments: Arguments) -> ChiSquareTest:
    """The test that the arguments ask for."""
    demand_one_row_a_person(frame, "chi_square_test")
    rows, columns = arguments["column"], arguments["other"]
    if rows.key == columns.key:
        raise BadArgument("other", "is the same as column", "choose another factor")
    for argument, factor in (("column", rows), ("other", columns)):
        if len(factor.levels) < 2:
            raise BadArgument(argument, f"must have two values at least, and {factor.name} has one", "choose another")
    cells = len(rows.levels) * len(columns.levels)
    if cells > MOST_CELLS:
        raise BadArgument(
            "other",
            f"makes {cells} cells together with column, and a test has at most {MOST_CELLS}",
            "make fewer groups in the bracketed SELECT",
        )
    demand_few_tables(arguments["by"], cells)
    return ChiSquareTest(with_values(frame.relation, rows, columns), arguments["by"], rows, columns)


METHOD = Method(
    name="chi_square_test",
    chapter="testing",
    summary="Tests whether two factors are independent (chi-square).",
    parameters=(
        Parameter("column", "factor", "one factor", required=True),
        Parameter("other", "factor", "the other factor", required=True),
        BY,
        ADJUST,
    ),
    build=build,
    returns=returns(
        "Cramer's V, corrected for chance: 0 where they are independent, 1 where one follows from the other"
    ),
    example="SELECT * FROM chi_square_test(people, column => city, other => sex)",
    known_as={"R": "chisq.test", "SAS": "PROC FREQ / CHISQ", "SciPy": "chi2_contingency"},
    notes=("A person must have one row.",),
)
