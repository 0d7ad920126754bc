"""The catalog: what the owner declares. These facts are public, and nothing else may be used before noise is added."""

import re
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import ClassVar, TypeAlias

from adomnia.postgres import is_url
from adomnia.privacy.expressions import Column
from adomnia.privacy.filters import Budget
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.units import Unit

RESERVED = ("rank", "bucket", "person", "rowid")  # columns that the contribution index or its engine adds to a table
POLICIES = {"on_demand": (), "equal_split": ("questions",), "geometric": ("spend", "keep")}  # one key of these each
ENGINES = ("duckdb", "postgres", "spark")  # where the index may lie and questions may run
LONGEST_COLUMN_NAME = 128
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")


Place: TypeAlias = Path | str
"""Where the rows of a table are: a file or a folder, or the URL of a database."""

SPARK_CATALOG = "spark://"
_SCHEMES = ("s3", "s3a", "gs", "abfs", "abfss", "wasbs", "hdfs", "dbfs")
# Without a password, a query or a fragment: whoever reads the catalog reads it.
_STORAGE = re.compile(rf"({'|'.join(_SCHEMES)})://[A-Za-z0-9._@-]*(:[0-9]{{1,5}})?(/[^?#\s\\*\[\]{{}}]*)?")


def is_name(word: str) -> bool:
    """Whether a table may have this name: well-formed, and not one that the index uses."""
    return _NAME.fullmatch(word) is not None and word.lower() not in RESERVED


def is_column_name(word: str) -> bool:
    """Whether a column may have this name: any text that can be printed on one line and has no space at its ends.

    >>> is_column_name("Education Num"), is_column_name(" age")
    (True, False)
    """
    return 1 <= len(word) <= LONGEST_COLUMN_NAME and word.isprintable() and word == word.strip()


@dataclass(frozen=True)
class Link:
    """`person = "column -> parent.parent_column"`: how a row of this table finds its person, step by step."""

    column: str
    parent: str
    parent_column: str


@dataclass(frozen=True)
class Profile:
    """A noisy histogram of how many rows people have, with Laplace noise of scale 1 / epsilon: a release, hence public.

    `people[j]` of them have more than `edges[j]` rows and at most `edges[j + 1]`.
    """

    tag: ClassVar[str] = "Profile"
    edges: tuple[int, ...]
    people: tuple[int, ...]
    epsilon: Fraction


@dataclass(frozen=True)
class CsvFormat:
    """How a CSV file spells its values; None where the file's ending or the usual spelling decides.

    What is in `null` is missing, and an empty field always is. `dates` is the format of days, as strptime takes it.
    """

    delimiter: str | None = None
    encoding: str = "utf-8"
    decimal: str = "."
    thousands: str | None = None
    dates: str | None = None
    currency: str | None = None
    null: tuple[str, ...] = ()
    quote: str = '"'


USUAL_CSV = CsvFormat()


@dataclass(frozen=True)
class SourceColumn:
    """Where a declared column is in its source: the name it has there, and the format of its days, if one is given."""

    name: str
    format: str | None = None


@dataclass(frozen=True)
class Table:
    """One declared table. A private table has `rows_per_person`; a public one is read exactly and costs nothing.

    `repeats` says of each column of a public table how many of its rows share one value at most. With a
    `profile_epsilon`, `rows_per_person` is the most that a cap may be, and `profile` is there once it is paid for.
    For `preview_epsilon`, rows of nobody are published once for each version of the data.
    `source` is a file, a folder or the URL of a database; `source_table` is the table of a database; `source_columns`
    are those that the source calls by another name, or whose days have a format of their own.
    """

    name: str
    source: str
    columns: tuple[Column, ...]
    public: bool = False
    link: Link | None = None
    rows_per_person: int = 1
    repeats: tuple[int, ...] = ()
    profile_epsilon: Fraction | None = None
    profile: Profile | None = None
    preview_epsilon: Fraction | None = None
    source_table: str | None = None
    source_columns: tuple[tuple[str, SourceColumn], ...] = ()
    csv: CsvFormat = USUAL_CSV

    def __post_init__(self) -> None:
        # Whoever made the catalog: two columns of one name would be read for each other.
        names = [column.name for column in self.columns]
        if not is_name(self.name):
            rule = "a name of letters, digits and _, not a reserved one"
            raise ValueError(f"Table {self.name} must have {rule}, got {self.name!r}.")
        for name in names:
            if not is_column_name(name):
                rule = (
                    f"columns with names of at most {LONGEST_COLUMN_NAME} printable characters, no space at their ends"
                )
                raise ValueError(f"Table {self.name} must have {rule}, got {name!r}.")
        if len({name.lower() for name in names}) < len(names):
            raise ValueError(f"Table {self.name} must have columns of different names, got {', '.join(names)}.")

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)

    def locate(self, folder: Path) -> Place:
        """Where the rows are: a URL, or a file, whose name starts at the folder of the catalog."""
        return self.source if self.is_elsewhere else folder / self.source

    @property
    def is_elsewhere(self) -> bool:
        """Whether the rows are in no file of this machine, but in a database or where only Spark reads."""
        return is_url(self.source) or is_in_spark(self.source)

    def source_column(self, name: str) -> SourceColumn:
        """Where a declared column is in the source: under its own name, unless another is declared."""
        return dict(self.source_columns).get(name, SourceColumn(name))


@dataclass(frozen=True)
class View:
    """A SELECT with a name: questions can use it like a table."""

    name: str
    sql: str


@dataclass(frozen=True)
class Policy:
    """Who sets the price of a question: the analyst (`on_demand`) or the owner; docs/policies.md.

    `equal_split` pays for so many `questions` alike, `geometric` spends that part of what is left on the next one.
    No question may cost more than the `ceiling`.
    """

    name: str = "on_demand"
    questions: int | None = None
    spend: Fraction | None = None
    ceiling: Fraction | None = None


@dataclass(frozen=True)
class Quota:
    """The most numbers that may be measured for one answer (None: as many as anybody), and the bytes of all of them."""

    largest_answer: int | None = None
    storage: int = 10**10


@dataclass(frozen=True)
class SharedLedger:
    """A ledger in PostgreSQL, which servers on several machines pay from: where it is, and in which schema.

    `lifetime` is an account that other datasets about the same people name as well, with the same budget.
    """

    url: str
    schema: str
    lifetime: str | None = None
    lifetime_budget: Budget | None = None


@dataclass(frozen=True)
class Analyst:
    """An analyst: what they may spend in all, who sets the price of their questions, and how much is kept for them.

    Who may `publish` makes releases for everybody, which the dataset alone pays for.
    """

    name: str
    budget: Budget
    policy: Policy = Policy()
    quota: Quota = Quota()
    publish: bool = False


@dataclass(frozen=True)
class EngineChoice:
    """Where the index lies and questions run: the name of an engine, and the URL of its server if it needs one.

    `index` is a folder that the server sees too; None where it is beside the ledger.
    """

    name: str = ENGINES[0]
    url: str | None = None
    index: str | None = None


@hashed_once
@dataclass(frozen=True)
class Catalog:
    """A whole catalog.toml, checked.

    Values of keys that nobody declared are named only if at least `minimum_frequency` people have them. `today` is what
    CURRENT_DATE means.
    """

    name: str
    version: int
    unit: Unit
    budget: Budget
    analysts: tuple[Analyst, ...]
    tables: tuple[Table, ...]
    folder: Path
    views: tuple[View, ...] = ()
    minimum_frequency: int = 1
    vacuous_answers: str = "refuse"  # before they are paid for, or "warn" alone
    engine: EngineChoice = EngineChoice()
    ledger: SharedLedger | None = None  # None: a file beside the catalog
    today: date | None = None

    def table(self, name: str) -> Table | None:
        return next((table for table in self.tables if table.name == name), None)

    def analyst(self, name: str) -> Analyst | None:
        return next((analyst for analyst in self.analysts if analyst.name == name), None)

    def resolve_link(self, link: Link | None) -> Link | None:
        """Shorten a chain: a link to the column by which its parent is linked goes where the parent's link goes."""
        links = {table.name: table.link for table in self.tables}
        while link is not None and (on := links[link.parent]) is not None and on.column == link.parent_column:
            link = Link(link.column, on.parent, on.parent_column)
        return link

    def unique_keys(self, table_name: str) -> tuple[str, ...]:
        """The columns of a table that links of other tables lead to: the index refuses a value that two rows share."""
        links = [self.resolve_link(table.link) for table in self.tables]
        ends = {(link.parent, link.parent_column) for link in links if link is not None}
        ends.discard((self.unit.table, self.unit.column))
        return tuple(sorted(column for table, column in ends if table == table_name))


def is_storage(place: str) -> bool:
    """Whether a place is a folder in storage.

    >>> is_storage("s3a://bucket/visits"), is_storage("s3a://key:secret@bucket/visits"), is_storage("visits")
    (True, False, False)
    """
    return _STORAGE.fullmatch(place) is not None


def is_in_spark(source: str) -> bool:
    """Whether only Spark can read a source."""
    return source == SPARK_CATALOG or is_storage(source)
