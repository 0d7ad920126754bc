"""The groups of a question, and the bounded values that aggregates over them take."""

from dataclasses import dataclass

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.messages.references import Setting
from adomnia.messages.texts import Message
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, Expression, call, columns_of, quote_name
from adomnia.privacy.keys import Key
from adomnia.privacy.kinds import Boolean, Identity, Quantity
from adomnia.privacy.queries import Aggregate, Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Total
from adomnia.sql.reading.refusals import refusal, render_node
from adomnia.sql.values.scalars import read_expression
from adomnia.sql.values.scope import Scope

PEOPLE = "people are counted with COUNT(DISTINCT ...) of their id"

_EXACT = 2**53  # up to here every integer is a double


@dataclass(frozen=True)
class Groups:
    """A relation grouped by keys: what the aggregates of one question are computed over."""

    relation: Relation
    keys: tuple[Key, ...]
    scope: Scope
    confidence: float = 0.95  # of the intervals that are bought together with the values
    interval: bool = True  # whether those of quantiles are bought
    sets: tuple[tuple[Key, ...], ...] = ()  # the keys of each grouping, where there are several

    def query(self, aggregate: Aggregate) -> Query:
        """The query for an aggregate in every cell."""
        return Query(self.relation, self.keys, aggregate)

    def total(self, node: exp.Expr, name: str) -> Total:
        """The sum of an argument, which is a number with bounds; `name` is what SQL calls the aggregate."""
        value = require_number(node, self.argument(node, name), name)
        return Total(value, domain_of(node, value))

    def argument(self, node: exp.Expr, name: str) -> Expression:
        """Read the argument of an aggregate, `name` as SQL calls it."""
        if isinstance(node, exp.Distinct | exp.Order):
            word = "DISTINCT" if isinstance(node, exp.Distinct) else "ORDER BY"
            why = f"has {word} inside, which is not answered"
            raise refusal("aggregate_not_allowed", node, why, "leave it out", name)
        return read_expression(node, self.scope)


def require_number(node: exp.Expr, value: Expression, name: str = "This aggregate") -> Expression:
    """Return a value that can be summed, a condition as 0 and 1; refuse any other."""
    if isinstance(value.kind, Identity):
        raise refusal_of_id(node)
    if isinstance(value.kind, Boolean):
        return call("boolean as number", value)
    if not isinstance(value.kind, Quantity):
        why = f"takes a number and {render_node(node)} is of type {value.kind}"
        raise refusal("type_error", node, why, "count instead: COUNT(*), with a condition in WHERE", name)
    return value


def domain_of(node: exp.Expr, value: Expression) -> Numbers:
    """The bounds that a number is clamped to: declared for a column, derived for anything else."""
    kind = value.kind
    assert isinstance(kind, Quantity)  # noqa: S101 - nothing else is added up
    if isinstance(value, Column) and value.domain is not None:
        return value.domain
    if kind.lower is None or kind.upper is None:
        raise _refusal_of_unbounded(node, value)
    try:
        if kind.whole and max(-kind.lower, kind.upper) <= _EXACT:
            return Numbers.integers(kind.lower, kind.upper)
        step = abs(kind.lower) or 1 if kind.lower == kind.upper else None
        return Numbers.bounded(kind.lower, kind.upper, step)
    except ValueError:
        large = max(-kind.lower, kind.upper) > 1
        why = f"can be too {'large' if large else 'small'} to add up exactly"
        fix = f"multiply by {'smaller' if large else 'larger'} constants"
        raise refusal("scale_out_of_range", node, why, fix) from None


def refusal_of_id(node: exp.Expr) -> Refusal:
    """The refusal of an id where its value would be needed."""
    return refusal("identifier_column", node, "is an id, and ids are not kept", f"count rows with COUNT(*); {PEOPLE}")


def _refusal_of_unbounded(node: exp.Expr, value: Expression) -> Refusal:
    for column in sorted(columns_of(value), key=lambda column: column.name):
        if isinstance(column.kind, Quantity) and not column.kind.bounded:
            name = quote_name(node.name if isinstance(node, exp.Column) else column.name)
            why = f"adds up {name}, which has no declared bounds"
            facts = ("column", name), ("name", name.strip('"')), ("kind", str(column.kind))
            fix = Message(f"bound it with CLAMP({name}, lower, upper), or ", Setting("bounds", facts))
            return refusal("unbounded_expression", node, why, fix)
    plain = "bound it with CLAMP(..., lower, upper)"
    return refusal("unbounded_expression", node, "has no bounds to add up within", plain)
