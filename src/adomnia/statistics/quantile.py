"""Quantiles."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, TypeAlias, final

import numpy as np

from adomnia.mechanisms.brackets import Brackets
from adomnia.mechanisms.contract import find_alpha
from adomnia.mechanisms.earlier_brackets import EarlierBrackets
from adomnia.noise import Integers
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Aggregate, Query
from adomnia.statistics.brackets import Bracket
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured
from adomnia.statistics.one_round import OneRound, times

VALUE_ALONE = "value chosen by rank, without an interval"

Ends: TypeAlias = Callable[[float, int], tuple[Integers, Integers]]  # (confidence, cells) -> places of the grid


@dataclass(frozen=True)
class Quantile(OneRound):
    """The value that a share of all values is below or at, NULL left out, in every cell.

    Method      values of the grid are chosen near the quantile by their ranks, and rows between them are counted; the
                interval holds every value whose noisy rank allows for it, the answer is where noisy ranks meet the
                share. Where there are too few rows to tell, the bounds are the interval, and a value chosen by rank is
                the answer. All quantiles of one value in a question are one measurement.
    Guarantee   one measurement at the whole price.
    Bias        the cap on rows per person, clamping, and half a step of rounding a value.
    Cite        McSherry & Talwar 2007; Smith 2011 (by ranks); Kaplan, Schnapp & Stemmer 2022 (several);
                docs/proofs/brackets.md (the interval).
    """

    tag: ClassVar[str] = "BracketedQuantile"
    rules: ClassVar[int] = 2  # as those of its mechanism
    name: ClassVar[str] = "QUANTILE"
    by: ClassVar[str] = "brackets"
    query: Query
    share: Fraction

    def __post_init__(self) -> None:
        _check_share(self.query, self.share)

    @property
    def operands(self) -> tuple[Aggregate | Fraction, ...]:
        return self.query.aggregate, self.share

    def estimate(self, *measured: Measured) -> Estimate:
        aggregate, mechanism, values = self.query.histogram, measured[0].mechanism, measured[0].values
        assert isinstance(mechanism, Brackets | EarlierBrackets)  # noqa: S101 - as it was asked for
        place, shape = aggregate.shares.index(self.share), values.shape[:-1]
        brackets = [Bracket.read(mechanism, each, place) for each in values.reshape(-1, values.shape[-1])]
        bought = 1 - float(aggregate.confidence)
        value = np.array([each.estimate(bought) for each in brackets], dtype=np.int64).reshape(shape)

        def ends(confidence: float, cells: int) -> tuple[Integers, Integers]:
            alpha = find_alpha(confidence, cells)
            found = np.array([each.bounds(alpha) for each in brackets], dtype=np.int64).reshape(*shape, 2)
            # The value may lie outside where less confidence is asked for than was bought.
            return np.minimum(found[..., 0], value), np.maximum(found[..., 1], value)

        return estimate_chosen(self.query, value, ends, "rows counted between values chosen by rank")


@final
@dataclass(frozen=True)
class EarlierQuantile(Quantile):
    """The same as the first versions measured it.

    Method      as a quantile of today, with fixed parts of the price; a value alone where rows were few.
    Guarantee   one measurement at the whole price, which was paid: only stored answers are read by this.
    Bias        the cap on rows per person, clamping, and half a step of rounding a value.
    Cite        McSherry & Talwar 2007; Smith 2011 (by ranks); docs/proofs/brackets.md (the interval).
    """

    tag: ClassVar[str] = "BracketedQuantile"
    rules: ClassVar[int] = 1
    by: ClassVar[str] = "earlier_brackets"


@dataclass(frozen=True)
class PlainQuantile(OneRound):
    """The same without an interval: the declared bounds stand for it, and the whole price buys the value.

    Method      a value of the grid chosen by its rank; several of one value by halving: the middle one first, then
                those below and above it from the rows there.
    Guarantee   one measurement at the whole price.
    Bias        the cap on rows per person, clamping, and half a step of rounding a value.
    Cite        McSherry & Talwar 2007; Smith 2011; Kaplan, Schnapp & Stemmer 2022.
    """

    tag: ClassVar[str] = "PlainQuantile"
    name: ClassVar[str] = "QUANTILE"
    by: ClassVar[str] = "halving"
    query: Query
    share: Fraction

    def __post_init__(self) -> None:
        _check_share(self.query, self.share)

    @property
    def operands(self) -> tuple[Aggregate | Fraction, ...]:
        return self.query.aggregate, self.share

    def estimate(self, *measured: Measured) -> Estimate:
        aggregate = self.query.histogram
        value = measured[0].values[..., aggregate.shares.index(self.share)]

        def ends(_confidence: float, _cells: int) -> tuple[Integers, Integers]:
            return np.full(value.shape, -1), np.full(value.shape, aggregate.values)

        return replace(estimate_chosen(self.query, value, ends, VALUE_ALONE), about=None)


def _check_share(query: Query, share: Fraction) -> None:
    if not 0 < share < 1 or share not in query.histogram.shares:
        raise ValueError(f"Quantile share must be above 0, below 1 and asked for, got {share}.")


def estimate_chosen(query: Query, value: Integers, ends: Ends, method: str) -> Estimate:
    """The estimate of values chosen from a histogram, and ends of their intervals: at the bounds if beyond its grid."""
    aggregate = query.histogram
    domain, kind = aggregate.domain, aggregate.value.kind
    # Each value was rounded to its grid; whole numbers are their own grid.
    rounding = 0.0 if domain.step == 1 and isinstance(kind, Quantity) and kind.whole else float(domain.step) / 2

    def number(place: Integers, beside: float = 0.0) -> Floats:
        found = times(place + domain.grid_lower, domain.step) + beside
        return np.clip(found, float(domain.lower), float(domain.upper))

    def interval(confidence: float, cells: int) -> Bounds:
        if not 0 < confidence < 1:
            raise ValueError(f"Interval confidence must be above 0 and below 1, got {confidence}.")
        low, high = ends(confidence, cells)
        return number(low, -rounding), number(high, rounding)

    inside = np.minimum(np.maximum(value, 0), aggregate.values - 1)
    limits = float(domain.lower), float(domain.upper)
    return Estimate(number(inside), interval, method, whole=domain.step.denominator == 1, limits=limits)
