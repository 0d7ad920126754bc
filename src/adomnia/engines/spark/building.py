# ruff: noqa: S608 - SQL is what this module writes; names are quoted, values are hashed or cast
"""The index as Parquet that Spark writes: rows ranked by one window for each person, in folders by bucket of rank.

Nothing passes through the driver. Spark computes a task again when a machine is lost, and may then see rows in another
order: so every number is a function of the rows themselves. What is numbered is sorted by all that tells it apart, and
rows that nothing tells apart are equal. Proof: docs/proofs/index.md.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from adomnia.catalog.model import Catalog, Table
from adomnia.engines.contract import PERSON, RANK, Progress
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.index import STEPS, IndexWriter, Links, TableSource, build_public, list_indexed, refuse_unreadable
from adomnia.engines.index.build import project_source
from adomnia.engines.index.columns import columns_to_keep, index_columns
from adomnia.engines.index.order import carry_hash, render_digest, render_person_hash, render_row_hash
from adomnia.engines.sources import reading as duckdb_sources
from adomnia.engines.spark.dialect import SPARK
from adomnia.engines.spark.sources import escape, file_source, frame_source, storable
from adomnia.errors import AdomniaError, Failure
from adomnia.privacy.units import ROW

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from adomnia.engines.spark.pinning import Session

BUCKET = "bucket"
_PARTS = 4096  # into which people are dealt to be numbered
_KEPT = "people-of-all-tables"  # a folder beside those of tables, whose names have no hyphen
# Names of views begin with a space: no table of a catalog is called so, be it ours or Spark's.
_PEOPLE, _KEPT_ROWS, _WRITTEN, _ORDER = " people", " kept", " written", " order of rows"
# Names in backticks and texts, which stay as they are, and names in double quotes, which not every server reads so.
_QUOTED = re.compile(r"`[^`]*`|'(?:[^'\\]|\\.)*'|\"([^\"]*)\"", re.DOTALL)
_WHO = '" origin", \':\', " key"'
# Where a row stood in the source: by it only files are sorted, which is all that depends on it.
_PLACE = 'MONOTONICALLY_INCREASING_ID() AS " place"'
_BUCKETS = " ".join(f"WHEN rank <= {2**place} THEN {place}" for place in range(31))


@dataclass(frozen=True)
class ParquetBuilder:
    """Builds an index at a place: a session of its own, the catalog, the key of the order, who is told of progress."""

    session: "Session"
    catalog: Catalog
    place: str
    key: bytes
    progress: Progress

    def build(self, frames: Mapping[str, object]) -> None:
        """Write all tables; a Failure, which says nothing of the rows, or a Refusal where something else went wrong."""
        try:
            return self._build(frames)
        except AdomniaError:
            raise
        except Exception:  # noqa: BLE001 - Spark's and Java's, whose words may quote a row
            failed = Failure()
        raise failed  # out here it carries no cause

    def _build(self, frames: Mapping[str, object]) -> None:
        tables = list_indexed(self.catalog)
        private = [table for table in tables if not table.public]
        sources = {table.name: self._source(table, frames) for table in private}
        writer = IndexWriter(self._run, "", self.key, SPARK)
        for table in private:
            if table.name not in frames:
                refuse_unreadable(writer, table, sources[table.name])
        self._write_public([table for table in tables if table.public], frames)
        links = Links(self.catalog, sources, self._run, SPARK)
        order = self.session.createDataFrame(pa.table({" order": [self.key.hex()]}))
        order.createOrReplaceTempView(SPARK.quote(_ORDER))
        if self.catalog.unit == ROW:
            for table in private:
                self._write(table, self._number_rows(writer, table, links), sources[table.name])
        else:
            self._write_private(writer, private, links, sources)
        self.progress("done", 1.0)

    def _source(self, table: Table, frames: Mapping[str, object]) -> TableSource:
        if table.name in frames:
            return frame_source(self.session, table, frames[table.name])
        return file_source(self.session, table.locate(self.catalog.folder), table)

    def _write_private(
        self, writer: IndexWriter, tables: list[Table], links: Links, sources: Mapping[str, TableSource]
    ) -> None:
        for table in tables:
            columns = columns_to_keep(table.columns)
            rows = project_source(writer, table, links, ['" origin"', '" key"'])
            hashed = render_digest(self.key, "1", columns, _WHO, SPARK)
            people = f'({rows} WHERE " key" IS NOT NULL) AS " rows"'
            staged = f'SELECT " rows".*, {hashed} AS " digest", {_PLACE} FROM {people} CROSS JOIN "{_ORDER}"'
            self._view(_staged(table), staged)
        self._number_people(tables)
        for done, table in enumerate(tables):
            self.progress(f"{table.name}: {STEPS[-1]}", done / len(tables))
            self._write(table, self._rank(table), sources[table.name])
        # Who has which number is nobody's business any more; a place that only Spark sees is emptied by writing there.
        self._sql("SELECT 1 AS nothing WHERE FALSE").write.mode("overwrite").parquet(self._path(_KEPT))

    def _number_people(self, tables: list[Table]) -> None:
        """A number for each person of all tables: a place in one of many parts, which of them that is, and the hash."""
        everybody = " UNION ALL ".join(f'SELECT " origin", " key" FROM "{_staged(table)}"' for table in tables)
        part = f'PMOD(XXHASH64(" origin", " key"), {_PARTS})'
        place = 'ROW_NUMBER() OVER (PARTITION BY " part" ORDER BY " origin", " key")'
        placed = f'SELECT " origin", " key", CAST({place} AS BIGINT) * {_PARTS} + " part" AS " running" '
        placed += f'FROM (SELECT DISTINCT " origin", " key", {part} AS " part" FROM ({everybody}))'
        number = carry_hash('" running"', render_person_hash(self.key, _WHO, SPARK), SPARK)
        rows = f'SELECT " origin", " key", {number} AS " number" FROM ({placed}) CROSS JOIN "{_ORDER}"'
        self._keep(_PEOPLE, rows)

    def _rank(self, table: Table) -> str:
        """SQL of the rows of a table, with the place of each among those of its person."""
        columns = columns_to_keep(table.columns)
        names = [SPARK.quote(part.name) for column in columns for part in index_columns(column, SPARK)]
        order = ", ".join(f"{name} ASC NULLS LAST" for name in ['" digest"', *names])
        later = render_digest(self.key, 'CAST(" copy" AS STRING)', columns, _WHO, SPARK)
        person = '" origin", " key"'
        copies = f'SELECT *, ROW_NUMBER() OVER (PARTITION BY {person}, " digest" ORDER BY {order}) AS " copy" FROM'
        hashed = f'SELECT " copies".*, CASE WHEN " copy" = 1 THEN " digest" ELSE {later} END AS " hash" FROM'
        ranked = f'SELECT *, ROW_NUMBER() OVER (PARTITION BY {person} ORDER BY " hash", {order}) AS {RANK} FROM'
        outputs = ", ".join([RANK, f'" number" AS {PERSON}', *names, f"CASE {_BUCKETS} END AS {BUCKET}", '" place"'])
        own = f'(SELECT * FROM "{_staged(table)}" DISTRIBUTE BY {person})'  # once for both windows and the join
        copied = f'({copies} {own}) AS " copies" CROSS JOIN "{_ORDER}"'
        rows = f'({ranked} ({hashed} {copied})) JOIN "{_PEOPLE}" USING (" origin", " key")'
        return f"SELECT {outputs} FROM {rows}"

    def _number_rows(self, writer: IndexWriter, table: Table, links: Links) -> str:
        """SQL of the rows of a table in which each is a person of its own, numbered as people are."""
        names = [
            SPARK.quote(part.name) for column in columns_to_keep(table.columns) for part in index_columns(column, SPARK)
        ]
        part = f"PMOD(XXHASH64({', '.join(names) or '1'}), {_PARTS})"
        order = ", ".join(f"{name} ASC NULLS LAST" for name in names) or "1"
        place = f'ROW_NUMBER() OVER (PARTITION BY " part" ORDER BY {order})'
        rows = project_source(writer, table, links, [])
        number = carry_hash('" running"', render_row_hash(self.key, '" running"', SPARK), SPARK)
        outputs = ", ".join(
            [
                f"1 AS {RANK}",
                f"{number} AS {PERSON}",
                *names,
                f"0 AS {BUCKET}",
                '" place"',
            ]
        )
        placed = f'SELECT *, {part} AS " part", {_PLACE} FROM ({rows})'
        numbered = f'SELECT *, CAST({place} AS BIGINT) * {_PARTS} + " part" AS " running" FROM ({placed})'
        return f'SELECT {outputs} FROM ({numbered}) CROSS JOIN "{_ORDER}"'

    def _write(self, table: Table, rows: str, source: TableSource) -> None:
        """Write rows by bucket, and read again that no place of a person is there twice and none is missing."""
        path = self._path(table.name)
        # Few large files of each bucket, however many tasks there were, each in the order of the source.
        ranked = self._sql(f"SELECT /*+ REBALANCE({BUCKET}) */ * FROM ({rows})")
        ranked = ranked.sortWithinPartitions(BUCKET, " place").drop(" place")
        ranked.write.partitionBy(BUCKET).parquet(path)
        # Where there is no row, no file would tell the columns.
        ranked.where("FALSE").drop(BUCKET).write.mode("append").parquet(f"{path}/{BUCKET}=0")
        self.session.read.parquet(escape(path)).createOrReplaceTempView(SPARK.quote(_WRITTEN))
        staged = source.relation if self.catalog.unit == ROW else f'"{_staged(table)}"'
        counts = f"COUNT(*), COUNT(DISTINCT {PERSON}, {RANK}), (SELECT COUNT(*) FROM {staged})"
        ((found, different, wanted),) = self._run(f'SELECT {counts} FROM "{_WRITTEN}"')
        if not found == different == wanted:
            raise Failure()

    def _write_public(self, tables: list[Table], frames: Mapping[str, object]) -> None:
        """Public tables in the forms of the index, as DuckDB writes them from their sources."""
        with duckdb_sources.open_reader() as reader:
            writer = IndexWriter(duckdb_sources.make_runner(reader.connection), "memory.main", b"", DUCKDB)
            for table in tables:
                if table.name in frames:
                    source = duckdb_sources.frame_source(reader.connection, table.name, frames[table.name])
                else:
                    source = duckdb_sources.file_source(reader, table.locate(self.catalog.folder), table)
                source.check(table)
                build_public(writer, table, source)
                rows = reader.connection.sql(f"SELECT * FROM {writer.name_of(table)}").to_arrow_table()
                kept = pa.table([storable(column) for column in rows.columns], rows.column_names)
                self.session.createDataFrame(kept).write.parquet(self._path(table.name))

    def _keep(self, name: str, rows: str) -> None:
        """Keep rows in files until the index is built: what is numbered once is not numbered again."""
        self._sql(rows).write.parquet(self._path(_KEPT))
        self.session.read.parquet(escape(self._path(_KEPT))).createOrReplaceTempView(SPARK.quote(_KEPT_ROWS))
        self._view(name, f'SELECT * FROM "{_KEPT_ROWS}"')

    def _view(self, name: str, rows: str) -> None:
        self._run(SPARK.index.temporary.format(f'"{name}"', rows))

    def _path(self, name: str) -> str:
        return f"{self.place}/{name}"

    def _run(self, sql: str, *_parameters: object) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self._sql(sql).collect()]

    def _sql(self, text: str) -> "DataFrame":
        return self.session.sql(quote_names(text))


def quote_names(text: str) -> str:
    """The same SQL with all names in backticks.

    >>> print(quote_names('SELECT " key", `a"b`'), quote_names("'so" + '"' + " it's'"))
    SELECT ` key`, `a"b` 'so" it's'
    """
    return _QUOTED.sub(lambda found: found[0] if found[1] is None else f"`{found[1]}`", text)


def _staged(table: Table) -> str:
    return f" staged {table.name}"
