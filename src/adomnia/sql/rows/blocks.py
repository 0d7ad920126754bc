"""One SELECT after the other, from the inside out: the rows a question is about, and the names of their columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.privacy.relations import Join, Named, is_public
from adomnia.sql.reading.parse import check_clauses, parsed_rows
from adomnia.sql.reading.refusals import refusal, unanswerable
from adomnia.sql.rows.derived import Derived, Side, filtered, free_label, is_person, label_of, side, united
from adomnia.sql.rows.joins import Item, conjuncts, join, scope_over
from adomnia.sql.rows.lookups import DECIDES, Lookups, public_subquery, subqueries
from adomnia.sql.rows.selection import Block, selected
from adomnia.sql.rows.sources import From, named_table, written_sources
from adomnia.sql.values.aggregates import AGGREGATES
from adomnia.sql.values.scalars import MOST_NODES, expression
from adomnia.sql.values.scope import Scope, Source, bare, only

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adomnia.catalog.model import Catalog

MOST_TABLES = 32

_ON_PERSON = "relate it to the person: WHERE inner.person_id = outer.person_id"


@dataclass(frozen=True)
class Blocks:
    """Reads SELECTs. `named` are the subqueries of WITH by their names.

    `outer` are the names of the SELECT around, whose person a subquery about one person has to name. `views` are those
    of the owner's views that are being read, so that none can be made of itself.
    """

    catalog: Catalog
    named: Mapping[str, Derived] = field(default_factory=dict)
    outer: Scope | None = None
    views: frozenset[str] = frozenset()

    def block(self, select: exp.Select) -> Block:
        """FROM, joins and WHERE."""
        inside = self._with(select)
        named = written_sources(select)
        _refuse_many(len(named), select, "tables in FROM")
        sources = [(each, inside._derived(each.node)) for each in named]
        if self.outer is not None and all(rows.public for _, rows in sources):
            raise public_subquery(select, "This subquery")
        where = select.args.get("where")
        _refuse_aggregates(select, where)
        conditions = conjuncts(None if where is None else where.this)
        looked_up = list(subqueries(select))
        if len(sources) == 1 and not looked_up:
            ((written, rows),) = sources
            scope = Scope((Source(written.name, rows.columns),))
            conditions = inside._uncorrelated(select, conditions, scope)
            return _filtered(Block(rows.relation, scope, rows.tables, rows.weight), conditions)
        return inside._joined(select, sources, conditions, looked_up)

    def rows(self, query: exp.Expr) -> Derived:
        """The rows of a subquery, and its columns."""
        if isinstance(query, exp.Subquery):
            only(query, "this", "alias")
            return self.rows(query.this)
        if isinstance(query, exp.SetOperation):
            return self._union(query)
        if isinstance(query, exp.Table):
            raise refusal("syntax_not_allowed", query, "stands in brackets", "write FROM and JOIN without brackets")
        if not isinstance(query, exp.Select):
            raise unanswerable(query)
        check_clauses(query, inner=True)
        return self._bounded(selected(query, self.block(query)), query)

    def _bounded(self, rows: Derived, query: exp.Expr) -> Derived:
        """The rows, unless an engine would have too much to plan for them."""
        _refuse_many(rows.tables, query, "tables and steps")
        if rows.weight > MOST_NODES:
            raise refusal("too_complex", query, "becomes too long", "compute less in each step", "The subquery")
        return rows

    def _with(self, query: exp.Expr) -> Blocks:
        """The subqueries of WITH, each knowing those before it."""
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
            only(alias, "this")
            rows = replace(inside, outer=None).rows(cte.this)
            if str(alias.name).lower() in names:
                raise refusal("duplicate_alias", alias, "names two subqueries", "give each its own name", alias.name)
            names.add(str(alias.name).lower())
            inside = replace(inside, named={**inside.named, str(alias.name).lower(): rows})
        return inside

    def _derived(self, node: exp.Expr) -> Derived:
        if isinstance(node, exp.Subquery):
            return replace(self, outer=None).rows(node.this)
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier) and len(node.parts) == 1:
            known = self.named.get(node.name.lower()) or self._view(node)
            if known is not None:
                only(node, "this", "alias")
                return known
        return named_table(node, self.catalog)

    def _view(self, node: exp.Table) -> Derived | None:
        """The rows of the owner's view of that name."""
        for view in self.catalog.views:
            if view.name.lower() == node.name.lower():
                if view.name in self.views:
                    raise refusal("recursion", node, "is made of itself", "let the view begin with a table")
                return Blocks(self.catalog, views=self.views | {view.name}).rows(parsed_rows(view.sql))
        return None

    def _union(self, query: exp.SetOperation) -> Derived:
        inside = self._with(query)
        if type(query) is not exp.Union or query.args.get("distinct"):
            why, fix = "compares the rows of different people", "use UNION ALL, which keeps every row"
            raise refusal("set_operation", query, why, fix, "This set operation")
        only(query, "this", "expression", "distinct", "with_")
        flat = [each for part in (query.this, query.expression) for each in _united_parts(part)]
        _refuse_many(len(flat), query, "parts of UNION ALL")
        return inside._bounded(united(query, [inside.rows(part) for part in flat]), query)

    def _joined(
        self,
        select: exp.Select,
        sources: Sequence[tuple[From, Derived]],
        conditions: list[exp.Expr],
        looked_up: list[exp.Expr],
    ) -> Block:
        _refuse_many(sum(rows.tables for _, rows in sources) + len(looked_up), select, "tables and steps")
        sides, items = _sides(sources)
        scope = scope_over(sides, items, {name for written, _ in sources for name in written.shared})
        conditions = self._uncorrelated(select, conditions, scope)
        answers = Lookups(self, scope, {each.label.lower() for each in sides})
        given = {id(node): answers.meaning(node) for node in looked_up}
        scope = replace(scope, given=given)
        joined = join(sides[0], items, scope, conditions)
        relation = joined.relation
        if answers.found and is_public(relation):
            raise refusal("private_subquery", looked_up[0], DECIDES, "ask about the private table", "This subquery")
        for per_person, label in answers.found.items():
            relation = Join(relation, Named(per_person, label), (), outer=True)
        tables = sum(each.tables for each in sides) + answers.tables
        _refuse_many(tables, select, "tables and steps")
        pairs = relation.rows_per_person // max(1, *(each.relation.rows_per_person for each in sides))
        weight = max(each.weight for each in sides) * max(1, pairs)
        return Block(filtered(relation, joined.conditions, [select], weight), scope, tables, weight)

    def _uncorrelated(self, select: exp.Select, conditions: list[exp.Expr], scope: Scope) -> list[exp.Expr]:
        """The conditions without the one that equates the person with that of the SELECT around, if there is one."""
        if self.outer is None:
            return conditions
        own = [node for node in conditions if not self._is_person_around(node, scope)]
        for column in (column for node in own for column in node.find_all(exp.Column)):
            if not scope.knows(column) and self.outer.knows(column):
                why = "looks at a column of the question around it other than the person"
                raise refusal("private_subquery", column, why, "join the tables on the person instead")
        if len(own) == len(conditions):
            raise refusal("private_subquery", select, DECIDES, _ON_PERSON, "This subquery")
        return own

    def _is_person_around(self, node: exp.Expr, scope: Scope) -> bool:
        parts = [bare(part) for part in (node.this, node.expression)] if isinstance(node, exp.EQ) else []
        columns = [part for part in parts if isinstance(part, exp.Column)]
        if len(columns) != 2 or self.outer is None:
            return False
        inner = [scope.column(column) for column in columns if scope.knows(column)]
        around = [column for column in columns if not scope.knows(column) and self.outer.knows(column)]
        outer = [self.outer.column(column) for column in around]
        return len(inner) == len(outer) == 1 and is_person(inner[0]) and is_person(outer[0])


def rows_of(text: str, catalog: Catalog) -> Derived:
    """The rows that a SELECT stands for, before anything is asked about them."""
    return Blocks(catalog).rows(parsed_rows(text))


def person_of(text: str, catalog: Catalog) -> str:
    """The column of a SELECT that is the person's own id."""
    for name, meaning in rows_of(text, catalog).columns.items():
        if is_person(meaning):
            return name
    raise Refusal("These rows", "do not have the id of their person", "select it too", code="identifier_column")


def check_views(catalog: Catalog) -> None:
    """Refuse a catalog with a view that nobody could ask about."""
    for view in catalog.views:
        try:
            Blocks(catalog, views=frozenset({view.name})).rows(parsed_rows(view.sql))
        except Refusal as cause:
            place = cause.position
            raise Refusal(f"View {view.name}: {cause.what}", cause.why, cause.fix, place, code=cause.code) from None


def _refuse_many(number: int, node: exp.Expr, things: str) -> None:
    if number > MOST_TABLES:
        why = f"has {number:,} {things}, more than {MOST_TABLES}"
        raise refusal("too_complex", node, why, "take it apart", "The question")


def _sides(sources: Sequence[tuple[From, Derived]]) -> tuple[list[Side], list[Item]]:
    labels: set[str] = set()
    sides: list[Side] = []
    items: list[Item] = []
    for written, rows in sources:
        label = free_label(label_of(rows.relation), labels)
        sides.append(side(written.node, written.name, rows, label, written.outer))
        if len(sides) > 1:
            items.append(Item(sides[-1], written.outer, (*conjuncts(written.on), *_shared(written, sides))))
    return sides, items


def _shared(written: From, sides: list[Side]) -> Iterator[exp.Expr]:
    """USING (a, b): the columns of that name in both tables are equal."""
    for name in written.shared:
        for before in sides[:-1]:
            if name in (column.lower() for column in before.source.columns):
                yield exp.EQ(this=exp.column(name, before.source.name), expression=exp.column(name, written.name))
                break
        else:
            raise refusal("unknown_column", written.node, f"uses {name}, which no table before has", "write ON instead")


def _filtered(block: Block, conditions: list[exp.Expr]) -> Block:
    meanings = [expression(node, block.scope) for node in conditions]
    return replace(block, relation=filtered(block.relation, meanings, conditions, block.weight))


def _refuse_aggregates(select: exp.Select, where: exp.Expr | None) -> None:
    for found in where.find_all(*AGGREGATES) if where is not None else ():
        if found.parent_select is select and not found.find_ancestor(exp.Window):
            raise refusal("aggregate_in_where", found, "stands in WHERE, which sees one row at a time", "leave it out")


def _united_parts(query: exp.Expr) -> Iterator[exp.Expr]:
    if type(query) is exp.Union and not query.args.get("distinct") and not query.args.get("with_"):
        only(query, "this", "expression", "distinct")
        yield from _united_parts(query.this)
        yield from _united_parts(query.expression)
    else:
        yield query
