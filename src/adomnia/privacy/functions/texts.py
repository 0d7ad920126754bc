"""Functions of text. They see characters (code points), and spaces are U+0020 alone."""

from fractions import Fraction

from adomnia.privacy.functions.contract import Function
from adomnia.privacy.kinds import LONGEST_TEXT, Boolean, Kind, Quantity, Text

_LONGEST = 2**31 - 1


def _text(kind: Kind) -> Kind | None:
    return Text() if isinstance(kind, Text) else None


def _texts(left: Kind, right: Kind) -> Kind | None:
    return Text() if isinstance(left, Text) and isinstance(right, Text) else None


def _matches(left: Kind, right: Kind) -> Kind | None:
    return Boolean() if _texts(left, right) else None


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


def _position(text: Kind, part: Kind) -> Kind | None:
    """A part that is found begins before the end, except that nothing is found at the first place of nothing."""
    match text, part:
        case Text(values=values), Text():
            most = LONGEST_TEXT if values is None else max(map(len, values))
            return Quantity(Fraction(0), Fraction(max(1, most)), whole=True)
    return None


def _replaced(text: Kind, part: Kind, other: Kind) -> Kind | None:
    return _text(text) if _texts(part, other) else None


def _places(kind: Kind, least: int = 0) -> bool:
    """Whether a constant is a number of characters, or the place of one."""
    return isinstance(kind, Quantity) and kind.whole and kind.lower is not None and least <= kind.lower <= _LONGEST


_TEXT = "text -> text"
_MATCH = "text, text -> boolean"
_COUNTED = "text, a constant from 0 on -> text"

TEXTS = (
    Function("like", "a LIKE b", 2, _MATCH, "matches a pattern of % and _", _matches),
    Function("starts_with", "STARTS_WITH(a, b)", 2, _MATCH, "begins with b", _matches),
    Function("ends_with", "ENDS_WITH(a, b)", 2, _MATCH, "ends with b", _matches),
    Function("contains", "CONTAINS(a, b)", 2, _MATCH, "holds b somewhere", _matches),
    Function(
        "matches",
        "REGEXP_MATCHES(a, b), REGEXP_LIKE(a, b), a ~ b",
        2,
        "text, a constant pattern -> boolean",
        "holds a part that a regular expression describes",
        _matches,
        (1,),
    ),
    Function("upper", "UPPER(a)", 1, _TEXT, "in upper case", _text),
    Function("lower", "LOWER(a)", 1, _TEXT, "in lower case", _text),
    Function("trim", "TRIM(a)", 1, _TEXT, "without spaces at both ends", _text),
    Function("ltrim", "LTRIM(a)", 1, _TEXT, "without spaces before it", _text),
    Function("rtrim", "RTRIM(a)", 1, _TEXT, "without spaces behind it", _text),
    Function(
        "length",
        "LENGTH(a), CHAR_LENGTH(a)",
        1,
        "text -> number",
        "number of characters",
        _length,
    ),
    Function(
        "position",
        "STRPOS(a, b), INSTR(a, b), POSITION(b IN a)",
        2,
        "text, text -> number",
        "the place where b begins in a for the first time, the first being 1; 0 where it is not",
        _position,
    ),
    Function(
        "replace",
        "REPLACE(a, b, c)",
        3,
        "text, two constant texts -> text",
        f"a with c in place of each b, {LONGEST_TEXT:,} characters at most",
        _replaced,
        constants=(1, 2),
    ),
    Function(
        "substring",
        "SUBSTRING(a, b, c), SUBSTR(a, b, c)",
        3,
        "text, a constant from 1 on, a constant from 0 on -> text",
        "c characters from the b-th on, the first being 1",
        _part,
        constants=(1, 2),
    ),
    Function(
        "right",
        "RIGHT(a, b)",
        2,
        _COUNTED,
        "the last b characters",
        _end,
        (1,),
    ),
    Function(
        "||",
        "a || b",
        2,
        "text, text -> text",
        f"both, one after the other, {LONGEST_TEXT:,} characters at most",
        _texts,
    ),
)
