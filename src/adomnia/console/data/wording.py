"""What is said about tables and columns in words: rows, people, amounts."""

from __future__ import annotations

from decimal import Context
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from fractions import Fraction

_DIGITS = Context(prec=12)
_LEAST, _GREATEST = -6, 15  # powers of ten: beyond them numbers are written with an exponent


def count_rows(most: int) -> str:
    """How many rows of a person count.

    >>> count_rows(1), count_rows(1200)
    ('1 row', 'at most 1,200 rows')
    """
    return "1 row" if most == 1 else f"at most {most:,} rows"


def count_columns(number: int) -> str:
    """How many columns there are.

    >>> count_columns(1), count_columns(60)
    ('1 column', '60 columns')
    """
    return "1 column" if number == 1 else f"{number:,} columns"


def cut_text(text: str, most: int) -> str:
    """A text that is no longer than so many characters.

    >>> cut_text("contributions", 8)
    'contrib…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def measure_text(text: str, character: float) -> int:
    """About how wide a text is where a character is so wide: letters of some scripts take two places."""
    return round(character * sum(2 if east_asian_width(letter) in {"W", "F"} else 1 for letter in text))


def show_number(number: Fraction) -> str:
    """A bound or a step, with as many digits as it has and at most twelve.

    >>> from fractions import Fraction
    >>> show_number(Fraction(500000)), show_number(Fraction(1, 4)), show_number(Fraction(10**400))
    ('500,000', '0.25', '1e+400')
    """
    rounded = _DIGITS.divide(number.numerator, number.denominator).normalize(_DIGITS)
    return f"{rounded:,f}" if _LEAST <= rounded.adjusted() <= _GREATEST else f"{rounded:e}"
