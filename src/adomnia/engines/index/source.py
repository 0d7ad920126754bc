"""Where rows come from, and whether they are of the types that the catalog declares."""

from collections.abc import Mapping
from dataclasses import dataclass

from adomnia.catalog.model import Table
from adomnia.engines.render.constants import quoted
from adomnia.errors import Refusal
from adomnia.privacy.kinds import Day, Identity, Kind, Quantity, Text, Truth

WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})
_WIDE = frozenset({"UBIGINT", "HUGEINT", "UHUGEINT", "BIGNUM"})
_REAL = frozenset({"FLOAT", "DOUBLE", "DECIMAL"})
_MOMENTS = frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"})
_WORDS = frozenset({"VARCHAR", "ENUM", "UUID"}) | WHOLE | _WIDE
_ANYTHING_EMPTY = '"NULL"'  # a column in which no row has a value

_ACCEPTED: dict[type[Kind], frozenset[str]] = {
    Quantity: WHOLE | _WIDE | _REAL,
    Truth: frozenset({"BOOLEAN"}),
    Text: _WORDS,
    Day: _MOMENTS,
    Identity: _WORDS | _REAL | _MOMENTS | {"BOOLEAN"},
}


@dataclass(frozen=True)
class Source:
    """SQL that yields the rows of a table, the engine's type of each column, and what to call it in a message.

    `spelled` says that every value is text still to be read, as in a CSV file.
    """

    name: str
    relation: str
    types: Mapping[str, str]
    spelled: bool = False

    def type_of(self, column: str) -> str:
        """The engine's type of a column, without its parameters."""
        types = {name.lower(): kind for name, kind in self.types.items()}
        return types[column.lower()].split("(")[0]

    def sort_of(self, column: str) -> str | None:
        """What its keys can be compared with: numbers with numbers, text with text; None where it is all still text."""
        held = self.type_of(column)
        if self.spelled or held == _ANYTHING_EMPTY:
            return None
        return "a number" if held in WHOLE | _WIDE | _REAL else "text" if held in {"VARCHAR", "ENUM"} else held

    def check(self, table: Table) -> None:
        """Refuse a source that lacks a declared column or holds another type; the message names no value."""
        names = {name.lower() for name in self.types}
        for column in table.columns:
            what = f"Column {table.name}.{column.name}"
            if column.name.lower() not in names:
                raise Refusal(
                    what, f"is declared, and {self.name} has none of that name", "correct the catalog or the file"
                )
            held = self.type_of(column.name)
            if not self.spelled and held not in _ACCEPTED[type(column.kind)] | {_ANYTHING_EMPTY}:
                why = f"is declared as {column.kind}, and {self.name} holds {held}"
                raise Refusal(what, why, "declare what the file holds, or convert the file")


def spelled_key(column: str, source: Source) -> str:
    """A key as text that is the same for equal keys, whichever type a file stores them in."""
    name = quoted(column)
    if source.spelled:
        # Programs write whole numbers as 7.0 as soon as one of them is missing, and some put a space behind each comma.
        return f"NULLIF(REGEXP_REPLACE(TRIM({name}), '^(-?[0-9]+)[.]0+$', '\\1'), '')"
    if source.type_of(column) == "DECIMAL":
        # 7.000 is the key 7 as well: decimals that are whole lose their zeros, the others keep none at their end.
        text = f"CAST({name} AS VARCHAR)"
        return f"CASE WHEN CONTAINS({text}, '.') THEN RTRIM(RTRIM({text}, '0'), '.') ELSE {text} END"
    if source.type_of(column) not in {"FLOAT", "DOUBLE"}:
        return f"TRY_CAST({name} AS VARCHAR)"
    # A missing key turns whole numbers into floats in pandas: 7.0 is still the key 7, and NaN is none.
    return (
        f"CASE WHEN {name} = CAST('NaN' AS DOUBLE) THEN NULL "
        f"WHEN {name} = FLOOR({name}) AND ABS({name}) < 9e18 THEN CAST(TRY_CAST({name} AS BIGINT) AS VARCHAR) "
        f"ELSE CAST({name} AS VARCHAR) END"
    )
