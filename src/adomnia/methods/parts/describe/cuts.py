"""Quantiles of a column, with intervals that hold on ties and gaps: values are chosen by rank, rows counted between.

First three values are chosen for every quantile: its own, and one on each side as many rows away as its interval will
reach. Then cuts are laid around these, and the rows between all cuts are counted. T(e) = rows below the edge e - share
of all rows tells on which side of e the quantile lies, up to noise and, for that of the population, the sampling of a
share. Edges are tested from the outside in, for each end by itself: an end is wrong only if the first edge beyond the
quantile passes, and each has half of what the confidence leaves open. Only ranks and the distribution of T are used.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import ceil, prod
from typing import Any

import numpy as np

from adomnia.distributions.margins import deviations
from adomnia.mechanisms.contract import find_alpha
from adomnia.mechanisms.quantiles import FINEST_SHARE
from adomnia.methods.contract import BadArgument, Factor, NumberColumn
from adomnia.noise import Integers
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.expressions import Expression, call, number, text
from adomnia.privacy.keys import Bucket, Key, key_cells, key_values
from adomnia.privacy.kinds import Boolean, Quantity, Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Histogram, Rows
from adomnia.statistics.contract import Floats, Measure, Measured

_STEP = Fraction(1, FINEST_SHARE)
_FARTHEST = Fraction(3, 5)  # of the rows beyond a quantile may lie between it and the value beside it
_BESIDE = Fraction(2, 5)  # of the rows between two quantiles
# Of the cuts, around where an end of the interval will be: in the scale of a choice, or in parts of the way there.
_PLACES = (-1.0, -0.2, 0.6, 1.5, 3.0, 6.0)
_FAR = 5.0  # and one so many times as far as the last, in case that these are too near
_FINE = 0.08
_BLURS = 2.5  # the values beside a quantile are chosen so many scales of a choice away, at least
_MOST_CUT = 150  # quantiles of all groups
EDGES = 2 * len(_PLACES) + 4  # of each quantile


@dataclass(frozen=True)
class Cutting:
    """Which quantiles of which value are asked for, and the parts of the price."""

    relation: Relation
    by: tuple[Key, ...]
    value: Expression
    domain: Numbers
    shares: tuple[Fraction, ...]
    population: bool
    confidence: Fraction
    choosing: Price
    counting: Price

    def choose(self, rows: Floats) -> Measure:
        """The choice of three values for each quantile in every cell, of about so many rows."""
        far = np.minimum(np.maximum(self._reach(rows), _BLURS * self._blur(rows)), 1.0)
        aside = [
            Fraction(round(float(each) * FINEST_SHARE), FINEST_SHARE)
            for each in far.reshape(-1, len(self.shares)).mean(axis=0)
        ]
        ends = [Fraction(0), *self.shares, Fraction(1)]
        threes: list[Fraction] = []
        for place, share in enumerate(self.shares):
            below, above = (share - ends[place], ends[place + 2] - share)
            last = place == 0, place == len(self.shares) - 1
            sides = [
                _aside(aside[place], gap * (_FARTHEST if outer else _BESIDE))
                for gap, outer in zip((below, above), last, strict=True)
            ]
            threes += [share - sides[0], share, share + sides[1]]
        return self.choose_at(tuple(threes))

    def choose_at(self, shares: tuple[Fraction, ...]) -> Measure:
        """The choice of one value for each of these shares in every cell."""
        histogram = Histogram(self.value, self.domain, shares, self.confidence)
        return Measure(Query(self.relation, self.by, histogram), self.choosing, "halving")

    def _reach(self, rows: Floats) -> Floats:
        """How far from each quantile its interval will reach, as a share of the rows; in every cell."""
        many = np.maximum(np.asarray(rows, dtype=np.float64), 1.0)[..., None]
        shares = np.array([float(each) for each in self.shares])
        noise = self.count_variance * (EDGES * len(shares) + 1) / 4
        sampled = many * shares * (1 - shares) * self.population
        sure = deviations(np.ones(1), np.zeros(1), find_alpha(float(self.confidence), 1))
        return np.asarray((sure * np.sqrt(sampled + noise) + 1) / many)

    def _blur(self, rows: Floats) -> Floats:
        """How far a choice by rank is off, as a share of the rows; in every cell."""
        levels = (3 * len(self.shares)).bit_length()
        histogram = Histogram(self.value, self.domain, (Fraction(1, 2),), self.confidence)
        choice = Measure(Query(self.relation, self.by, histogram), self.choosing / levels, "halving").mechanism
        many = np.maximum(np.asarray(rows, dtype=np.float64), 1.0)[..., None]
        return np.asarray(1 / (float(choice.rate) * many))  # type: ignore[attr-defined]  # of Halving

    @cached_property
    def count_variance(self) -> float:
        """The variance of the noise of one count."""
        return Measure(Query(self.relation, self.by, Rows()), self.counting).noise.continuous.cumulants.variance

    def lay(self, chosen: Measured, rows: Floats) -> Integers:
        """Edges in every cell, in rising order: those of all quantiles together."""
        asked = chosen.mechanism.shares  # type: ignore[attr-defined]
        sides = np.array(
            [
                [float(s - low), float(high - s)]
                for low, s, high in zip(asked[::3], asked[1::3], asked[2::3], strict=True)
            ]
        )
        reach = self._reach(rows)
        apart = np.maximum(self._blur(rows), _FINE * reach)
        values = chosen.values.reshape(*chosen.values.shape[:-1], len(self.shares), 3).astype(np.float64)
        low, middle, high = np.moveaxis(values, -1, 0)
        # Grid steps a share of rows: of each side by itself, and of both, in case that one was chosen too near.
        both = (high - low) / sides.sum(axis=1)
        below, above = (((middle - low) / sides[:, 0] + both) / 2, ((high - middle) / sides[:, 1] + both) / 2)
        edges = [middle, middle + 1]
        ways = [np.maximum(reach + place * apart, 0.0) for place in _PLACES]
        for far in (*ways, _FAR * ways[-1]):
            edges.append(np.floor(middle - far * below))
            edges.append(np.ceil(middle + far * above) + 1)
        laid = np.stack(edges, axis=-1).reshape(*values.shape[:-2], -1)
        return np.asarray(np.sort(np.clip(laid, 0, self.domain.width + 1), axis=-1), dtype=np.int64)

    def count(self, edges: Integers) -> Measure:
        """The numbers of rows between edges, in every cell."""
        cut = _cut(self.by, edges.tolist(), self._place)
        cells = Bucket(cut, Numbers.integers(0, edges.shape[-1]), cut)
        return Measure(Query(self.relation, (*self.by, cells), Rows()), self.counting)

    def _place(self, edges: Sequence[int]) -> Expression:
        """Between which edges a value lies."""
        first, step = self.domain.grid_lower, self.domain.step
        limits = [(first + edge - Fraction(1, 2)) * step for edge in edges]  # values are rounded to the nearest step
        pairs = ((call("<", self.value, number(limit)), number(place)) for place, limit in enumerate(limits))
        return call("case", *(part for pair in pairs for part in pair), number(len(edges)))

    def beside(self, counted: Query, key: Key) -> Query:
        """The same counts, apart by a further key, which comes first."""
        return replace(counted, keys=(*self.by, key, counted.keys[-1]))


def _cut(by: Sequence[Key], edges: list[Any], place: Callable[[Sequence[int]], Expression]) -> Expression:
    """The places of values between the edges of the cell that their row is in."""
    if not by:
        return place(edges)
    parts = [_cut(by[1:], each, place) for each in edges]
    conditions = [_up_to(by[0], level) for level in range(len(parts) - 1)]
    return (
        call("case", *chain.from_iterable(zip(conditions, parts[:-1], strict=True)), parts[-1])
        if conditions
        else parts[0]
    )


def _up_to(key: Key, level: int) -> Expression:
    """Whether a row that is in no earlier cell of a key is in this one."""
    value = key.value if isinstance(key, Bucket) else key
    label = key_values(key)[level]
    if isinstance(value.kind, Boolean):
        return call("not", value)
    if isinstance(value.kind, Text):
        return call("=", value, text(str(label)))
    step = key.among.step if isinstance(key, Bucket) and isinstance(key.among, Numbers) else Fraction(1)
    return call("<", value, number((key_cells(key)[level] + Fraction(1, 2)) * step))


def _aside(wanted: Fraction, most: Fraction) -> Fraction:
    """A share that is a whole number of the finest ones, at least one."""
    return max(_STEP, min(wanted, Fraction(int(most * FINEST_SHARE), FINEST_SHARE)))


def check_cells(by: Sequence[Factor], quantiles: int) -> None:
    """Refuse so many groups that the statement which cuts each of them in its own way would be too long."""
    groups = prod(len(factor.levels) for factor in by)
    if groups * quantiles > _MOST_CUT and by:
        why = f"makes {groups:,} groups of {quantiles} quantiles each, more than {_MOST_CUT} in all"
        raise BadArgument("by", why, "name fewer columns, or choose rows with WHERE and ask for the groups in turn")


def is_whole(value: Expression, domain: Numbers) -> bool:
    """Whether values are whole numbers, which are their own grid."""
    return domain.step == 1 and isinstance(value.kind, Quantity) and value.kind.whole


@dataclass(frozen=True)
class EqualBins:
    """Equal parts of a range, each without its lower and with its upper end; the first has both ends.

    Whole numbers are never divided: there are fewer bins where the range has fewer values, and each ends at one.
    """

    column: NumberColumn
    wanted: int

    @property
    def width(self) -> Fraction:
        """How wide each is, but for the last one of whole numbers, which may be narrower."""
        domain = self.column.domain
        if is_whole(self.column.value, domain):
            return Fraction(max(1, ceil(Fraction(domain.width + 1, self.wanted))))
        return (domain.upper - domain.lower) / self.wanted

    @property
    def _start(self) -> Fraction:
        """The lower end of the first one; of whole numbers, just below the first."""
        domain = self.column.domain
        return Fraction(domain.grid_lower - 1) if is_whole(self.column.value, domain) else domain.lower

    @property
    def count(self) -> int:
        """How many there are."""
        return ceil((self.column.domain.upper - self._start) / self.width)

    @property
    def edges(self) -> tuple[Fraction, ...]:
        """All ends, one more than there are bins."""
        inner = (self._start + place * self.width for place in range(1, self.count))
        return (self.column.domain.lower, *inner, self.column.domain.upper)

    @property
    def ends(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Of each bin both ends, as they are told: of whole numbers the first and the last that it holds."""
        edges, whole = self.edges, is_whole(self.column.value, self.column.domain)
        first = (self._start + 1 + place * self.width for place in range(self.count))
        return tuple(zip(first if whole else edges[:-1], edges[1:], strict=True))

    @property
    def key(self) -> Bucket:
        """The number of the bin that a value is in, from 1 on; values beyond the range are in the first or the last."""
        place = call("ceil", call("/", call("-", self.column.value, number(self._start)), number(self.width)))
        return Bucket(place, Numbers.integers(1, self.count), place)
