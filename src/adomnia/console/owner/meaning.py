"""What an epsilon means to one person, as a picture: of 100 equal chances, how many a guess of 1 can become."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from adomnia.accounting.meaning import posterior
from adomnia.console.rendering import cut_slice
from adomnia.explaining.promises import format_probability
from adomnia.privacy.amounts import show_up

PRIOR = Fraction(1, 100)
_ROW, _STEP = 10, 20


@dataclass(frozen=True)
class ChanceDot:
    """One of a hundred: where it is, whether it was there before, and the part of it that answers can add."""

    x: int
    y: int
    before: bool
    added: bool
    slice: str


@dataclass(frozen=True)
class ChanceMeaning:
    """What a guess of 1 in 100 can become after all that a budget pays for."""

    says: str
    beside: str
    dots: tuple[ChanceDot, ...]


def explain_amounts(epsilon: Fraction, delta: Fraction) -> ChanceMeaning:
    """The meaning of all that a budget of these amounts pays for."""
    chance = posterior(PRIOR, epsilon)
    beside = f", but for a chance of {show_up(delta)}" if delta else ""
    return ChanceMeaning(format_probability(chance), beside, tuple(_draw(place, 100 * chance) for place in range(100)))


def _draw(place: int, chances: float) -> ChanceDot:
    x, y = (_STEP * part + _STEP // 2 for part in (place % _ROW, place // _ROW))
    part = min(max(chances - place, 0.0), 1.0)
    whole = part >= 1
    return ChanceDot(
        x, y, before=place == 0, added=bool(place) and whole, slice=cut_slice(x, y, part) if 0 < part < 1 else ""
    )
