"""Names and types that the columns of a file are proposed to have, from its header alone."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from adomnia.catalog.model import RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterable

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
