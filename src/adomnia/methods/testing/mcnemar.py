"""McNemar's test: whether people change more often in one direction than in the other."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import ClassVar

import numpy as np

from adomnia.distributions.fieller import fieller
from adomnia.distributions.simulations import draw_again
from adomnia.messages.texts import define_note
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.contract import BY, Arguments, BadArgument, Factor, Frame, Method, Parameter, demand_few_tables
from adomnia.methods.parts.testing.null_distribution import NullDistribution, as_alternative, count_draws
from adomnia.methods.parts.testing.report import (
    ADJUST,
    ALTERNATIVE,
    demand_one_row_a_person,
    demand_two_levels,
    returns,
    tabulate_test,
)
from adomnia.noise.afterwards import follow
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Bounds, Floats, Measured, ResultTable

_LEAST = 1e-12  # variances that are divided by
_LOST = define_note(
    "changes_lost",
    "So few people differ in the two columns that they are lost in the noise: there is no estimate of the odds.",
)

_ENDLESS = define_note(
    "odds_without_limit",
    "Hardly anybody changed in the other direction: the odds have no upper limit, and no estimate.",
)


@dataclass(frozen=True)
class McNemar(SingleRound):
    """Whether the second value in the first column and the first in the second is as frequent as the reverse.

    Method      a noisy table of two by two; the difference of the counts of those whose values differ, over the root of
                its variance by sampling and noise. Null: either direction is as probable, and fresh noise.
    Guarantee   one measurement at the whole price: a person is in one cell.
    Bias        none.
    Cite        McNemar 1947; Gaboardi, Lim, Rogers & Vadhan 2016 (with noise); Fieller 1954 (the interval).
    """

    tag: ClassVar[str] = "McNemar"
    name: ClassVar[str] = "mcnemar"
    relation: Relation
    by: tuple[Factor, ...]
    column: Factor
    other: Factor
    alternative: str

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, keys_of(*self.by, self.column, self.other), Rows()), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        changes = Changes(measured[0], self.by)
        first, second = self.column.levels
        share, odds = changes.share, changes.odds
        return tabulate_test(
            [f"odds of {second} to {first} against {first} to {second}", f"share of {second} to {first}"],
            np.array([np.nan if odds is None else odds, share]),
            changes.intervals,
            lambda: changes.statistic,
            lambda: changes.null_distribution.p_value(changes.statistic, as_alternative(self.alternative)),
            notes=() if odds is not None else (_LOST,) if changes.lost else (_ENDLESS,),
        )


@dataclass(frozen=True)
class Changes:
    """Noisy counts of a table of two by two values, of which those off its diagonal changed."""

    measured: Measured
    by: tuple[Factor, ...]

    @cached_property
    def _counts(self) -> Floats:
        """People who changed: from the second value to the first, and back."""
        return np.array([self.measured.values[1, 0], self.measured.values[0, 1]], dtype=np.float64)

    @cached_property
    def statistic(self) -> float:
        """The difference of both in standard errors; without noise its square is McNemar's."""
        return float(self._studentize(self._counts, 0.5))

    @cached_property
    def null_distribution(self) -> NullDistribution:
        """The statistic where either direction is as probable."""
        return NullDistribution(self._studentize(self._simulate(0.5, "mcnemar"), 0.5))

    @property
    def share(self) -> float:
        """The share of the first direction among people who changed; a half where these are lost in the noise."""
        return 0.5 if self.lost else float(np.clip(self._counts[0] / self._counts.sum(), 0.0, 1.0))

    @property
    def odds(self) -> float | None:
        """The odds of the first direction; None where these are lost in the noise."""
        return None if self.lost or self._counts[1] < 0.5 else max(float(self._counts[0] / self._counts[1]), 0.0)

    def intervals(self, confidence: float, cells: int) -> Bounds:
        """Intervals of the odds and of the share."""
        lower, upper = self._share_interval(confidence, cells)
        odds = [each / (1 - each) if each < 1 else inf for each in (lower, upper)]
        return np.array([odds[0], lower]), np.array([odds[1], upper])

    def _share_interval(self, confidence: float, cells: int) -> tuple[float, float]:
        """The shares that are at most so many standard errors off; all of them where that has no end."""
        if self.lost:
            return 0.0, 1.0
        (first, second), far = self._counts, self._errors.distance(confidence, cells)
        both = np.asarray(first + second)
        variance = self._noise, self._noise - both / 2, 2 * self._noise - both
        lower, upper = np.clip(fieller(np.asarray(first), both, variance, far), 0.0, 1.0).tolist()
        return lower, upper

    @cached_property
    def _errors(self) -> NullDistribution:
        return NullDistribution(self._studentize(self._simulate(self.share, "mcnemar intervals"), self.share))

    def _studentize(self, counts: Floats, share: float) -> Floats:
        """How many standard errors the counts on the last axis are from that share."""
        first, second = counts[..., 0], counts[..., 1]
        both = np.maximum(first + second, 0.0)
        variance = both * share * (1 - share) + self._noise * ((1 - share) ** 2 + share**2)
        found: Floats = (first * (1 - share) - second * share) / np.sqrt(np.maximum(variance, _LEAST))
        return found

    def _simulate(self, share: float, purpose: str) -> Floats:
        """Counts of as many people who changed, the first direction having that share, with fresh noise."""
        generator, draws = follow([self.measured.values], purpose), count_draws(6, self.by)
        both = max(0, round(float(self._counts.sum())))
        first = generator.binomial(both, share, draws)
        drawn = np.stack([first, both - first], axis=-1)
        found: Floats = drawn + draw_again(self.measured.noise, generator, drawn.shape)
        return found

    @cached_property
    def _noise(self) -> float:
        return self.measured.noise.cumulants.variance

    @property
    def lost(self) -> bool:
        """Whether people who changed may be noise alone."""
        return bool(self._counts.sum() < max(2 * np.sqrt(2 * self._noise), 1.0))


def build(frame: Frame, arguments: Arguments) -> McNemar:
    """The test that the arguments ask for."""
    demand_one_row_a_person(frame, "mcnemar")
    demand_few_tables(arguments["by"], 4)
    column, other = arguments["column"], arguments["other"]
    demand_two_levels(column, "column")
    demand_two_levels(other, "other")
    if column.key == other.key:
        raise BadArgument("other", "is the same as column", "choose another column")
    if column.levels != other.levels:
        raise BadArgument(
            "other",
            f"must have the same two values as {column.name}, in the same order",
            "write conditions, such as column => before = 'ill', other => after = 'ill'",
        )
    return McNemar(with_values(frame.relation, column, other), arguments["by"], column, other, arguments["alternative"])


METHOD = Method(
    name="mcnemar",
    chapter="testing",
    summary="Tests whether people change more often in one direction than in the other (McNemar).",
    parameters=(
        Parameter("column", "factor", "a column of two values", required=True),
        Parameter("other", "factor", "a second column of the same two values", required=True),
        ALTERNATIVE,
        BY,
        ADJUST,
    ),
    build=build,
    returns=returns(
        "the odds of people who have the second value in column and the first in other, against the reverse; below it"
        " their share among people whose values differ"
    ),
    example="SELECT * FROM mcnemar(people, column => age >= 65, other => salary >= 60000)",
    known_as={"R": "mcnemar.test", "SAS": "PROC FREQ / AGREE", "statsmodels": "contingency_tables.mcnemar"},
    notes=("A person must have one row.",),
)
