"""The statement as a whole: keys with declared cells, and aggregates that one person moves so far and no further."""

from math import prod

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

from adomnia.catalog.model import Catalog
from adomnia.engines.contract import Statement
from adomnia.privacy.kinds import LONGEST_TEXT
from adomnia.privacy.relations import MOST_ROWS
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.sql.check.aggregates import counts, total
from adomnia.sql.check.columns import Range, Stored
from adomnia.sql.check.nodes import only, place, require, unproved, width
from adomnia.sql.check.relations import Reader, Rows, alias_of
from adomnia.sql.check.scalars import Row


def checked(statement: Statement, catalog: Catalog, shape: tuple[int, ...] | None = None) -> tuple[Sensitivity, ...]:
    """What one person can change of each output m0, m1, ...; a Failure where the text does not prove it."""
    require(len(set(statement.parameters)) == len(statement.parameters), "parameters that differ")
    require(all(len(text) <= LONGEST_TEXT for text in statement.parameters), "parameters that are short")
    select = _parsed(statement.text)
    reader = Reader(catalog, len(statement.parameters))
    rows = reader.source(select)
    require(rows.per_person > 0, "a private table")
    names = list(map(alias_of, select.expressions))
    keys = [output.this for output in select.expressions if output.alias.startswith("k")]
    aggregates = [output.this for output in select.expressions[len(keys) :]]
    ours = [f"k{place}" for place in range(len(keys))] + [f"m{place}" for place in range(len(aggregates))]
    require(names == ours, "the names of outputs")
    row = reader.row(rows)
    cells = _cells(select, keys, row)
    require(shape is None or cells == shape, "the number of cells")
    return tuple(_sensitivity(node, rows, cells, row) for node in aggregates)


def _parsed(text: str) -> exp.Select:
    try:
        trees = parse(text, dialect="duckdb")
    except (SqlglotError, RecursionError):
        trees = []
    if len(trees) != 1 or not isinstance(trees[0], exp.Select):
        raise unproved("one SELECT")
    return trees[0]


def _cells(select: exp.Select, keys: list[exp.Expr], row: Row) -> tuple[int, ...]:
    """How many declared values each key has: declared categories or booleans, and grouped by exactly them."""
    group = select.args.get("group") or exp.Group(expressions=[])
    only(group, "expressions")
    require(group.expressions == keys, "GROUP BY")
    return tuple(_values(row.column(key)) for key in keys)


def _values(column: Stored) -> int:
    if column.type == "code" and isinstance(column.among, tuple):
        return len(column.among)
    require(column.type == "boolean", "a key with declared values")
    return 2


def _sensitivity(node: exp.Expr, rows: Rows, cells: tuple[int, ...], row: Row) -> Sensitivity:
    capped = rows.per_person < MOST_ROWS
    if _counts_people(node, row) and (capped or not cells):
        # A person counts once in every cell that holds a row of theirs: where there are no keys, once in all.
        most = min(rows.per_person, prod(cells))
        return Sensitivity(l1=most, l2_squared=most, linf=1, monotone=True)
    require(capped, "a cap on the rows of a person")
    added = Range(1, 1) if counts(node, row) else _summed(node, row, rows.most)
    return Sensitivity(l1=added.magnitude, monotone=added.lowest >= 0).times(rows.per_person)


def _counts_people(node: exp.Expr, row: Row) -> bool:
    """Of every side of a join: rows of two people never meet, so that no row holds another one than its own."""
    if type(node) is not exp.Count or type(node.this) is not exp.Distinct:
        return False
    only(node, "this")
    only(node.this, "expressions")
    found = [row.columns.get(place(part) or ("", "")) for part in node.this.expressions]
    require([column is not None and column.is_person for column in found] == [True], "COUNT(DISTINCT person)")
    return True


def _summed(node: exp.Expr, row: Row, most_rows: int) -> Range:
    """CAST(an exact sum AS ...): what one row adds to it."""
    require(type(node) is exp.Cast, "an exact sum")
    moved = total(node.this, row, most_rows)
    require(most_rows * moved.magnitude <= width(node), "the width of a result")
    return moved
