"""Reads SELECTs from the inside out to relations, with what each of their columns means.

FROM comes first: the tables and subqueries in it, their names, and how they are joined.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.messages.fixes import ASK_RELEASE
from adomnia.messages.references import Setting
from adomnia.messages.texts import Fix, Message, write
from adomnia.methods.registry import find_method
from adomnia.privacy import relations
from adomnia.sql.reading.parse import check_clauses, parse_statement, write_sql
from adomnia.sql.reading.refusals import refusal, refusal_of_name, refusal_of_node
from adomnia.sql.reading.spellings import fill_in_today
from adomnia.sql.reading.statements import SCHEMA
from adomnia.sql.rows.correlation import Block, OuterConditions, is_around, split_correlation
from adomnia.sql.rows.derived import Derived, Side, filter_rows, free_label, is_person, label_of, make_side, unite
from adomnia.sql.rows.ids import equate_ids
from adomnia.sql.rows.joins import JoinClause, join_sides, scope_over
from adomnia.sql.rows.lookups import DECIDES, Lookups
from adomnia.sql.rows.selection import select_rows
from adomnia.sql.values.aggregates import AGGREGATES
from adomnia.sql.values.scalars import MOST_NODES, read_expression
from adomnia.sql.values.scope import Scope, ScopeTable, check_parts, conjuncts, subqueries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adomnia.catalog.model import Catalog, View


_TABLE = Message(Setting("table"))


@dataclass(frozen=True)
class FromItem:
    """One table or subquery in FROM: its node, its name, and how it is joined with those before it."""

    node: exp.Expr
    name: str
    outer: bool = False
    on: exp.Expr | None = None
    shared: tuple[str, ...] = ()


def read_from(select: exp.Select) -> list[FromItem]:
    """Read the tables and subqueries in FROM, in their order."""
    source = select.args.get("from_")
    if source is None:
        raise _refusal_without_table(select)
    check_parts(source, "this")
    found = [FromItem(source.this, _name(source.this)), *_nested_joins(source.this), *map(_read_join, _joins(select))]
    names = [each.name.lower() for each in found]
    for place, each in enumerate(found):
        if names[place] in names[:place]:
            raise refusal("duplicate_alias", each.node, "names two tables", "give each its own name with AS", each.name)
    return found


def find_table(node: exp.Expr, catalog: Catalog) -> Derived:
    """Find the table of the catalog that a node names."""
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Anonymous) and find_method(str(node.this.this)):
        fix = "ask it by itself: SELECT * FROM it"
        raise refusal("method_inside", node, "is a method, whose table is an answer and no rows", fix, node.this.this)
    if not isinstance(node, exp.Table) or isinstance(node.this, exp.Func):
        raise refusal("function_not_allowed", node, "is not a table of the catalog", _TABLE)
    if node.args.get("sample"):
        why = "picks an arbitrary subset, which gives no privacy"
        raise refusal("tablesample", node, why, "leave the sampling out", "Sampling")
    name = ".".join(part.name for part in node.parts)
    if node.db.lower() == SCHEMA:
        why, alone = "is a release, which costs nothing and has no price", write("ask it by itself, with {sql()}")
        raise refusal("public_table", node, why, Fix(alone, ASK_RELEASE), name)
    for table in catalog.tables:
        if table.name.lower() == name.lower():
            check_parts(node, "this", "alias", "joins")
            columns = {column.name: column for column in table.columns}
            if table.public:
                return Derived(relations.Public(table.name, table.columns, table.repeats), columns)
            keys = catalog.unique_keys(table.name)
            return Derived(relations.Private(table.name, table.rows_per_person, table.columns, keys), columns)
    tables = [table.name for table in catalog.tables]
    raise refusal_of_name("unknown_table", node, name, "tables of the catalog", tables)


def _joins(select: exp.Select) -> Iterator[exp.Join]:
    yield from select.args.get("joins") or ()


def _nested_joins(node: exp.Expr) -> Iterator[FromItem]:
    """The joins that the parser attaches to a table in brackets."""
    yield from map(_read_join, node.args.get("joins") or ())


def _read_join(join: exp.Join) -> FromItem:
    if join.find(exp.Lateral) and isinstance(join.this, exp.Lateral):
        raise refusal("lateral", join, "computes a table for every row", "ask about one table", "LATERAL")
    side, kind, method = (str(join.args.get(part) or "").upper() for part in ("side", "kind", "method"))
    if method or kind not in ("", "INNER", "CROSS", "OUTER") or side not in ("", "LEFT"):
        word = " ".join(filter(None, (method, side, kind)))
        why, fix = "is not answered", "use JOIN or LEFT JOIN with ON, the private table first"
        raise refusal("join", join, why, fix, f"{word} JOIN")
    check_parts(join, "this", "on", "using", "side", "kind")
    shared = tuple(part.name.lower() for part in join.args.get("using") or ())
    return FromItem(join.this, _name(join.this), side == "LEFT", join.args.get("on"), shared)


def _name(node: exp.Expr) -> str:
    alias = node.args.get("alias")
    if alias is not None:
        check_parts(alias, "this")
    if isinstance(node, exp.Lateral):
        raise refusal("lateral", node, "computes a table for every row", "ask about one table", "LATERAL")
    return str(node.alias_or_name) or "subquery"


def _refusal_without_table(select: exp.Select) -> Refusal:
    for item in select.expressions:
        asked = item.unalias()
        if isinstance(asked, exp.Func | exp.Query) and not isinstance(asked, exp.AggFunc):
            return refusal_of_node(asked)
    fix = "add FROM and a table of the catalog"
    return refusal("not_an_aggregate", select, "asks about no table", fix, "The question")


MOST_TABLES = 32

_ASK_FIRST = (
    "ask what stands inside by itself, and write its number here; for each person's own rows, another question: "
)


@dataclass(frozen=True)
class BlockReader:
    """Reads SELECTs. `named` are the subqueries of WITH by their names.

    `outer` are the names of the SELECT around, whose person a subquery about one person has to name. `views` are those
    of the owner's views that are being read, so that none can be made of itself. `exact` is for questions about public
    tables alone, whose aggregates are computed in doubles and not in integers.
    """

    catalog: Catalog
    named: Mapping[str, Derived] = field(default_factory=dict)
    outer: Scope | None = None
    views: frozenset[str] = frozenset()
    exact: bool = False

    def inside(self, outer: Scope | None) -> BlockReader:
        """The reader of a subquery, with the names of the SELECT around it if it is about one person."""
        return replace(self, outer=outer)

    def read_block(self, select: exp.Select) -> Block:
        """Read FROM, joins and WHERE of a SELECT."""
        inside = self._read_with(select)
        named = read_from(select)
        _refuse_many(len(named), select, "tables in FROM")
        sources = [(each, inside._read_source(each.node)) for each in named]
        where = select.args.get("where")
        _refuse_aggregates(select, where)
        conditions = conjuncts(None if where is None else where.this)
        looked_up = list(subqueries(select))
        if len(sources) == 1 and not looked_up:
            ((written, rows),) = sources
            scope = Scope((ScopeTable(written.name, rows.columns),))
            conditions, correlation = inside._split_correlation(select, conditions, scope, rows.public)
            return _filter_block(Block(rows.relation, scope, rows.tables, rows.weight, correlation), conditions)
        return inside._read_joins(select, sources, conditions, looked_up)

    def read_rows(self, query: exp.Expr) -> Derived:
        """Read the rows and columns of a subquery."""
        if isinstance(query, exp.Subquery):
            check_parts(query, "this", "alias")
            return self.read_rows(query.this)
        if isinstance(query, exp.SetOperation):
            return self._read_union(query)
        if isinstance(query, exp.Table):
            raise refusal("syntax_not_allowed", query, "stands in brackets", "write FROM and JOIN without brackets")
        if not isinstance(query, exp.Select):
            raise refusal_of_node(query)
        check_clauses(query, inner=True)
        return self._check_size(select_rows(query, self.read_block(query), self), query)

    def _check_size(self, rows: Derived, query: exp.Expr) -> Derived:
        """Return the rows, or refuse them if an engine would take too long to plan them."""
        _refuse_many(rows.tables, query, "tables and steps")
        if rows.weight > MOST_NODES:
            raise refusal("too_complex", query, "becomes too long", "compute less in each step", "The subquery")
        return rows

    def _read_with(self, query: exp.Expr) -> BlockReader:
        """A reader that knows the subqueries of WITH, each of which knows those before it."""
        inside, found = self, query.args.get("with_")
        if found is None:
            return inside
        if found.args.get("recursive"):
            why = "repeats itself until the data say so"
            raise refusal("recursion", found, why, "leave RECURSIVE out", "RECURSIVE")
        _refuse_many(len(found.expressions), found, "subqueries in WITH")
        names: set[str] = set()
        for cte in found.expressions:
            alias = cte.args["alias"]
            check_parts(alias, "this")
            rows = replace(inside, outer=None).read_rows(cte.this)
            if str(alias.name).lower() in names:
                raise refusal("duplicate_alias", alias, "names two subqueries", "give each its own name", alias.name)
            names.add(str(alias.name).lower())
            inside = replace(inside, named={**inside.named, str(alias.name).lower(): rows})
        return inside

    def _read_source(self, node: exp.Expr) -> Derived:
        if isinstance(node, exp.Subquery):
            return replace(self, outer=None).read_rows(node.this)
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier) and len(node.parts) == 1:
            known = self.named.get(node.name.lower()) or self._read_view(node)
            if known is not None:
                check_parts(node, "this", "alias")
                return known
        return find_table(node, self.catalog)

    def _read_view(self, node: exp.Table) -> Derived | None:
        """Read the rows of the view that a node names; None if there is no such view."""
        for view in self.catalog.views:
            if view.name.lower() == node.name.lower():
                if view.name in self.views:
                    raise refusal("recursion", node, "is made of itself", "let the view begin with a table")
                inside = BlockReader(self.catalog, views=self.views | {view.name}, exact=self.exact)
                query = parse_statement(view.sql)
                fill_in_today(query, self.catalog.today)
                return inside.read_rows(query)
        return None

    def _read_union(self, query: exp.SetOperation) -> Derived:
        inside = self._read_with(query)
        if type(query) is not exp.Union or query.args.get("distinct"):
            why, fix = "compares the rows of different people", inside._suggest_lookup(query)
            raise refusal("set_operation", query, why, fix, "This set operation")
        check_parts(query, "this", "expression", "distinct", "with_")
        flat = [each for part in (query.this, query.expression) for each in _union_parts(part)]
        _refuse_many(len(flat), query, "parts of UNION ALL")
        return inside._check_size(unite(query, [inside.read_rows(part) for part in flat]), query)

    def _suggest_lookup(self, query: exp.SetOperation) -> str:
        """The same as a set operation on the ids of people; of other rows, that nothing says the same."""
        parts = [part.copy() for part in (query.this, query.expression)]
        plain = all(isinstance(part, exp.Select) and not part.args.get("group") for part in parts)
        columns = [list(self.read_rows(part.copy()).columns.items()) for part in parts] if plain else []
        if not plain or any(len(each) != 1 or not is_person(each[0][1]) for each in columns):
            return "people are compared by their ids alone; UNION ALL keeps every row, and asks something else"
        if type(query) is exp.Union:
            return f"count each person once: COUNT(DISTINCT {columns[0][0][0]}), with UNION ALL between the SELECTs"
        first, second = parts
        person = first.expressions[0].unalias()
        among = exp.In(this=person.copy(), query=exp.Subquery(this=second))
        first.where(exp.Not(this=among) if isinstance(query, exp.Except) else among, copy=False)
        first.set("distinct", exp.Distinct())
        return f"look the ids up: {write_sql(first)}"

    def _read_joins(
        self,
        select: exp.Select,
        sources: Sequence[tuple[FromItem, Derived]],
        conditions: list[exp.Expr],
        looked_up: list[exp.Expr],
    ) -> Block:
        _refuse_many(sum(rows.tables for _, rows in sources) + len(looked_up), select, "tables and steps")
        sides, items = _sides(sources)
        scope = scope_over(sides, items, {name for written, _ in sources for name in written.shared})
        public = all(rows.public for _, rows in sources)
        conditions, correlation = self._split_correlation(select, conditions, scope, public)
        answers = Lookups(self, scope, {each.label.lower() for each in sides}, sides)
        given = {id(node): answers.meaning(node) for node in looked_up}
        scope = replace(scope, given=given)
        joined = join_sides(sides[0], items, scope, conditions)
        relation = answers.join(joined.relation, looked_up[0] if looked_up else select)
        tables = sum(each.tables for each in sides) + answers.tables
        _refuse_many(tables, select, "tables and steps")
        pairs = relation.rows_per_person // max(1, *(each.relation.rows_per_person for each in sides))
        weight = max(each.weight for each in sides) * max(1, pairs)
        rows = filter_rows(relation, joined.conditions, [select], weight)
        return Block(rows, scope, tables, weight, correlation)

    def _split_correlation(
        self, select: exp.Select, conditions: list[exp.Expr], scope: Scope, public: bool
    ) -> tuple[list[exp.Expr], OuterConditions]:
        """The conditions of a SELECT itself, and what it says about the row around it, if it stands inside another.

        Rows of people must be those of the person around.
        """
        if self.outer is None:
            return conditions, OuterConditions()
        own, correlation = split_correlation(conditions, scope, self.outer)
        if not public and not correlation.links:
            columns = (column for node in correlation.compared for column in node.find_all(exp.Column))
            around = (column for column in columns if is_around(column, scope, self.outer))
            pair = equate_ids(scope.sources, self.outer.sources)
            related = "name the tables apart, and equate the ids of the person" if pair is None else f"WHERE {pair}"
            alone = select.find(exp.AggFunc) is not None and not isinstance(select.parent, exp.Exists)
            fix = _ASK_FIRST + related if alone else f"relate it to the person: {related}"
            raise refusal("private_subquery", next(around, select), DECIDES, fix, "This subquery")
        return own, correlation


def rows_of(text: str, catalog: Catalog) -> Derived:
    """The rows and columns of a SELECT."""
    return BlockReader(catalog).read_rows(parse_statement(text))


def person_of(text: str, catalog: Catalog) -> str:
    """The column of a SELECT that is the person's own id."""
    for name, meaning in rows_of(text, catalog).columns.items():
        if is_person(meaning):
            return name
    raise Refusal("These rows", "do not have the id of their person", "select it too", code="identifier_column")


def check_views(catalog: Catalog) -> None:
    """Refuse a catalog with a view that cannot be read."""
    for view in catalog.views:
        try:
            check_view(catalog, view)
        except Refusal as cause:
            place = cause.position
            raise Refusal(f"View {view.name}: {cause.what}", cause.why, cause.fix, place, code=cause.code) from None


def check_view(catalog: Catalog, view: View) -> None:
    """Refuse a view that cannot be read; places are those in its own text."""
    BlockReader(catalog, views=frozenset({view.name})).read_rows(parse_statement(view.sql))


def _refuse_many(number: int, node: exp.Expr, things: str) -> None:
    if number > MOST_TABLES:
        why = f"has {number:,} {things}, more than {MOST_TABLES}"
        raise refusal("too_complex", node, why, "take it apart", "The question")


def _sides(sources: Sequence[tuple[FromItem, Derived]]) -> tuple[list[Side], list[JoinClause]]:
    labels: set[str] = set()
    sides: list[Side] = []
    items: list[JoinClause] = []
    for written, rows in sources:
        label = free_label(label_of(rows.relation), labels)
        sides.append(make_side(written.node, written.name, rows, label, written.outer))
        if len(sides) > 1:
            items.append(
                JoinClause(sides[-1], written.outer, (*conjuncts(written.on), *_using_conditions(written, sides)))
            )
    return sides, items


def _using_conditions(written: FromItem, sides: list[Side]) -> Iterator[exp.Expr]:
    """The conditions of USING (a, b): columns of that name are equal in both tables."""
    for name in written.shared:
        for before in sides[:-1]:
            if name in (column.lower() for column in before.source.columns):
                yield exp.EQ(this=exp.column(name, before.source.name), expression=exp.column(name, written.name))
                break
        else:
            raise refusal("unknown_column", written.node, f"uses {name}, which no table before has", "write ON instead")


def _filter_block(block: Block, conditions: list[exp.Expr]) -> Block:
    meanings = [read_expression(node, block.scope) for node in conditions]
    return replace(block, relation=filter_rows(block.relation, meanings, conditions, block.weight))


def _refuse_aggregates(select: exp.Select, where: exp.Expr | None) -> None:
    for found in where.find_all(*AGGREGATES) if where is not None else ():
        if found.parent_select is select and not found.find_ancestor(exp.Window):
            raise refusal("aggregate_in_where", found, "stands in WHERE, which sees one row at a time", "leave it out")


def _union_parts(query: exp.Expr) -> Iterator[exp.Expr]:
    if type(query) is exp.Union and not query.args.get("distinct") and not query.args.get("with_"):
        check_parts(query, "this", "expression", "distinct")
        yield from _union_parts(query.this)
        yield from _union_parts(query.expression)
    else:
        yield query
