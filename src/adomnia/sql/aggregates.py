"""COUNT, SUM and AVG: from the parser's tree to statistics."""

from dataclasses import dataclass

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, Expression, Literal, columns_of
from adomnia.privacy.kinds import Identity, Quantity
from adomnia.privacy.queries import Aggregate, People, Present, Query, Rows, Total
from adomnia.privacy.relations import Relation
from adomnia.sql.refusals import refusal, shown
from adomnia.sql.scalars import Scope, expression, only
from adomnia.statistics.contract import Statistic
from adomnia.statistics.registry import STATISTICS

AGGREGATES: dict[type[exp.Expr], str] = {exp.Count: "COUNT", exp.Sum: "SUM", exp.Avg: "AVG"}

_EXACT = 2**53  # up to here every integer is a double

_PEOPLE = "people are counted with COUNT(DISTINCT ...) of their id"


@dataclass(frozen=True)
class Groups:
    """Rows of a relation in cells of keys: what the aggregates of one question are computed over."""

    relation: Relation
    keys: tuple[Column, ...]
    scope: Scope

    def statistic(self, node: exp.Expr) -> Statistic:
        """The statistic that an aggregate asks for."""
        name = AGGREGATES[type(node)]
        only(node, "this", "big_int")
        if node.this is None:
            raise refusal("syntax_not_allowed", node, "is empty", f"write {name}(...) of something", name)
        aggregate = self._counted(node.this) if name == "COUNT" else self._summed(node.this, name)
        return STATISTICS[name](Query(self.relation, self.keys, aggregate))

    def _counted(self, node: exp.Expr) -> Aggregate:
        if isinstance(node, exp.Star):
            only(node)
            return Rows()
        if isinstance(node, exp.Distinct):
            return self._distinct(node)
        _refuse_nested(node, "COUNT")
        value = expression(node, self.scope)
        if isinstance(value.kind, Identity) and not value.kind.person:
            raise _id(node)
        # A person's id is never NULL here, because rows of nobody are not kept; nor is a constant.
        return Rows() if isinstance(value, Literal) or isinstance(value.kind, Identity) else Present(value)

    def _distinct(self, node: exp.Distinct) -> Aggregate:
        only(node, "expressions")
        columns = [self.scope.column(part) for part in node.expressions if isinstance(part, exp.Column)]
        match [column.kind for column in columns]:
            case [Identity(person=True)] if len(node.expressions) == 1:
                return People()
        why = "counts different values, which is not answered yet"
        raise refusal("aggregate_not_allowed", node, why, _PEOPLE, "COUNT(DISTINCT ...)")

    def _summed(self, node: exp.Expr, name: str) -> Aggregate:
        if isinstance(node, exp.Distinct | exp.Order):
            word = "DISTINCT" if isinstance(node, exp.Distinct) else "ORDER BY"
            why = f"has {word} inside, which is not answered"
            raise refusal("aggregate_not_allowed", node, why, "leave it out", name)
        _refuse_nested(node, name)
        value = expression(node, self.scope)
        if isinstance(value.kind, Identity):
            raise _id(node)
        if not isinstance(value.kind, Quantity):
            why = f"takes a number and {shown(node)} is of type {value.kind}"
            raise refusal("type_error", node, why, "count instead: COUNT(*), with a condition in WHERE", name)
        return Total(value, self._domain(node, value, value.kind))

    def _domain(self, node: exp.Expr, value: Expression, kind: Quantity) -> Numbers:
        """The bounds that the value is clamped to: declared for a column, derived for anything else."""
        if isinstance(value, Column) and value.domain is not None:
            return value.domain
        if kind.lower is None or kind.upper is None:
            raise self._unbounded(node, value)
        try:
            if kind.whole and max(-kind.lower, kind.upper) <= _EXACT:
                return Numbers.integers(kind.lower, kind.upper)
            step = abs(kind.lower) if kind.lower == kind.upper else None
            return Numbers.bounded(kind.lower, kind.upper, step)
        except ValueError:
            why = "can be too large to add up exactly"
            raise refusal("scale_out_of_range", node, why, "multiply by smaller constants") from None

    def _unbounded(self, node: exp.Expr, value: Expression) -> Refusal:
        for column in sorted(columns_of(value), key=lambda column: column.name):
            if isinstance(column.kind, Quantity) and not column.kind.bounded:
                why = f"adds up {column.name}, which has no declared bounds"
                line = f'{column.name} = {{ type = "{column.kind}", lower = ..., upper = ... }}'
                fix = f"the owner can write {line} under [tables.{self.scope.table.name}.columns]"
                return refusal("unbounded_expression", node, why, fix)
        return refusal("unbounded_expression", node, "has no bounds to add up within", "divide only by what is never 0")


def _refuse_nested(node: exp.Expr, name: str) -> None:
    for inner in node.find_all(*AGGREGATES):
        if not inner.find_ancestor(exp.Window) and inner.parent_select is node.parent_select:
            raise refusal("nested_aggregate", inner, f"stands inside {name}", "use one of them alone")


def _id(node: exp.Expr) -> Refusal:
    return refusal("identifier_column", node, "is an id, and ids are not kept", f"count rows with COUNT(*); {_PEOPLE}")
