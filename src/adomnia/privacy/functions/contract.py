"""What a row of the table of functions says, and how bounds of results follow from bounds of arguments."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from functools import cached_property
from math import inf, nextafter
from typing import TypeAlias, TypeVar

from adomnia.privacy.kinds import Boolean, Day, Kind, Moment, Quantity, Text

Result: TypeAlias = Callable[..., Kind | None]
Bound = TypeVar("Bound", Fraction, date, datetime)

_LARGEST_DOUBLE = Fraction(2**1024)
_LONG = 1024  # bits
_SPELLING = re.compile(r"\b([A-Z][A-Z0-9_]*)\([a-z](?:, [a-z])*\)")


@dataclass(frozen=True)
class Function:
    """One row of the table. `result` gives the kind of the value, or None where the arguments do not fit.

    Its SQL is the engine's: a row of that engine's dialect, under the same name. `copies` is how often an argument may
    stand there at most, in every dialect, where an engine reads NULLIF as a CASE and BETWEEN as two comparisons.
    `arity` is None for any number of arguments; `constants` are the places where only a constant may stand, `spreads`
    those where a number that is not finite makes the result not finite either. What `chooses` gives one of its
    arguments, or NULL: finite as they are.
    """

    name: str
    written: str
    arity: int | None
    signature: str
    meaning: str
    result: Result
    constants: tuple[int, ...] = ()
    spreads: tuple[int, ...] = ()
    copies: int = 1
    chooses: bool = False

    @cached_property
    def spellings(self) -> tuple[str, ...]:
        """The names by which a question calls it, for those that are called by name."""
        return tuple(_SPELLING.findall(self.written))

    @property
    def takes(self) -> str:
        """What its arguments must be, in words."""
        return self.signature.split(" -> ", maxsplit=1)[0]


def between(lower: Fraction, upper: Fraction, whole: bool = False) -> Quantity:
    """A number between two bounds, unless a double cannot hold them; long fractions are rounded outward."""
    if max(abs(lower), abs(upper)) >= _LARGEST_DOUBLE:
        return Quantity(whole=whole)
    return Quantity(_shortened(lower, -inf), _shortened(upper, inf), whole)


def hull(*kinds: Kind) -> Kind | None:
    """The kind of a value that is one of several: None where they are not alike; texts forget their lists."""
    found: Kind | None = kinds[0]
    for kind in kinds[1:] or kinds:
        found = None if found is None else _joined(found, kind)
    return found


def _joined(left: Kind, right: Kind) -> Kind | None:
    match left, right:
        case Quantity(), Quantity():
            whole = left.whole and right.whole
            return Quantity(_outer(min, left.lower, right.lower), _outer(max, left.upper, right.upper), whole)
        case Day(), Day():
            return Day(_outer(min, left.lower, right.lower), _outer(max, left.upper, right.upper))
        case Moment(), Moment() if left.fits(right):
            lower, upper = _outer(min, left.lower, right.lower), _outer(max, left.upper, right.upper)
            return Moment(lower, upper, left.zone or right.zone)
        case Text(), Text():
            return Text()
    return Boolean() if isinstance(left, Boolean) and isinstance(right, Boolean) else None


def _outer(choose: Callable[[Bound, Bound], Bound], one: Bound | None, other: Bound | None) -> Bound | None:
    return None if one is None or other is None else choose(one, other)


def rising(apply: Callable[[Fraction], Fraction], whole: bool = False) -> Result:
    """The bounds of a function that never falls: its values at the bounds.

    A value that the engine computes may miss them by the last bit; it is clamped where it is added up.
    """

    def result(kind: Kind) -> Kind | None:
        if not isinstance(kind, Quantity):
            return None
        lower, upper = (None if bound is None else apply(bound) for bound in (kind.lower, kind.upper))
        return Quantity(lower, upper, whole)

    return result


def _shortened(bound: Fraction, outward: float) -> Fraction:
    # Products of many constants have as many digits as the question, and greatest common divisors take their time.
    return bound if bound.denominator.bit_length() < _LONG else Fraction(nextafter(float(bound), outward))
