"""The order of a person's rows: a keyed hash of the person, the row and the number of the copy. And their block.

The encoding is injective (docs/proofs/index.md): bounded values are the digits of integers in a mixed radix, others are
text with its length before it, and the person comes last. What decides a block is hashed under half of the key: then a
colon stands where the order has another digit, and most texts fit into one step of md5, which takes half the time.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from adomnia.engines.contract import grid_name, index_name
from adomnia.engines.dialect import Dialect
from adomnia.engines.render.scalars import double, integer
from adomnia.noise import SystemBits
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.keys import BLOCK_HASHES
from adomnia.privacy.kinds import Boolean, Day, Moment, Quantity, Text
from adomnia.privacy.wall_time import FIRST, LAST, count_seconds

_LARGEST_WORD = 2**63 - 1
_HALF_OF_KEY, _DRAWN_DIGITS = 32, 12  # in hexadecimal digits
_FAR, _SCALE = 2.0**62, 2.0**30  # where whole parts end that all engines count, and the parts of one that are hashed


@dataclass(frozen=True)
class _Digit:
    """A non-negative integer below its radix: 0 for NULL, then the values from the smallest on."""

    sql: str
    radix: int


def render_digest(key: bytes, copy: str, columns: tuple[Column, ...], person: str, dialect: Dialect) -> str:
    """The hash of key, copy, columns and person."""
    parts = [dialect.index.key.format(key.hex()), copy, *_words(columns, dialect), *_texts(columns, dialect), person]
    return dialect.index.digest.format(", ':', ".join(parts))


def render_person_hash(key: bytes, person: str, dialect: Dialect) -> str:
    """The 24 bits that decide the block of a person: a hash of the person alone."""
    return _render_hash(key, ["'p'", person], dialect)


def render_row_hash(key: bytes, number: str, dialect: Dialect) -> str:
    """The same for a row that is a person of its own, by its number, and by a word that no other build hashes again.

    A running number depends on the rows before it. With a word that is drawn anew for each table and build, blocks are
    independent of each other and of all others, however rows are numbered.
    """
    drawn = SystemBits().words(1).tobytes().hex()[:_DRAWN_DIGITS]
    return _render_hash(key, [f"'{drawn}'", number], dialect)


def carry_hash(number: str, hashed: str, dialect: Dialect) -> str:
    """A running number with a hash behind it."""
    return f"CAST({number} AS {dialect.types.long.name}) * {BLOCK_HASHES} + {hashed}"


def _render_hash(key: bytes, parts: list[str], dialect: Dialect) -> str:
    half = f"SUBSTR({dialect.index.key.format(key.hex())}, 1, {_HALF_OF_KEY})"
    return dialect.index.low_bits.format(", ':', ".join([half, *parts]))


def _words(columns: tuple[Column, ...], dialect: Dialect) -> Iterator[str]:
    """The digits of all bounded columns, as few integers as hold them."""
    word, size = "", 1
    for digit in filter(None, (_digit(column, dialect) for column in columns)):
        if word and size * digit.radix <= _LARGEST_WORD:
            word, size = f"({word} * {digit.radix} + {digit.sql})", size * digit.radix
            continue
        if word:
            yield _as_text(word, dialect)
        word, size = digit.sql, digit.radix
    if word:
        yield _as_text(word, dialect)


def _texts(columns: tuple[Column, ...], dialect: Dialect) -> Iterator[str]:
    for column in columns:
        if _digit(column, dialect) is None:
            text = _render_text(column, dialect)
            length = _as_text(dialect.index.byte_length.format(text), dialect)
            yield f"COALESCE({length} || ':' || {text}, '-')"


def _render_text(column: Column, dialect: Dialect) -> str:
    """A column as a text that is the same in every engine.

    Doubles are printed in as many ways as there are engines. What is hashed of an unbounded one is its whole part and
    30 bits behind the point; rows that differ in more than that are copies of each other to the hash.
    """
    name = dialect.quote(hashed_name(column))
    if not isinstance(column.kind, Quantity) or column.domain is not None:
        return _as_text(name, dialect)
    far, scale, zero = (double(number, dialect) for number in (_FAR, _SCALE, 0.0))
    long = dialect.types.long.name
    whole = _as_text(dialect.fitting(f"FLOOR({name})", long), dialect)
    part = _as_text(dialect.fitting(f"FLOOR(({name} - FLOOR({name})) * {scale})", long), dialect)
    return (
        f"CASE WHEN ABS({name}) < {far} THEN {whole} || '.' || {part} "
        f"WHEN {name} > {zero} THEN 'above' WHEN {name} < {zero} THEN 'below' END"
    )


def _as_text(sql: str, dialect: Dialect) -> str:
    return f"CAST({sql} AS {dialect.types.text})"


def hashed_name(column: Column) -> str:
    """What the hash reads of a column: of a bounded number its grid integer, which every engine prints alike."""
    return grid_name(column) if column.domain else index_name(column.name)


def _digit(column: Column, dialect: Dialect) -> _Digit | None:
    name, long = dialect.quote(hashed_name(column)), dialect.types.long.name
    match column.kind, column.domain:
        case Quantity(), Numbers() as domain if domain.magnitude < 2**61:
            return _counted(f"CAST({name} AS {long})", domain.grid_lower, domain.width + 1)
        case Text(values=tuple() as values), _:
            return _counted(f"CAST({name} AS {long})", 0, len(values))
        case Boolean(), _:
            return _counted(f"CAST(CASE WHEN {name} THEN 1 WHEN NOT {name} THEN 0 END AS {long})", 0, 2)
        case Day(lower=lower, upper=upper), _ if lower is not None and upper is not None:
            days = dialect.index.days_between.format(name, f"DATE '{lower}'")
            return _counted(f"CAST({days} AS {long})", 0, (upper - lower).days + 1)
        case Moment(lower=earliest, upper=latest), _:
            first, last = count_seconds(earliest or FIRST), count_seconds(latest or LAST)
            return _counted(f"CAST({name} AS {long})", first, last - first + 1)
    return None


def _counted(sql: str, first: int, values: int) -> _Digit:
    shift = 1 - first
    return _Digit(f"COALESCE({sql} + {integer(shift)}, 0)", values + 1)
