"""What a header shows of a table before there is a catalog, and the columns that a draft proposes for it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from adomnia.catalog.model import RESERVED
from adomnia.catalog.write import type_of
from adomnia.inspection.key_names import KeyRank, read_key_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adomnia.inspection.key_names import KeyName
    from adomnia.inspection.key_values import KeyCount

_BYTES = frozenset({"BLOB", "BYTEA", "BINARY", "VARBINARY"})  # as engines call them

Spelling: TypeAlias = Mapping[str, str | Sequence[str]]
_LONGEST = 60
_SMALL_THEN_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORDS_OF_SQL = re.compile(
    "all|and|as|asc|between|by|case|check|column|default|desc|distinct|else|end|exists|false|from|group|having|in|is|join"
    "|left|like|limit|not|null|offset|on|or|order|right|select|set|table|then|true|union|using|values|when|where|with"
)
_ROW_NUMBERS = re.compile(r"|Unnamed: \d+|\.\.\.\d+|rownames|index|level_0", re.IGNORECASE)

# The last word of a name, mostly; what is guessed wrongly is found by `adomnia check --data`.
_TYPES = {
    word: kind
    for kind, words in {
        "id": "id uuid guid key identifier",
        "date": "date datetime timestamp dob birthdate birthday",
        "integer": "age year count number num quantity qty",
        "number": "amount price cost salary income wage weight height length width mass rate percent percentage score "
        "temperature revenue balance latitude longitude",
    }.items()
    for word in words.split()
}
_FLAGS = ("is", "has", "was")
_MEASURES = frozenset({"mm", "cm", "m", "km", "mg", "g", "kg", "lb", "usd", "eur"})


@dataclass(frozen=True)
class ColumnLook:
    """The type that the values of a column have, and the formats that read its days, where they are not the usual."""

    type: str
    formats: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoundTable:
    """What a file shows of one table: its columns with the engine's types ("" in a text file), and how it spells.

    `looks` and `keys` are there, by the names that the file has, only if the owner let us look at the data.
    """

    name: str
    source: str
    header: Sequence[tuple[str, str]]
    source_table: str | None = None
    spelling: Spelling = field(default_factory=dict)
    looks: Mapping[str, ColumnLook] = field(default_factory=dict)
    keys: Mapping[str, KeyCount] = field(default_factory=dict)

    @property
    def doubled(self) -> list[str]:
        """The names that several columns have: nobody can tell which of them is meant."""
        return [name for name, columns in Counter(name for name, _ in self.header).items() if columns > 1 and name]

    @property
    def looked_at(self) -> bool:
        """Whether the owner let us look at the data."""
        return bool(self.looks or self.keys)

    def doubled_columns(self) -> list[FoundColumn]:
        """One column for each name that several have: none of them can be declared."""
        return [
            FoundColumn(self, name, written, "")
            for name, written in zip(propose_names(self.doubled), self.doubled, strict=True)
        ]

    def columns(self) -> list[FoundColumn]:
        """The columns that have a name of their own, and number no rows."""
        return [
            column
            for place, column in enumerate(self._all_columns())
            if not numbers_rows(place, column.written) and column.written and column.written not in self.doubled
        ]

    def row_numbers(self) -> FoundColumn | None:
        """The first column, if it is called as programs call the numbers of rows, or has no name."""
        first = next(iter(self._all_columns()), None)
        known = first is not None and numbers_rows(0, first.written) and first.written not in self.doubled
        return first if known else None

    def _all_columns(self) -> list[FoundColumn]:
        names = propose_names(name for name, _ in self.header)
        return [FoundColumn(self, name, *each) for name, each in zip(names, self.header, strict=True)]


@dataclass(frozen=True)
class FoundColumn:
    """A column of a file: its table, the name that is proposed and the one in the file, and what the file holds."""

    table: FoundTable
    name: str
    written: str
    held: str

    @property
    def key(self) -> KeyName:
        """Whether it looks like a key, by the names of the column and of its table."""
        return read_key_name(self.written, self.table.name)

    @property
    def count(self) -> KeyCount | None:
        """How often its values repeat, if the owner let us look."""
        return self.table.keys.get(self.written)

    @property
    def look(self) -> ColumnLook | None:
        """The type and formats of its values, if the owner let us look."""
        return self.table.looks.get(self.written)

    @property
    def is_id(self) -> bool:
        """Whether its name is that of an id, whatever the values look like."""
        return guess_type(self.name) == "id" or self.key.rank is KeyRank.PERSON_KEY

    @property
    def type(self) -> str | None:
        """The type that is proposed, or None where no type of column holds such values."""
        if self.is_id:
            return "id"
        if self.look is not None:
            return self.look.type
        return type_of(self.held) if self.held else guess_type(self.name)

    @property
    def may_be_key(self) -> bool:
        """Whether its values could be keys: its name says so, or is none of a measure, and they are whole or texts."""
        return self.may_hold_keys and (
            self.key.rank > KeyRank.NONE or self.type in {"text", "integer"} or self.count is not None
        )

    @property
    def may_hold_keys(self) -> bool:
        """The same, or they are bytes, or look like numbers or days: programs write keys as 1001.0 or 01.02.24."""
        if self.type is None and self.held not in _BYTES:
            return False
        known = {"text", "integer", "number", None}
        unnamed = guess_type(self.name) == "text" and (self.type in known or self.looks_like_days)
        return self.key.rank > KeyRank.NONE or unnamed

    @property
    def looks_like_days(self) -> bool:
        """Whether texts look like days or times, and the name says nothing."""
        days = self.look is not None and self.look.type in {"date", "timestamp"}
        return days and self.key.rank is KeyRank.NONE


def propose_names(header: Iterable[str]) -> list[str]:
    """Names in snake case, all different.

    >>> propose_names(["Education Num", "playerID", "Größe (cm)", "education-num", ""])
    ['education_num', 'player_id', 'grosse_cm', 'education_num_2', 'column_5']
    """
    taken: set[str] = set()
    names = []
    for place, written in enumerate(header, 1):
        name = free_name(_snake_case(written) or f"column_{place}", taken)
        taken.add(name)
        names.append(name)
    return names


def free_name(name: str, taken: Iterable[str]) -> str:
    """A name with the next free number behind it, if it is taken."""
    used, number, free = set(taken), 1, name
    while free in used:
        number += 1
        free = f"{name}_{number}"
    return free


def numbers_rows(place: int, written: str) -> bool:
    """Whether a column is the one that pandas and R put before the others: it numbers rows, and has no name."""
    return place == 0 and _ROW_NUMBERS.fullmatch(written) is not None


def guess_type(name: str) -> str:
    """The type that a column of that name often has.

    >>> guess_type("player_id"), guess_type("date_of_birth"), guess_type("is_member"), guess_type("city")
    ('id', 'date', 'boolean', 'text')
    """
    words = name.split("_")
    if words[0] in _FLAGS and len(words) > 1:
        return "boolean"
    if "date" in words or words[-1] == "at":
        return "date"
    if len(words) > 1 and (words[-1] in _MEASURES or _TYPES.get(words[-2]) == "integer"):  # body_mass_g, year_id
        words.pop()
    return _TYPES.get(words[-1], "text")


def _snake_case(written: str) -> str:
    plain = unicodedata.normalize("NFKD", written.replace("ß", "ss")).encode("ascii", "ignore").decode()
    name = re.sub(r"[^a-z0-9]+", "_", _SMALL_THEN_CAPITAL.sub("_", plain).lower()).strip("_")[:_LONGEST]
    if name[:1].isdigit():
        return f"_{name}"
    return f"{name}_" if _WORDS_OF_SQL.fullmatch(name) or name in RESERVED else name
