"""The keys that catalog.toml may have: the rule for each value, an example, and what is not supported yet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from adomnia.catalog.model import POLICIES
from adomnia.catalog.sizes import parse_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_WORD = r"[A-Za-z_][A-Za-z0-9_]{0,62}"
_FILES = (".parquet", ".csv")
_MOST_ROWS_PER_PERSON = 1_000_000
_LARGEST_INTEGER = 2**53  # up to here every integer is a double, and expressions compute in doubles


@dataclass(frozen=True)
class Rule:
    """What a value must be: as words that follow "must be", and as a test."""

    says: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True)
class DocumentKey:
    """One key of catalog.toml: its rule, an example line, and the values that are not supported yet."""

    name: str
    rule: Rule
    example: str
    required: bool = False
    later: Rule | None = None


@dataclass(frozen=True)
class Section:
    """The keys that one section of catalog.toml may have, and what to call that section."""

    label: str
    keys: tuple[DocumentKey, ...]

    def key(self, name: str) -> DocumentKey:
        return next(key for key in self.keys if key.name == name)

    def names(self) -> list[str]:
        return [key.name for key in self.keys]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Suggest the known word that looks most like this one; "" where none does.

    >>> did_you_mean("uper", ["lower", "upper"])
    'did you mean upper?'
    """
    spelt = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), spelt, n=1)
    return f"did you mean {spelt[close[0]]}?" if close else ""


def _is_integer(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _matches(pattern: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


def _is_values(value: object) -> bool:
    return _matches(rf"{_WORD}\.{_WORD}")(value) or (
        isinstance(value, list) and all(isinstance(item, str) for item in value)
    )


def _names_engine_table(source: object) -> bool:
    return isinstance(source, str) and ("://" in source or "." not in source)


NAME = Rule("a name: a letter or _, then at most 62 letters, digits or _", _matches(_WORD))
SECTION = Rule("a section of its own", lambda value: isinstance(value, dict))

_TEXT = Rule("a text in quotes", lambda value: isinstance(value, str))
_FLAG = Rule("true or false", lambda value: isinstance(value, bool))
_NUMBER = Rule("a number", lambda value: isinstance(value, int | float) and not isinstance(value, bool))
_INTEGER = Rule("a whole number within 2**53 of zero", lambda v: _is_integer(v, -_LARGEST_INTEGER, _LARGEST_INTEGER))
_VERSION = Rule("a whole number from 1 to 1,000,000,000", lambda value: _is_integer(value, 1, 10**9))
_CAP = Rule("a whole number from 1 to 1,000,000", lambda value: _is_integer(value, 1, _MOST_ROWS_PER_PERSON))
_DAY = Rule("a date without quotes or time, such as 2024-01-31", lambda value: type(value) is date)
_UNIT = Rule('written "table.column", or "row"', _matches(rf"row|{_WORD}\.{_WORD}"))
_LINK = Rule('written "column -> table.column"', _matches(rf" *{_WORD} *-> *{_WORD}\.{_WORD} *"))
_VALUES = Rule('a list of texts, or "table.column" of a public table', _is_values)
_SOURCE = Rule("a file that ends in .parquet or .csv", lambda v: isinstance(v, str) and v.lower().endswith(_FILES))
_SHARE = Rule("a number above 0 and below 1", lambda value: _NUMBER.holds(value) and 0 < value < 1)
_STORAGE = Rule('a size such as "500MB"', lambda value: isinstance(value, str) and parse_size(value) is not None)
_POLICY = Rule(" or ".join(f'"{name}"' for name in POLICIES), lambda value: value in list(POLICIES))

_OTHER_ENGINE = Rule("a table of another engine", _names_engine_table)
_ROWS_KEPT = Rule(f"{_CAP.says}, or {{ max = 200, epsilon = 0.05 }}", lambda v: _CAP.holds(v) or SECTION.holds(v))

# Keys of features that are not built yet: refused by name, wherever they stand.
LATER = {
    "engine": "other engines",
    "engines": "other engines",
}


CATALOG = Section(
    "a catalog",
    (
        DocumentKey("dataset", SECTION, "[dataset] with name, version and unit", required=True),
        DocumentKey("budget", SECTION, "[budget] with epsilon = 10.0", required=True),
        DocumentKey("analysts", SECTION, "[analysts.alice] with epsilon = 2.0", required=True),
        DocumentKey("tables", SECTION, '[tables.people] with source = "people.parquet"', required=True),
        DocumentKey("views", SECTION, '[views.adults] with sql = "SELECT * FROM people WHERE age >= 18"'),
    ),
)
DATASET = Section(
    "[dataset]",
    (
        DocumentKey("name", NAME, 'name = "hospital"', required=True),
        DocumentKey("version", _VERSION, "version = 1", required=True),
        DocumentKey("unit", _UNIT, 'unit = "people.person_id"', required=True),
        DocumentKey("minimum_frequency", _CAP, "minimum_frequency = 10"),
    ),
)
BUDGET = Section(
    "[budget]",
    (
        DocumentKey("epsilon", _NUMBER, "epsilon = 10.0", required=True),
        DocumentKey("delta", _NUMBER, "delta = 1e-6"),
        DocumentKey("approximate", _FLAG, "approximate = true"),
        DocumentKey("event_delta", _NUMBER, "event_delta = 5e-7"),
    ),
)
ANALYST = Section(
    "an analyst",
    (
        DocumentKey("epsilon", _NUMBER, "epsilon = 2.0", required=True),
        DocumentKey("delta", _NUMBER, "delta = 1e-7"),
        DocumentKey("policy", _POLICY, 'policy = "on_demand"'),
        DocumentKey("questions", _CAP, "questions = 20"),
        DocumentKey("spend", _SHARE, "spend = 0.1"),
        DocumentKey("keep", _SHARE, "keep = 0.9"),
        DocumentKey("ceiling", _NUMBER, "ceiling = 0.5"),
        DocumentKey("largest_answer", _VERSION, "largest_answer = 10_000"),
        DocumentKey("storage", _STORAGE, 'storage = "500MB"'),
    ),
)

VIEW = Section("a view", (DocumentKey("sql", _TEXT, 'sql = "SELECT * FROM people WHERE age >= 18"', required=True),))

_FROM = DocumentKey("source", _SOURCE, 'source = "people.parquet"', required=True, later=_OTHER_ENGINE)
_PUBLIC = DocumentKey("public", _FLAG, "public = true")
_COLUMNS = DocumentKey("columns", SECTION, '[tables.people.columns] with person_id = { type = "id" }', required=True)
_PERSON = DocumentKey(
    "person", _LINK, 'person = "person_id -> people.person_id", or public = true if it is about nobody', True
)
_ROWS = "rows_per_person"
_ONE_OR_MORE = f"{_ROWS} = 1, or a larger number if a person can have several rows: those beyond it are left out"

PUBLIC_TABLE = Section("a public table", (_FROM, _PUBLIC, DocumentKey("columns", SECTION, _COLUMNS.example)))
ROW_TABLE = Section('a table whose unit is "row"', (_FROM, _PUBLIC, _COLUMNS))
OWN_TABLE = Section(
    "the unit's own table",
    (_FROM, _PUBLIC, DocumentKey(_ROWS, _ROWS_KEPT, _ONE_OR_MORE, required=True), _COLUMNS),
)
LINKED_TABLE = Section(
    "a private table",
    (_FROM, _PUBLIC, _PERSON, DocumentKey(_ROWS, _ROWS_KEPT, f"{_ROWS} = 10", required=True), _COLUMNS),
)
PRIVATE_CAP = Section(
    "a cap that is chosen privately",
    (
        DocumentKey("max", _CAP, "max = 200", required=True),
        DocumentKey("epsilon", _NUMBER, "epsilon = 0.05", required=True),
    ),
)

_TYPE = DocumentKey("type", _TEXT, 'type = "integer"', required=True)


def _column(label: str, *keys: DocumentKey) -> Section:
    return Section(label, (_TYPE, *keys))


COLUMNS = {
    "id": _column("an id column"),
    "integer": _column(
        "an integer column",
        DocumentKey("lower", _INTEGER, "lower = 0"),
        DocumentKey("upper", _INTEGER, "upper = 120"),
    ),
    "number": _column(
        "a number column",
        DocumentKey("lower", _NUMBER, "lower = 0"),
        DocumentKey("upper", _NUMBER, "upper = 500_000"),
        DocumentKey("step", _NUMBER, "step = 0.25"),
    ),
    "boolean": _column("a boolean column"),
    "category": _column(
        "a category column",
        DocumentKey("values", _VALUES, 'values = ["F", "M", "X"]', required=True),
        DocumentKey("others", _TEXT, 'others = "Other"'),
    ),
    "date": _column(
        "a date column",
        DocumentKey("lower", _DAY, "lower = 2020-01-01"),
        DocumentKey("upper", _DAY, "upper = 2029-12-31"),
    ),
    "text": _column("a text column"),
}

SECTIONS = (
    CATALOG,
    DATASET,
    BUDGET,
    ANALYST,
    VIEW,
    PUBLIC_TABLE,
    ROW_TABLE,
    OWN_TABLE,
    LINKED_TABLE,
    PRIVATE_CAP,
    *COLUMNS.values(),
)

# What other systems call these types. It turns a header into a draft and a wrong type into a suggestion.
SYNONYMS = {
    synonym: name
    for name, synonyms in {
        "integer": "int bigint smallint tinyint hugeint ubigint uinteger usmallint utinyint int64 int32 long",
        "number": "float double decimal numeric real float64 float32",
        "boolean": "bool logical",
        "category": "enum factor categorical",
        "date": "day datetime timestamp",
        "text": "string str varchar char",
        "id": "uuid key identifier",
    }.items()
    for synonym in synonyms.split()
}
