"""What an engine promises: it renders our own queries as SQL over the contribution index, and runs exactly that.

The index holds one table for each private table of the catalog, under its name, with these columns:

    rank      the place of the row among those of its person, from 1: a cap keeps the rows of rank <= cap
    person    whose row it is, as a number that says nothing else
    c         a declared column: numbers and dates clamped to their bounds, categories as their code, the place of the
              value in the declared list (NULL where it is not in it), booleans and text as they are
    "c grid"  of a bounded number that need not be whole: its integer multiple of the step

A column whose name is not made of letters, digits and _ alone, or is one of those above, is kept under a name that
starts with a space (`index_name`): no text of a catalog is part of a statement's names.

Whole numbers are their own grid. NaN is NULL, and so is an infinity that no bound clamps. An id by which tables are
linked is kept as the key that the links compare; other ids are not: what may be asked of them is in `person`. Rows lie
together by the bucket of their rank (1, 2, 3-4, 5-8, ...) and, within it, in the order of the source, so that a cap and
a filter both skip what they do not need.

A public table lies beside them under its name, its columns in the same forms, without rank and person.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adomnia.catalog.facts import Facts
from adomnia.catalog.model import USUAL_CSV, Catalog, CsvFormat, Place, Table, is_name
from adomnia.engines.dialect import Dialect
from adomnia.engines.limits import Limits
from adomnia.noise import Integers
from adomnia.privacy.expressions import Column
from adomnia.privacy.keys import Label
from adomnia.privacy.kinds import Identity, Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Select

if TYPE_CHECKING:
    import pyarrow as pa

Places: TypeAlias = NDArray[np.intp]

Progress: TypeAlias = Callable[[str, float], None]
"""Told what is being done and how much is done, from 0 to 1."""

RANK = "rank"
PERSON = "person"
_ODD = re.compile(r"[^A-Za-z0-9_]")
_DIGEST = 32  # hexadecimal digits: no two names of a table have the same
_LONGEST, _SHOWN = 56, 16  # letters of a name that is kept, and of one that is not: engines cut off what is over 63
# What PostgreSQL calls columns of its own, in every table.
_TAKEN = frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"})


@dataclass(frozen=True)
class Statement:
    """SQL of our own making and the constants bound to it. Columns k0, k1, ... are keys, then come m0, m1, ..."""

    text: str
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class ColumnReading:
    """The rows of one column: how many are missing, and of the others how many are read as NULL or moved to a bound.

    `undeclared` are the values of a category that it does not list; they count as `unreadable` too.
    """

    table: str
    column: str
    rows: int
    missing: int
    unreadable: int
    clamped: int
    undeclared: int

    @property
    def is_mostly_unreadable(self) -> bool:
        """More than half of the values that are there; of a category all, because a list may leave many out."""
        present = self.rows - self.missing
        return self.unreadable == present > 0 if self.undeclared else 2 * self.unreadable > present


class Engine(Protocol):
    """A database that holds the contribution index."""

    @property
    def dialect(self) -> Dialect:
        """The SQL that it is written to in."""
        ...

    def render(self, queries: tuple[Query, ...]) -> Statement:
        """One statement for queries over the same rows and keys."""
        ...

    def run(self, statement: Statement, queries: tuple[Query, ...]) -> tuple[Integers, ...]:
        """The exact aggregates, one array over all cells for each query; cells without rows are 0.

        A vector's entries are the last axis. Of combinations, these are the counts that are to be combined.
        """
        ...

    def keys(self, statement: Statement, query: Query) -> tuple[Integers, Callable[[Places], list[tuple[Label, ...]]]]:
        """Of each value that somebody has, how many people have it; and the values, to be asked for by place."""
        ...

    def render_rows(self, rows: Select) -> Statement:
        """The statement of rows of public tables, their outputs in order."""
        ...

    def read(self, statement: Statement, most: int) -> list[tuple[Any, ...]]:
        """The first rows of public tables: the caller has proved that the statement reads nothing else.

        A Failure where it takes more time or memory than what costs nothing may.
        """
        ...

    def is_open(self) -> bool:
        """Whether this engine can go on: one that met an error of its own may take no statement any more.

        Then only another one in its place helps. A database that is away for a while is no such error.
        """
        ...

    def is_reachable(self) -> bool:
        """Whether statements can run now, asked before every debit: an engine in this process need not look."""
        ...

    def close(self) -> None:
        """Let go of the index."""
        ...


class EngineClass(Protocol):
    """How an engine is made, and what it finds in the owner's files before there is one."""

    def open(self, catalog: Catalog, folder: Path, progress: Progress, limits: Limits) -> Engine:
        """The engine over a catalog's files; its index lies in `folder` and is built if it is not there."""
        ...

    def load(
        self,
        catalog: Catalog,
        frames: Mapping[str, object],
        progress: Progress = ...,
        limits: Limits = ...,
        spill: str = ...,
    ) -> Engine:
        """The engine over tables in memory, Arrow, pandas or Polars; what they need beside goes to a folder, if any."""
        ...

    def find_facts(self, data: object, table: Table) -> tuple[Facts, ...]:
        """What a public table, in memory or in its place, shows of every column that is declared."""
        ...

    def read_header(self, place: Place, source_table: str | None = None, csv: CsvFormat = USUAL_CSV) -> dict[str, str]:
        """The names and types of a source's columns; a source of texts, such as a CSV file, has no types."""
        ...

    def check_header(self, place: Place, table: Table) -> None:
        """Refuse a source whose columns are not those that a table declares; no value is read."""
        ...

    def read_texts(self, path: Path) -> "pa.Table":
        """All columns of a CSV file as texts, in memory."""
        ...

    def count_readings(self, place: Place, table: Table) -> tuple[ColumnReading, ...]:
        """How many values of each declared column are missing, lost or moved: exact counts, for the owner alone."""
        ...


def silent(_step: str, _share: float) -> None:
    """Progress that nobody watches."""


def index_name(name: str) -> str:
    """The column of the index that keeps a declared one: itself, or a name of ours where SQL could mistake it.

    >>> index_name("age"), index_name("Education Num").split()[0]
    ('age', 'Education_Num')
    """
    if is_name(name) and len(name) <= _LONGEST and name.lower() not in _TAKEN:
        return name
    digest = sha256(name.lower().encode()).hexdigest()[:_DIGEST]
    return f" {_ODD.sub('_', name)[:_SHOWN]} {digest}"


def stored_name(column: Column) -> str:
    """The column of the index that an expression reads."""
    match column.kind:
        case Identity(person=True):
            return PERSON
        case Identity(linked=""):
            raise ValueError(f"Column {column.name} is an id other than the person's, which no index keeps.")
    return index_name(column.name)


def grid_name(column: Column) -> str:
    """The column of the index that holds the grid integers of a bounded number."""
    whole = isinstance(column.kind, Quantity) and column.kind.whole
    return index_name(column.name) if whole else f"{index_name(column.name)} grid"
