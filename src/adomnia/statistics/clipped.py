"""Less noise for the same price, for a longer look at the data: what a person adds is shortened as a whole."""

from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import isqrt, pi, prod, sqrt
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from adomnia.distributions.combinations import round_noise
from adomnia.messages.texts import Note, NoteTemplate
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Composed, Concentrated, Price
from adomnia.privacy.expressions import Expression, call, number
from adomnia.privacy.keys import Bucket
from adomnia.privacy.kinds import Identity
from adomnia.privacy.queries import CLIPPED_PARTS, MOST_CLIPPED, Aggregate, Clip, Query
from adomnia.privacy.relations import OwnValue, PerPerson, Select, Selected, Where
from adomnia.privacy.scans import Rows, Total
from adomnia.statistics.contract import Estimate, Measure, Measured, Result, Round, Statistic, Steps
from adomnia.statistics.located import Located, value_of, with_cells
from adomnia.statistics.one_round import Wrapper
from adomnia.statistics.profile import Contributions

_SHORTENED = NoteTemplate("shortened", "shortened to {lengths} a person: about {seen:.1%}, up to {hidden:.1%} left out")
_PROFILE, _REST = Fraction(1, 10), Fraction(9, 10)  # of the price: for the lengths of vectors, and for themselves
_UNSEEN = 0.05  # how often noise alone may make a level of the profile look inhabited
_SURELY = 0.95  # how surely a profile shows most people
_SPREAD = 3.0  # what a vector loses in all its cells when it loses one unit of length
_LARGEST_SQUARE = Fraction(10**300)
_SQUARES = 2**60  # steps of the largest sum of squares: where those of a profile are finer, they are rounded


_Answers: TypeAlias = Generator[Round, tuple[Measured, ...], tuple[Measured, ...]]


@dataclass(frozen=True)
class _Way:
    """How one measurement is made; `counted`: its vector is shortened by the length of the person's rows."""

    measure: Measure
    counted: bool

    @property
    def aggregate(self) -> Aggregate:
        """What the length is of."""
        return Rows() if self.counted else self.measure.query.aggregate

    @cached_property
    def largest_length(self) -> int:
        """The greatest length there can be."""
        return replace(self.measure.query, aggregate=self.aggregate, clip=None).largest_move or 0

    @property
    def shortens(self) -> bool:
        """Whether there is anything to gain, the integers are small enough, and noise is what is asked for."""
        small = (self.measure.query.largest_move or 0) in range(1, MOST_CLIPPED + 1)
        return self.largest_length > 1 and small and not self.measure.by and self._has_squares

    @property
    def _has_squares(self) -> bool:
        """Whether squares of lengths are numbers of a size that can be counted in."""
        step = self.aggregate.step
        return step**2 >= 1 / _LARGEST_SQUARE and (self.largest_length * step) ** 2 <= _LARGEST_SQUARE

    @property
    def price(self) -> Concentrated:
        if not isinstance(self.measure.price, Concentrated):
            raise TypeError(f"Clipped is bought with Concentrated(rho), got {self.measure.price}.")
        return self.measure.price

    def sought(self) -> Measure:
        """How many people have vectors of what length: one cell for each factor of two of its square."""
        query = replace(self.measure.query, aggregate=self.aggregate, clip=None)
        return Measure(_profile(query, self.largest_length), self.price * _PROFILE)

    def shortened(self, bound: int) -> Measure:
        return Measure(replace(self.measure.query, clip=Clip(bound, self.counted)), self.price * _REST)

    def extremes(self) -> Round:
        """What may be measured, at both ends of what is not known before."""
        if not self.shortens:
            return (self.measure,)
        return self.sought(), self.shortened(1), self.shortened(self.largest_length)


@dataclass(frozen=True)
class _Length:
    """The length that vectors are shortened to, and the share of all rows, or of a sum, that this leaves out.

    `seen` is that of the people whom the profile shows, spread as usual over their cells; `hidden` allows for those too
    whom its noise may hide, spread as far as can be.
    """

    bound: int
    seen: float
    hidden: float


@dataclass(frozen=True)
class Clipped(Wrapper):
    """Another statistic over measurements in which the vector of each person's cells is shortened to a chosen length.

    Method      a tenth of each price buys a noisy histogram of the lengths, by factors of the square root of two; the
                length with the least noise and loss together follows from it; the rest buys the shortened measurement.
                Sums from a centre that belong to a count are shortened by the lengths of people's rows, like the count
                itself, so that both shrink by about one factor; if the centre is near the mean, by their own.
    Guarantee   for each measurement its price: the histogram holds a person once, and the lengths bound the rest.
                Equal measurements of two statistics stay equal, so that they are still paid for once.
    Bias        towards zero by what is shortened, of which the method's text gives an estimate; means hardly, as their
                sum and count shrink together.
    Cite        Dong et al. 2022 (shortening vectors by groups); docs/proofs/clipping.md.
    """

    inner: Statistic

    @property
    def continuations(self) -> tuple[Hashable, ...]:
        return tuple(("clipped", each) for each in self.inner.continuations)

    def event(self, price: Price) -> Composed:
        return self.inner.event(price)

    def planned_measures(self, price: Price) -> Round:
        """With the least and the greatest lengths there can be."""
        return tuple(each for way in self._ways(self.inner.planned_measures(price)) for each in way.extremes())

    def steps(self, price: Price) -> Steps:
        flow, lengths = self.inner.steps(price), dict[_Way, _Length]()
        asked = next(flow)
        while True:
            answers = yield from self._answered(asked, lengths)
            try:
                asked = flow.send(answers)
            except StopIteration as end:
                return _with_method(end.value, _told(lengths))

    def split(self, portions: tuple[Fraction, ...]) -> "Clipped":
        return replace(self, inner=self.inner.split(portions))

    def map_queries(self, change: Callable[[Query], Query]) -> "Clipped":
        return replace(self, inner=self.inner.map_queries(change))

    def _ways(self, asked: Round) -> list[_Way]:
        return [_Way(each, _by_rows(each.query.aggregate) and not isinstance(self.inner, Located)) for each in asked]

    def _answered(self, asked: Round, lengths: dict[_Way, _Length]) -> _Answers:
        """Two rounds for one: first profiles and whatever is not shortened, then the shortened measurements."""
        ways = self._ways(asked)
        first = [way.sought() if way.shortens else way.measure for way in ways]
        seen = yield tuple(first)
        chosen = {way: _shortest(way, found) for way, found in zip(ways, seen, strict=True) if way.shortens}
        if not chosen:
            return seen
        lengths.update(chosen)
        second = (way.shortened(length.bound) for way, length in chosen.items())
        shortened = dict(zip(chosen, (yield tuple(second)), strict=True))
        return tuple(
            _in_units(shortened[way]) if way in shortened else found for way, found in zip(ways, seen, strict=True)
        )


def _with_method(result: Result, note: Note | None) -> Result:
    """The result whose method says what was shortened."""
    if note is None:
        return result
    if isinstance(result, Estimate):
        return replace(result, method=f"{result.method}, {note}", shortened=True)
    return replace(result, notes=(*result.notes, note))


def _by_rows(aggregate: Aggregate) -> bool:
    """By the query alone: what two statistics need is then shortened alike in both, and paid once."""
    return aggregate.centred or (aggregate.counted is not None and isinstance(aggregate.counted.kind, Identity))


def _in_units(measured: Measured) -> Measured:
    """Parts rounded to whole units."""
    values = measured.values.copy()
    values[...] = (measured.values + CLIPPED_PARTS // 2) // CLIPPED_PARTS  # an array again, also where it has no axes
    return Measured(values, round_noise(measured.noise, CLIPPED_PARTS), (measured, None))


def _shortest(way: _Way, profile: Measured) -> _Length:
    """The length of which noise in all cells and loss together are the least."""
    contributions = _contributions(profile)
    if not _shows_most(contributions, profile):  # a length would be a guess, so nothing is shortened
        return _Length(way.largest_length, 0.0, 0.0)
    ladder = {each for below, edge in pairwise(contributions.edges) for each in ((below + edge) // 2 + 1, edge)}
    edges = sorted({min(each, way.largest_length) for each in ladder})
    bounds, cells = np.array(edges, dtype=np.float64), prod(way.measure.query.shape)
    noise = bounds * cells / sqrt(pi * float(way.price.rho * _REST))
    loss, rows = contributions.bias(bounds, way.largest_length), max(contributions.rows, 1.0)
    spread = min(_SPREAD, sqrt(cells))
    best = int(np.argmin(noise + spread * loss))
    seen = spread * float(contributions.dropped(bounds[[best]])[0]) / rows
    return _Length(edges[best], min(1.0, seen), min(1.0, max(seen, sqrt(cells) * float(loss[best]) / rows)))


def _shows_most(contributions: Contributions, profile: Measured) -> bool:
    """Whether at least half of all people there may be are at levels that noise alone does not make."""
    noise = profile.noise.interval(_SURELY).half_width * sqrt(len(profile.values))
    return 2 * sum(contributions.people) >= float(profile.values.sum()) + noise and any(contributions.people)


def _told(lengths: dict[_Way, _Length]) -> Note | None:
    """What was shortened, of the measurements with the most cells: others only helped to make those."""
    most = max((prod(way.measure.query.shape) for way in lengths), default=0)
    told = {way: length for way, length in lengths.items() if prod(way.measure.query.shape) == most}
    if not told:
        return None
    words = dict.fromkeys(_in_words(way, length.bound) for way, length in told.items())
    seen, hidden = max(length.seen for length in told.values()), max(length.hidden for length in told.values())
    return _SHORTENED(lengths=" and ".join(words), seen=seen, hidden=hidden)


def _contributions(profile: Measured) -> Contributions:
    """What a profile shows: at level j are the lengths of which the square is at least 2**j and below 2**(j + 1)."""
    levels, deviation = len(profile.values), profile.noise.continuous.deviation
    unseen = deviation * NormalDist().inv_cdf(1 - _UNSEEN / levels)
    people = (float(found) if found >= unseen else 0.0 for found in profile.values)
    edges = (0, *(isqrt(2 ** (level + 1) - 2) + 1 for level in range(levels)))
    return Contributions(edges, tuple(people), unseen, deviation * sqrt(2 / pi))


def _in_words(way: _Way, bound: int) -> str:
    if way.aggregate.adds_up:
        return f"a sum of {float(bound * way.aggregate.step):,.4g}"
    return f"{bound:,} {'row' if bound == 1 else 'rows'}"


def _profile(query: Query, reach: int) -> Query:
    """People by the length of what they have in all cells: the level of a length is the logarithm of its square.

    It is found by comparisons, which every engine makes alike, and not by LOG2; who has nothing is at no level.
    """
    aggregate = query.aggregate
    step = aggregate.step
    entries = _entries(query, Numbers(-reach * step, reach * step, step))
    entry = entries.columns[-1]
    rounded = step**2 * max(1, reach**2 // _SQUARES)
    squares = Total(call("*", entry, entry), Numbers(0, (reach * step) ** 2, rounded))
    lengths = PerPerson(entries, (), (OwnValue("n", squares),))
    length, top = _squared(lengths.columns[-1], step), (reach**2).bit_length() - 1
    cases: list[Expression] = []
    for place in range(top):
        cases += [call("<", length, number(2 ** (place + 1))), number(place)]
    some = Where(lengths, call(">", length, number(0)))
    leveled = Select(some, (Selected("level", call("case", *cases, number(top))),))
    level = leveled.columns[-1]
    return Query(leveled, (Bucket(level, Numbers.integers(0, top), level),), Rows())


def _entries(query: Query, domain: Numbers) -> PerPerson:
    """What each person has in each cell."""
    keyed = enumerate(query.value_keys)
    selected = [Selected(f"k{place}", value_of(key), not isinstance(key, Bucket)) for place, key in keyed]
    keys, aggregate = len(selected), query.additive
    assert aggregate is not None  # noqa: S101 - nothing else is shortened
    selected += [Selected("x", each) for each in aggregate.expressions]
    select = Select(with_cells(query), tuple(selected))
    aggregate = aggregate.map_expressions(lambda _: select.columns[-1])
    outputs = tuple(Selected(column.name, column) for column in select.columns[:keys])
    return PerPerson(select, outputs, (OwnValue("v", aggregate, domain),))


def _squared(length: Expression, step: Fraction) -> Expression:
    """Squares in steps."""
    return length if step == 1 else call("/", length, number(step**2))
