"""Quantiles of a population."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import ClassVar, final

import numpy as np

from adomnia.mechanisms.brackets import Brackets
from adomnia.mechanisms.contract import find_alpha
from adomnia.mechanisms.earlier_brackets import EarlierBrackets
from adomnia.mechanisms.quantiles import FINEST_SHARE
from adomnia.noise import Integers
from adomnia.privacy.queries import Aggregate, Query
from adomnia.statistics.brackets import Bracket
from adomnia.statistics.contract import Estimate, Measured
from adomnia.statistics.one_round import OneRound
from adomnia.statistics.quantile import estimate_chosen

# How far from a quantile rows are counted, as parts of the farthest there can be: samples of 100 rows to a million have
# one of these a little farther off than sampling moves a rank.
_LADDER = (0.004, 0.012, 0.04, 0.12, 0.3)


@dataclass(frozen=True)
class PopulationQuantile(OneRound):
    """The value that a share of the population is below or at, in every cell.

    Method      as the quantile of the data itself, with values chosen at shares around its own too and rows counted
                between all of them; each value is tested by the noise of its rank and by how far sampling moves it,
                which depends on the share and the number of rows alone.
    Guarantee   one measurement at the whole price.
    Bias        clamping, and half a step of rounding a value.
    Cite        Thompson 1936 (ranks of a sample); docs/proofs/brackets.md and population.md.
    """

    tag: ClassVar[str] = "PopulationQuantile"
    rules: ClassVar[int] = 2  # as those of its mechanism
    name: ClassVar[str] = "population QUANTILE"
    by: ClassVar[str] = "brackets"
    of_population: ClassVar[bool] = True
    query: Query
    share: Fraction

    def __post_init__(self) -> None:
        shares = self.query.histogram.shares
        if self.share not in shares or len(shares) == 1:
            raise ValueError(f"PopulationQuantile share must be asked for among others, got {self.share} of {shares}.")

    @property
    def operands(self) -> tuple[Aggregate | Fraction, ...]:
        return self.query.aggregate, self.share

    def estimate(self, *measured: Measured) -> Estimate:
        aggregate, mechanism, values = self.query.histogram, measured[0].mechanism, measured[0].values
        assert isinstance(mechanism, Brackets | EarlierBrackets)  # noqa: S101 - as it was asked for
        shape = values.shape[:-1]
        brackets = [self._read(mechanism, each) for each in values.reshape(-1, values.shape[-1])]
        bought = (1 - float(aggregate.confidence)) / 2
        value = np.array([each.estimate(bought) for each in brackets], dtype=np.int64).reshape(shape)

        def ends(confidence: float, cells: int) -> tuple[Integers, Integers]:
            # A sample may lie too low or too high: each end misses half as often as both.
            alpha = find_alpha(confidence, cells) / 2
            found = np.array([each.bounds(alpha) for each in brackets], dtype=np.int64).reshape(*shape, 2)
            return np.minimum(found[..., 0], value), np.maximum(found[..., 1], value)

        found = estimate_chosen(self.query, value, ends, "rows of a sample counted between values chosen by rank")
        return replace(found, about="population")

    def _read(self, mechanism: Brackets | EarlierBrackets, numbers: Integers) -> Bracket:
        """The ranks of one cell, which sampling scatters as the number of successes in so many tries."""
        found = Bracket.read(mechanism, numbers, mechanism.shares.index(self.share))
        return replace(found, scatter=max(found.rows, 1.0) * found.share * (1 - found.share))


@final
@dataclass(frozen=True)
class EarlierPopulationQuantile(PopulationQuantile):
    """The same as the first versions measured it.

    Method      as a quantile of today, with fixed parts of the price.
    Guarantee   one measurement at the whole price, which was paid: only stored answers are read by this.
    Bias        clamping, and half a step of rounding a value.
    Cite        Thompson 1936 (ranks of a sample); docs/proofs/brackets.md and population.md.
    """

    tag: ClassVar[str] = "PopulationQuantile"
    rules: ClassVar[int] = 1
    by: ClassVar[str] = "earlier_brackets"


def with_ladder(query: Query, share: Fraction) -> Query:
    """The query with shares around one share beside it."""
    reach = 2 * sqrt(share * (1 - share))
    steps = [Fraction(max(1, round(part * reach * FINEST_SHARE)), FINEST_SHARE) for part in _LADDER]
    shares = {share, *(share - step for step in steps), *(share + step for step in steps)}
    inside = tuple(sorted(each for each in shares if 0 < each < 1))
    return replace(query, aggregate=replace(query.histogram, shares=inside))
