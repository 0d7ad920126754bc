"""Reads what a SELECT inside a question selects: expressions, or aggregates of each person's own rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from adomnia.privacy.expressions import Column, Expression, Literal
from adomnia.privacy.keys import MOST_BLOCKS, Blocks
from adomnia.privacy.kinds import Identity, Kind, Moment, Quantity
from adomnia.privacy.relations import Named, Relation, Selected
from adomnia.sql.reading.parse import write_sql
from adomnia.sql.reading.refusals import refusal, refusal_of_name, refusal_of_node
from adomnia.sql.rows.derived import Derived, filter_rows, is_person, qualify, refuse_missing, refuse_slow
from adomnia.sql.rows.lookups import Lookups, make_values
from adomnia.sql.rows.own_rows import OwnValues, find_aggregates
from adomnia.sql.values.conditions import size
from adomnia.sql.values.group_keys import refuse_grouping_sets, resolve_key
from adomnia.sql.values.scalars import read_expression
from adomnia.sql.values.scope import Scope, ScopeTable, check_parts, find_subqueries, strip_brackets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from adomnia.sql.rows.correlation import Block, RowReader

MOST_COLUMNS = 400
_GROUPS = "groups"  # the label of groups beside which something is looked up


def select_rows(query: exp.Select, block: Block, blocks: RowReader) -> Derived:
    """Read the rows and columns of a SELECT, with or without aggregates."""
    return _aggregate(query, block, blocks) if is_grouped(query) else project(query, block)


def is_grouped(query: exp.Select, also: Iterable[exp.Expr] = ()) -> bool:
    """Whether a SELECT asks for groups of rows: by its clauses, or by aggregates in its outputs or elsewhere."""
    clauses = any(query.args.get(name) for name in ("group", "distinct", "having"))
    return clauses or any(find_aggregates([*query.expressions, *also], query))


def project(query: exp.Select, block: Block) -> Derived:
    """Read the columns of a SELECT without aggregates."""
    columns: dict[str, Expression] = {}
    for place, item in enumerate(query.expressions):
        for name, meaning in _outputs(item, place, block.scope):
            _add_column(columns, name, meaning, item)
    return Derived(block.relation, columns, block.tables, block.weight)


def _outputs(item: exp.Expr, place: int, scope: Scope) -> Iterator[tuple[str, Expression]]:
    inner = strip_brackets(item.unalias())
    qualified = isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)
    if not qualified and not isinstance(inner, exp.Star):
        yield name_of(item, place), read_expression(inner, scope)
        return
    check_parts(inner.this if qualified else inner)
    wanted = str(inner.text("table")).lower()
    given: set[str] = set()
    if wanted and wanted not in [source.name.lower() for source in scope.sources]:
        names = [source.name for source in scope.sources]
        raise refusal_of_name("unknown_table", inner, inner.text("table"), "tables of this question", names)
    for source in scope.sources:
        if wanted in ("", source.name.lower()):
            yield from ((name, meaning) for name, meaning in source.columns.items() if name.lower() not in given)
            given |= {name.lower() for name in source.columns} & scope.shared  # USING makes two columns one


def name_of(item: exp.Expr, place: int) -> str:
    """The name of an output: its alias, that of a bare column, or a number."""
    inner = strip_brackets(item.unalias())
    return str(item.alias or (inner.name if isinstance(inner, exp.Column) else f"column_{place + 1}"))


def _add_column(columns: dict[str, Expression], name: str, meaning: Expression, item: exp.Expr) -> None:
    """Add a column; a second one of the same name, as in `SELECT *` of a join, is allowed only for the person."""
    if len(columns) >= MOST_COLUMNS:
        raise refusal("too_complex", item, f"comes after {MOST_COLUMNS} other columns", "select fewer")
    taken = next((known for known in columns if known.lower() == name.lower()), None)
    if taken is not None:
        if is_person(meaning) and is_person(columns[taken]):
            return
        raise refusal("duplicate_alias", item, "names two columns", "give each its own name", name)
    columns[name] = meaning


def _aggregate(query: exp.Select, block: Block, blocks: RowReader) -> Derived:
    groups = group_rows(query, block, blocks)
    outputs: dict[str, Expression] = {}
    for place, item in enumerate(query.expressions):
        _add_column(outputs, name_of(item, place), groups.meaning(item), item)
    return Derived(groups.filter(), outputs, groups.tables, groups.weight)


def group_rows(query: exp.Select, block: Block, blocks: RowReader, also: Iterable[exp.Expr] = ()) -> GroupedRows:
    """Read GROUP BY: one row for each person and further keys, of that person's own rows; or groups of public rows.

    `also` are expressions beside the outputs that aggregates are looked for in.
    """
    public = block.relation.is_public
    written = _read_keys(query, block.scope)
    people = read_blocks(written, block.relation)
    if people is not None:
        return _group_blocks(query, block, people, also)
    meanings = {read_expression(node, block.scope): node for node in written}
    if not public and not any(map(is_person, meanings)):
        why, fix = "is aggregated again", "group the inner one by the person, or ask for it alone"
        raise refusal("nested_aggregate", query, why, fix, "An aggregate of several people")
    keys = tuple(
        _read_key(meaning, node, place, public=public)
        for place, (meaning, node) in enumerate(
            (meaning, node)
            for meaning, node in meanings.items()
            if not is_person(meaning) and not isinstance(meaning, Literal)
        )
    )
    values = make_values(block, exact=blocks.exact)
    columns: dict[Expression, Expression] = {key.value: key.column for key in keys}
    columns |= {meaning: meaning for meaning in meanings if isinstance(meaning, Literal)}
    columns |= {meaning: Column("person", Identity(person=True)) for meaning in meanings if is_person(meaning)}
    having = _resolve_aliases(query.args.get("having"), query, block.scope)
    nodes = [(node, public) for node in find_aggregates([*query.expressions, *also], query)]
    nodes += [(node, True) for node in find_aggregates([having], query)] if having is not None else []
    given: dict[int, Expression] = dict(values.columns(nodes))
    refuse_slow(query, block.weight, [*meanings, *values.arguments()])
    relation: Relation = values.group(keys)
    tables = block.tables + 1
    if public and having is not None and (subqueries := list(find_subqueries([having], query))):
        columns = {value: qualify(column, _GROUPS) for value, column in columns.items()}
        given = {node: qualify(column, _GROUPS) for node, column in given.items()}
        answers = Lookups(blocks, _scope_of_groups(block.scope, columns, given), {_GROUPS})
        given |= {id(node): answers.meaning(node) for node in subqueries}
        relation = answers.join(Named(relation, _GROUPS), subqueries[0])
        tables += answers.tables
    weight = block.weight * max((size(key.value) for key in keys), default=1)
    reader = _Grouped(block.scope, columns, written, given)
    return GroupedRows(relation, reader, having, tables, weight, block.weight)


def _group_blocks(query: exp.Select, block: Block, people: Blocks, also: Iterable[exp.Expr]) -> GroupedRows:
    """Read the aggregates of each block of people, of which nothing else is told."""
    values = OwnValues(block.relation, block.scope, people)
    having = _resolve_aliases(query.args.get("having"), query, block.scope)
    nodes = [(node, False) for node in find_aggregates([*query.expressions, *also], query)]
    nodes += [(node, True) for node in find_aggregates([having], query)] if having is not None else []
    given: dict[int, Expression] = dict(values.columns(nodes))
    refuse_slow(query, block.weight, list(values.arguments()))
    reader = _Grouped(block.scope, {}, (), given)
    return GroupedRows(values.group(), reader, having, block.tables + 1, block.weight, block.weight)


def _scope_of_groups(scope: Scope, keys: Mapping[Expression, Expression], given: Mapping[int, Expression]) -> Scope:
    """What subqueries of HAVING can name: the columns that are keys, and aggregates."""
    sources = (
        ScopeTable(source.name, {name: keys[meaning] for name, meaning in source.columns.items() if meaning in keys})
        for source in scope.sources
    )
    return Scope(tuple(sources), scope.shared, dict(given))


@dataclass(frozen=True)
class GroupedRows:
    """The groups of a SELECT before HAVING, and what expressions of keys and aggregates mean there."""

    relation: Relation
    reader: _Grouped
    having: exp.Having | None
    tables: int
    weight: int
    weight_of_rows: int

    def meaning(self, item: exp.Expr) -> Expression:
        """What an output, or another expression, means."""
        return self.reader.meaning(strip_brackets(item.unalias()))

    def filter(self) -> Relation:
        """The groups that HAVING keeps."""
        if self.having is None:
            return self.relation
        kept = self.having.this
        return filter_rows(self.relation, [self.reader.meaning(kept)], [kept], self.weight_of_rows)


def _refuse_first_rows(query: exp.Select) -> None:
    """Refuse DISTINCT ON, and say how the first row of each person is written."""
    on = query.args["distinct"].args.get("on")
    if on is None:
        return
    keys = [on] if not isinstance(on, exp.Tuple) else on.expressions
    order = [each.this for each in query.args["order"].expressions] if query.args.get("order") else []
    fix = "write FIRST(x ORDER BY y) for each column, and GROUP BY the keys"
    if order[: len(keys)] == keys and len(order) == len(keys) + 1:
        by = query.args["order"].expressions[-1]
        firsts = [
            exp.alias_(
                exp.First(this=exp.Order(this=item.unalias().copy(), expressions=[by.copy()])), item.alias_or_name
            )
            for item in query.expressions
            if item.unalias() not in keys and item.alias_or_name
        ]
        plain = exp.select(*(key.copy() for key in keys), *firsts).group_by(*(key.copy() for key in keys))
        for clause in ("from_", "where", "joins"):
            plain.set(clause, query.args.get(clause))
        fix = f"group by it, which is the same where none of these is missing: {write_sql(plain)}"
    raise refusal("syntax_not_allowed", query.args["distinct"], "keeps rows by their order", fix, "DISTINCT ON")


def _read_keys(query: exp.Select, scope: Scope) -> list[exp.Expr]:
    group = query.args.get("group")
    if group is not None and query.args.get("distinct"):
        why, fix = "stands beside GROUP BY", "group by what shall be different, and leave it out"
        raise refusal("syntax_not_allowed", query.args["distinct"], why, fix, "DISTINCT")
    if group is not None:
        refuse_grouping_sets(group)
        check_parts(group, "expressions")
        return [resolve_key(strip_brackets(part), query, scope) for part in group.expressions]
    if query.args.get("distinct"):
        _refuse_first_rows(query)
        check_parts(query.args["distinct"])
        return [strip_brackets(item.unalias()) for item in query.expressions]
    return []


def _read_key(meaning: Expression, node: exp.Expr, place: int, *, public: bool) -> Selected:
    refuse_missing(node, meaning)
    if isinstance(meaning.kind, Identity) and not meaning.kind.linked:
        raise refusal("identifier_column", node, "is an id, and ids are not kept", "group by the person")
    stored = isinstance(meaning, Column) and (meaning.domain is None or _is_whole(meaning.kind))
    if public:  # a key that stands alone is unique: numbers too, once they are the doubles that they are compared as
        stored = stored and not isinstance(meaning.kind, Quantity | Moment)
    return Selected(f"g{place}", meaning, stored)


def _is_whole(kind: Kind) -> bool:
    return isinstance(kind, Quantity) and kind.whole


def _resolve_aliases(having: exp.Having | None, query: exp.Select, scope: Scope) -> exp.Having | None:
    """Replace the names of outputs in HAVING by their expressions; a subquery there has names of its own."""
    outputs = {item.alias.lower(): item.this for item in query.expressions if isinstance(item, exp.Alias)}
    for column in list(having.find_all(exp.Column)) if having is not None else ():
        known = column.parent_select is query and not column.table and not scope.has_column(column.name)
        if known and column.name.lower() in outputs:
            column.replace(exp.Paren(this=outputs[column.name.lower()].copy()))
    return having


@dataclass(frozen=True)
class _Grouped:
    """Reads expressions of a SELECT with GROUP BY, which are made of keys and aggregates only."""

    scope: Scope
    keys: Mapping[Expression, Expression]
    written: Sequence[exp.Expr]
    given: Mapping[int, Expression]

    def meaning(self, node: exp.Expr) -> Expression:
        given = dict(self.given)
        for part in node.walk(prune=lambda part: id(part) in given):
            if id(part) not in given and self._is_key(part):
                given[id(part)] = self.keys[read_expression(part, self.scope)]
            elif isinstance(part, exp.AggFunc | exp.Query | exp.Window) and id(part) not in given:
                raise refusal_of_node(part)
            elif isinstance(part, exp.Column):
                why, fix = "is neither a key nor aggregated", "add it to GROUP BY, or aggregate it"
                raise refusal("not_an_aggregate", part, why, fix)
        return read_expression(node, Scope((), given=given))

    def _is_key(self, part: exp.Expr) -> bool:
        if isinstance(part, exp.Column) and not isinstance(part.this, exp.Star):
            return self.scope.column(part) in self.keys
        return part in self.written


def is_block(node: exp.Expr) -> bool:
    """Whether a node is BLOCK(...)."""
    return isinstance(node, exp.Anonymous) and str(node.this).upper() == "BLOCK"


def read_blocks(keys: Sequence[exp.Expr], relation: Relation) -> Blocks | None:
    """The blocks that a SELECT inside a question is grouped by, if it is; no other key may stand beside them."""
    found = next((key for key in keys if is_block(key)), None)
    if found is None:
        return None
    if len(keys) > 1:
        why, fix = "stands beside other keys", "group by the block alone, and filter with WHERE"
        raise refusal("blocks", found, why, fix, "BLOCK")
    if relation.is_public:
        raise refusal("blocks", found, "is of people, and these rows are public", "group by a column", "BLOCK")
    if relation.has_blocks:
        why, fix = "is of people, and these rows are of blocks already", "aggregate them without BLOCK"
        raise refusal("blocks", found, why, fix, "BLOCK")
    return Blocks(_read_count(found))


def _read_count(node: exp.Expr) -> int:
    written = [str(part.this) for part in node.expressions if isinstance(part, exp.Literal) and not part.is_string]
    digits = written[0].lstrip("0") if len(node.expressions) == 1 and written and written[0].isdecimal() else ""
    # Longer numbers are not read at all: of some thousand digits, Python refuses to.
    count = int(digits or 0) if len(digits) <= len(str(MOST_BLOCKS)) else 0
    if not 2 <= count <= MOST_BLOCKS:
        why = f"takes one whole number, from 2 to {MOST_BLOCKS:,}: how many blocks there are"
        raise refusal("blocks", node, why, "write for example BLOCK(200)", "BLOCK")
    return count
