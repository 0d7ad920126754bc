"""The text of a catalog.toml that is still to be filled in; what only the owner can know is left as a comment."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.catalog.document_keys import COLUMNS, NAME, SYNONYMS
from adomnia.catalog.model import RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterable

_HEAD = """\
# What the owner declares; docs/catalog.md explains every key. What begins with # is yours to decide: take it from
# public knowledge, never from the data. `adomnia check` names what is missing, `adomnia check --data` what is amiss.

[dataset]
name = {name}
version = 1                  # raise it when the data changes
{unit}

[budget]
# epsilon = 1.0              # what all answers together may cost. `adomnia meaning 1` says what that means to a person
# delta = 1e-6               # with approximate = true, Gaussian noise may be used too
# approximate = true

[analysts.alice]             # rename alice; one such section for everybody who may ask
# epsilon = 1.0              # what alice may spend of it
# ceiling = 0.2              # the most that one question may cost; docs/policies.md has more ways to set prices
"""


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


def compose(name: str, unit: str, drafts: Iterable[Draft]) -> str:
    """Compose the whole text: the dataset with the line that names its unit, budgets to fill in, the tables."""
    head = _HEAD.format(name=toml_string(as_name(name)), unit=unit)
    return head + "".join(map(str, drafts))


def toml_string(text: str) -> str:
    """A text as a TOML string. JSON's escapes are TOML's, but for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def as_name(text: str) -> str:
    """The nearest name that a catalog accepts.

    >>> as_name("visits 2024"), as_name("Fälle")
    ('visits_2024', 'Falle')
    """
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))
    word = re.sub(r"[^A-Za-z0-9_]", "_", plain.replace("ß", "ss"))[:60]
    return word if NAME.holds(word) and word.lower() not in RESERVED else f"_{word}"


def type_of(written: str) -> str | None:
    """The type of column that another system's type corresponds to."""
    word = re.split(r"[^a-z0-9]", written.lower())[0]
    known = {**SYNONYMS, **{name: name for name in COLUMNS}}
    return None if written.endswith("]") else known.get(word)
