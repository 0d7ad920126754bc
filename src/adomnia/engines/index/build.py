# ruff: noqa: S608 - SQL is what this module writes; names are quoted, values are hashed, cast or bound
# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""Building the index of one table: stage its rows, rank each person's, write them bucket by bucket.

Everything that decides a rank is the person's own: the partition is the person, the order a keyed hash of that person's
key and rows. Temporary tables and their columns have names that start with a space, which no name of a catalog does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from adomnia.catalog.model import Catalog, Table
from adomnia.engines.contract import PERSON, RANK, Progress, index_name
from adomnia.engines.dialect import Dialect
from adomnia.engines.index.columns import categories_name, columns_to_keep, index_columns, render_reading
from adomnia.engines.index.order import carry_hash, render_digest, render_person_hash, render_row_hash
from adomnia.engines.index.people import Links, Run
from adomnia.engines.index.source import TableSource
from adomnia.errors import Failure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text

Step = Callable[[str], None]

STEPS = ("reading", "finding people", "ranking", "writing")

_WHO = '" origin", \':\', " key"'


def list_indexed(catalog: Catalog) -> list[Table]:
    """The tables of the index: every private one, and the public ones with a column to keep."""
    return [table for table in catalog.tables if not table.public or columns_to_keep(table.columns)]


def tell_steps(table: str, done: int, tables: int, progress: Progress) -> Step:
    """What tells of the steps of one table, when so many of all tables are done."""
    return lambda step: progress(f"{table}: {step}", (done + STEPS.index(step) / len(STEPS)) / tables)


@dataclass(frozen=True)
class IndexWriter:
    """Where the index is written: how to run SQL there, in which dialect, the schema of its tables, the order's key."""

    run: Run
    schema: str
    key: bytes
    dialect: Dialect

    def number(self, sql: str) -> int:
        """The one integer that a statement gives."""
        ((value,),) = self.run(sql)
        return int(str(value))

    def keep(self, name: str, rows: str) -> None:
        """Keep rows in a temporary table until the next ones of that name."""
        self.run(self.dialect.index.temporary.format(f'"{name}"', rows))

    def name_of(self, table: Table) -> str:
        """A table of the index."""
        return f"{self.schema}.{self.dialect.quote(table.name)}"


def build_table(writer: IndexWriter, table: Table, links: Links, step: Step) -> None:
    """Write the index of one private table."""
    columns = columns_to_keep(table.columns)
    step(STEPS[0])
    _stage(writer, table, links)
    step(STEPS[1])
    _enrol(writer, links)
    step(STEPS[2])
    _rank(writer)
    _break_ties(writer, columns)
    step(STEPS[3])
    _write(writer, table)


def build_rows(writer: IndexWriter, table: Table, links: Links, step: Step) -> None:
    """Write the index of a table in which every row is a person of its own."""
    step(STEPS[-1])
    dialect, number = writer.dialect, "ROW_NUMBER() OVER ()"
    person = carry_hash(number, render_row_hash(writer.key, number, dialect), dialect)
    ranked = [
        f"CAST(1 AS {dialect.types.rank}) AS {dialect.quote(RANK)}",
        f"{person} AS {dialect.quote(PERSON)}",
    ]
    rows = project_source(writer, table, links, ranked)
    writer.run(f"CREATE TABLE {writer.name_of(table)} AS {rows}")


def _stage(writer: IndexWriter, table: Table, links: Links) -> None:
    """Read the source as the catalog declares it, leave out the rows of nobody, and hash the others."""
    rows = project_source(writer, table, links, ['" origin"', '" key"'])
    hashed = render_digest(writer.key, "1", columns_to_keep(table.columns), _WHO, writer.dialect)
    writer.keep(" staged", f'SELECT *, {hashed} AS " digest" FROM ({rows} WHERE " key" IS NOT NULL) AS " rows"')


def project_source(writer: IndexWriter, table: Table, links: Links, first: list[str]) -> str:
    """SQL of the rows of a source, in the columns of the index after the `first` ones."""
    columns = columns_to_keep(table.columns)
    read = {writer.dialect.quote(index_name(column.name)): links.read(table, column) for column in columns}
    return project_columns(writer, columns, links.rows(table, read), first)


def project_columns(writer: IndexWriter, columns: tuple[Column, ...], raw: str, first: Sequence[str] = ()) -> str:
    """SQL that turns columns as they are read into those of the index."""
    for column in columns:
        declare_categories(writer, column)
    dialect = writer.dialect
    parts = [
        f"{part.sql} AS {dialect.quote(part.name)}" for column in columns for part in index_columns(column, dialect)
    ]
    return f'SELECT {", ".join([*first, *parts])} FROM ({raw}) AS " raw"'


def declare_categories(writer: IndexWriter, column: Column) -> None:
    """Declare the values whose places are the codes: anything else is read as NULL, or as one of them."""
    if isinstance(column.kind, Text) and column.kind.values is not None:
        name = writer.dialect.quote(categories_name(column))
        for sql, bound in writer.dialect.index.declare(name, column.kind.values):
            writer.run(sql, *bound)


def _enrol(writer: IndexWriter, links: Links) -> None:
    """Number the people of the staged rows who have no number yet; all tables share the numbers."""
    dialect = writer.dialect
    columns = f'" origin" INTEGER, " key" {links.key_type}, " number" {dialect.types.long.name}'
    writer.run(dialect.index.temporary_columns.format('" people"', columns))
    number = carry_hash('(ROW_NUMBER() OVER () + (SELECT COUNT(*) FROM " people"))', '" hash"', dialect)
    new = '(SELECT " origin", " key" FROM " staged" EXCEPT SELECT " origin", " key" FROM " people") AS " new"'
    # Hashed before they are numbered, which one thread does for all.
    hashed = f'SELECT *, {render_person_hash(writer.key, _WHO, dialect)} AS " hash" FROM {new}'
    writer.run(f'INSERT INTO " people" SELECT " origin", " key", {number} FROM ({hashed}) AS " hashed"')


def _rank(writer: IndexWriter) -> None:
    """Rank by the hash of the first copies, and notice where two rows of a person have the same."""
    dialect = writer.dialect
    writer.keep(
        " ranked",
        'SELECT " position", " number", '
        f'CAST(ROW_NUMBER() OVER own AS {dialect.types.rank}) AS " rank", '
        'COALESCE(" digest" = LAG(" digest") OVER own, FALSE) AS " tied" '
        f'FROM (SELECT " staged".{dialect.index.position} AS " position", " number", " digest" '
        'FROM " staged" JOIN " people" USING (" origin", " key")) AS " owned" '
        'WINDOW own AS (PARTITION BY " number" ORDER BY " digest")',
    )


def _break_ties(writer: IndexWriter, columns: tuple[Column, ...]) -> None:
    """Rank all rows again of whoever has two with one hash: copies get hashes of their own, then the columns decide."""
    if not writer.number('SELECT COUNT(*) FROM " ranked" WHERE " tied"'):
        return
    dialect = writer.dialect
    order = ", ".join(['" digest"', *_names(columns, dialect)])
    later = render_digest(writer.key, f'CAST(" copy" AS {dialect.types.text})', columns, _WHO, dialect)
    again = f'ROW_NUMBER() OVER (PARTITION BY " number" ORDER BY " hash", {order})'
    writer.keep(
        " again",
        f'SELECT " position", " number", CAST({again} AS {dialect.types.rank}) AS " rank" '
        f'FROM (SELECT *, CASE WHEN " copy" = 1 THEN " digest" ELSE {later} END AS " hash" '
        f'FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY " number", " digest" ORDER BY {order}) AS " copy" '
        f'FROM " staged" JOIN " ranked" ON " staged".{dialect.index.position} = " position" '
        'WHERE " number" IN (SELECT " number" FROM " ranked" WHERE " tied")) AS " copies") AS " hashed"',
    )
    writer.run('DELETE FROM " ranked" WHERE " number" IN (SELECT " number" FROM " again")')
    writer.run('INSERT INTO " ranked" SELECT *, FALSE FROM " again"')


def _write(writer: IndexWriter, table: Table) -> None:
    """Write the rows by the bucket of their rank, each bucket in the order of the source: both kinds of filter skip."""
    name, paired = writer.name_of(table), writer.dialect.index.side_by_side
    most = writer.number('SELECT COALESCE(MAX(" rank"), 0) FROM " ranked"')
    lasts = [1]
    while lasts[-1] < most:
        lasts.append(lasts[-1] * 2)
    if paired is None:
        _write_sorted(writer, table, lasts)
    else:
        _write_buckets(writer, table, lasts, paired)
    if writer.number(f"SELECT COUNT(*) FROM {name}") != writer.number('SELECT COUNT(*) FROM " staged"'):
        raise Failure()


def _write_buckets(writer: IndexWriter, table: Table, lasts: list[int], paired: str) -> None:
    """Write a bucket after the other, each by a join of the rows with their ranks by place."""
    dialect, name = writer.dialect, writer.name_of(table)
    rank, person = dialect.quote(RANK), dialect.quote(PERSON)
    writer.keep(
        " placed",
        f'SELECT " position", " rank" AS {rank}, " number" AS {person} FROM " ranked" ORDER BY " position"',
    )
    outputs = ", ".join([rank, person, *_names(columns_to_keep(table.columns), dialect)])
    both = paired.format('" staged"', '" placed"')
    rows = f'SELECT {outputs} FROM {both} WHERE " staged".{dialect.index.position} = " position"'
    writer.run("BEGIN TRANSACTION")  # one for all buckets: each on its own leaves a gap in the file
    writer.run(f"CREATE TABLE {name} AS {rows} AND {rank} <= 1")
    for before, last in pairwise(lasts):
        writer.run(f"INSERT INTO {name} {rows} AND {rank} BETWEEN {before + 1} AND {last}")
    writer.run("COMMIT")


def _write_sorted(writer: IndexWriter, table: Table, lasts: list[int]) -> None:
    """Write all rows at once, sorted by their buckets."""
    dialect = writer.dialect
    cases = " ".join(f'WHEN " rank" <= {last} THEN {bucket}' for bucket, last in enumerate(lasts))
    ranked = [f'" rank" AS {dialect.quote(RANK)}', f'" number" AS {dialect.quote(PERSON)}']
    outputs = ", ".join([*ranked, *_names(columns_to_keep(table.columns), dialect)])
    rows = f'" staged" JOIN " ranked" ON " staged".{dialect.index.position} = " position"'
    writer.run(
        f'CREATE TABLE {writer.name_of(table)} AS SELECT {outputs} FROM {rows} ORDER BY CASE {cases} END, " position"'
    )


def _names(columns: tuple[Column, ...], dialect: Dialect) -> list[str]:
    return [dialect.quote(part.name) for column in columns for part in index_columns(column, dialect)]


def build_public(writer: IndexWriter, table: Table, source: TableSource) -> None:
    """Write a public table. How often a value repeats bounds what one person moves in a join: it is counted again."""
    write_public(writer, table, source)
    known = dict(zip(table.columns, table.repeats, strict=True))
    if any(count_repeats(writer, table, column) > known[column] for column in columns_to_keep(table.columns)):
        raise Failure()


def write_public(writer: IndexWriter, table: Table, source: TableSource) -> None:
    """Write the kept columns of a public table, each as it is declared."""
    columns, dialect = columns_to_keep(table.columns), writer.dialect
    read = [f"{render_reading(column, dialect)} AS {dialect.quote(index_name(column.name))}" for column in columns]
    rows = project_columns(writer, columns, f"SELECT {', '.join(read)} FROM {source.relation}")
    writer.run(f"CREATE TABLE {writer.name_of(table)} AS {rows}")


def count_repeats(writer: IndexWriter, table: Table, column: Column) -> int:
    """How many rows of a public table share one value of a column, at most."""
    rows, value = writer.name_of(table), writer.dialect.quote(index_name(column.name))
    counts = f'SELECT COUNT(*) AS " rows" FROM {rows} WHERE {value} IS NOT NULL GROUP BY {value}'
    return writer.number(f'SELECT COALESCE(MAX(" rows"), 0) FROM ({counts}) AS " counts"')
