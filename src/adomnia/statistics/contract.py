"""What a statistic promises: it asks for noisy measurements, computes on arrays, and never holds data."""

from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import inf
from typing import Any, Literal, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.contract import Noise, Numeric
from adomnia.mechanisms.registry import EARLIER, NUMERIC, find_noise
from adomnia.messages.texts import Note
from adomnia.noise import Integers
from adomnia.privacy.events import AnyPrice, Approximate, Composed, Price
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.keys import Label
from adomnia.privacy.queries import Aggregate, Query
from adomnia.statistics.products import Product

Floats: TypeAlias = NDArray[np.float64]
Bounds: TypeAlias = tuple[Floats, Floats]
Fact: TypeAlias = Label | None
About: TypeAlias = Literal["data", "population", "credible"] | None
"""What an interval holds: the data's value, the population's, or credible values; None: no interval was bought."""


@hashed_once
@dataclass(frozen=True)
class Measure:
    """One measurement that a statistic asks for: what, for how much, and `by` which mechanism of the registry.

    Where none is named it is the noise that the price buys: epsilon buys Laplace noise, rho buys Gaussian.
    """

    query: Query
    price: AnyPrice
    by: str = ""

    @cached_property
    def mechanism(self) -> Numeric:
        """The most exact one that the price buys."""
        # Guesses may be large, and none is equal to another: what scores them would be kept for nothing.
        find = _calibrate if self.query.recurs else _find_mechanism
        return find(self.query, self.price, self.by)

    @property
    def noise(self) -> Noise:
        """What the mechanism adds to the exact integers."""
        return _require_noise(self.mechanism)


def _calibrate(query: Query, price: AnyPrice, by: str) -> Numeric:
    if not by and isinstance(price, Approximate):
        raise TypeError("Measure price with a delta must name the mechanism that it buys, got none.")
    kind = {**NUMERIC, **EARLIER}[by] if by else find_noise(price)  # type: ignore[arg-type]  # as told above
    return kind.for_query(query, price)


def _require_noise(mechanism: Numeric) -> Noise:
    if not hasattr(mechanism, "interval"):
        raise TypeError(f"{type(mechanism).__name__} chooses, and adds no noise.")
    return cast("Noise", mechanism)


_find_mechanism = lru_cache(maxsize=64)(_calibrate)  # equal measures are asked for again and again by a question


@dataclass(frozen=True)
class Measured:
    """The answer to a Measure: what the mechanism released, in its shape.

    `origin`: what it was taken or rounded from, and which part of that it is. Equal parts of one origin hold one noise.
    """

    values: Integers
    mechanism: Numeric
    origin: "tuple[Measured, Hashable] | None" = None

    @property
    def key(self) -> Hashable:
        """The same for all that hold the same noise, different for all whose noise is independent."""
        return (id(self), None) if self.origin is None else (self.origin[0].key, self.origin[1])

    @property
    def noise(self) -> Noise:
        """What the mechanism added to the exact integers."""
        return _require_noise(self.mechanism)

    @cached_property
    def entries(self) -> tuple["Measured", ...]:
        """Of a vector, each entry by itself; the same objects every time: who shares their noise can be seen."""
        places = range(self.values.shape[-1])
        return tuple(Measured(self.values[..., place], self.mechanism, (self, place)) for place in places)


Parts: TypeAlias = tuple[tuple[Measured, Fraction], ...]


@dataclass(frozen=True)
class Derivation:
    """How numbers follow from noisy sums: what the interval of a formula is made of, where it is known.

    `compute` takes any sums in the place of the noisy ones, in their order and of one shape, with axes before those of
    the cells. It returns the numbers, not yet cut at their `limits`, and whatever must be above zero for them to mean
    something: numbers of rows, other divisors. Where these are, the numbers are a smooth function; a root of what may
    be below zero is that of its size, with its sign. Nothing is infinite or no number, whatever the sums.
    """

    sums: tuple[Measured, ...]  # each of noise of its own, or of another key than the others
    compute: Callable[[Sequence[Floats]], tuple[Floats, ...]]
    limits: tuple[float, float]
    rounding: Floats = field(default_factory=lambda: np.zeros(()))  # how far values on their grid may be off


@dataclass(frozen=True)
class Estimate:
    """A result with one number a cell: values, and intervals at any confidence, for one cell or for all of them."""

    values: Floats
    interval: Callable[[float, int], Bounds]  # (confidence, cells to cover at once) -> lower, upper
    method: str
    whole: bool = False  # every value is an integer
    dates: bool = False  # every value is a date, as the number of days since the first of the calendar
    parts: Parts = ()  # noisy integers times constants that add up to it; none where it is computed otherwise
    derivation: Derivation | None = None  # otherwise; None: all that is known of it is its interval
    unsigned: bool = False  # what its parts are noisy values of is never negative
    again: "Callable[[Callable[[Measured], Measured]], Estimate] | None" = None  # the same from measurements so changed
    limits: tuple[float, float] | None = None  # what it can be, where neither parts nor a derivation tell that
    coarsen: "Callable[[tuple[int, ...]], Estimate] | None" = None  # the same over axes, where no measurements tell it
    about: About = "data"
    shortened: bool = False  # whether what some people add was

    @property
    def possible(self) -> tuple[float, float] | None:
        """What the exact one can be, whatever the data; None where that is not known."""
        if self.derivation is not None:
            return self.derivation.limits
        if self.unsigned and self.parts and all(factor >= 0 for _, factor in self.parts):
            return 0.0, inf
        return self.limits


@dataclass(frozen=True)
class ResultTable:
    """A result with rows and columns of its own: labels that are public, and estimates with one number a row.

    `facts` are further columns that follow from what was measured and have no interval, such as p-values: computed when
    they are read, None where one is not estimable. `figure` describes a picture of it, for those who draw, and `model`
    is what predictions need, both as plain data. `product` is what a release publishes. `about` is what intervals are
    about, or those of which column, where others are about the data.
    """

    labels: Mapping[str, tuple[Label, ...]]
    estimates: Mapping[str, Estimate]
    notes: tuple[Note, ...] = ()
    figure: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Callable[[], Sequence["Fact"]]] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    product: Product | None = None
    about: About | Mapping[str, About] = "data"

    def __post_init__(self) -> None:
        sizes = {len(each) for each in self.labels.values()} | {len(each.values) for each in self.estimates.values()}
        names = [*self.labels, *self.estimates, *self.facts]
        if len(sizes) != 1 or len(set(names)) != len(names):
            raise ValueError(f"ResultTable columns must have one length and distinct names, got {sorted(sizes)}.")

    def column(self, name: str) -> Estimate:
        """An estimate, which says what its intervals are about."""
        about = self.about.get(name, "data") if isinstance(self.about, Mapping) else self.about
        return replace(self.estimates[name], about=about)

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(next(iter((*self.labels.values(), *(each.values for each in self.estimates.values())))))


Result: TypeAlias = Estimate | ResultTable
Round: TypeAlias = tuple[Measure, ...]
Steps: TypeAlias = Generator[Round, tuple[Measured, ...], Result]


class Statistic(Protocol):
    """A generator of rounds over one relation. Its cost is known before the first of them.

    The first round measures `queries`, in their order, and a price is split over these: the part of each pays for all
    that follows from it in later rounds. Statistics that share a query, its price and its continuation measure the
    same from there on, so that together they pay for it once.

    A class whose rounds are changed, for whatever reason, has `rules: ClassVar[int]` raised by one, from 1: answers
    are then stored under other identities, and those of before are shown as they were given.
    """

    @property
    def name(self) -> str:
        """What SQL calls it."""
        ...

    @property
    def query(self) -> Query:
        """The rows, their groups and the aggregate that it is about."""
        ...

    @property
    def operands(self) -> tuple[Aggregate | Fraction, ...]:
        """What stands in its brackets."""
        ...

    @property
    def queries(self) -> tuple[Query, ...]:
        """What it starts from."""
        ...

    @property
    def continuations(self) -> tuple[Hashable, ...]:
        """Of each query, in their order, all that decides how it is measured and what follows; None: just noise."""
        ...

    def event(self, price: Price) -> Composed:
        """What all rounds together cost: one part for each query, in their order; equal ones until it is `split`."""
        ...

    def planned_measures(self, price: Price) -> Round:
        """What will be measured, as far as it is known before; of what depends on noise, the extremes."""
        ...

    def steps(self, price: Price) -> Steps:
        """Yield rounds of Measures, be sent one Measured for each, return the result."""
        ...

    def split(self, portions: tuple[Fraction, ...]) -> "Statistic":
        """The same, where each query gets such a portion of the price; they add up to 1."""
        ...

    def map_queries(self, change: Callable[[Query], Query]) -> "Statistic":
        """The same about another query."""
        ...


def name_about(*, population: bool) -> About:
    """What intervals are about that sampling may be a part of."""
    return "population" if population else "data"


def join_about(estimates: Iterable[Estimate]) -> About:
    """What an interval is about that follows from those of others."""
    return "population" if any(each.about == "population" for each in estimates) else "data"
