"""Tests of a proportion against a number, and of the proportions of two groups."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import sqrt
from typing import ClassVar

import numpy as np

from adomnia.distributions.fieller import fieller
from adomnia.distributions.simulations import Generator, draw_again
from adomnia.distributions.tulap import upper_tail
from adomnia.messages.texts import define_note
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.contract import BY, Arguments, BadArgument, Factor, Frame, Method, Parameter, demand_few_tables
from adomnia.methods.parts.testing.null_distribution import Alternative, NullDistribution, as_alternative, count_draws
from adomnia.methods.parts.testing.report import (
    ADJUST,
    ALTERNATIVE,
    demand_one_row_a_person,
    demand_two_levels,
    returns,
    tabulate_test,
)
from adomnia.noise.afterwards import follow
from adomnia.privacy.expressions import Column, call, text
from adomnia.privacy.keys import Bucket, Label
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Bounds, Floats, Measured, ResultTable

_MOST_POWERFUL = define_note(
    "not_most_powerful",
    "The test is Awan and Slavkovic's, which is the most powerful one where the number of rows is public. Here it is"
    " not: both successes and failures are counted with noise, and the p-value allows for that.",
)


@dataclass(frozen=True)
class OneProportion(SingleRound):
    """The share of successes against a number.

    Method      noisy counts of successes and failures, uniform draws added; under the null hypothesis successes less
                their expected part of both has mean 0 whatever the number of rows. Null: a binomial distribution of the
                noisy number of rows, and the same noise, one of the two summed exactly.
    Guarantee   one measurement at the whole price: a row is a success or a failure.
    Bias        none.
    Cite        Awan & Slavkovic 2018 (the test); Wilson 1927 (the interval, here with noise).
    """

    tag: ClassVar[str] = "OneProportion"
    name: ClassVar[str] = "proportion_test"
    error_columns: ClassVar[tuple[str, ...]] = ("estimate",)
    relation: Relation
    by: tuple[Factor, ...]
    outcome: Factor
    success: int  # the place of the level
    p: Fraction
    alternative: str

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, keys_of(*self.by, self.outcome), Rows()), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        counts = Counts.of(measured[0], self.success, self.by)
        null = float(self.p)
        return tabulate_test(
            [f"share of {_name_success(self.outcome, self.success)}"],
            np.atleast_1d(counts.possible_shares),
            lambda confidence, cells: counts.interval(_simulate(counts, measured[0]).distance(confidence, cells)),
            lambda: float(counts.studentize(null)),
            lambda: _most_powerful(counts, measured[0], null, as_alternative(self.alternative)),
            notes=(_MOST_POWERFUL,),
        )


@dataclass(frozen=True)
class TwoProportions(SingleRound):
    """The difference of the shares of successes in two groups.

    Method      noisy counts of successes and failures in each group; the difference of the shares over the root of its
                variance by sampling and noise. Null: binomial distributions of one share and the noisy numbers of rows,
                fresh noise.
    Guarantee   one measurement at the whole price: a person is in one group.
    Bias        none.
    Cite        Ferrando, Wang & Sheldon 2022 (the simulation).
    """

    tag: ClassVar[str] = "TwoProportions"
    name: ClassVar[str] = "proportion_test"
    error_columns: ClassVar[tuple[str, ...]] = ("estimate",)
    relation: Relation
    by: tuple[Factor, ...]
    outcome: Factor
    success: int
    group: Factor
    alternative: str

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, keys_of(*self.by, self.group, self.outcome), Rows()), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        counts = Counts.of(measured[0], self.success, self.by)
        observed = float(counts.compare())
        difference = float(counts.possible_shares[0] - counts.possible_shares[1])

        @lru_cache(maxsize=1)
        def simulated() -> Counts:
            generator = follow([measured[0].values], "proportion_test of two groups")
            return counts.draw_people(counts.common, measured[0], generator)

        @lru_cache(maxsize=1)
        def null_distribution() -> NullDistribution:
            return NullDistribution(simulated().compare())

        def interval(confidence: float, cells: int) -> Bounds:
            reach = null_distribution().distance(confidence, cells) * sqrt(counts.errors.sum())
            off = simulated().studentize(counts.common)
            own = [NullDistribution(off[:, place]).distance(confidence, cells) for place in range(2)]
            lower, upper = counts.interval(np.array(own))
            ends = np.clip([difference - reach, difference + reach], -1.0, 1.0)
            return np.array([ends[0], *lower]), np.array([ends[1], *upper])

        first, second = self.group.levels
        return tabulate_test(
            [f"{first} - {second}", f"share of {first}", f"share of {second}"],
            np.array([difference, *counts.possible_shares]),
            interval,
            lambda: observed,
            lambda: null_distribution().p_value(observed, as_alternative(self.alternative)),
        )


@dataclass(frozen=True)
class Counts:
    """Noisy numbers of failures and successes on the last axis; groups before it, then draws."""

    counts: Floats
    noise: float
    by: tuple[Factor, ...]

    @classmethod
    def of(cls, measured: Measured, success: int, by: tuple[Factor, ...]) -> "Counts":
        """What was measured, successes last."""
        values = np.asarray(measured.values, dtype=np.float64)
        return cls(values if success else values[..., ::-1], measured.noise.cumulants.variance, by)

    @cached_property
    def rows(self) -> Floats:
        """Rows of each group, at least 1."""
        found: Floats = np.maximum(self.counts.sum(axis=-1), 1.0)
        return found

    @cached_property
    def shares(self) -> Floats:
        """The share of successes; noise may put it beyond 0 and 1."""
        return self.counts[..., 1] / self.rows

    @cached_property
    def possible_shares(self) -> Floats:
        """The share of successes between 0 and 1."""
        return np.clip(self.shares, 0.0, 1.0)

    @cached_property
    def common(self) -> Floats:
        """The share of successes in all groups together."""
        together = self.counts.sum(axis=-2)
        found: Floats = np.clip(together[..., 1] / np.maximum(together.sum(axis=-1), 1.0), 0.0, 1.0)
        return found

    @cached_property
    def errors(self) -> Floats:
        """The squared standard errors of the shares: sampling and noise together."""
        return self._spread(self.shares) / self.rows**2

    def studentize(self, shares: Floats | float) -> Floats:
        """How many standard errors successes are above such shares of all rows. Linear in the noise: no ratio."""
        off = (1 - shares) * self.counts[..., 1] - shares * self.counts[..., 0]
        found: Floats = off / np.sqrt(np.maximum(self._spread(shares), 1e-300))
        return found

    def compare(self) -> Floats:
        """How many standard errors the shares of two groups differ by, if they are the same."""
        common = np.expand_dims(self.common, -1)
        squares = (self._spread(common) / self.rows**2).sum(axis=-1)
        found: Floats = (self.shares[..., 0] - self.shares[..., 1]) / np.sqrt(np.maximum(squares, 1e-300))
        return found

    def interval(self, distances: Floats | float) -> Bounds:
        """The shares that are at most so many standard errors off: Wilson's interval, with noise in the variance."""
        variance = (self.noise, self.noise - self.rows / 2, 2 * self.noise - self.rows)
        lower, upper = fieller(self.counts[..., 1], self.counts.sum(axis=-1), variance, distances)
        told = lower < upper  # elsewhere the share is so far beyond 0 or 1 that none explains it
        lower, upper = (np.clip(np.where(told, *ends), 0.0, 1.0) for ends in ((lower, 0.0), (upper, 1.0)))
        return np.atleast_1d(lower), np.atleast_1d(upper)

    def draw_people(self, shares: Floats | float, measured: Measured, generator: Generator) -> "Counts":
        """What would be measured of groups with so many rows and such shares of successes, many times."""
        draws = count_draws(6, self.by)
        rows = np.maximum(np.rint(self.counts.sum(axis=-1)), 0).astype(np.int64)
        successes = generator.binomial(rows, shares, (draws, *rows.shape))
        exact = np.stack([rows - successes, successes], axis=-1)
        return Counts(exact + draw_again(measured.noise, generator, exact.shape), self.noise, self.by)

    def _spread(self, shares: Floats | float) -> Floats:
        """The variance of the successes that are above their share: of sampling, and of noise in both counts."""
        sampling = self.rows * np.clip(shares, 0.0, 1.0) * np.clip(1 - shares, 0.0, 1.0)
        return np.asarray(sampling + self.noise * ((1 - shares) ** 2 + np.square(shares)))


def _simulate(counts: Counts, measured: Measured) -> NullDistribution:
    """How far off the successes are, in standard errors, of people with the share that was found."""
    generator, shares = follow([measured.values], "proportion_test interval"), counts.possible_shares
    return NullDistribution(counts.draw_people(shares, measured, generator).studentize(shares))


def _most_powerful(counts: Counts, measured: Measured, null: float, alternative: Alternative) -> float:
    """The p-value. Of the two noises the one of larger weight is summed exactly, the other one is drawn."""
    generator = follow([measured.values], "proportion_test")
    failures, successes = counts.counts + generator.uniform(-0.5, 0.5, 2)
    weights, draws = (1 - null, null), count_draws(3, counts.by)
    rows = max(0, round(float(counts.counts.sum())))
    drawn = generator.binomial(rows, null, draws) - rows * null
    other = draw_again(measured.noise, generator, (draws,)) + generator.uniform(-0.5, 0.5, draws)
    shifted = drawn + min(weights) * other
    observed = weights[0] * successes - weights[1] * failures
    above = upper_tail(observed, shifted, 1 / draws, measured.noise, max(weights))
    tail = {"greater": above, "less": 1 - above, "two-sided": 2 * min(above, 1 - above)}[alternative]
    return min(1.0, (1 + draws * max(tail, 0.0)) / (1 + draws))


def build(frame: Frame, arguments: Arguments) -> OneProportion | TwoProportions:
    """The test that the arguments ask for."""
    demand_one_row_a_person(frame, "proportion_test")
    demand_few_tables(arguments["by"], 4)
    outcome, success = _find_success(arguments["column"], arguments["success"])
    group, p, by, alternative = (arguments[name] for name in ("group", "p", "by", "alternative"))
    if group is None:
        return OneProportion(with_values(frame.relation, arguments["column"]), by, outcome, success, p, alternative)
    demand_two_levels(group)
    relation = with_values(frame.relation, arguments["column"], group)
    return TwoProportions(relation, by, outcome, success, group, alternative)


def _find_success(column: Factor, success: str | None) -> tuple[Factor, int]:
    """The outcome with two levels, and which of them is the success: by default the last one."""
    named = [str(level).lower() for level in column.levels]
    if success is not None and success.lower() not in named:
        raise BadArgument("success", f"is no value of {column.name}", f"choose one of {', '.join(named[:20])}")
    if len(named) == 2:
        return column, 1 if success is None else named.index(success.lower())
    if success is None:
        raise BadArgument(
            "column",
            f"must have two values, and {column.name} has {len(named)}",
            "say which one counts: success => '...'",
        )
    level = column.levels[named.index(success.lower())]
    return _is_level(column, level), 1


def _is_level(column: Factor, level: Label) -> Factor:
    if not isinstance(column.key, Column) or not isinstance(level, str):
        raise BadArgument(
            "column",
            f"must have two values, and {column.name} has {len(column.levels)}",
            "write the condition in the bracketed SELECT, such as (SELECT age >= 65 AS old FROM ...)",
        )
    condition = call("=", column.key, text(level))
    return Factor(f"{column.name} = {level}", Bucket(condition, None, condition))


def _name_success(outcome: Factor, success: int) -> str:
    level = outcome.levels[success]
    if level is True:
        return outcome.name
    return f"{outcome.name} = {level}"


METHOD = Method(
    name="proportion_test",
    chapter="testing",
    summary="Tests a proportion, or the difference of the proportions of two groups.",
    parameters=(
        Parameter("column", "factor", "a column of two values, or of more if `success` is given", required=True),
        Parameter("success", "text", "the value that counts; of two values the second one if it is not given"),
        Parameter("p", "number", "the proportion under the null hypothesis", default=Fraction(1, 2), lower=0, upper=1),
        Parameter("group", "factor", "a column of two values: the proportions of the two groups are compared"),
        ALTERNATIVE,
        BY,
        ADJUST,
    ),
    build=build,
    returns=returns("the share of successes, or the difference of shares; below it the share of each group"),
    example="SELECT * FROM proportion_test(people, column => sex, success => 'F', p => 0.5)",
    known_as={"R": "binom.test, prop.test", "SAS": "PROC FREQ / BINOMIAL", "SciPy": "binomtest"},
    notes=("A person must have one row.",),
)
