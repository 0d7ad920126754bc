"""How far values lie apart: variances, and standard deviations as their roots."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.distributions.quotients import Quotient
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import NonNull
from adomnia.statistics.contract import Bounds, Derivation, Estimate, Floats, Measured
from adomnia.statistics.moments import (
    ROWS,
    Moments,
    NoisyMoments,
    centre_total,
    multiply_totals,
    query_moments,
    width,
)
from adomnia.statistics.one_round import OneRound
from adomnia.statistics.sum import plain_total

VARIANCES = ("VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP")


@dataclass(frozen=True)
class Variance(OneRound):
    """The variance or standard deviation of a bounded expression's values, NULL left out, in every cell.

    Method      noisy count, sum and sum of squares, counted from the middle of their bounds, a third of the price each.
    Guarantee   the three measurements composed; all else is post-processing.
    Bias        the cap on rows per person, clamping; a variance below zero is zero.
    Cite        Dwork, McSherry, Nissim & Smith 2006 (sums); Fieller 1954 (the interval of a quotient).
    """

    tag: ClassVar[str] = "Variance"
    query: Query
    name: str

    def __post_init__(self) -> None:
        plain_total(self.query, "Variance")
        if self.name not in VARIANCES:
            raise ValueError(f"Variance name must be one of {', '.join(VARIANCES)}, got {self.name}.")

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        return tuple(self._moments.values())

    @property
    def _moments(self) -> dict[str, Query]:
        total = plain_total(self.query, "Variance")
        # The first two are what a mean measures of the same values.
        moments = {"x": centre_total(total), ROWS: NonNull(total.value), "xx": multiply_totals(total, total)}
        return query_moments(self.query, moments)

    def estimate(self, *measured: Measured) -> Estimate:
        return self.from_moments(Moments.of(self._moments, measured))

    def from_moments(self, moments: NoisyMoments) -> Estimate:
        """The spread of x, however its moments were measured."""
        total = plain_total(self.query, "Variance")
        sample = self.name.endswith("SAMP")
        rows = moments.rows(less=int(sample))
        # Half of the values at each bound are the farthest apart: of a sample it may be one at each.
        farthest = width(total) ** 2 / (2 if sample else 4)
        squares = moments.about_means("x", "x")
        variance = Quotient(squares, rows, (rows,), (0.0, farthest), moments.noises)
        rooted = self.name.startswith("STDDEV")

        def compute(sums: Sequence[Floats]) -> tuple[Floats, ...]:
            moved = moments.with_sums(sums)
            rows = moved.rows(less=int(sample)).values
            found = moved.about_noisy_means("x", "x") / np.maximum(rows, 1.0)
            return (np.copysign(np.sqrt(np.abs(found)), found) if rooted else found), rows

        limits = (0.0, farthest**0.5 if rooted else farthest)
        off = squares.rounded / np.maximum(rows.values, 1.0)
        if rooted:  # the root of a + b is at most b / (2 root a) above that of a, and at most the root of b
            off = np.minimum(np.sqrt(off), off / (2 * np.sqrt(np.maximum(variance.values, np.finfo(np.float64).tiny))))
        derivation = Derivation(moments.sums, compute, limits, off)
        if not rooted:
            method = "noisy sums of values and squares / noisy count"
            return Estimate(variance.values, variance.bounds, method, derivation=derivation)

        def interval(confidence: float, cells: int) -> Bounds:
            lower, upper = variance.bounds(confidence, cells)
            return np.sqrt(lower), np.sqrt(upper)

        return Estimate(np.sqrt(variance.values), interval, "root of the noisy variance", derivation=derivation)
