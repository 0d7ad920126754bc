"""Reads aggregates of one person's own rows: SELECT person_id, COUNT(*) ... GROUP BY person_id inside a question.

Or of one block's: GROUP BY BLOCK(200). How many rows a block has is unknown, so that counts and sums need a CLAMP.

As a column of the outer question, each is clamped to what the declared cap and bounds allow, or to the analyst's own
CLAMP. In HAVING, and in a lookup of WHERE, it is not clamped, because it decides about that person's rows alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from adomnia.plans.descriptions import describe_value
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, Expression, Literal, call, number
from adomnia.privacy.keys import Blocks
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity
from adomnia.privacy.relations import (
    MOST_ROWS,
    OwnValue,
    PerBlock,
    PerPerson,
    PublicGroups,
    Relation,
    Selected,
    most_rows,
)
from adomnia.privacy.scans import (
    Average,
    DistinctValues,
    NonNull,
    Own,
    OwnChoice,
    OwnExtreme,
    OwnMedian,
    OwnSpread,
    Rows,
    Scan,
    Total,
)
from adomnia.sql.reading.refusals import refusal, render_node
from adomnia.sql.values.groups import domain_of, require_number
from adomnia.sql.values.scalars import read_constant, read_expression
from adomnia.sql.values.scope import Scope, check_parts

_SPREADS: dict[type[exp.Expr], tuple[bool, bool]] = {  # whether the root is taken, and whether of a sample
    exp.Variance: (False, True),
    exp.VariancePop: (False, False),
    exp.Stddev: (True, True),
    exp.StddevSamp: (True, True),
    exp.StddevPop: (True, False),
}
OWN: tuple[type[exp.Expr], ...] = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, *_SPREADS)
OWN += (exp.LogicalOr, exp.LogicalAnd, exp.ArgMin, exp.ArgMax, exp.First, exp.Last)

_MOST = 100
_LARGEST_SQUARES = 2**124  # of a grid, added up: exact integers
_USE = "use COUNT, SUM, AVG, MIN, MAX, MEDIAN, VAR, STDDEV, BOOL_OR, BOOL_AND, ARG_MIN, ARG_MAX, FIRST or LAST"


@dataclass
class OwnValues:
    """Collects the aggregates of each person's rows that a SELECT asks for, each once."""

    relation: Relation
    scope: Scope
    blocks: Blocks | None = None
    outputs: tuple[OwnValue, ...] = ()

    def columns(self, asked: Sequence[tuple[exp.Expr, bool]]) -> dict[int, Column]:
        """The columns of all aggregates, exact or clamped, by the identity of their nodes.

        They are sorted and numbered, so that the order in which a question names them does not matter.
        """
        if len(asked) > _MOST:
            raise refusal("too_complex", asked[0][0], f"is one of over {_MOST} aggregates", "ask for fewer")
        wanted = {id(node): self._own_value(node, exact) for node, exact in asked}
        distinct = sorted(dict.fromkeys(wanted.values()), key=describe_value)
        named = {value: OwnValue(f"v{place}", value.aggregate, value.domain) for place, value in enumerate(distinct)}
        self.outputs = tuple(named.values())
        return {node: named[value].column for node, value in wanted.items()}

    def arguments(self) -> Iterator[Expression]:
        """The expressions that are aggregated."""
        for output in self.outputs:
            yield from output.aggregate.expressions

    def group(self, keys: tuple[Selected, ...] = ()) -> PerPerson | PerBlock | PublicGroups:
        """One row for each person, and further keys if any, or for each block; of public rows, one for each of keys."""
        if self.blocks is not None:
            return PerBlock(self.relation, self.blocks, self.outputs)
        groups = PublicGroups if self.relation.is_public else PerPerson
        return groups(self.relation, keys, self.outputs)

    def _own_value(self, node: exp.Expr, exact: bool) -> OwnValue:
        aggregate = self._aggregate(node)
        return OwnValue("", aggregate, None if exact else self._bounds(node, aggregate))

    def _aggregate(self, node: exp.Expr) -> Own:  # noqa: PLR0911 - one for each aggregate
        check_parts(node, "this", "big_int", *(("expression",) if isinstance(node, exp.ArgMin | exp.ArgMax) else ()))
        match node:
            case exp.Count(this=exp.Star()):
                return Rows()
            case exp.Count(this=exp.Distinct(expressions=[value])):
                return DistinctValues(self._value(value))
            case exp.Count():
                value = self._value(node.this)
                return Rows() if _is_never_null(value) else NonNull(value)
            case exp.Min() | exp.Max():
                return OwnExtreme(self._ordered_value(node.this, "MIN or MAX"), isinstance(node, exp.Max))
            case exp.LogicalOr() | exp.LogicalAnd():
                return OwnExtreme(self._condition(node.this), isinstance(node, exp.LogicalOr))
            case exp.ArgMin() | exp.ArgMax():
                by = self._ordered_value(node.expression, "ARG_MIN or ARG_MAX")
                return OwnChoice(self._kept_value(node.this), by, isinstance(node, exp.ArgMax))
            case exp.First() | exp.Last():
                return self._first(node)
        value = require_number(node, self._value(node.this))
        if isinstance(node, exp.Median):
            return OwnMedian(value)
        domain = domain_of(node.this, value)
        if type(node) in _SPREADS:
            return self._spread(node, value, domain)
        return Total(value, domain) if isinstance(node, exp.Sum) else Average(value, domain)

    def _spread(self, node: exp.Expr, value: Expression, domain: Numbers) -> OwnSpread:
        rows = MOST_ROWS if self.blocks is None else most_rows(self.relation)
        if domain.magnitude**2 * rows > _LARGEST_SQUARES:
            why, fix = "has squares that can be too large to add up exactly", "divide it by a constant, or CLAMP it"
            raise refusal("scale_out_of_range", node, why, fix)
        return OwnSpread(value, domain, *_SPREADS[type(node)])

    def _first(self, node: exp.Expr) -> OwnChoice:
        """Read FIRST(x ORDER BY y), and LAST: the value where y is least or greatest."""
        order = node.this
        if not isinstance(order, exp.Order) or len(order.expressions) != 1:
            fix = "say by what, once: FIRST(x ORDER BY day)"
            raise refusal("aggregate_not_allowed", node, "depends on the order of rows, which they do not have", fix)
        (ordered,) = order.expressions
        if ordered.args.get("nulls_first"):
            why, fix = "asks for rows without an order, which do not count", "leave NULLS FIRST out"
            raise refusal("aggregate_not_allowed", node, why, fix)
        check_parts(ordered, "this", "desc", "nulls_first")
        by = self._ordered_value(ordered.this, "ORDER BY")
        return OwnChoice(self._kept_value(order.this), by, isinstance(node, exp.Last) != bool(ordered.args.get("desc")))

    def _value(self, node: exp.Expr) -> Expression:
        if node is None or isinstance(node, exp.Distinct | exp.Order) or node.find(exp.AggFunc):
            raise refusal("aggregate_not_allowed", node or exp.Null(), "is not an aggregate of one person's rows", _USE)
        value = read_expression(node, self.scope)
        if isinstance(value.kind, Identity) and not (value.kind.person or value.kind.linked):
            raise refusal("identifier_column", node, "is an id, and ids are not kept", "count rows with COUNT(*)")
        return value

    def _kept_value(self, node: exp.Expr) -> Expression:
        value = self._value(node)
        if isinstance(value.kind, Identity):
            raise refusal("identifier_column", node, "is an id", "choose another value")
        return value

    def _ordered_value(self, node: exp.Expr, what: str) -> Expression:
        value = self._value(node)
        if not isinstance(value.kind, Quantity | Day | Moment):
            why = f"takes numbers, dates or timestamps, and this is of type {value.kind}"
            raise refusal("type_error", node, why, "compare it with something", what)
        return value

    def _condition(self, node: exp.Expr) -> Expression:
        value = self._value(node)
        if not isinstance(value.kind, Boolean):
            why = f"takes conditions, and this is of type {value.kind}"
            raise refusal("type_error", node, why, "compare it with something", "BOOL_OR or BOOL_AND")
        return value

    def _refuse_unbounded(self, node: exp.Expr, aggregate: Own) -> None:
        """Refuse counts and sums of a block without a CLAMP; all others are within the bounds of their values."""
        if isinstance(aggregate, Scan) and not _is_bounded(node):
            why = "has no bounds, because nobody knows how many rows a block has"
            raise refusal("blocks", node, why, f"bound it: CLAMP({render_node(node)}, lower, upper), or ask for an AVG")

    def _bounds(self, node: exp.Expr, aggregate: Own) -> Numbers | None:
        """The analyst's own bounds, else those that follow from the declared cap and the bounds of the value."""
        if isinstance(aggregate, Scan) and (wanted := _clamp_bounds(node)) is not None:
            with suppress(ValueError):  # bounds that leave nothing between them are refused by CLAMP itself
                return Numbers(*wanted, aggregate.step)
        if self.blocks is not None:
            self._refuse_unbounded(node, aggregate)
            return None
        try:
            return aggregate.own_domain(self.relation.rows_per_person)
        except ValueError:
            why = "can be too large to add up exactly"
            raise refusal("scale_out_of_range", node, why, "multiply by smaller constants") from None


def _is_bounded(node: exp.Expr) -> bool:
    """Whether a CLAMP or a comparison stands somewhere around a node."""
    around = node.parent
    while around is not None and not isinstance(around, exp.Select):
        clamped = isinstance(around, exp.Anonymous) and str(around.this).upper() == "CLAMP"
        if clamped or isinstance(around, exp.Predicate):
            return True
        around = around.parent
    return False


def _clamp_bounds(node: exp.Expr) -> tuple[Fraction, Fraction] | None:
    """The bounds of a CLAMP around an aggregate; they may exceed the cap, because all rows of a person are read."""
    around = node.parent
    if not isinstance(around, exp.Anonymous) or str(around.this).upper() != "CLAMP" or len(around.expressions) != 3:
        return None
    if around.expressions[0] is not node:
        return None
    lower, upper = (read_constant(part, Scope(())).value for part in around.expressions[1:])
    return (lower, upper) if isinstance(lower, Fraction) and isinstance(upper, Fraction) else None


def find_aggregates(nodes: Iterable[exp.Expr], select: exp.Select) -> Iterator[exp.Expr]:
    """Find the aggregates in some parts of a SELECT that belong to it and not to a subquery."""
    for node in nodes:
        for found in node.find_all(*OWN):
            if found.parent_select is select and not found.find_ancestor(exp.Window):
                yield found


def fill_count(column: Column, node: exp.Expr) -> Expression:
    """Replace a missing COUNT by 0, for people who have no rows; other aggregates stay NULL."""
    return call("coalesce", column, number(Fraction(0))) if isinstance(node, exp.Count) else column


def _is_never_null(value: Expression) -> bool:
    """Whether a value is never NULL: a constant, or the person."""
    if isinstance(value, Literal):
        return value.value is not None
    return isinstance(value, Column) and isinstance(value.kind, Identity) and value.kind.person and not value.optional
