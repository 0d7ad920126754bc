"""The order of a person's rows: a keyed hash of the person, the row and the number of the copy.

The encoding is injective (docs/proofs/index.md): bounded values are the digits of integers in a mixed radix, others are
text with its length before it, and the person comes last.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from adomnia.engines.contract import grid_name
from adomnia.engines.render.constants import integer, quoted
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Day, Quantity, Text, Truth

_LARGEST_WORD = 2**63 - 1


@dataclass(frozen=True)
class _Digit:
    """A non-negative integer below its radix: 0 for NULL, then the values from the smallest on."""

    sql: str
    radix: int


def digest(key: bytes, copy: str, columns: tuple[Column, ...], person: str) -> str:
    """The upper half of md5(key, copy, columns, person), read as a little-endian integer."""
    message = ", ':', ".join([f"'{key.hex()}'", copy, *_words(columns), *_texts(columns), person])
    return f"CAST(md5_number(CONCAT({message})) >> 64 AS UBIGINT)"


def _words(columns: tuple[Column, ...]) -> Iterator[str]:
    """The digits of all bounded columns, as few integers as hold them."""
    word, size = "", 1
    for digit in filter(None, map(_digit, columns)):
        if word and size * digit.radix <= _LARGEST_WORD:
            word, size = f"({word} * {digit.radix} + {digit.sql})", size * digit.radix
            continue
        if word:
            yield _printed(word)
        word, size = digit.sql, digit.radix
    if word:
        yield _printed(word)


def _texts(columns: tuple[Column, ...]) -> Iterator[str]:
    for column in columns:
        if _digit(column) is None:
            text = _printed(quoted(hashed_name(column)))
            yield f"COALESCE(CAST(strlen({text}) AS VARCHAR) || ':' || {text}, '-')"


def _printed(sql: str) -> str:
    return f"CAST({sql} AS VARCHAR)"


def hashed_name(column: Column) -> str:
    """What the hash reads of a column: of a bounded number its grid integer, which every engine prints alike."""
    return grid_name(column) if column.domain else column.name


def _digit(column: Column) -> _Digit | None:
    name = quoted(hashed_name(column))
    match column.kind, column.domain:
        case Quantity(), Numbers() as domain if domain.magnitude < 2**61:
            return _counted(f"CAST({name} AS BIGINT)", domain.grid_lower, domain.width + 1)
        case Text(values=tuple() as values), _:
            return _counted(f"CAST({name} AS BIGINT)", 0, len(values))
        case Truth(), _:
            return _counted(f"CAST({name} AS BIGINT)", 0, 2)
        case Day(lower=lower, upper=upper), _ if lower is not None and upper is not None:
            return _counted(f"CAST({name} - DATE '{lower}' AS BIGINT)", 0, (upper - lower).days + 1)
    return None


def _counted(sql: str, first: int, values: int) -> _Digit:
    shift = 1 - first
    return _Digit(f"COALESCE({sql} + {integer(shift)}, 0)", values + 1)
