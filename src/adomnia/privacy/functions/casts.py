"""From one kind of value to another; what cannot be read as the other kind is NULL."""

from collections.abc import Callable
from fractions import Fraction

from adomnia.privacy.functions.contract import Function
from adomnia.privacy.kinds import Boolean, Day, Kind, Quantity, Text


def _from(source: type[Kind], target: Kind) -> Callable[[Kind], Kind | None]:
    return lambda kind: target if isinstance(kind, source) else None


def _digits(kind: Kind) -> Kind | None:
    return Text() if isinstance(kind, Quantity) and kind.whole else None


_BIT = Quantity(Fraction(0), Fraction(1), whole=True)

CASTS = (
    Function(
        "boolean as number",
        "CAST(p AS INTEGER)",
        1,
        "boolean -> number",
        "1 for true, 0 for false",
        _from(Boolean, _BIT),
    ),
    Function(
        "text as number",
        "CAST(a AS DOUBLE) of a text",
        1,
        "text -> number",
        "the number that is written there in digits; NULL where none is",
        _from(Text, Quantity()),
    ),
    Function(
        "text as date",
        "CAST(a AS DATE) of a text",
        1,
        "text -> date",
        "the date that is written there like 2024-01-31; NULL where none is",
        _from(Text, Day()),
    ),
    Function(
        "text as boolean",
        "CAST(a AS BOOLEAN) of a text",
        1,
        "text -> boolean",
        "true or false as written there; NULL where neither is",
        _from(Text, Boolean()),
    ),
    Function(
        "number as text",
        "CAST(a AS VARCHAR) of a whole number",
        1,
        "whole number -> text",
        "its digits; NULL beyond 64 bits",
        _digits,
        copies=2,
    ),
    Function(
        "boolean as text",
        "CAST(p AS VARCHAR)",
        1,
        "boolean -> text",
        "true or false",
        _from(Boolean, Text()),
    ),
    Function(
        "date as text",
        "CAST(a AS VARCHAR) of a date",
        1,
        "date -> text",
        "written like 2024-01-31",
        _from(Day, Text()),
    ),
)
