"""Functions of text. They see characters (code points), and spaces are U+0020 alone."""

from fractions import Fraction

from adomnia.privacy.functions.contract import Function
from adomnia.privacy.kinds import LONGEST_TEXT, Kind, Quantity, Text, Truth

_LONGEST = 2**31 - 1


def _text(kind: Kind) -> Kind | None:
    return Text() if isinstance(kind, Text) else None


def _texts(left: Kind, right: Kind) -> Kind | None:
    return Text() if isinstance(left, Text) and isinstance(right, Text) else None


def _matches(left: Kind, right: Kind) -> Kind | None:
    return Truth() if _texts(left, right) else None


def _length(kind: Kind) -> Kind | None:
    match kind:
        case Text(values=tuple() as values):
            lengths = [Fraction(len(value)) for value in values]
            return Quantity(min(lengths), max(lengths), whole=True)
        case Text():
            return Quantity(Fraction(0), None, whole=True)
    return None


def _part(kind: Kind, start: Kind, length: Kind) -> Kind | None:
    return _text(kind) if _places(start, least=1) and _places(length) else None


def _end(kind: Kind, length: Kind) -> Kind | None:
    return _text(kind) if _places(length) else None


def _places(kind: Kind, least: int = 0) -> bool:
    """Whether a constant is a number of characters, or the place of one."""
    return isinstance(kind, Quantity) and kind.whole and kind.lower is not None and least <= kind.lower <= _LONGEST


_TEXT = "text -> text"
_MATCH = "text, text -> boolean"
_SUBSTRING = "SUBSTRING({0}, CAST({1} AS BIGINT), CAST({2} AS BIGINT))"
_COUNTED = "text, a constant from 0 on -> text"

TEXTS = (
    Function("like", "a LIKE b", 2, _MATCH, "matches a pattern of % and _", _matches, "({0} LIKE {1})".format),
    Function("starts_with", "STARTS_WITH(a, b)", 2, _MATCH, "begins with b", _matches, "STARTS_WITH({0}, {1})".format),
    Function("ends_with", "ENDS_WITH(a, b)", 2, _MATCH, "ends with b", _matches, "ENDS_WITH({0}, {1})".format),
    Function("contains", "CONTAINS(a, b)", 2, _MATCH, "holds b somewhere", _matches, "CONTAINS({0}, {1})".format),
    Function("upper", "UPPER(a)", 1, _TEXT, "in upper case", _text, "UPPER({0})".format),
    Function("lower", "LOWER(a)", 1, _TEXT, "in lower case", _text, "LOWER({0})".format),
    Function("trim", "TRIM(a)", 1, _TEXT, "without spaces at both ends", _text, "TRIM({0}, ' ')".format),
    Function("ltrim", "LTRIM(a)", 1, _TEXT, "without spaces before it", _text, "LTRIM({0}, ' ')".format),
    Function("rtrim", "RTRIM(a)", 1, _TEXT, "without spaces behind it", _text, "RTRIM({0}, ' ')".format),
    Function(
        "length",
        "LENGTH(a), CHAR_LENGTH(a)",
        1,
        "text -> number",
        "number of characters",
        _length,
        "CAST(LENGTH({0}) AS DOUBLE)".format,
    ),
    Function(
        "substring",
        "SUBSTRING(a, b, c), SUBSTR(a, b, c)",
        3,
        "text, a constant from 1 on, a constant from 0 on -> text",
        "c characters from the b-th on, the first being 1",
        _part,
        _SUBSTRING.format,
        constants=(1, 2),
    ),
    Function(
        "right",
        "RIGHT(a, b)",
        2,
        _COUNTED,
        "the last b characters",
        _end,
        "RIGHT({0}, CAST({1} AS BIGINT))".format,
        (1,),
    ),
    Function(
        "||",
        "a || b",
        2,
        "text, text -> text",
        f"both, one after the other, {LONGEST_TEXT:,} characters at most",
        _texts,
        f"SUBSTRING(({{0}} || {{1}}), CAST(1e0 AS BIGINT), CAST({LONGEST_TEXT}e0 AS BIGINT))".format,
    ),
)
