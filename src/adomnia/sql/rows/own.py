"""Aggregates of one person's own rows: SELECT person_id, COUNT(*) ... GROUP BY person_id inside a question.

As a column of the question around it, each is clamped to what the declared cap and bounds allow, or to the analyst's
own CLAMP. In HAVING, and where WHERE looks one up, it is what it is: a person's rows say it about that person alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from adomnia.plans.descriptions import describe_value
from adomnia.privacy.aggregates import Average, Different, Extreme, Own, Present, Rows, Total
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, Expression, Literal, call, number
from adomnia.privacy.kinds import Day, Identity, Quantity
from adomnia.privacy.relations import OwnValue, PerPerson, Relation, Selected
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.values.groups import domain_of, summed
from adomnia.sql.values.scalars import constant, expression
from adomnia.sql.values.scope import Scope, only

OWN: tuple[type[exp.Expr], ...] = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)

_MOST = 100
_USE = "use COUNT, SUM, AVG, MIN or MAX"


@dataclass
class OwnValues:
    """Collects the aggregates that a SELECT asks of each person's rows, each once."""

    relation: Relation
    scope: Scope
    outputs: tuple[OwnValue, ...] = ()

    def columns(self, asked: Sequence[tuple[exp.Expr, bool]]) -> dict[int, Column]:
        """The columns of all aggregates, each as it is (`exact`) or clamped, by the identity of their nodes.

        They are numbered in an order of their own, so that it does not matter in which a question names them.
        """
        if len(asked) > _MOST:
            raise refusal("too_complex", asked[0][0], f"is one of over {_MOST} aggregates", "ask for fewer")
        wanted = {id(node): self._wanted(node, exact) for node, exact in asked}
        distinct = sorted(dict.fromkeys(wanted.values()), key=describe_value)
        named = {value: OwnValue(f"v{place}", value.aggregate, value.domain) for place, value in enumerate(distinct)}
        self.outputs = tuple(named.values())
        return {node: named[value].column for node, value in wanted.items()}

    def read(self) -> Iterator[Expression]:
        """The expressions that are aggregated."""
        for output in self.outputs:
            if not isinstance(output.aggregate, Rows):
                yield output.aggregate.value

    def per_person(self, keys: tuple[Selected, ...] = ()) -> PerPerson:
        """One row for each person, and further keys if any."""
        return PerPerson(self.relation, keys, self.outputs)

    def _wanted(self, node: exp.Expr, exact: bool) -> OwnValue:
        aggregate = self._aggregate(node)
        return OwnValue("", aggregate, None if exact else self._bounds(node, aggregate))

    def _aggregate(self, node: exp.Expr) -> Own:
        only(node, "this", "big_int")
        match node:
            case exp.Count(this=exp.Star()):
                return Rows()
            case exp.Count(this=exp.Distinct(expressions=[value])):
                return Different(self._value(value))
            case exp.Count():
                value = self._value(node.this)
                return Rows() if _is_everybodys(value) else Present(value)
            case exp.Min() | exp.Max():
                return Extreme(self._ordered(node), isinstance(node, exp.Max))
        value = summed(node, self._value(node.this))
        domain = domain_of(node.this, value)
        return Total(value, domain) if isinstance(node, exp.Sum) else Average(value, domain)

    def _value(self, node: exp.Expr) -> Expression:
        if node is None or isinstance(node, exp.Distinct | exp.Order) or node.find(exp.AggFunc):
            raise refusal("aggregate_not_allowed", node or exp.Null(), "is not an aggregate of one person's rows", _USE)
        value = expression(node, self.scope)
        if isinstance(value.kind, Identity) and not (value.kind.person or value.kind.linked):
            raise refusal("identifier_column", node, "is an id, and ids are not kept", "count rows with COUNT(*)")
        return value

    def _ordered(self, node: exp.Expr) -> Expression:
        value = self._value(node.this)
        if not isinstance(value.kind, Quantity | Day):
            why = f"takes numbers or dates, and this is of type {value.kind}"
            raise refusal("type_error", node.this, why, "compare it with something", "MIN or MAX")
        return value

    def _bounds(self, node: exp.Expr, aggregate: Own) -> Numbers | None:
        """The analyst's own bounds, else what the declared cap allows: so many rows, each within the value's bounds."""
        if not isinstance(aggregate, Average | Extreme) and (wanted := _wanted(node)) is not None:
            with suppress(ValueError):  # bounds that leave nothing between them are refused by CLAMP itself
                return Numbers(*wanted, aggregate.domain.step if isinstance(aggregate, Total) else 1)
        rows = self.relation.rows_per_person
        match aggregate:
            case Rows():
                return Numbers.integers(1, rows)
            case Present() | Different():
                return Numbers.integers(0, rows)
            case Total(domain=domain):
                low, high = domain.grid_lower, domain.grid_upper
                try:
                    lower, upper = min(low, rows * low) * domain.step, max(high, rows * high) * domain.step
                    return Numbers(lower, upper, domain.step)
                except ValueError:
                    why = "can be too large to add up exactly"
                    raise refusal("scale_out_of_range", node, why, "multiply by smaller constants") from None
        return None


def _wanted(node: exp.Expr) -> tuple[Fraction, Fraction] | None:
    """The bounds of CLAMP(aggregate, lower, upper): all rows of a person are read, so they may exceed the cap."""
    around = node.parent
    if not isinstance(around, exp.Anonymous) or str(around.this).upper() != "CLAMP" or len(around.expressions) != 3:
        return None
    if around.expressions[0] is not node:
        return None
    lower, upper = (constant(part, Scope(())).value for part in around.expressions[1:])
    return (lower, upper) if isinstance(lower, Fraction) and isinstance(upper, Fraction) else None


def asked(nodes: Iterable[exp.Expr], select: exp.Select) -> Iterator[exp.Expr]:
    """The aggregates of a SELECT's own level in some of its parts."""
    for node in nodes:
        for found in node.find_all(*OWN):
            if found.parent_select is select and not found.find_ancestor(exp.Window):
                yield found


def counted(column: Column, node: exp.Expr) -> Expression:
    """An aggregate as a question about everybody sees it: whoever has no rows has a count of 0, and no sum."""
    return call("coalesce", column, number(Fraction(0))) if isinstance(node, exp.Count) else column


def _is_everybodys(value: Expression) -> bool:
    """Whether a value is never NULL: a constant, or the person."""
    if isinstance(value, Literal):
        return value.value is not None
    return isinstance(value, Column) and isinstance(value.kind, Identity) and value.kind.person and not value.optional
