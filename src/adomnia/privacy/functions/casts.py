"""From one kind of value to another; what cannot be read as the other kind is NULL."""

from collections.abc import Callable
from fractions import Fraction

from adomnia.privacy.functions.contract import Function
from adomnia.privacy.kinds import Day, Kind, Quantity, Text, Truth

# Engines read numbers and dates in spellings of their own. These are the ones that all read, and read alike.
_DECIMAL = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"
_DATE = "^([1-9][0-9][0-9][0-9]|0[1-9][0-9][0-9]|00[1-9][0-9]|000[1-9])-[0-9][0-9]-[0-9][0-9]$"
_TRUTH = "^([tT][rR][uU][eE]|[fF][aA][lL][sS][eE])$"


def _read(pattern: str, target: str) -> Callable[..., str]:
    return f"TRY_CAST(REGEXP_EXTRACT({{0}}, '{pattern}') AS {target})".format


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
        _from(Truth, _BIT),
        "CAST({0} AS DOUBLE)".format,
    ),
    Function(
        "text as number",
        "CAST(a AS DOUBLE) of a text",
        1,
        "text -> number",
        "the number that is written there in digits; NULL where none is",
        _from(Text, Quantity()),
        _read(_DECIMAL, "DOUBLE"),
    ),
    Function(
        "text as date",
        "CAST(a AS DATE) of a text",
        1,
        "text -> date",
        "the date that is written there like 2024-01-31; NULL where none is",
        _from(Text, Day()),
        _read(_DATE, "DATE"),
    ),
    Function(
        "text as boolean",
        "CAST(a AS BOOLEAN) of a text",
        1,
        "text -> boolean",
        "true or false as written there; NULL where neither is",
        _from(Text, Truth()),
        _read(_TRUTH, "BOOLEAN"),
    ),
    Function(
        "number as text",
        "CAST(a AS VARCHAR) of a whole number",
        1,
        "whole number -> text",
        "its digits; NULL beyond 64 bits",
        _digits,
        "CAST(TRY_CAST({0} AS BIGINT) AS VARCHAR)".format,
    ),
    Function(
        "boolean as text",
        "CAST(p AS VARCHAR)",
        1,
        "boolean -> text",
        "true or false",
        _from(Truth, Text()),
        "CAST({0} AS VARCHAR)".format,
    ),
    Function(
        "date as text",
        "CAST(a AS VARCHAR) of a date",
        1,
        "date -> text",
        "written like 2024-01-31",
        _from(Day, Text()),
        "CAST({0} AS VARCHAR)".format,
    ),
)
