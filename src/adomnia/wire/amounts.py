"""Exact amounts as text and as JSON numbers: none of them ever passes through a float that would change it."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from math import inf, isfinite
from numbers import Integral
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from adomnia.errors import Refusal
from adomnia.messages.references import Option
from adomnia.messages.texts import Message
from adomnia.pricing.parts import amount
from adomnia.pricing.payment import read_price
from adomnia.privacy.amounts import exact
from adomnia.privacy.events import Concentrated
from adomnia.privacy.filters import Spent
from adomnia.privacy.losses import loss

if TYPE_CHECKING:
    from adomnia.privacy.amounts import Number
    from adomnia.privacy.events import AnyPrice, Event

JSON_SAFE = 2**53  # from here on, a reader whose numbers are doubles would lose digits
_LONGEST = 700  # characters of a fraction that is as large and as fine as amounts may be
_FINEST = 60  # decimal places of an amount; what has more is written as a fraction
_DECIMAL = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,4})?")
_FRACTION = re.compile(r"-?[0-9]{1,400}/[1-9][0-9]{0,399}")
_TEXT = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?$|^-?[0-9]+/[1-9][0-9]*$"


def text_of(amount: Fraction) -> str:
    """The amount, exactly: as a decimal where it is one, else as a fraction.

    >>> text_of(Fraction(1, 8)), text_of(Fraction(1, 3))
    ('0.125', '1/3')
    """
    places, rest = 0, amount.denominator
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest, count = rest // prime, count + 1
        places = max(places, count)
    if rest > 1 or places > _FINEST:
        return str(amount)
    digits = str(abs(amount.numerator) * 10**places // amount.denominator).rjust(places + 1, "0")
    point = f".{digits[-places:]}" if places else ""
    return f"{'-' if amount < 0 else ''}{digits[: len(digits) - places]}{point}"


def amount_of(text: object) -> Fraction:
    """The amount that `text_of` wrote; one that nobody wrote yet is itself."""
    if isinstance(text, Fraction):
        return text
    if not isinstance(text, str) or not (_DECIMAL.fullmatch(text) or _FRACTION.fullmatch(text)):
        raise ValueError(f"Amount must be a number in text, got {text!r}.")
    return Fraction(text)


def write_number(name: str, value: Number) -> float | str:
    """A number of a question for JSON: a float as it stands, everything else as text; a Refusal where it is none."""
    try:
        number = exact(value, "Question", name)
    except ValueError:
        if name in {"epsilon", "rho"}:
            read_price(**{"epsilon": None, "rho": None, name: value})
        why, fix = "is not a finite number of sensible size", Message("write for example ", Option(name, "0.5"))
        raise Refusal(Message(Option(name, str(value))), why, fix, code="bad_price") from None
    match value:
        case float():
            return float(value)
        case Decimal():
            return str(value)
        case Integral() if abs(int(value)) < JSON_SAFE:
            return int(value)
    return str(number)


def read_number(value: object) -> Number:
    """The number of a request: a JSON number, or one in text."""
    match value:
        case str() if len(value) <= _LONGEST and _FRACTION.fullmatch(value):
            return Fraction(value)
        case str() if len(value) <= _LONGEST and _DECIMAL.fullmatch(value):
            return Decimal(value)
        case str():
            raise ValueError("must be a number, or one in text such as 0.5 or 1/3")
    return read_json_number(value)


def read_json_number(value: object) -> int | float | Decimal:
    """A JSON number, whose size the session looks at."""
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool) and not _is_endless(value):
        return value
    raise ValueError("must be a number")


def read_float(value: object) -> float:
    """A JSON number as the nearest float."""
    try:
        return float(read_json_number(value))
    except OverflowError:  # an integer of hundreds of digits
        return inf


def parse_float_exactly(text: str) -> float | Decimal:
    """A number of a JSON text: as a float if that is what was written, else with all of its digits."""
    nearest = float(text)
    try:
        written = Decimal(text)
    except ArithmeticError:
        raise ValueError("The body must hold numbers of sensible size.") from None
    return nearest if isfinite(nearest) and Decimal(repr(nearest)) == written else written


def name_price(price: AnyPrice) -> tuple[str, Fraction]:
    """The currency of a price, epsilon or rho, and how much of it."""
    return "rho" if isinstance(price, Concentrated) else "epsilon", amount(price)


def count_cost(event: Event) -> Spent:
    """What an event costs in whole units, as accounts count it."""
    return Spent().plus(loss(event))


def _is_endless(value: float | Decimal) -> bool:
    return not isinstance(value, int) and not isfinite(value)


_NUMBER_SCHEMA = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": _TEXT, "maxLength": _LONGEST}]}
_EXACT_SCHEMA = {"type": "string", "description": "An exact number: a decimal, or a fraction.", "examples": ["0.5"]}

Amount: TypeAlias = Annotated[
    Any,  # int, float, Decimal or Fraction, as `read_number` gives it
    PlainValidator(read_number),
    WithJsonSchema(_NUMBER_SCHEMA),
    Field(examples=[0.5, "0.5", "1/3"]),
]
ExactText: TypeAlias = Annotated[
    Fraction,
    PlainValidator(amount_of),
    PlainSerializer(text_of),
    WithJsonSchema(_EXACT_SCHEMA),
]
