"""Values of every kind on which functions like to fail, and the ways to apply a function to them."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from itertools import product

from adomnia.privacy.functions.registry import FUNCTIONS
from adomnia.privacy.kinds import Boolean, Day, Moment, Quantity, Text

TINY, HUGE = 5e-324, 1.7976931348623157e308
NUMBERS = [None, 0.0, 0.5, -0.5, 1.0, -1.0, 2.5, -2.5, 7.0, -3.0, 0.1, 1e-300, TINY, -TINY, 709.0, -745.0, 2.0**31]
NUMBERS += [0.49999999999999994, 4503599627370497.5, 2.0**53 + 2, 2.0**63, -(2.0**63), 1e200, HUGE, -HUGE]
TEXTS = [
    None,
    "",
    " ",
    "Ann",
    "ann",
    "  Åse ",
    "%",
    "_",
    "é\n",
    "a\u0301b",
    "12",
    "-1.5e3",
    "1e999",
    "1_000",
    " 7",
    ".5",
]
TEXTS += ["5.", ".", "+", "12\n", "nan", "inf", "0x10", "2024-02-29", "2023-02-29", "0000-01-01", "0001-01-01", "TRUE"]
TEXTS += ["9999-12-31", "2024-2-9", "24-01-01", "infinity", "fAlse", "t", "\u0661", "'", "naïve text of some length"]
DAYS = [None, date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29), date(2023, 12, 31), date(1900, 1, 1)]
DAYS += [date(2020, 12, 28), date(2021, 1, 3), date(1969, 12, 31), date(4, 5, 6)]
MOMENTS = [None, *map(datetime.fromisoformat, ("0001-01-01T00:00:00", "9999-12-31T23:59:59", "1970-01-01T00:00:00"))]
MOMENTS += map(datetime.fromisoformat, ("1969-12-31T23:59:59", "2024-02-29T12:30:45", "2024-10-27T02:30:00"))
MOMENTS += map(datetime.fromisoformat, ("1899-12-31T23:00:00", "2024-03-31T02:59:59", "0004-05-06T07:08:09"))
TRUTHS = [None, True, False]

SAMPLES = {Quantity: NUMBERS, Text: TEXTS, Day: DAYS, Moment: MOMENTS, Boolean: TRUTHS}
KINDS = (Quantity(whole=True), Text(), Day(), Moment(), Boolean())
CONSTANTS = {
    "clamp": [(-1, 1), (0, 0), (Fraction(-5, 2), 10**300)],
    "inside": [(-1, 1), (-(2**31) - 1, 2**31), (0, Fraction(1, 10))],
    "substring": [(1, 0), (1, 2), (2, 1), (3, 2**31 - 1), (2**31 - 1, 5)],
    "right": [(0,), (1,), (2**31 - 1,)],
    "replace": [("n", "mm"), (" ", ""), ("\u0301", "%")],
    "matches": [("\\A[a-zA-Z]+\\z",), ("[^0-9\\x2e]{2,3}",), ("(?:n|\\x25|é)[^\\x0a]*",), ("[\\x00-\U0010ffff]\\z",)],
    "format": [("%Y-%m-%d",), ("%A %a %u, %B %b",), ("%G-W%V %j %%",)],
    "shift months": [(0,), (1,), (-1,), (13,), (119988,), (-119988,)],
    "shift seconds": [(0,), (1,), (-3600,), (315537897599,), (-315537897599,)],
    "shift": [(0,), (1,), (-1,), (3652058,), (-3652058,)],
}


def constant(value):
    if isinstance(value, str):
        return Text()
    exact = Fraction(value)
    return Quantity(exact, exact, whole=exact.denominator == 1)


def result_of(function, kinds, constants):
    return function.result(*kinds, *map(constant, constants))


def applications():
    """Every function with kinds that fit it and, where it wants them, constants."""
    for function in FUNCTIONS.values():
        places = 3 if function.arity is None else function.arity
        free = places - len(function.constants)
        for kinds, constants in product(product(KINDS, repeat=free), CONSTANTS.get(function.name, [()])):
            if result_of(function, kinds, constants) is not None:
                yield function, kinds, constants
