"""Drafts a catalog.toml from headers alone; what only the owner can know is left as a comment."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from adomnia.catalog.document_keys import COLUMNS, NAME, SYNONYMS
from adomnia.catalog.model import RESERVED

Header: TypeAlias = Sequence[tuple[str, str]]  # the name and the SQL type of each column; "" where the file has none

_HEAD = """\
# What the owner declares; docs/catalog.md explains every key. Lines that begin with # are yours to fill in: take what
# they say from public knowledge, never from the data. `adomnia check` names what is still missing.

[dataset]
name = {name}
version = 1                  # raise it when the data changes
{unit}

[budget]
# epsilon = 10.0             # what all answers together may cost
# delta = 1e-6               # with approximate = true, Gaussian noise may be used too
# approximate = true

[analysts.alice]             # rename alice; one such section for everybody who may ask
# epsilon = 2.0              # what alice may spend of it
# ceiling = 0.5              # the most that one question may cost; docs/policies.md has more ways to set prices
"""
_UNIT = '# unit = "{first}.?"           # whose presence is hidden: the column that names a person, or "row"'
_PART = """\
# person = "? -> {first}.?"    # how a row finds its person; the people's own table needs no such line
# rows_per_person = ?        # how many rows of one person count; 1 where a person has one row
# public = true              # instead of both, if the table is about nobody"""
_HINTS = {
    "": "the header has no types: text, or id, integer, number, boolean, category or date",
    "integer": 'to aggregate it add lower = ?, upper = ?; an "id" if it names people or rows',
    "number": "to aggregate it add lower = ?, upper = ?",
    "text": 'to group by it: a "category" with values = [?]; an "id" if it names people or rows',
    "date": "times of day are not kept",
}


@dataclass(frozen=True)
class Draft:
    """The lines of one table: its own keys, and its columns."""

    name: str
    source: str
    keys: Iterable[str]
    columns: Iterable[str]

    def __str__(self) -> str:
        heading = f"[tables.{self.name}]"
        return "\n".join(
            [
                "",
                heading,
                f"source = {toml_string(self.source)}",
                *self.keys,
                "",
                f"{heading[:-1]}.columns]",
                *self.columns,
                "",
            ]
        )


def draft(name: str, tables: Mapping[str, Header], sources: Mapping[str, str] | None = None) -> str:
    """Draft a catalog.toml for tables of which only the headers were read; no bound is guessed.

    >>> print(draft("hospital", {"people": [("salary", "DOUBLE")]}).splitlines()[-1])
    salary = { type = "number" }  # to aggregate it add lower = ?, upper = ?
    """
    files = sources or {}
    first = as_name(next(iter(tables), "people"))
    part = _PART.format(first=first)
    drafts = [
        Draft(as_name(table), files.get(table, f"{table}.parquet"), [part], _columns(header))
        for table, header in tables.items()
    ]
    return compose(name, _UNIT.format(first=first), drafts)


def compose(name: str, unit: str, drafts: Iterable[Draft]) -> str:
    """Compose the whole text: the dataset with the line that names its unit, budgets to fill in, the tables."""
    head = _HEAD.format(name=toml_string(as_name(name)), unit=unit)
    return head + "".join(map(str, drafts))


def toml_string(text: str) -> str:
    """A text as a TOML string. JSON's escapes are TOML's, but for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def as_name(text: str) -> str:
    """The nearest name that a catalog accepts.

    >>> as_name("visits 2024")
    'visits_2024'
    """
    word = re.sub(r"[^A-Za-z0-9_]", "_", text)[:60]
    return word if NAME.holds(word) and word.lower() not in RESERVED else f"_{word}"


def type_of(written: str) -> str | None:
    """The type of column that another system's type corresponds to."""
    word = re.split(r"[^a-z0-9]", written.lower())[0]
    known = {**SYNONYMS, **{name: name for name in COLUMNS}}
    return None if written.endswith("]") else known.get(word)


def _columns(header: Header) -> list[str]:
    taken: set[str] = set(RESERVED)
    lines = []
    for name, written in header:
        kind = type_of(written or "text")
        if not NAME.holds(name) or name.lower() in taken:
            lines.append(
                f"# {toml_string(name)} is left out: rename it in the file, the name is not free or not well formed"
            )
        elif kind is None:
            lines.append(f"# {name} is left out: no type of column holds {toml_string(written)}")
        else:
            hint = _HINTS.get(kind if written else "")
            lines.append(f'{name} = {{ type = "{kind}" }}' + (f"  # {hint}" if hint else ""))
        taken.add(name.lower())
    return lines
