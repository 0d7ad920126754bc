"""The keys that catalog.toml may have: the rule for each value, an example, and what is not supported yet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any
from zoneinfo import available_timezones

from adomnia.catalog.model import ENGINES, LONGEST_COLUMN_NAME, POLICIES, is_column_name, is_in_spark, is_storage
from adomnia.catalog.sizes import parse_size
from adomnia.postgres import is_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_WORD = r"[A-Za-z_][A-Za-z0-9_]{0,62}"
CSV_ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
DATABASE_ENDINGS = (".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db")
FILE_ENDINGS = (".parquet", *CSV_ENDINGS, ".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", *DATABASE_ENDINGS)
PATTERN = frozenset("*?[")  # what makes a pattern of the name of a Parquet file
ENCODINGS = ("utf-8", "latin-1", "cp1252", "utf-16")
_DATE_PARTS = frozenset({"Y", "y", "m", "-m", "d", "-d", "b", "B", "a", "A", "H", "I", "M", "S", "f", "p", "%"})
_WHOLE_DATE = ({"Y", "y"}, {"m", "-m", "b", "B"}, {"d", "-d"})
_MOST_NULLS = 100
_LONGEST, _LONGEST_FORMAT, _LONGEST_CURRENCY, _LONGEST_LIFETIME = 1000, 60, 10, 100
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
    close = closest(word, known)
    return "" if close is None else f"did you mean {close}?"


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that looks most like this one."""
    spelt = {name.lower(): name for name in known}
    return next((spelt[close] for close in get_close_matches(word.lower(), spelt, n=1)), None)


def _is_integer(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _matches(pattern: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


def _is_place(value: object) -> bool:
    """A column of a table: the name of a table has no dot, so the first one parts them."""
    table, dot, column = value.partition(".") if isinstance(value, str) else ("", "", "")
    return bool(dot) and re.fullmatch(_WORD, table) is not None and is_column_name(column)


def _is_link(value: object) -> bool:
    if not isinstance(value, str) or value.count("->") != 1:
        return False
    column, _, parent = value.partition("->")
    return is_column_name(column.strip(" ")) and _is_place(parent.strip(" "))


def _is_character(value: object) -> bool:
    return (
        isinstance(value, str) and len(value) == 1 and value.isascii() and not value.isalnum() and value not in "\r\n"
    )


def _is_source(value: object) -> bool:
    """A file by its ending, or a URL; a name without a dot is that of a folder."""
    return isinstance(value, str) and (
        is_url(value)
        or is_in_spark(value)
        or value.lower().endswith(FILE_ENDINGS)
        or "." not in value.rstrip("/").split("/")[-1] != ""
    )


def _is_date_format(value: object) -> bool:
    if not isinstance(value, str) or not value.isprintable() or len(value) > _LONGEST_FORMAT:
        return False
    parts = re.findall("%(-?.?)", value)
    return _DATE_PARTS.issuperset(parts) and all(some & set(parts) for some in _WHOLE_DATE)


def is_local_time(value: object) -> bool:
    """Whether a value is a time in whole seconds that has no time zone of its own."""
    return isinstance(value, datetime) and value.tzinfo is None and value.microsecond == 0


def is_time_zone(value: object) -> bool:
    """Whether a name is one of the IANA time zones; `localtime` is another one on every machine."""
    return isinstance(value, str) and value in _list_time_zones()


@cache
def _list_time_zones() -> frozenset[str]:
    return frozenset(available_timezones() - {"localtime"})


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and len(item) <= _LONGEST for item in value)


def _is_values(value: object) -> bool:
    return _is_place(value) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def _names_engine_table(source: object) -> bool:
    return isinstance(source, str) and "://" in source and not (is_url(source) or is_in_spark(source))


NAME = Rule("a name: a letter or _, then at most 62 letters, digits or _", _matches(_WORD))
COLUMN_NAME = Rule(
    f"a name of at most {LONGEST_COLUMN_NAME} printable characters without spaces at its ends",
    lambda value: isinstance(value, str) and is_column_name(value),
)
SECTION = Rule("a section of its own", lambda value: isinstance(value, dict))

_TEXT = Rule("a text in quotes", lambda value: isinstance(value, str))
_FLAG = Rule("true or false", lambda value: isinstance(value, bool))
_NUMBER = Rule("a number", lambda value: isinstance(value, int | float) and not isinstance(value, bool))
_INTEGER = Rule("a whole number within 2**53 of zero", lambda v: _is_integer(v, -_LARGEST_INTEGER, _LARGEST_INTEGER))
_VERSION = Rule("a whole number from 1 to 1,000,000,000", lambda value: _is_integer(value, 1, 10**9))
_CAP = Rule("a whole number from 1 to 1,000,000", lambda value: _is_integer(value, 1, _MOST_ROWS_PER_PERSON))
_DAY = Rule("a date without quotes or time, such as 2024-01-31", lambda value: type(value) is date)
_LOCAL_TIME = Rule(
    "a local time in whole seconds, such as 2024-01-31T12:30:00, without quotes or offset", is_local_time
)
_TIME_ZONE = Rule('the name of an IANA time zone, such as "Europe/Vienna" or "UTC"', is_time_zone)
_UNIT = Rule('written "table.column", or "row"', lambda value: value == "row" or _is_place(value))
_LINK = Rule('written "column -> table.column"', _is_link)
_VALUES = Rule('a list of texts, or "table.column" of a public table', _is_values)
_SOURCE = Rule(
    "a file that ends in .parquet, .csv, .tsv, .jsonl, .duckdb or .sqlite, a folder of Parquet files, the URL of "
    'a PostgreSQL database, or for Spark "spark://" or a folder in storage',
    _is_source,
)
_SOURCE_NAME = Rule("a name in quotes", lambda value: isinstance(value, str) and len(value) <= _LONGEST)
_CHARACTER = Rule("one character in quotes that is no letter, digit or line end", _is_character)
_QUOTE = Rule(f'{_CHARACTER.says}, or ""', lambda value: value == "" or _is_character(value))
_ENCODING = Rule(" or ".join(f'"{name}"' for name in ENCODINGS), lambda value: value in list(ENCODINGS))
_DECIMAL = Rule('"." or ","', lambda value: value in [".", ","])
_THOUSANDS = Rule(
    "one character in quotes that is no letter, digit, sign or line end",
    lambda v: isinstance(v, str) and len(v) == 1 and not v.isalnum() and v not in "+-\r\n",
)
_CURRENCY = Rule(
    "a text of 1 to 10 characters, none of them a digit, a sign or a decimal mark",
    lambda v: isinstance(v, str) and 1 <= len(v) <= _LONGEST_CURRENCY and not re.search("[0-9+.,-]", v),
)
_NULLS = Rule(f"a list of at most {_MOST_NULLS} texts", lambda v: _are_texts(v) and len(v) <= _MOST_NULLS)
_DATE_FORMAT = Rule(
    "a format with a year (%Y, %y), a month (%m, %b, %B) and a day (%d); it may also have %H %I %M %S %f %p %a %A",
    _is_date_format,
)
_SMALL_PRICE = Rule("a number from 0.001 to 10", lambda value: _NUMBER.holds(value) and 0.001 <= value <= 10)
_SHARE = Rule("a number above 0 and below 1", lambda value: _NUMBER.holds(value) and 0 < value < 1)
_STORAGE = Rule('a size such as "500MB"', lambda value: isinstance(value, str) and parse_size(value) is not None)
_POLICY = Rule(" or ".join(f'"{name}"' for name in POLICIES), lambda value: value in list(POLICIES))

_URL = Rule('a URL of PostgreSQL, such as "postgresql://db.example.org/ledgers"', lambda value: isinstance(value, str))
_SCHEMA = Rule(
    "a name of at most 63 small letters, digits and _, not beginning with a digit or pg_",
    _matches("(?!pg_)[a-z_][a-z0-9_]{0,62}"),
)
_LIFETIME = Rule(
    "a text of 1 to 100 printable characters",
    lambda value: isinstance(value, str) and value.isprintable() and 1 <= len(value) <= _LONGEST_LIFETIME,
)
_VACUOUS = Rule('"refuse" or "warn"', lambda value: value in ["refuse", "warn"])

_OTHER_ENGINE = Rule("a table of another engine", _names_engine_table)
_ROWS_KEPT = Rule(f"{_CAP.says}, or {{ max = 200, epsilon = 0.05 }}", lambda v: _CAP.holds(v) or SECTION.holds(v))

_ENGINE = Rule(" or ".join(f'"{name}"' for name in ENGINES), lambda value: value in list(ENGINES))
_CONNECT = Rule(
    'the address of a Spark Connect server without a token, such as "sc://host:15002"',
    _matches(r"sc://[A-Za-z0-9._\[\]:-]+/?"),
)
_INDEX = Rule(
    'a folder that Spark sees too: an absolute path, or a place in storage such as "s3a://bucket/adomnia"',
    lambda value: (
        isinstance(value, str) and (is_storage(value) or re.fullmatch(r"/[^?#*\[\]{}\\]+", value) is not None)
    ),
)

CATALOG = Section(
    "a catalog",
    (
        DocumentKey("dataset", SECTION, "[dataset] with name, version and unit", required=True),
        DocumentKey("budget", SECTION, "[budget] with epsilon = 1.0", required=True),
        DocumentKey("analysts", SECTION, "[analysts.alice] with epsilon = 0.5", required=True),
        DocumentKey("tables", SECTION, '[tables.people] with source = "people.parquet"', required=True),
        DocumentKey("views", SECTION, '[views.adults] with sql = "SELECT * FROM people WHERE age >= 18"'),
        DocumentKey("engine", SECTION, '[engine] with name = "duckdb"'),
        DocumentKey("ledger", SECTION, '[ledger] with url = "postgresql://db.example.org/ledgers"'),
        DocumentKey("lifetime", SECTION, "[lifetime] with epsilon = 5.0"),
    ),
)
DATASET = Section(
    "[dataset]",
    (
        DocumentKey("name", NAME, 'name = "hospital"', required=True),
        DocumentKey("version", _VERSION, "version = 1", required=True),
        DocumentKey("unit", _UNIT, 'unit = "people.person_id"', required=True),
        DocumentKey("minimum_frequency", _CAP, "minimum_frequency = 10"),
        DocumentKey("vacuous_answers", _VACUOUS, 'vacuous_answers = "warn"'),
        DocumentKey("today", _DAY, "today = 2024-12-31"),
    ),
)
BUDGET = Section(
    "[budget]",
    (
        DocumentKey("epsilon", _NUMBER, "epsilon = 1.0", required=True),
        DocumentKey("delta", _NUMBER, "delta = 1e-6"),
        DocumentKey("approximate", _FLAG, "approximate = true"),
        DocumentKey("event_delta", _NUMBER, "event_delta = 5e-7"),
    ),
)
LEDGER = Section(
    "[ledger]",
    (
        DocumentKey("url", _URL, 'url = "postgresql://db.example.org/ledgers"', required=True),
        DocumentKey("schema", _SCHEMA, 'schema = "hospital"'),
        DocumentKey("lifetime", _LIFETIME, 'lifetime = "people of the town"'),
    ),
)
LIFETIME = Section("[lifetime]", BUDGET.keys)
ANALYST = Section(
    "an analyst",
    (
        DocumentKey("epsilon", _NUMBER, "epsilon = 0.5", required=True),
        DocumentKey("delta", _NUMBER, "delta = 1e-7"),
        DocumentKey("policy", _POLICY, 'policy = "on_demand"'),
        DocumentKey("questions", _CAP, "questions = 20"),
        DocumentKey("spend", _SHARE, "spend = 0.1"),
        DocumentKey("keep", _SHARE, "keep = 0.9"),
        DocumentKey("ceiling", _NUMBER, "ceiling = 0.5"),
        DocumentKey("largest_answer", _VERSION, "largest_answer = 10_000"),
        DocumentKey("storage", _STORAGE, 'storage = "500MB"'),
        DocumentKey("publish", _FLAG, "publish = true"),
    ),
)

ENGINE = Section(
    "[engine]",
    (
        DocumentKey("name", _ENGINE, 'name = "duckdb"', required=True),
        DocumentKey("url", _CONNECT, 'url = "sc://host:15002"'),
        DocumentKey("index", _INDEX, 'index = "s3a://bucket/adomnia"'),
    ),
)

VIEW = Section("a view", (DocumentKey("sql", _TEXT, 'sql = "SELECT * FROM people WHERE age >= 18"', required=True),))

_FROM = DocumentKey("source", _SOURCE, 'source = "people.parquet"', required=True, later=_OTHER_ENGINE)
_TABLE = DocumentKey("table", _SOURCE_NAME, 'table = "people"')
_CSV = DocumentKey("csv", SECTION, 'csv = { delimiter = ";" }')
_PUBLIC = DocumentKey("public", _FLAG, "public = true")
_COLUMNS = DocumentKey("columns", SECTION, '[tables.people.columns] with person_id = { type = "id" }', required=True)
_PERSON = DocumentKey(
    "person", _LINK, 'person = "person_id -> people.person_id", or public = true if it is about nobody', True
)
_ROWS = "rows_per_person"
_ONE_OR_MORE = f"{_ROWS} = 1, or a larger number if a person can have several rows: those beyond it are left out"

_PREVIEW = DocumentKey("preview", _SMALL_PRICE, "preview = 0.05")

PUBLIC_TABLE = Section(
    "a public table", (_FROM, _TABLE, _CSV, _PUBLIC, DocumentKey("columns", SECTION, _COLUMNS.example))
)
ROW_TABLE = Section('a table whose unit is "row"', (_FROM, _TABLE, _CSV, _PUBLIC, _PREVIEW, _COLUMNS))
OWN_TABLE = Section(
    "the unit's own table",
    (_FROM, _TABLE, _CSV, _PUBLIC, DocumentKey(_ROWS, _ROWS_KEPT, _ONE_OR_MORE, required=True), _PREVIEW, _COLUMNS),
)
LINKED_TABLE = Section(
    "a private table",
    (
        _FROM,
        _TABLE,
        _CSV,
        _PUBLIC,
        _PERSON,
        DocumentKey(_ROWS, _ROWS_KEPT, f"{_ROWS} = 10", required=True),
        _PREVIEW,
        _COLUMNS,
    ),
)
ANY_TABLE = Section(  # while nobody knows the unit
    "a table",
    (
        _FROM,
        _TABLE,
        _CSV,
        _PUBLIC,
        DocumentKey("person", _LINK, _PERSON.example),
        DocumentKey(_ROWS, _ROWS_KEPT, f"{_ROWS} = 10"),
        _PREVIEW,
        _COLUMNS,
    ),
)
PRIVATE_CAP = Section(
    "a cap that is chosen privately",
    (
        DocumentKey("max", _CAP, "max = 200", required=True),
        DocumentKey("epsilon", _NUMBER, "epsilon = 0.05", required=True),
    ),
)

CSV = Section(
    "a CSV file",
    (
        DocumentKey("delimiter", _CHARACTER, 'delimiter = ";"'),
        DocumentKey("encoding", _ENCODING, 'encoding = "latin-1"'),
        DocumentKey("decimal", _DECIMAL, 'decimal = ","'),
        DocumentKey("thousands", _THOUSANDS, 'thousands = "."'),
        DocumentKey("dates", _DATE_FORMAT, 'dates = "%d.%m.%Y"'),
        DocumentKey("currency", _CURRENCY, 'currency = "$"'),
        DocumentKey("null", _NULLS, 'null = ["NA", "-9"]'),
        DocumentKey("quote", _QUOTE, 'quote = "\'"'),
    ),
)

_TYPE = DocumentKey("type", _TEXT, 'type = "integer"', required=True)
_COLUMN = DocumentKey("column", _SOURCE_NAME, 'column = "Education Num"')


def _column(label: str, *keys: DocumentKey) -> Section:
    return Section(label, (_TYPE, *keys, _COLUMN))


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
        DocumentKey("format", _DATE_FORMAT, 'format = "%m/%d/%Y"'),
    ),
    "timestamp": _column(
        "a timestamp column",
        DocumentKey("timezone", _TIME_ZONE, 'timezone = "Europe/Vienna"', required=True),
        DocumentKey("lower", _LOCAL_TIME, "lower = 2020-01-01T00:00:00"),
        DocumentKey("upper", _LOCAL_TIME, "upper = 2029-12-31T23:59:59"),
    ),
    "text": _column("a text column"),
}

SECTIONS = (
    CATALOG,
    DATASET,
    BUDGET,
    LEDGER,
    LIFETIME,
    ANALYST,
    VIEW,
    ENGINE,
    PUBLIC_TABLE,
    ROW_TABLE,
    OWN_TABLE,
    LINKED_TABLE,
    PRIVATE_CAP,
    CSV,
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
        "date": "day datetime",
        "timestamp": "timestamptz",
        "text": "string str varchar char",
        "id": "uuid key identifier",
    }.items()
    for synonym in synonyms.split()
}
