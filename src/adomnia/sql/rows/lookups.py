"""Reads subqueries of a SELECT's own expressions (EXISTS, IN, one aggregate): about the person of each row, or public.

Each becomes a LEFT JOIN that finds one row at most, so that rows stay as many as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import exp

from adomnia.privacy.expressions import Call, Column, Expression, Literal, number
from adomnia.privacy.kinds import Boolean, Identity, Text
from adomnia.privacy.relations import (
    Join,
    Lookup,
    Named,
    OwnValue,
    PerPerson,
    PublicGroups,
    PublicValue,
    Relation,
    Selected,
)
from adomnia.privacy.scans import NonNull, Rows
from adomnia.sql.reading.parse import check_clauses
from adomnia.sql.reading.refusals import refusal, refusal_of_node
from adomnia.sql.rows.derived import Side, filter_rows, free_label, is_person, refuse_slow
from adomnia.sql.rows.ids import name_person
from adomnia.sql.rows.own_rows import OwnValues, fill_count, find_aggregates
from adomnia.sql.rows.pairs import pair_rows
from adomnia.sql.rows.public_values import PublicValues
from adomnia.sql.values.building import build, read_dates
from adomnia.sql.values.conditions import apply
from adomnia.sql.values.scalars import read_expression
from adomnia.sql.values.scope import Scope, check_parts, strip_brackets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.sql.rows.correlation import Block, RowReader
    from adomnia.sql.rows.derived import Derived

DECIDES = "lets one person's rows decide about everybody's"
_ONLY_EQUAL = "compare with the row around it by = alone, or join the public table"

_Equal: TypeAlias = "Sequence[tuple[Expression, Expression]]"
_Values: TypeAlias = "tuple[OwnValue | PublicValue, ...]"


@dataclass
class Lookups:
    """Reads the subqueries of one scope, whose sides are given.

    `found` are the people to join, and `looked_up` the groups with the values they are looked up by; all with labels.
    """

    blocks: RowReader
    scope: Scope
    labels: set[str]
    sides: Sequence[Side] = ()
    found: dict[PerPerson, str] = field(default_factory=dict)
    looked_up: dict[tuple[Relation, tuple[Expression, ...]], str] = field(default_factory=dict)
    tables: int = 0

    def meaning(self, node: exp.Expr) -> Expression:
        """The expression that a subquery stands for, about the person of a row or about public tables."""
        match node:
            case exp.In():
                return self._read_in(node)
            case exp.Exists():
                return self._read_exists(node)
        return self._read_value(node)

    def join(self, relation: Join | Lookup | Named, node: exp.Expr) -> Join | Lookup | Named:
        """The relation with all that was looked up beside it."""
        private = [*self.found, *(groups for groups, _ in self.looked_up if not groups.is_public)]
        if private and relation.is_public:
            raise refusal("private_subquery", node, DECIDES, "ask about the private table", "This subquery")
        for per_person, label in self.found.items():
            relation = Join(relation, Named(per_person, label), (), outer=True)
        for (groups, keys), label in self.looked_up.items():
            relation = Lookup(relation, Named(groups, label), keys)
        return relation

    def _read_in(self, node: exp.In) -> Expression:
        check_parts(node, "this", "query")
        asked_of = strip_brackets(node.this)
        rows = self.blocks.inside(None).read_rows(node.args["query"])
        if rows.public:
            return self._read_public_in(node, rows)
        person = isinstance(asked_of, exp.Column) and is_person(self.scope.column(asked_of))
        if not person or len(rows.columns) != 1 or not is_person(*rows.columns.values()):
            name = name_person(self.scope.sources) or "id"
            fix = f"only the person's own id may be looked up, with {name} before IN, and as all that is selected there"
            raise refusal("private_subquery", node, DECIDES, fix, "IN with a subquery")
        return self._has_person(self._label(PerPerson(rows.relation, (), ()), rows.tables))

    def _read_public_in(self, node: exp.In, rows: Derived) -> Expression:
        """Read `value IN (SELECT ...)` of public rows, with SQL's NULL: unknown where the list has one, or is it."""
        if len(rows.columns) != 1:
            raise refusal("public_subquery", node, "selects several columns", "select one", "IN")
        value, (listed,) = read_expression(node.this, self.scope), rows.columns.values()
        value, _ = read_dates(node, value, listed)
        build(node, "=", value, listed)  # refused where they are not alike
        groups = _group_public(rows.relation, ((listed, value),))
        label = self._look_up(groups, (value,), rows.tables)
        present = _is_there(replace(groups.keys[0].column, source=label))
        if _must_hold(node):
            return present
        counts = (OwnValue("v0", Rows()), OwnValue("v1", NonNull(listed)))
        label = self._look_up(PublicGroups(rows.relation, (), counts), (), rows.tables)
        every, known = (replace(count.column, source=label, optional=True) for count in counts)
        unknown, false = Literal(None, Boolean()), Literal(False, Boolean())
        nothing = apply("=", every, number(Fraction(0)))
        missing = apply("or", _is_null(value), apply("<", known, every))
        return apply("case", present, Literal(True, Boolean()), nothing, false, missing, unknown, false)

    def _read_exists(self, node: exp.Exists) -> Expression:
        query = node.this.unnest()
        block = self._read_correlated(query)
        if query.args.get("group") or query.args.get("having") or any(find_aggregates(query.expressions, query)):
            name = name_person(self.scope.sources) or "id"
            fix = f"use {name} IN (...), and inside GROUP BY {name} and HAVING"
            raise refusal("private_subquery", node, "has aggregates inside", fix, "EXISTS")
        if block.relation.is_public:
            return self._public_exists(block)
        if block.correlation.mixed:
            groups, keys = pair_rows(node, block, self.scope, self.sides)
            return self._has_person(self._look_up(groups, keys, block.tables + 2))
        if block.correlation.equal:
            groups, keys = _group_people(block, ())
            return self._has_person(self._look_up(groups, keys, block.tables))
        return self._has_person(self._label(PerPerson(block.relation, (), ()), block.tables))

    def _public_exists(self, block: Block) -> Expression:
        _refuse_mixed(block)
        keys = tuple(around for _, around in block.correlation.equal)
        if keys:
            groups = _group_public(block.relation, block.correlation.equal)
            return _is_there(replace(groups.keys[0].column, source=self._look_up(groups, keys, block.tables)))
        count = OwnValue("v0", Rows())
        label = self._look_up(PublicGroups(block.relation, (), (count,)), (), block.tables)
        return apply(">", replace(count.column, source=label, optional=True), number(Fraction(0)))

    def _read_value(self, node: exp.Expr) -> Expression:
        query = node.unnest()
        if not isinstance(query, exp.Select):
            raise refusal_of_node(query)
        if not any(find_aggregates(query.expressions, query)):
            why = "may have more than one row, and whether it has depends on the data"
            raise refusal("private_scalar_subquery", node, why, "select one aggregate in it", "A subquery as a value")
        block = self._read_correlated(query)
        if len(query.expressions) != 1 or query.args.get("group") or query.args.get("having"):
            raise refusal("private_subquery", node, "is not one aggregate", "select one aggregate, without GROUP BY")
        _refuse_mixed(block)
        public = block.relation.is_public
        values = make_values(block, exact=self.blocks.exact)
        exact = public or node.find_ancestor(exp.Where, exp.Select) is not node.parent_select
        aggregates = list(find_aggregates(query.expressions, query))
        columns = values.columns([(each, exact) for each in aggregates])
        refuse_slow(node, block.weight, values.arguments())
        label = self._look_up_values(block, values.outputs)
        given = {
            id(each): fill_count(replace(columns[id(each)], source=label, optional=True), each) for each in aggregates
        }
        return read_expression(query.expressions[0].unalias(), Scope((), given=given))

    def _look_up_values(self, block: Block, outputs: _Values) -> str:
        """Look up aggregates by the values that the subquery equates with the row around it."""
        keys = tuple(around for _, around in block.correlation.equal)
        if block.relation.is_public:
            groups = _group_public(block.relation, block.correlation.equal, outputs)
            return self._look_up(groups, keys, block.tables)
        own = tuple(output for output in outputs if isinstance(output, OwnValue))
        if keys:
            return self._look_up(*_group_people(block, own), block.tables)
        return self._label(PerPerson(block.relation, (), own), block.tables)

    def _read_correlated(self, query: exp.Expr) -> Block:
        if not isinstance(query, exp.Select):
            raise refusal_of_node(query)
        check_clauses(query, inner=True)
        return self.blocks.inside(self.scope).read_block(query)

    def _has_person(self, label: str) -> Expression:
        """The condition that the person of a row is in what was looked up."""
        return _is_there(Column("person", Identity(person=True), source=label))

    def _label(self, per_person: PerPerson, tables: int) -> str:
        if per_person not in self.found:
            self.found[per_person] = free_label("own", self.labels)
            self.tables += tables
        return self.found[per_person]

    def _look_up(self, groups: Relation, keys: tuple[Expression, ...], tables: int) -> str:
        if (groups, keys) not in self.looked_up:
            self.looked_up[groups, keys] = free_label("found", self.labels)
            self.tables += tables
        return self.looked_up[groups, keys]


def make_values(block: Block, *, exact: bool) -> OwnValues | PublicValues:
    """Collects aggregates of a block's groups: of public tables alone, in doubles."""
    if exact and block.relation.is_public:
        return PublicValues(block.relation, block.scope)
    return OwnValues(block.relation, block.scope)


def _group_people(block: Block, outputs: tuple[OwnValue, ...]) -> tuple[PerPerson, tuple[Expression, ...]]:
    """Groups of one person's rows by the values that are equated with the row around, and these."""
    equal = block.correlation.equal
    return PerPerson(_known(block.relation, equal), _keys(equal), outputs), tuple(around for _, around in equal)


def _group_public(relation: Relation, equal: _Equal, outputs: _Values = ()) -> PublicGroups:
    return PublicGroups(_known(relation, equal), _keys(equal), outputs)


def _known(relation: Relation, equal: _Equal) -> Relation:
    """The rows where all of these values are known: NULL equals nothing, but is like NULL where it is looked up."""
    return filter_rows(relation, [apply("not", _is_null(inside)) for inside, _ in equal], [exp.Null()])


def _keys(equal: _Equal) -> tuple[Selected, ...]:
    """Keys to be looked up by: categories by their codes where both are of one list, numbers always as doubles."""
    return tuple(
        Selected(f"g{place}", inside, stored=_is_category(inside) and inside.kind == around.kind)
        for place, (inside, around) in enumerate(equal)
    )


def _is_category(value: Expression) -> bool:
    return isinstance(value, Column) and isinstance(value.kind, Text)


def _is_null(value: Expression) -> Expression:
    return Call("is null", (value,), Boolean())


def _is_there(column: Column) -> Expression:
    return apply("not", _is_null(replace(column, optional=True)))


def _must_hold(node: exp.Expr) -> bool:
    """Whether only rows for which it is true are kept, so that unknown is like false."""
    around = node.parent
    while isinstance(around, exp.And | exp.Paren):
        around = around.parent
    return isinstance(around, exp.Where)


def _refuse_mixed(block: Block) -> None:
    for mixed in block.correlation.mixed:
        code = "public_subquery" if block.relation.is_public else "private_subquery"
        raise refusal(code, mixed, "compares with the row around it otherwise than by =", _ONLY_EQUAL)
