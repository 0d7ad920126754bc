"""COUNT, SUM and AVG: from the parser's tree to statistics."""

from dataclasses import dataclass

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.privacy.aggregates import Aggregate, People, Present, Rows, Total
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, Expression, Literal, call, columns_of
from adomnia.privacy.kinds import Identity, Quantity, Truth
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.sql.refusals import refusal, shown
from adomnia.sql.scalars import expression
from adomnia.sql.scope import Scope, only
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
        # A person's id is never NULL here, because rows of nobody are not kept, except where a LEFT JOIN found none.
        always = (isinstance(value, Literal) and value.value is not None) or (
            isinstance(value.kind, Identity) and not _is_optional(value)
        )
        return Rows() if always else Present(value)

    def _distinct(self, node: exp.Distinct) -> Aggregate:
        only(node, "expressions")
        columns = [self.scope.column(part) for part in node.expressions if isinstance(part, exp.Column)]
        match columns:
            case [Column(kind=Identity(person=True), optional=optional) as column] if len(node.expressions) == 1:
                return People(column if optional else None)
        why = "counts different values, which is not answered yet"
        raise refusal("aggregate_not_allowed", node, why, _PEOPLE, "COUNT(DISTINCT ...)")

    def _summed(self, node: exp.Expr, name: str) -> Aggregate:
        if isinstance(node, exp.Distinct | exp.Order):
            word = "DISTINCT" if isinstance(node, exp.Distinct) else "ORDER BY"
            why = f"has {word} inside, which is not answered"
            raise refusal("aggregate_not_allowed", node, why, "leave it out", name)
        _refuse_nested(node, name)
        value = summed(node, expression(node, self.scope), name)
        return Total(value, domain_of(node, value))


def summed(node: exp.Expr, value: Expression, name: str = "This aggregate") -> Expression:
    """A value that can be added up: a number, or a condition as 0 and 1."""
    if isinstance(value.kind, Identity):
        raise _id(node)
    if isinstance(value.kind, Truth):
        return call("boolean as number", value)
    if not isinstance(value.kind, Quantity):
        why = f"takes a number and {shown(node)} is of type {value.kind}"
        raise refusal("type_error", node, why, "count instead: COUNT(*), with a condition in WHERE", name)
    return value


def domain_of(node: exp.Expr, value: Expression) -> Numbers:
    """The bounds that a number is clamped to: declared for a column, derived for anything else."""
    kind = value.kind
    assert isinstance(kind, Quantity)  # noqa: S101 - nothing else is added up
    if isinstance(value, Column) and value.domain is not None:
        return value.domain
    if kind.lower is None or kind.upper is None:
        raise _unbounded(node, value)
    try:
        if kind.whole and max(-kind.lower, kind.upper) <= _EXACT:
            return Numbers.integers(kind.lower, kind.upper)
        step = abs(kind.lower) or 1 if kind.lower == kind.upper else None
        return Numbers.bounded(kind.lower, kind.upper, step)
    except ValueError:
        why = "can be too large to add up exactly"
        raise refusal("scale_out_of_range", node, why, "multiply by smaller constants") from None


def _unbounded(node: exp.Expr, value: Expression) -> Refusal:
    for column in sorted(columns_of(value), key=lambda column: column.name):
        if isinstance(column.kind, Quantity) and not column.kind.bounded:
            name = node.name if isinstance(node, exp.Column) else column.name
            why = f"adds up {name}, which has no declared bounds"
            line = f'{name} = {{ type = "{column.kind}", lower = ..., upper = ... }}'
            fix = f"bound it with CLAMP({name}, lower, upper), or the owner can declare {line}"
            return refusal("unbounded_expression", node, why, fix)
    fix = "bound it with CLAMP(..., lower, upper)"
    return refusal("unbounded_expression", node, "has no bounds to add up within", fix)


def _refuse_nested(node: exp.Expr, name: str) -> None:
    for inner in node.find_all(*AGGREGATES):
        if not inner.find_ancestor(exp.Window) and inner.parent_select is node.parent_select:
            raise refusal("nested_aggregate", inner, f"stands inside {name}", "use one of them alone")


def _is_optional(value: Expression) -> bool:
    return isinstance(value, Column) and value.optional


def _id(node: exp.Expr) -> Refusal:
    return refusal("identifier_column", node, "is an id, and ids are not kept", f"count rows with COUNT(*); {_PEOPLE}")
