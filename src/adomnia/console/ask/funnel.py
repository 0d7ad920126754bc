"""The slider of prices: a scale of logarithms, and over it the error of the roughest column, which is a funnel.

The error is known at a few prices and drawn between them by its distribution, which is a power of the price: that is
why it says "about". At the price that is chosen it is exact.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log
from typing import TYPE_CHECKING

from adomnia.console.ask.expectations import show_digits
from adomnia.privacy.amounts import show_down

if TYPE_CHECKING:
    from collections.abc import Sequence

_STEPS = 1000  # of the slider
_SEGMENTS = 50  # of the band
_HEIGHT, _MIDDLE, _ROOM = 76, 38.0, 36.0
_LEAST = {"epsilon": Fraction(1, 20), "rho": Fraction(1, 2000)}


@dataclass(frozen=True)
class PriceScale:
    """Prices from `least` to `most`, on a scale of logarithms."""

    least: Fraction
    most: Fraction

    @classmethod
    def up_to(cls, most: Fraction, currency: str) -> PriceScale:
        """From cheap and rough to all that is left."""
        return cls(min(_LEAST[currency], most / 10), most)

    def place(self, amount: Fraction) -> float:
        """Where a price stands, from 0 to 1."""
        at = (log(amount) - log(self.least)) / (log(self.most) - log(self.least))
        return min(max(at, 0.0), 1.0)

    def at(self, place: float) -> float:
        """The price at a place."""
        return exp(log(self.least) + place * (log(self.most) - log(self.least)))

    def list_points(self, number: int) -> list[Fraction]:
        """Prices at equal distances, ends included, with few digits."""
        inner = [Fraction(f"{self.at(step / (number - 1)):.2g}") for step in range(1, number - 1)]
        return [self.least, *inner, self.most]


@dataclass(frozen=True)
class PriceTick:
    """A price on the axis."""

    place: float
    words: str
    anchor: str


@dataclass(frozen=True)
class Caption:
    """What the slider says: all of it, the column whose error is drawn, and in which groups."""

    says: str
    column: str = ""
    where: str = ""


@dataclass(frozen=True)
class Funnel:
    """The slider and the picture over it; without a `band`, only the slider."""

    least: str
    most: str
    value: int
    place: float
    ticks: tuple[PriceTick, ...]
    says: str
    band: str = ""
    top: float = 0.0
    bottom: float = 0.0
    error: str = ""
    column: str = ""
    where: str = ""
    points: str = "[]"  # for the script: places and errors, to speak while the slider moves
    steps: int = _STEPS
    height: int = _HEIGHT
    middle: float = _MIDDLE

    @property
    def turned(self) -> bool:
        """Whether there is no room for words at the right of the knob."""
        return self.place > 0.7


def draw_funnel(
    scale: PriceScale, amount: Fraction, caption: Caption, errors: Sequence[tuple[Fraction, float]] = ()
) -> Funnel:
    """The slider at an amount; `errors` are those that are known, by their price, the amount's own among them."""
    place, ticks = scale.place(amount), _list_ticks(scale)
    plain = Funnel(show_down(scale.least), show_down(scale.most), round(place * _STEPS), place, ticks, caption.says)
    known = sorted({scale.place(price): error for price, error in errors if error > 0}.items())
    if len(known) < 3:
        return plain
    widest, here = max(error for _, error in known), _between(known, place)
    half = _ROOM * here / widest
    return Funnel(
        **{name: getattr(plain, name) for name in ("least", "most", "value", "place", "ticks", "says")},
        band=_draw_band(known, widest),
        top=round(_MIDDLE - half, 1),
        bottom=round(_MIDDLE + half, 1),
        error=show_digits(here),
        column=caption.column,
        where=caption.where,
        points=json.dumps([[round(at, 4), error] for at, error in known]),
    )


def _draw_band(known: Sequence[tuple[float, float]], widest: float) -> str:
    places = [step / _SEGMENTS for step in range(_SEGMENTS + 1)]
    halves = [_ROOM * _between(known, place) / widest for place in places]
    upper = [f"{1000 * place:.0f} {_MIDDLE - half:.1f}" for place, half in zip(places, halves, strict=True)]
    lower = [f"{1000 * place:.0f} {_MIDDLE + half:.1f}" for place, half in zip(places, halves, strict=True)]
    return f"M{' L'.join([*upper, *reversed(lower)])}Z"


def _between(known: Sequence[tuple[float, float]], place: float) -> float:
    """The error at a place: a power of the price between the two that are known beside it."""
    after = next((at for at, (where, _) in enumerate(known) if where >= place), len(known) - 1)
    (left, first), (right, second) = known[max(after - 1, 0)], known[after]
    if right <= left:
        return second
    share = min(max((place - left) / (right - left), 0.0), 1.0)
    return exp(log(first) + share * (log(second) - log(first)))


def _list_ticks(scale: PriceScale) -> tuple[PriceTick, ...]:
    """Both ends, and round prices between them that leave each other room."""
    steps = (Fraction(step) * Fraction(10) ** power for power in range(-12, 13) for step in (1, Fraction(5, 2), 5))
    least, most = show_down(scale.least), show_down(scale.most)
    ticks, used, end = [PriceTick(0.0, least, "start")], _width(least), 1 - _width(most)
    for price in steps:
        words = show_down(price)
        half = _width(words) / 2
        place = scale.place(price) if scale.least < price < scale.most else 0.0
        if place - half >= used and place + half <= end:
            ticks.append(PriceTick(place, words, "middle"))
            used = place + half
    return (*ticks, PriceTick(1.0, most, "end"))


def _width(words: str) -> float:
    """About how much of the axis a word takes, and a little room."""
    return 0.024 * len(words) + 0.02
