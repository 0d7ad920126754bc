"""The types of PostgreSQL, and how their values leave it: every expression is total and calls nothing of its users'.

A value travels as the Arrow type `carried` and then counts as the engine's type `held`, so that it means what the same
column means in a Parquet file.
"""

from dataclasses import dataclass

import pyarrow as pa

LONGEST = 16_000  # characters of a text that travel: of a longer one the first, and a hash that tells it from others
_FAR = "'290000-01-01'"  # not much further reach the microseconds since 1970
_LAST_DAY, _LAST_MICROSECOND = 2**31 - 1, 2**63 - 1  # how DuckDB writes infinity

_HASH = "encode(sha256(convert_to({0}, 'UTF8')), 'hex')"
_TEXT = f"CASE WHEN length({{0}}) <= {LONGEST} THEN {{0}} ELSE left({{0}}, {LONGEST}) || {_HASH} END"
_DAYS = (
    f"CASE {{0}} WHEN date 'infinity' THEN {_LAST_DAY} WHEN date '-infinity' THEN -{_LAST_DAY} "
    "ELSE {0} - date '1970-01-01' END"
)
# Seconds and microseconds apart: before version 14 both come as doubles, which have no room for their sum.
_MICROSECONDS = (
    f"CASE WHEN {{{{0}}}} >= {{kind}} {_FAR} THEN {_LAST_MICROSECOND} "
    f"WHEN {{{{0}}}} = {{kind}} '-infinity' THEN -{_LAST_MICROSECOND} "
    "ELSE CAST(EXTRACT(EPOCH FROM date_trunc('second', {{0}})) AS bigint) * 1000000 "
    "+ CAST(EXTRACT(MICROSECONDS FROM {{0}}) AS bigint) % 1000000 END"
)


@dataclass(frozen=True)
class ForeignType:
    """How a column is selected, as what it travels, as what those bits are read, and what the engine takes them for."""

    held: str
    carried: pa.DataType
    sql: str = "{0}"
    read: pa.DataType | None = None

    @property
    def is_readable(self) -> bool:
        """Whether its values travel at all."""
        return self.sql != _NOTHING

    @property
    def stored(self) -> str:
        """The engine's type of the values that arrived."""
        return "VARCHAR" if self.carried == pa.string() else self.held


_NOTHING = "CAST(NULL AS text)"
_TEXTS = ForeignType("VARCHAR", pa.string(), _TEXT.format("CAST({0} AS text)"))
_LABEL = ForeignType("VARCHAR", pa.string())  # at most 63 bytes, and a cast of it could be a user's own
_WALL, _ZONED = (_MICROSECONDS.format(kind=kind) for kind in ("timestamp", "timestamptz"))
_KNOWN = {
    "int2": ForeignType("SMALLINT", pa.int16()),
    "int4": ForeignType("INTEGER", pa.int32()),
    "int8": ForeignType("BIGINT", pa.int64()),
    "oid": ForeignType("BIGINT", pa.int64()),
    "float4": ForeignType("FLOAT", pa.float32()),
    "float8": ForeignType("DOUBLE", pa.float64()),
    # Its digits, of which there may be any number: the engine reads the nearest double from them, or a key.
    "numeric": ForeignType("DECIMAL", pa.string(), "NULLIF({0}, numeric 'NaN')"),
    "bool": ForeignType("BOOLEAN", pa.bool_()),
    "text": _TEXTS,
    "varchar": _TEXTS,
    "bpchar": _TEXTS,  # a text has no blanks at its end, which do not count where such values are compared
    "name": _LABEL,
    "uuid": ForeignType("UUID", pa.string()),
    "date": ForeignType("DATE", pa.int32(), _DAYS, pa.date32()),
    "timestamp": ForeignType("TIMESTAMP", pa.int64(), _WALL, pa.timestamp("us")),
    "timestamptz": ForeignType("TIMESTAMP WITH TIME ZONE", pa.int64(), _ZONED, pa.timestamp("us", "UTC")),
}


def find_type(name: str, is_enum: bool, is_built_in: bool) -> ForeignType:
    """The type of a column, by its name in PostgreSQL behind all domains; one that cannot be read keeps that name."""
    if is_enum:
        return _LABEL
    unreadable = ForeignType(name.upper(), pa.string(), _NOTHING)
    return _KNOWN.get(name, unreadable) if is_built_in else unreadable
