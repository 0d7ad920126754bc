"""Quantiles: values of a public grid, chosen by how far their ranks are from the ranks that are wanted."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, log
from typing import ClassVar, Self, final

import numpy as np

from adomnia.mechanisms.contract import PriceKind
from adomnia.mechanisms.draws import Draw, Segment, choose
from adomnia.mechanisms.histograms import Known, Rows, SecretHistogram, count_buckets, run_cells
from adomnia.mechanisms.round_numbers import MOST_BEYOND, RoundNumbers, Target, find_targets, scores
from adomnia.noise import Bits, Integers
from adomnia.noise.discrete import NotDrawableError
from adomnia.privacy.amounts import positive
from adomnia.privacy.enclosures import sqrt_down
from adomnia.privacy.events import BoundedRange, Concentrated, Price, Pure
from adomnia.privacy.kinds import LATER
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Form
from adomnia.privacy.sensitivity import Sensitivity

FINEST_SHARE = 1000  # the greatest denominator of a share
MOST_VALUES = 2**40  # of a grid: far from the end of 64 bits
_SPARE_NATS = 20  # so surely is the level below the last one


class TooManyValuesError(ValueError):
    """A grid has so many values that none of them can be chosen by rank, whatever the price."""


def check_values(values: int, owner: str) -> None:
    """A grid must have a value, and not too many to choose from."""
    if not 1 <= values <= MOST_VALUES:
        raise TooManyValuesError(f"{owner} values must number between 1 and {MOST_VALUES:,}, got {values:,}.")


@final
@dataclass(frozen=True)
class Quantiles:
    """For every target a value of the grid 0, 1, ..., values - 1, all of them at once, in every cell of a histogram.

    Guarantee   (2 * rate * L1 sensitivity)-bounded range, over all targets and cells together.
    Conditions  the sensitivity is that of counting rows; grid, targets and the number of cells are public.
    Noise       P[v_1, v_2, ...] proportional to exp(-rate * max_i distance_i(v_i) / move_i): distances in rows, of
                which one row moves one by at most move_i = max(share_i, 1 - share_i).
    Proof       docs/proofs/quantiles.md.

    >>> Quantiles((Target(Fraction(1, 2), Fraction(0)),), 101, Fraction(1, 4)).event(Sensitivity(l1=1)).epsilon
    Fraction(1, 2)
    """

    tag: ClassVar[str] = "Quantiles"
    prices: ClassVar[tuple[PriceKind, ...]] = (Pure, Concentrated)
    reads: ClassVar[Form] = "histogram"

    targets: tuple[Target, ...]
    values: int
    rate: Fraction
    rounds: RoundNumbers | None = field(default=None, metadata={LATER: True})

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", positive(self.rate, "Quantiles", "rate"))
        if not self.targets or any(not 0 <= t.share <= 1 or t.share.denominator > FINEST_SHARE for t in self.targets):
            raise ValueError(f"Quantiles shares must be from 0 to 1, of denominators up to {FINEST_SHARE}.")
        check_values(self.values, "Quantiles")
        if any(abs(target.beyond) > MOST_BEYOND for target in self.targets):
            raise ValueError(f"Quantiles values beyond the grid must be at most {MOST_BEYOND:,} times those in it.")
        farthest = max(abs(target.offset) * target.share.denominator for target in self.targets) * self._scores[0]
        if not 2**-6 <= 1 / self.part <= 2**48 or farthest > 2**61:  # beyond, some numbers of rows would leave 64 bits
            raise NotDrawableError(f"Quantiles rate must suit ranks of 64 bits, got {float(self.rate):g}.")

    @classmethod
    def for_query(cls, query: Query, price: Price) -> Self:
        """The choice that a price buys for a histogram: the ranks that are asked for depend on how sharp it is."""
        rate = cls.rate_for(query.sensitivity(), price)
        return cls(find_targets(query.histogram, rate), query.histogram.values, rate)

    def shape(self, query: Query) -> tuple[int, ...]:
        return (*query.shape, len(self.targets))

    def spread_evenly(self, rows: int) -> Integers:
        """What would be chosen without chance from rows whose values lie evenly over the grid."""
        ranks = [float(target.share * rows + target.offset) / max(rows, 1) for target in self.targets]
        found: Integers = np.clip(np.rint(np.array(ranks) * (self.values - 1)), -1, self.values).astype(np.int64)
        return found

    @staticmethod
    def rate_for(sensitivity: Sensitivity, price: Price) -> Fraction:
        """The highest rate that costs at most the price: bounded range e is e**2 / 8-zCDP."""
        if not isinstance(price, Pure | Concentrated):
            raise TypeError(f"Quantiles are bought with Pure(epsilon) or Concentrated(rho), got {price}.")
        epsilon = price.epsilon if isinstance(price, Pure) else sqrt_down(8 * price.rho)
        return epsilon / (2 * sensitivity.l1)

    def event(self, sensitivity: Sensitivity) -> BoundedRange:
        return BoundedRange(2 * self.rate * sensitivity.l1)

    def release(self, secret: SecretHistogram, bits: Bits) -> Integers:
        """The chosen values of every cell, a column for each target; some may lie beyond the grid."""
        read = secret.opened_by(self)
        coarse, whole = count_buckets(read, secret.cells, self.values), Segment.whole(self.values)
        chosen = run_cells(
            read,
            self.values,
            coarse,
            lambda cell: Draw(self, Known(self.values, coarse[cell]), whole).near(),
            lambda _, known: choose(self, known, whole, bits),
        )
        return np.array(chosen, dtype=np.int64).reshape(secret.cells, len(self.targets))

    @cached_property
    def _scores(self) -> tuple[int, tuple[int, ...]]:
        return scores([target.share for target in self.targets])

    @cached_property
    def part(self) -> Fraction:
        """The rate of one part of a score."""
        return self.rate / self._scores[0]

    @cached_property
    def stride(self) -> int:
        """So many parts of a score make one level to choose from: few enough that most of its values are accepted."""
        return max(1, int(1 / self.part))

    @cached_property
    def levels(self) -> int:
        """Beyond so many levels lies next to nothing, whatever the data."""
        inside = self.values if self.rounds is None else self.rounds.total
        nats = sum(log(inside + self.values * abs(target.beyond)) for target in self.targets) + _SPARE_NATS
        return ceil(nats / float(self.part * self.stride)) + 1

    def losses(self, lower: Rows, upper: Rows) -> list[Rows]:
        """How far ranks from `lower` to `upper` are from each target, in parts of a score; the last is of all rows."""
        return [_loss(*each, lower, upper) for each in zip(self.targets, self._scores[1], strict=True)]


def _loss(target: Target, parts: int, lower: Rows, upper: Rows) -> Rows:
    one, rows = parts * target.share.denominator, int(upper[-1])
    rank = parts * target.share.numerator * rows + round(target.offset * one)
    if target.share in (0, 1):  # one row moves these scores by a whole row anyway
        rank = min(max(rank, 0), one * rows)
    return np.maximum(0, np.maximum(one * lower - rank, rank - one * upper))
