"""The statement as a whole: keys with declared cells, and aggregates that one person moves so far and no further.

Proof: docs/proofs/check.md, 4.
"""

from itertools import accumulate
from math import prod

from sqlglot import Dialect as Grammar
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from adomnia.catalog.model import Catalog
from adomnia.engines.check.aggregates import counts, grid, total, value
from adomnia.engines.check.clipped import ClippedForm, derive_move, keys_and_entries, match_clipped_form, read_entry
from adomnia.engines.check.columns import ProvedColumn, Range
from adomnia.engines.check.keys import Reading, count_blocks, count_every_value, is_block
from adomnia.engines.check.nodes import (
    integer,
    integer_type,
    needs_reading,
    not_proved,
    only,
    place,
    read_phrases,
    require,
)
from adomnia.engines.check.relations import ProvedRows, Reader, alias_of
from adomnia.engines.check.scalars import Row
from adomnia.engines.check.vectors import derive_joint_sensitivity, is_vector
from adomnia.engines.contract import Statement
from adomnia.engines.dialect import Dialect
from adomnia.privacy.kinds import LONGEST_TEXT
from adomnia.privacy.relations import MOST_ROWS
from adomnia.privacy.sensitivity import Sensitivity

_FARTHEST = 2**61
_FOREIGN = (TokenType.PIPE_GT, TokenType.SEMICOLON)  # of which nothing is left in a tree


def check_statement(
    statement: Statement,
    catalog: Catalog,
    dialect: Dialect,
    wanted: tuple[range, ...] | None = None,
    columns: tuple[int, ...] | None = None,
) -> tuple[Sensitivity, ...]:
    """What one person can change of the outputs m0, m1, ...; a Failure where the text does not prove it.

    Of each output, or of `columns` many at a time: those are measured together, as one vector.
    """
    reader, select = _reader(statement, catalog, dialect), parse_select(statement.text, dialect)
    around = match_clipped_form(statement.text, dialect)
    cells, found = _plain(select, reader, columns) if around is None else _clipped(around, reader)
    require(wanted is None or cells == wanted, "the cells of the keys")
    return found


def check_histogram(
    statement: Statement, catalog: Catalog, dialect: Dialect
) -> tuple[Sensitivity, tuple[range, ...], Reading]:
    """What one person can change of all counts together, cells and values, and how much of it all is read."""
    select = parse_select(statement.text, dialect)
    start, shift, buckets = count_every_value(select, dialect)
    cells, found = _plain(select, _reader(statement, catalog, dialect))
    require(len(found) == 1 and start == cells[-1].start, "one count for each value")
    # What was taken back is then the last key: before an other half, it would be a count, which is no value of a row.
    require(alias_of(select.expressions[-1]) == "m0", "one count for each value, without another half")
    require(max(-cells[-1].start, cells[-1].stop) < _FARTHEST, "values of 64 bits")
    # Written last and without a copy, which takes longer than all the rest: whatever writing does to the tree, nobody
    # reads it again.
    return found[0], cells, Reading(start, shift, buckets, select.sql(copy=False))


def check_cells_of_blocks(statement: Statement, catalog: Catalog, dialect: Dialect) -> tuple[range, ...]:
    """The cells of each key, blocks of people first, of counts and exact sums of one block's rows; else a Failure.

    One person's rows, however many, are all in one of the blocks, whoever else is there. They need not be capped: this
    says nothing of how far they move that block. Further keys may divide them.
    """
    reader, select = _reader(statement, catalog, dialect), parse_select(statement.text, dialect)
    rows = reader.source(select)
    require(rows.per_person > 0, "a private table")
    names, nodes = list(map(alias_of, select.expressions)), [output.this for output in select.expressions]
    keys = sum(name.startswith("k") for name in names)
    expected = [*(f"k{place}" for place in range(keys)), *(f"m{place}" for place in range(len(nodes) - keys))]
    require(keys > 0 and names == expected, "the names of outputs")
    require(is_block(nodes[0]), "a block of people")
    row = reader.row(rows)
    cells = _cells(select, nodes[:keys], rows, row)
    for node in nodes[keys:]:
        if is_vector(node):
            derive_joint_sensitivity([node], row, rows.most)
        elif not counts(node, row):
            _summed(node, row, rows.most)
    return cells


def _reader(statement: Statement, catalog: Catalog, dialect: Dialect) -> Reader:
    require(len(set(statement.parameters)) == len(statement.parameters), "parameters that differ")
    require(all(len(text) <= LONGEST_TEXT for text in statement.parameters), "parameters that are short")
    return Reader(catalog, statement.parameters, dialect)


def _clipped(around: ClippedForm, reader: Reader) -> tuple[tuple[range, ...], tuple[Sensitivity, ...]]:
    """Sums of vectors that were shortened person by person."""
    select = parse_select(around.inner, reader.dialect)
    rows = reader.source(select)
    row = reader.row(rows)
    keys, nodes = keys_and_entries(select, rows, around)
    cells, entries = tuple(_values(key, rows, row) for key in keys), [read_entry(node, rows, row) for node in nodes]
    groups = _count_groups(keys, cells)
    return cells, tuple(derive_move(output, entries, rows, groups, reader.dialect.types) for output in around.outputs)


def _plain(
    select: exp.Select, reader: Reader, columns: tuple[int, ...] | None = None
) -> tuple[tuple[range, ...], tuple[Sensitivity, ...]]:
    rows = reader.source(select)
    require(rows.per_person > 0, "a private table")
    names, nodes = list(map(alias_of, select.expressions)), [output.this for output in select.expressions]
    keys = [node for name, node in zip(names, nodes, strict=True) if name.startswith("k")]
    require(names[: len(keys)] == [f"k{place}" for place in range(len(keys))], "the names of outputs")
    aggregates, halves = split_outputs(names[len(keys) :], nodes[len(keys) :])
    row = reader.row(rows)
    cells = _cells(select, keys, rows, row)
    groups, sizes = _count_groups(keys, cells), columns or (1,) * len(aggregates)
    require(sum(sizes) == len(aggregates), "the outputs that are measured")
    found = []
    for size, stop in zip(sizes, accumulate(sizes), strict=True):
        absent = [halves[place] for place in range(stop - size, stop) if place in halves]
        moved = _sensitivity(aggregates[stop - size : stop], absent, rows, groups, row)
        found.append(moved if rows.rises else Sensitivity(moved.l1, moved.l2_squared, moved.linf))
    # Outputs without another half have nothing in it: they move as they would alone.
    return (*cells, range(2)) if halves else cells, tuple(found)


def _split(present: exp.Expr, absent: exp.Expr, rows: ProvedRows, row: Row) -> Sensitivity:
    """Both halves of a count together: every row of a person moves one of them, by one."""
    require(rows.per_person < MOST_ROWS, "a cap on the rows of a person")
    check_halves(present, absent, row)
    return Sensitivity(l1=1, monotone=True).times(rows.per_person)


def parse_select(text: str, dialect: Dialect) -> exp.Select:
    """The one SELECT that a text is; without comments, of which engines disagree where they end."""
    try:
        grammar = Grammar.get_or_raise(dialect.name)
        tokens = grammar.tokenize(text)
        foreign = [token for token in tokens if token.comments or token.token_type in _FOREIGN]
        trees = [] if foreign else grammar.parser().parse(tokens, text)
    except (SqlglotError, RecursionError):
        trees = []
    if len(trees) != 1 or not isinstance(trees[0], exp.Select):
        raise not_proved("one SELECT")
    if needs_reading(dialect):
        read_phrases(trees[0], dialect)
    return trees[0]


def _cells(select: exp.Select, keys: list[exp.Expr], rows: ProvedRows, row: Row) -> tuple[range, ...]:
    """The integers that each key can be, and grouped by exactly them: by their numbers among the outputs."""
    group = select.args.get("group") or exp.Group(expressions=[])
    only(group, "expressions")
    require(list(map(integer, group.expressions)) == list(range(1, len(keys) + 1)), "GROUP BY")
    return tuple(_values(key, rows, row) for key in keys)


def _count_groups(keys: list[exp.Expr], cells: tuple[range, ...]) -> int:
    """In how many cells rows of one person can be: whoever they are, they are in one block."""
    return prod(len(each) for key, each in zip(keys, cells, strict=True) if not is_block(key))


def _values(key: exp.Expr, rows: ProvedRows, row: Row) -> range:
    """Blocks, places in a list, a condition, integers within a range, or any values; NULL is in no group."""
    if is_block(key):
        require(rows.per_person > 0, "rows of people")
        return range(count_blocks(key, rows.first, rises=rows.rises))
    column = row.column(key) if place(key) is not None else ProvedColumn("")
    if column.type == "code" and isinstance(column.among, tuple):
        return range(len(column.among))
    if type(key) is exp.Case and key.this is not None:
        require(row.type(key) == "code" and key.args.get("default") is None, "places in a list")
        return range(_listed([integer(branch.args["true"]) for branch in key.args["ifs"]]))
    condition = type(key) is exp.Cast and key.to == row.words.small and row.type(key.this) == "boolean"
    if column.type == "boolean" or condition:
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


def _sensitivity(nodes: list[exp.Expr], absent: list[exp.Expr], rows: ProvedRows, cells: int, row: Row) -> Sensitivity:
    capped = rows.per_person < MOST_ROWS
    if absent:
        require(len(nodes) == 1, "one count with its other half")
        return _split(nodes[0], absent[0], rows, row)
    if len(nodes) > 1 or is_vector(nodes[0]):
        require(capped, "a cap on the rows of a person")
        return derive_joint_sensitivity(nodes, row, rows.most).times(rows.per_person)
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
    added, kind = total(node.this, row, most_rows), integer_type(node, row.dialect)
    require(kind is not None and most_rows * added.magnitude <= kind.largest, "the width of a result")
    return added


def split_outputs(names: list[str], nodes: list[exp.Expr]) -> tuple[list[exp.Expr], dict[int, exp.Expr]]:
    """The outputs m0, m1, ... in their order, and by number those of n0, n1, ..., each right behind its other half."""
    whole: list[exp.Expr] = []
    halves: dict[int, exp.Expr] = {}
    for name, node in zip(names, nodes, strict=True):
        last = len(whole) - 1
        if whole and name == f"n{last}" and last not in halves:
            halves[last] = node
        else:
            require(name == f"m{last + 1}", "the names of outputs")
            whole.append(node)
    return whole, halves


def check_halves(present: exp.Expr, absent: exp.Expr, row: Row) -> None:
    """COUNT(x) and COUNT(*) - COUNT(x), of one x: a row adds 1 to the first or to the second, and never to both."""
    require(type(present) is exp.Count and type(present.this) is not exp.Star, "a count of a value")
    require(counts(present, row), "a count of a value")
    require(type(absent) is exp.Sub and absent.expression == present, "a count of the rows without the value")
    only(absent, "this", "expression")
    require(type(absent.this) is exp.Count and type(absent.this.this) is exp.Star, "a count of all rows")
    require(counts(absent.this, row), "a count of all rows")


def check_public(statement: Statement, catalog: Catalog, dialect: Dialect) -> None:
    """A Failure unless the statement is made of the words that are known, and no row of it is anybody's."""
    reader = Reader(catalog, statement.parameters, dialect, public=True)
    rows = reader.read_brackets(parse_select(statement.text, dialect))
    require(rows.per_person == 0, "public tables alone")
