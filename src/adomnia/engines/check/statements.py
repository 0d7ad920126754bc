"""The statement as a whole: keys with declared cells, and aggregates that one person moves so far and no further."""

from itertools import accumulate
from math import prod

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

from adomnia.catalog.model import Catalog
from adomnia.engines.check.aggregates import counts, grid, total, value
from adomnia.engines.check.clipped import Shell, entry, keys_and_entries, moved, shell
from adomnia.engines.check.columns import Range, Stored
from adomnia.engines.check.histograms import Reading, taken_back
from adomnia.engines.check.nodes import integer, only, place, require, unproved, width
from adomnia.engines.check.relations import Reader, Rows, alias_of
from adomnia.engines.check.scalars import Row
from adomnia.engines.check.vectors import is_vector, joint
from adomnia.engines.contract import Statement
from adomnia.privacy.kinds import LONGEST_TEXT
from adomnia.privacy.relations import MOST_ROWS
from adomnia.privacy.sensitivity import Sensitivity

_FARTHEST = 2**61
_SMALL = exp.DataType.build("UTINYINT", dialect="duckdb")


def checked(
    statement: Statement,
    catalog: Catalog,
    wanted: tuple[range, ...] | None = None,
    columns: tuple[int, ...] | None = None,
) -> tuple[Sensitivity, ...]:
    """What one person can change of the outputs m0, m1, ...; a Failure where the text does not prove it.

    Of each output, or of `columns` many at a time: those are measured together, as one vector.
    """
    reader, select = _reader(statement, catalog), _parsed(statement.text)
    around = shell(statement.text)
    cells, found = _plain(select, reader, columns) if around is None else _clipped(around, reader)
    require(wanted is None or cells == wanted, "the cells of the keys")
    return found


def checked_histogram(statement: Statement, catalog: Catalog) -> tuple[Sensitivity, tuple[range, ...], Reading]:
    """What one person can change of all counts together, cells and values, and how much of it all is read."""
    select = _parsed(statement.text)
    reading = taken_back(select)
    cells, found = _plain(select, _reader(statement, catalog))
    require(len(found) == 1 and reading.start == cells[-1].start, "one count for each value")
    require(max(-cells[-1].start, cells[-1].stop) < _FARTHEST, "values of 64 bits")
    return found[0], cells, reading


def _reader(statement: Statement, catalog: Catalog) -> Reader:
    require(len(set(statement.parameters)) == len(statement.parameters), "parameters that differ")
    require(all(len(text) <= LONGEST_TEXT for text in statement.parameters), "parameters that are short")
    return Reader(catalog, len(statement.parameters))


def _clipped(around: Shell, reader: Reader) -> tuple[tuple[range, ...], tuple[Sensitivity, ...]]:
    """Sums of vectors that were shortened person by person."""
    select = _parsed(around.inner)
    rows = reader.source(select)
    row = reader.row(rows)
    keys, nodes = keys_and_entries(select, rows, around)
    cells, entries = tuple(_values(key, row) for key in keys), [entry(node, rows, row) for node in nodes]
    return cells, tuple(moved(output, entries, rows, prod(map(len, cells))) for output in around.outputs)


def _plain(
    select: exp.Select, reader: Reader, columns: tuple[int, ...] | None = None
) -> tuple[tuple[range, ...], tuple[Sensitivity, ...]]:
    rows = reader.source(select)
    require(rows.per_person > 0, "a private table")
    names = list(map(alias_of, select.expressions))
    keys = [output.this for output in select.expressions if output.alias.startswith("k")]
    aggregates = [output.this for output in select.expressions[len(keys) :]]
    ours = [f"k{place}" for place in range(len(keys))] + [f"m{place}" for place in range(len(aggregates))]
    require(names == ours, "the names of outputs")
    row = reader.row(rows)
    cells = _cells(select, keys, row)
    groups = columns or (1,) * len(aggregates)
    require(sum(groups) == len(aggregates), "the outputs that are measured")
    parts = (aggregates[stop - size : stop] for size, stop in zip(groups, accumulate(groups), strict=True))
    return cells, tuple(_sensitivity(nodes, rows, prod(map(len, cells)), row) for nodes in parts)


def _parsed(text: str) -> exp.Select:
    try:
        trees = parse(text, dialect="duckdb")
    except (SqlglotError, RecursionError):
        trees = []
    if len(trees) != 1 or not isinstance(trees[0], exp.Select):
        raise unproved("one SELECT")
    return trees[0]


def _cells(select: exp.Select, keys: list[exp.Expr], row: Row) -> tuple[range, ...]:
    """The integers that each key can be, and grouped by exactly them: by their numbers among the outputs."""
    group = select.args.get("group") or exp.Group(expressions=[])
    only(group, "expressions")
    require(list(map(integer, group.expressions)) == list(range(1, len(keys) + 1)), "GROUP BY")
    return tuple(_values(key, row) for key in keys)


def _values(key: exp.Expr, row: Row) -> range:
    """Places in a list, a condition, integers within a range, or any values; a row whose key is NULL is in no group."""
    column = row.column(key) if place(key) is not None else Stored("")
    if column.type == "code" and isinstance(column.among, tuple):
        return range(len(column.among))
    if type(key) is exp.Case and key.this is not None:
        require(row.type(key) == "code" and key.args.get("default") is None, "places in a list")
        return range(_listed([integer(branch.args["true"]) for branch in key.args["ifs"]]))
    if column.type == "boolean" or (type(key) is exp.Cast and key.to == _SMALL and row.type(key.this) == "boolean"):
        return range(2)
    if _is_open(key, row):
        return range(MOST_ROWS)
    within = grid(key, row)
    require(within.magnitude < _FARTHEST, "a key within 64 bits")
    return range(within.lowest, within.highest + 1)


def _is_open(key: exp.Expr, row: Row) -> bool:
    """A text or a day in parentheses, or a whole number: values as they are, no ids, as many as there may be rows."""
    number = type(key) is exp.TryCast and row.type(key) == "number"
    return number or (type(key) is exp.Paren and row.type(key) in ("text", "day"))


def _listed(places: list[int]) -> int:
    require(places == list(range(len(places))), "places in their order")
    return len(places)


def _sensitivity(nodes: list[exp.Expr], rows: Rows, cells: int, row: Row) -> Sensitivity:
    capped = rows.per_person < MOST_ROWS
    if len(nodes) > 1 or is_vector(nodes[0]):
        require(capped, "a cap on the rows of a person")
        return joint(nodes, row, rows.most).times(rows.per_person)
    (node,) = nodes
    if _counts_people(node, row) and (capped or cells == 1):
        # A person counts once in every cell that holds a row of theirs: where there is one cell, once in all.
        most = min(rows.per_person, cells)
        return Sensitivity(l1=most, l2_squared=most, linf=1, monotone=True)
    require(capped, "a cap on the rows of a person")
    if type(node) is exp.Count and type(node.this) is exp.Distinct:
        # A row adds one value to one cell, or none; and where it is known how many there are, no cell holds more.
        cell = min(rows.per_person, _different(node, row))
        l1 = min(rows.per_person, cell * cells)
        return Sensitivity(l1, l1 * cell, cell, monotone=True)
    added = Range(1, 1) if counts(node, row) else _summed(node, row, rows.most)
    return Sensitivity(l1=added.magnitude, monotone=added.lowest >= 0).times(rows.per_person)


def _counts_people(node: exp.Expr, row: Row) -> bool:
    """Of every side of a join: rows of two people never meet, so that no row holds another one than its own."""
    if type(node) is not exp.Count or type(node.this) is not exp.Distinct:
        return False
    only(node, "this")
    only(node.this, "expressions")
    found = [row.columns.get(place(part) or ("", "")) for part in node.this.expressions]
    return [column is not None and column.is_person for column in found] == [True]


def _different(node: exp.Expr, row: Row) -> int:
    """COUNT(DISTINCT value) of anything but ids: how many values there can be."""
    require(counts(node, row, different=True), "a value to count")
    column = value(node.this.expressions[0], row)
    require(column.type != "id", "COUNT(DISTINCT person)")
    if column.type == "code" and isinstance(column.among, tuple):
        return len(column.among)
    return 2 if column.type == "boolean" else MOST_ROWS


def _summed(node: exp.Expr, row: Row, most_rows: int) -> Range:
    """CAST(an exact sum AS ...): what one row adds to it."""
    require(type(node) is exp.Cast, "an exact sum")
    moved = total(node.this, row, most_rows)
    require(most_rows * moved.magnitude <= width(node), "the width of a result")
    return moved
