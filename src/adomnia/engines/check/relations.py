"""What stands behind FROM: the columns it offers, and how many rows of one person.

Proof: docs/proofs/relations.md.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlglot import exp

from adomnia.catalog.model import Catalog, Table
from adomnia.engines.check.aggregates import GroupSize, grid, own_value, public_value, value
from adomnia.engines.check.columns import ProvedColumn, Range, list_columns
from adomnia.engines.check.keys import BLOCK_NUMBER, count_blocks, is_block
from adomnia.engines.check.nodes import conjuncts, integer, integer_type, not_proved, only, place, require
from adomnia.engines.check.scalars import Row
from adomnia.engines.contract import PERSON, RANK
from adomnia.engines.dialect import Dialect
from adomnia.privacy.relations import MOST_PEOPLE, MOST_ROWS

_OUT_AND_IN = 2  # rows of blocks that one person changes: one is taken away, and another put in its place
_ALL_ROWS = exp.Limit(expression=exp.Var(this="ALL"))  # a fence: no row is left out

Place: TypeAlias = tuple[str, str]  # of a column: the label of its side, if any, and its name


@dataclass(frozen=True)
class ProvedRows:
    """Columns by label and name, and how many rows one person has: 0 where rows are nobody's.

    `first` is the label of the side whose person stands in every row: no LEFT JOIN leaves that one out. `unique` are
    columns of which no combination of values, NULL among them, stands in two rows: of one person, or of all where rows
    are nobody's; None: unknown.
    """

    columns: Mapping[Place, ProvedColumn]
    per_person: int
    first: str = ""
    unique: frozenset[Place] | None = None
    total: int | None = None  # how many there can be where those of a person are not capped; None: unknown
    rises: bool = True  # whether a person adds rows and takes none away: rows of blocks are replaced by others

    @property
    def most(self) -> int:
        """How many there can be, of all people."""
        if self.per_person >= MOST_ROWS and self.total is not None:
            return self.total
        return max(MOST_ROWS, MOST_PEOPLE * self.per_person)

    @property
    def has_people(self) -> bool:
        """Whether rows of one number are rows of one person."""
        return self.per_person > 0 and self.columns[self.first, PERSON].is_person

    def repeats(self, column: Place) -> int | None:
        """In how many rows, of one person or of nobody, one value of a column can stand."""
        return _least([self.columns[column].repeats, self.per_person or None])

    def with_label(self, label: str) -> "ProvedRows":
        columns = {(label, name): found for (_, name), found in self.columns.items()}
        unique = None if self.unique is None else frozenset((label, name) for _, name in self.unique)
        return replace(self, columns=columns, first=label, unique=unique)


@dataclass(frozen=True)
class Reader:
    """Reads the rows of a SELECT, which sees nothing but what stands behind its own FROM.

    In a statement of public tables alone, sums of doubles are believed too: their last digits depend on the order in
    which an engine adds up, and beside rows of people that could depend on the people.
    """

    catalog: Catalog
    parameters: tuple[str, ...]
    dialect: Dialect
    public: bool = False

    def row(self, rows: ProvedRows) -> Row:
        return Row(rows.columns, self.parameters, self.dialect)

    def source(self, select: exp.Select) -> ProvedRows:
        """FROM with its joins, and WHERE."""
        only(select, "expressions", "from_", "joins", "where", "group", *(["limit"] if self.dialect.fence else []))
        require(select.args.get("limit") in (None, _ALL_ROWS), "all rows")
        start = select.args.get("from_") or exp.From()
        only(start, "this")
        joins = select.args.get("joins") or []
        label, rows = self._side(start.this)
        if joins:
            require(label != "", "a name for each side")
            rows = rows.with_label(label)
        for join in joins:
            rows = self._joined(rows, join)
        capped = start.this if type(start.this) is exp.Table and not joins else None
        require(capped is None or label == "", "Table without alias")
        return self._kept(rows, select.args.get("where"), self._table(capped))

    def _kept(self, rows: ProvedRows, where: exp.Expr | None, table: Table | None) -> ProvedRows:
        """The rows that meet all conditions: each looks at a row by itself, or is the cap of a private table."""
        for condition in conjuncts(where.this) if where is not None else ():
            if table is not None and type(condition) is exp.LTE and place(condition.this) == ("", RANK):
                cap = integer(condition.expression)
                require(not table.public and 1 <= cap <= table.rows_per_person, "the cap")
                rows = replace(rows, per_person=min(rows.per_person, cap))
            else:
                require(self.row(rows).type(condition) == "boolean", "a condition")
        return rows

    def _table(self, node: exp.Expr | None) -> Table | None:
        named = type(node) is exp.Table and isinstance(node.this, exp.Identifier)
        return self.catalog.table(node.name) if node is not None and named else None

    def _side(self, node: exp.Expr | None) -> tuple[str, ProvedRows]:
        """A table, or rows in brackets, and their label."""
        table = self._table(node)
        if node is None or (table is None and type(node) is not exp.Subquery):
            raise not_proved("a declared table or rows in brackets")
        only(node, "this", "alias")
        alias = node.args.get("alias") or exp.TableAlias()
        only(alias, "this")
        if table is None:
            return str(alias.name), self.read_brackets(node.this)
        offered = {("", name): found for name, found in list_columns(table, self.catalog)}
        return str(alias.name), ProvedRows(offered, 0 if table.public else MOST_ROWS, total=MOST_ROWS)

    def _joined(self, left: ProvedRows, join: exp.Join) -> ProvedRows:
        """Pairs of rows: those of two private sides always of one person, a public side by an equality at least."""
        only(join, "this", "on", "side")
        require(join.side in ("", "LEFT") and join.args.get("on") is not None, "JOIN or LEFT JOIN, and ON")
        label, right = self._side(join.this)
        require(label.lower() not in {"", *(taken.lower() for taken, _ in left.columns)}, "a name for each side")
        right = right.with_label(label)
        conditions = conjuncts(join.args["on"])
        row = Row({**left.columns, **right.columns}, self.parameters, self.dialect)
        require(all(row.type(condition) == "boolean" for condition in conditions), "a condition")
        equal = [pair for condition in conditions for pair in _equal(condition, left, right, row)]
        if right.per_person:
            require(((left.first, PERSON), (label, PERSON)) in equal, "sides of one person")
            require(left.has_people and right.has_people, "a person of both sides")
        looked_up = {each for condition in conditions for each in _looked_up(condition, left, right, row)}
        once = right.unique is not None and right.unique <= looked_up
        return _paired(left, right, equal, outer=join.side == "LEFT", once=once)

    def read_brackets(self, node: exp.Expr) -> ProvedRows:
        """ProvedRows in brackets: SELECTs one after the other, all of the same columns."""
        parts = [self._selected(part) for part in _united(node)]
        first = parts[0]
        if len(parts) == 1:
            return first
        require(all(list(part.columns) == list(first.columns) for part in parts), "UNION ALL of the same columns")
        require(len({part.per_person > 0 for part in parts}) == 1, "UNION ALL of private rows, or of public ones")
        columns = {name: _merged([part.columns[name] for part in parts]) for name in first.columns}
        together, rises = sum(part.per_person for part in parts), all(part.rises for part in parts)
        return ProvedRows(columns, together, total=sum(part.most for part in parts), rises=rises)

    def _selected(self, select: exp.Expr) -> ProvedRows:
        if type(select) is not exp.Select:
            raise not_proved("a SELECT in brackets")
        source = self.source(select)
        if [type(output) for output in select.expressions] == [exp.Star]:
            only(select.expressions[0])
            only(select, "expressions", "from_", "where")
            return source
        names = list(map(alias_of, select.expressions))
        require(len({name.lower() for name in names} - {RANK}) == len(names) > 0, "outputs of different names")
        whose = [PERSON] if source.per_person else []
        require([name for name in names if name.lower() == PERSON] == names[: len(whose)] == whose, "the person first")
        nodes = [output.this for output in select.expressions]
        row, group = self.row(source), select.args.get("group")
        if group is not None and is_block(nodes[0]):
            return self._blocks(names, nodes, group, source)
        require(not whose or place(nodes[0]) == (source.first, PERSON), "the person of every row")
        if group is None and not _aggregates_all(nodes, source):
            columns = {("", name): _passed(node, row) for name, node in zip(names, nodes, strict=True)}
            return ProvedRows(columns, source.per_person, total=source.total, rises=source.rises)
        group = group or exp.Group(expressions=[])
        only(group, "expressions")
        keys = len(group.expressions)
        require(group.expressions == nodes[:keys], "GROUP BY the person, or the keys of public rows")
        grouped = self._groups(nodes, keys, source) if source.per_person else self._public_groups(nodes, keys, row)
        columns = {("", name): each for name, each in zip(names, grouped, strict=True)}
        per_person = 0 if not source.per_person else 1 if keys == 1 else source.per_person
        exact = all(_is_told_apart(node, row) for node in nodes[:keys])
        unique = frozenset(("", name) for name in names[len(whose) : keys]) if exact else None
        return ProvedRows(columns, per_person, unique=unique)

    def _blocks(self, names: list[str], nodes: list[exp.Expr], group: exp.Group, source: ProvedRows) -> ProvedRows:
        """One row for each block, whose number stands where that of a person would: who is added changes one row."""
        only(group, "expressions")
        require(group.expressions == nodes[:1], "GROUP BY the block alone")
        count_blocks(nodes[0], source.first, rises=source.rises)
        size, row = GroupSize(source.most, source.per_person < MOST_ROWS), self.row(source)
        found = [ProvedColumn("id", among=BLOCK_NUMBER), *(own_value(node, row, size) for node in nodes[1:])]
        columns = {("", name): each for name, each in zip(names, found, strict=True)}
        return ProvedRows(columns, _OUT_AND_IN, rises=False)

    def _groups(self, nodes: list[exp.Expr], keys: int, source: ProvedRows) -> list[ProvedColumn]:
        """The keys and the outputs of groups of one person's rows."""
        require(source.has_people and keys > 0, "GROUP BY the person")
        row = self.row(source)
        found = [replace(value(node, row), repeats=None) for node in nodes[:keys]]
        size = GroupSize(source.per_person, source.per_person < MOST_ROWS)
        return found + [own_value(node, row, size) for node in nodes[keys:]]

    def _public_groups(self, nodes: list[exp.Expr], keys: int, row: Row) -> list[ProvedColumn]:
        """The keys and the outputs of groups of public rows: a key that stands alone is in one row, as is one row."""
        repeats = 1 if keys == 0 else None
        alone = 1 if keys == 1 and _is_told_apart(nodes[0], row) else None
        found = [replace(value(node, row), repeats=alone) for node in nodes[:keys]]
        # Not all rows of a person: whatever is remembered of public rows is as much for everybody.
        exact = (type(node.unnest()) is exp.Mul or not self.public for node in nodes[keys:])
        aggregated = (
            own_value(node, row, GroupSize(MOST_ROWS, capped=True)) if integers else public_value(node, row)
            for node, integers in zip(nodes[keys:], exact, strict=True)
        )
        return found + [replace(each, repeats=repeats) for each in aggregated]


def _aggregates_all(nodes: list[exp.Expr], source: ProvedRows) -> bool:
    """Whether public rows become one: rows of people never do without their person."""
    return source.per_person == 0 and all(node.find(exp.AggFunc) is not None for node in nodes)


def _is_told_apart(node: exp.Expr, row: Row) -> bool:
    """Whether different values stay different where they are compared: integers are cast to doubles there."""
    return place(node) is None or row.column(node).type != "number"


def alias_of(output: exp.Expr) -> str:
    """The name of an output."""
    require(type(output) is exp.Alias, "a name for each output")
    only(output, "this", "alias")
    return str(output.alias)


def _united(node: exp.Expr) -> list[exp.Expr]:
    """The parts of a chain of UNION ALL."""
    parts: list[exp.Expr] = []
    while type(node) is exp.Union:
        only(node, "this", "expression")
        parts.append(node.expression)
        node = node.this
    return [node, *reversed(parts)]


def _passed(node: exp.Expr, row: Row) -> ProvedColumn:
    """An output over one row: a value clamped onto a grid, or what is told apart like a column and repeats as often."""
    if type(node) is exp.Case and type(node.args.get("default")) is exp.TryCast:
        within, kind = grid(node, row), integer_type(node.args["default"], row.dialect)
        return ProvedColumn("number", within, room=kind.largest if kind else 0)
    column = _told_apart(node, row)
    return replace(value(node, row), repeats=None if column is None else row.columns[column].repeats)


def _merged(found: list[ProvedColumn]) -> ProvedColumn:
    """A column of rows that stand one after the other; ids of different keys are then ids of none."""
    lists = {each.among for each in found}
    alike = len(lists) == 1 or found[0].type == "id"
    require(len({each.type for each in found}) == 1 and alike, "UNION ALL of columns of one type")
    grids = [each.grid for each in found if each.grid is not None]
    grid = Range(min(g.lowest for g in grids), max(g.highest for g in grids)) if len(grids) == len(found) else None
    repeats = [each.repeats for each in found if each.repeats is not None]
    among = found[0].among if len(lists) == 1 else None
    room = found[0].room if len({each.room for each in found}) == 1 else 0
    return ProvedColumn(found[0].type, grid, among, sum(repeats) if len(repeats) == len(found) else None, room)


def _equal(condition: exp.Expr, left: ProvedRows, right: ProvedRows, row: Row) -> Iterator[tuple[Place, Place]]:
    """The columns of both sides that a condition equates."""
    inner = condition.unnest()
    if type(inner) is exp.EQ:
        one, other = (_told_apart(side.unnest(), row) for side in (inner.this, inner.expression))
        for here, there in ((one, other), (other, one)):
            if here is not None and there is not None and here in left.columns and there in right.columns:
                yield here, there


def _looked_up(condition: exp.Expr, left: ProvedRows, right: ProvedRows, row: Row) -> Iterator[Place]:
    """The column of the right side that IS NOT DISTINCT FROM a value of the left one, which a row there decides."""
    inner = condition.unnest()
    if type(inner) is exp.NullSafeEQ:
        one, other = inner.this.unnest(), inner.expression.unnest()
        for here, there in ((one, other), (other, one)):
            # No CASE: codes that it leaves out are all NULL, and here NULL is like NULL.
            found = _told_apart(there, row) if type(there) is not exp.Case else None
            decided = all(place(column) in left.columns for column in here.find_all(exp.Column))
            if found is not None and found in right.columns and decided:
                yield found


def _told_apart(node: exp.Expr, row: Row) -> Place | None:
    """The column of which different values are different here: as it is, as a double, or as the texts of codes."""
    if type(node) is exp.Cast and node.to.this is row.words.double:
        return place(node.this)
    if type(node) is exp.Case and node.this is not None and node.args.get("default") is None:
        codes, texts = zip(*((branch.this, branch.args["true"]) for branch in node.args["ifs"]), strict=True)
        constant = {type(code) for code in codes} == {exp.Literal} and {type(text) for text in texts} == {
            exp.Placeholder
        }
        return place(node.this) if constant and len(set(texts)) == len(texts) else None
    return place(node)


def _paired(
    left: ProvedRows, right: ProvedRows, equal: list[tuple[Place, Place]], *, outer: bool, once: bool
) -> ProvedRows:
    # How many rows of the right side one row of the left meets, and of the left side one of the right.
    known = 1 if once else right.per_person or None
    matches = _least([known, *(right.repeats(there) for _, there in equal)])
    matched = _least([left.per_person or None, *(left.repeats(here) for here, _ in equal)])
    if matches is None:
        raise not_proved("an equality with a column whose values repeat so often at most")
    per_person = left.per_person * matches
    if right.per_person and matched is not None:
        per_person = min(per_person, right.per_person * matched + outer * left.per_person)
    columns = {
        each: replace(found, repeats=_times(left.repeats(each), matches)) for each, found in left.columns.items()
    }
    columns |= {
        each: replace(found, repeats=_times(right.repeats(each), matched)) for each, found in right.columns.items()
    }
    return ProvedRows(columns, per_person, left.first, rises=left.rises and right.rises)


def _times(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one * other


def _least(bounds: list[int | None]) -> int | None:
    return min((bound for bound in bounds if bound is not None), default=None)
