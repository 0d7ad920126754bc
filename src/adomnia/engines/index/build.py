# ruff: noqa: S608 - SQL is what this module writes; names are quoted, values are hashed, cast or bound
"""Building the index of one table: stage its rows, rank each person's, write them bucket by bucket.

Everything that decides a rank is the person's own: the partition is the person, the order a keyed hash of that person's
key and rows. Temporary tables and their columns have names that start with a space, which no name of a catalog does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adomnia.catalog.model import Table
from adomnia.engines.contract import PERSON, RANK
from adomnia.engines.index.columns import categories_name, kept, stored
from adomnia.engines.index.order import digest, hashed_name
from adomnia.engines.index.people import Links, Run
from adomnia.engines.render.constants import quoted
from adomnia.errors import Failure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text

Step = Callable[[str], None]

STEPS = ("reading", "finding people", "ranking", "writing")

_WHO = '" origin", \':\', " key"'


@dataclass(frozen=True)
class Target:
    """Where the index is written: how to run SQL there, the schema that takes its tables, the key of the order."""

    run: Run
    schema: str
    key: bytes

    def number(self, sql: str) -> int:
        """The one integer that a statement gives."""
        ((value,),) = self.run(sql)
        return int(str(value))


def build_table(target: Target, table: Table, links: Links, step: Step) -> None:
    """Write the index of one private table."""
    columns = kept(table.columns)
    step(STEPS[0])
    _stage(target, table, links)
    step(STEPS[1])
    _enrol(target, links)
    step(STEPS[2])
    _rank(target)
    _break_ties(target, columns)
    step(STEPS[3])
    _write(target, table)


def build_rows(target: Target, table: Table, links: Links, step: Step) -> None:
    """Write the index of a table in which every row is a person of its own."""
    step(STEPS[-1])
    ranked = [
        f"CAST(1 AS UINTEGER) AS {quoted(RANK)}",
        f"CAST(ROW_NUMBER() OVER () AS UINTEGER) AS {quoted(PERSON)}",
    ]
    rows = _projected(target, table, links, ranked)
    target.run(f"CREATE TABLE {target.schema}.{quoted(table.name)} AS {rows}")


def _stage(target: Target, table: Table, links: Links) -> None:
    """Read the source as the catalog declares it, leave out the rows of nobody, and hash the others."""
    rows = _projected(target, table, links, ['" origin"', '" key"'])
    hashed = digest(target.key, "1", kept(table.columns), _WHO)
    target.run(
        f'CREATE OR REPLACE TEMP TABLE " staged" AS SELECT *, {hashed} AS " digest" '
        f'FROM ({rows} WHERE " key" IS NOT NULL)'
    )


def _projected(target: Target, table: Table, links: Links, first: list[str]) -> str:
    """SQL of the rows of a source, in the columns of the index after the `first` ones."""
    columns = kept(table.columns)
    raw = links.rows(table, [f"{links.read(table, column)} AS {quoted(column.name)}" for column in columns])
    return projected(target, columns, raw, first)


def projected(target: Target, columns: tuple[Column, ...], raw: str, first: Sequence[str] = ()) -> str:
    """SQL that turns columns as they are read into those of the index."""
    for column in columns:
        _declare_categories(target, column)
    parts = [f"{part.sql} AS {quoted(part.name)}" for column in columns for part in stored(column)]
    return f"SELECT {', '.join([*first, *parts])} FROM ({raw})"


def _declare_categories(target: Target, column: Column) -> None:
    """An ENUM of the declared values: its codes are their places, and anything else is read as NULL."""
    if isinstance(column.kind, Text) and column.kind.values is not None:
        target.run('CREATE OR REPLACE TEMP TABLE " values" AS SELECT UNNEST($1) AS value', list(column.kind.values))
        name = quoted(categories_name(column))
        target.run(f'CREATE OR REPLACE TEMP TYPE {name} AS ENUM (SELECT value FROM " values" ORDER BY rowid)')


def _enrol(target: Target, links: Links) -> None:
    """Number the people of the staged rows who have no number yet; all tables share the numbers."""
    key = f'" origin" INTEGER, " key" {links.key_type}'
    target.run(f'CREATE TEMP TABLE IF NOT EXISTS " people" ({key}, " number" UINTEGER)')
    target.run(
        'INSERT INTO " people" SELECT *, ROW_NUMBER() OVER () + (SELECT COUNT(*) FROM " people") FROM '
        '(SELECT DISTINCT " origin", " key" FROM " staged" ANTI JOIN " people" USING (" origin", " key"))'
    )


def _rank(target: Target) -> None:
    """Rank by the hash of the first copies, and notice where two rows of a person have the same."""
    target.run(
        'CREATE OR REPLACE TEMP TABLE " ranked" AS SELECT " position", " number", '
        'CAST(ROW_NUMBER() OVER own AS UINTEGER) AS " rank", '
        'COALESCE(" digest" = LAG(" digest") OVER own, FALSE) AS " tied" '
        'FROM (SELECT " staged".rowid AS " position", " number", " digest" '
        'FROM " staged" JOIN " people" USING (" origin", " key")) '
        'WINDOW own AS (PARTITION BY " number" ORDER BY " digest")'
    )


def _break_ties(target: Target, columns: tuple[Column, ...]) -> None:
    """Rank all rows again of whoever has two with one hash: copies get hashes of their own, then the columns decide."""
    if not target.number('SELECT COUNT(*) FROM " ranked" WHERE " tied"'):
        return
    same = ", ".join(['" number"', *(quoted(hashed_name(column)) for column in columns)])
    order = ", ".join(['" digest"', *_names(columns)])
    later = digest(target.key, 'CAST(" copy" AS VARCHAR)', columns, _WHO)
    target.run(
        'CREATE OR REPLACE TEMP TABLE " again" AS SELECT " position", " number", '
        f'CAST(ROW_NUMBER() OVER (PARTITION BY " number" ORDER BY " hash", {order}) AS UINTEGER) AS " rank" '
        f'FROM (SELECT *, CASE WHEN " copy" = 1 THEN " digest" ELSE {later} END AS " hash" '
        f'FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {same} ORDER BY {order}) AS " copy" '
        'FROM " staged" JOIN " ranked" ON " staged".rowid = " position" '
        'WHERE " number" IN (SELECT " number" FROM " ranked" WHERE " tied")))'
    )
    target.run('DELETE FROM " ranked" WHERE " number" IN (SELECT " number" FROM " again")')
    target.run('INSERT INTO " ranked" SELECT *, FALSE FROM " again"')


def _write(target: Target, table: Table) -> None:
    """Write the rows by the bucket of their rank, each bucket in the order of the source: both kinds of filter skip."""
    target.run(
        f'CREATE OR REPLACE TEMP TABLE " placed" AS SELECT " position", " rank" AS {quoted(RANK)}, '
        f'" number" AS {quoted(PERSON)} FROM " ranked" ORDER BY " position"'
    )
    name = f"{target.schema}.{quoted(table.name)}"
    outputs = ", ".join([quoted(RANK), quoted(PERSON), *_names(kept(table.columns))])
    rows = f'SELECT {outputs} FROM " staged" POSITIONAL JOIN " placed" WHERE " staged".rowid = " position"'
    target.run("BEGIN TRANSACTION")  # one for all buckets: each on its own leaves a gap in the file
    target.run(f"CREATE TABLE {name} AS {rows} AND {quoted(RANK)} <= 1")
    most = target.number('SELECT COALESCE(MAX(" rank"), 0) FROM " ranked"')
    first, last = 2, 2
    while first <= most:
        target.run(f"INSERT INTO {name} {rows} AND {quoted(RANK)} BETWEEN {first} AND {last}")
        first, last = last + 1, last * 2
    target.run("COMMIT")
    if target.number(f"SELECT COUNT(*) FROM {name}") != target.number('SELECT COUNT(*) FROM " staged"'):
        raise Failure()


def _names(columns: tuple[Column, ...]) -> list[str]:
    return [quoted(part.name) for column in columns for part in stored(column)]
