# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""Which columns repeat their values, and which values of one table are those of another: for the owner's eyes alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from adomnia.catalog.model import CsvFormat, SourceColumn, Table
from adomnia.engines.index.source import render_key
from adomnia.engines.sources.reading import file_source
from adomnia.inspection.key_names import fold_name
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Identity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from adomnia.catalog.model import Place
    from adomnia.engines.index import Run, TableSource
    from adomnia.engines.sources.reading import SourceReader

_FEWEST = 20  # different values: fewer are those of a category
_ROWS_OF_CATEGORY = 10  # for each of its values, on average
_SHARE = 20  # a key of people has at least one value in that many rows
_MOSTLY = 0.9  # of the values of a link, which are those of the other column
# With marks of thousands, or as spreadsheets shorten long ones. What may also be a fraction, as 1.234, is asked about.
_WHOLE = "[+-]?([0-9]+([.,]0*)?|[0-9]{1,3}([., ''][0-9]{3})+([.,]0*)?|[0-9]([.,][0-9]+)?[eE][+]?[0-9]+)"
_COVERED = 0.5  # of the values of the other column: ages are among the numbers of people, and are few of them


@dataclass(frozen=True)
class KeyCount:
    """How many rows of a column have a value, and how many different values there are.

    `leads_to` are the columns of other tables, by the names of both in their files, whose values these mostly are.
    """

    filled: int
    distinct: int
    leads_to: tuple[tuple[str, str], ...] = ()

    @property
    def repeats(self) -> bool:
        """Whether some value is in several rows."""
        return self.distinct < self.filled

    @property
    def is_unique(self) -> bool:
        """Whether every row that has a value has one of its own."""
        return 0 < self.distinct == self.filled

    @property
    def is_category(self) -> bool:
        """Whether there are too few different values to name people."""
        return self.distinct < _FEWEST and self.distinct * _ROWS_OF_CATEGORY <= self.filled

    @property
    def may_name_people(self) -> bool:
        """Whether values repeat, and are as many as people might be."""
        return self.repeats and not self.is_category and self.distinct * _SHARE >= self.filled


@dataclass(frozen=True)
class KeyReader:
    """Some columns of one table, by the names that the file has, as keys that other tables' keys compare with.

    Those in `numbers` are keys only if all of their values are whole.
    """

    reader: SourceReader
    run: Run
    name: str
    place: Place
    source_table: str | None
    csv: CsvFormat
    columns: tuple[str, ...]
    numbers: frozenset[str] = frozenset()

    def count(self) -> dict[str, KeyCount]:
        """How often the values of each column repeat."""
        counts = ", ".join(f"COUNT({key}), COUNT(DISTINCT {key}), {_count_fractions(key)}" for key in self._keys)
        (found,) = self.run(f"SELECT {counts} FROM {self._source.relation}")
        counted = [int(str(number)) for number in found]
        triples = zip(self.columns, counted[::3], counted[1::3], counted[2::3], strict=True)
        return {
            written: KeyCount(filled, distinct)
            for written, filled, distinct, fractions in triples
            if written not in self.numbers or not fractions
        }

    def values(self, written: str) -> str:
        """SQL of the different values of a column, which are read once."""
        place = self.columns.index(written)
        name = f" values {place} of {self.name}".replace('"', '""')
        found = f"SELECT DISTINCT {self._keys[place]} AS value FROM {self._source.relation}"
        self.run(f'CREATE TEMP TABLE IF NOT EXISTS "{name}" AS SELECT * FROM ({found}) WHERE value IS NOT NULL')
        return f'SELECT value FROM "{name}"'

    @cached_property
    def _source(self) -> TableSource:
        names = [(f"k{place}", written) for place, written in enumerate(self.columns)]
        table = Table(
            "keys",
            str(self.place),
            tuple(Column(name, Identity()) for name, _ in names),
            source_table=self.source_table,
            source_columns=tuple((name, SourceColumn(written)) for name, written in names),
            csv=self.csv,
        )
        return file_source(self.reader, self.place, table)

    @cached_property
    def _keys(self) -> list[str]:
        return [render_key(f"k{place}", self._source) for place in range(len(self.columns))]


def _count_fractions(key: str) -> str:
    return f"COUNT(CASE WHEN NOT REGEXP_FULL_MATCH({key}, '{_WHOLE}') THEN 1 END)"


def count_keys(readers: Iterable[KeyReader]) -> dict[str, dict[str, KeyCount]]:
    """The counts of the columns of each table, and which of them lead to which of other tables."""
    tables = [reader for reader in readers if reader.columns]
    counts = {table.name: table.count() for table in tables}
    return {
        table.name: {
            written: KeyCount(count.filled, count.distinct, tuple(_find_ends(table, written, tables, counts)))
            for written, count in counts[table.name].items()
        }
        for table in tables
    }


def _find_ends(
    table: KeyReader, written: str, tables: list[KeyReader], counts: Mapping[str, Mapping[str, KeyCount]]
) -> Iterable[tuple[str, str]]:
    own = counts[table.name][written]
    if own.distinct < _FEWEST:
        return
    for other in tables:
        for column, count in counts[other.name].items() if other is not table else ():
            meant = count.is_unique or fold_name(column) == fold_name(written)
            if meant and count.distinct >= _FEWEST and own.distinct >= _COVERED * count.distinct:
                both = f"SELECT COUNT(*) FROM ({table.values(written)} INTERSECT {other.values(column)})"
                ((shared,),) = table.run(both)
                if int(str(shared)) >= max(_MOSTLY * own.distinct, _COVERED * count.distinct):
                    yield other.name, column
