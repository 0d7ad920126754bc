"""Reads subqueries about the person of each row (EXISTS, IN, one aggregate), each of which becomes a LEFT JOIN."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from adomnia.privacy.expressions import Call, Column, Expression
from adomnia.privacy.kinds import Boolean, Identity
from adomnia.privacy.relations import PerPerson
from adomnia.sql.reading.parse import check_clauses
from adomnia.sql.reading.refusals import refusal, refusal_of_node
from adomnia.sql.rows.derived import free_label, is_person, refuse_slow
from adomnia.sql.rows.own import OwnValues, fill_count, find_aggregates
from adomnia.sql.values.conditions import apply
from adomnia.sql.values.scalars import read_expression
from adomnia.sql.values.scope import Scope, check_parts, strip_brackets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.errors import Refusal
    from adomnia.sql.rows.blocks import BlockReader
    from adomnia.sql.rows.selection import Block

DECIDES = "lets one person's rows decide about everybody's"


@dataclass
class Lookups:
    """Reads the subqueries of one scope. `found` are the relations to join, with their labels."""

    blocks: BlockReader
    scope: Scope
    labels: set[str]
    found: dict[PerPerson, str] = field(default_factory=dict)
    tables: int = 0

    def meaning(self, node: exp.Expr) -> Expression:
        """The expression that a subquery stands for, about the person of a row."""
        match node:
            case exp.In():
                return self._read_in(node)
            case exp.Exists():
                return self._read_exists(node)
        return self._read_value(node)

    def _read_in(self, node: exp.In) -> Expression:
        check_parts(node, "this", "query")
        asked_of = strip_brackets(node.this)
        person = isinstance(asked_of, exp.Column) and is_person(self.scope.column(asked_of))
        rows = replace(self.blocks, outer=None).read_rows(node.args["query"])
        if rows.public:
            raise refusal_of_public_subquery(node, "IN")
        if not person or len(rows.columns) != 1 or not is_person(*rows.columns.values()):
            fix = "only the person's own id may be looked up: person_id IN (SELECT person_id FROM ...)"
            raise refusal("private_subquery", node, DECIDES, fix, "IN with a subquery")
        return self._presence(PerPerson(rows.relation, (), ()), rows.tables)

    def _read_exists(self, node: exp.Exists) -> Expression:
        query = node.this.unnest()
        block = self._read_correlated(query)
        if query.args.get("group") or query.args.get("having") or any(find_aggregates(query.expressions, query)):
            fix = "use person_id IN (SELECT person_id ... GROUP BY person_id HAVING ...)"
            raise refusal("private_subquery", node, "has aggregates inside", fix, "EXISTS")
        return self._presence(PerPerson(block.relation, (), ()), block.tables)

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
        values = OwnValues(block.relation, block.scope)
        exact = node.find_ancestor(exp.Where, exp.Select) is not node.parent_select
        aggregates = list(find_aggregates(query.expressions, query))
        columns = values.columns([(each, exact) for each in aggregates])
        refuse_slow(node, block.weight, values.arguments())
        label = self._label(values.per_person(), block.tables)
        given = {
            id(each): fill_count(replace(columns[id(each)], source=label, optional=True), each) for each in aggregates
        }
        return read_expression(query.expressions[0].unalias(), Scope((), given=given))

    def _read_correlated(self, query: exp.Expr) -> Block:
        if not isinstance(query, exp.Select):
            raise refusal_of_node(query)
        check_clauses(query, inner=True)
        return replace(self.blocks, outer=self.scope).read_block(query)

    def _presence(self, per_person: PerPerson, tables: int) -> Expression:
        """The condition that the person of a row is in this relation."""
        person = Column("person", Identity(person=True), source=self._label(per_person, tables), optional=True)
        return apply("not", Call("is null", (person,), Boolean()))

    def _label(self, per_person: PerPerson, tables: int) -> str:
        if per_person not in self.found:
            self.found[per_person] = free_label("own", self.labels)
            self.tables += tables
        return self.found[per_person]


def refusal_of_public_subquery(node: exp.Expr, what: str) -> Refusal:
    """The refusal of a subquery that reads public tables alone."""
    why, fix = (
        "reads public tables alone, which is not answered",
        "join the public table: JOIN b ON a.column = b.column",
    )
    return refusal("public_subquery", node, why, fix, what)


def subqueries(select: exp.Select) -> Iterator[exp.Expr]:
    """The subqueries of a SELECT's own expressions, outermost first."""
    group = select.args.get("group")
    parts = [*select.expressions, select.args.get("where"), *(group.expressions if group is not None else ())]
    for part in parts:
        for node in part.find_all(exp.In, exp.Exists, exp.Subquery) if part is not None else ():
            inside = isinstance(node, exp.Subquery) and (node.arg_key == "query" or isinstance(node.parent, exp.Exists))
            asks = not isinstance(node, exp.In) or node.args.get("query")
            if asks and not inside and node.parent_select is select:
                yield node
