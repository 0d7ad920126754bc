"""Reads aggregates of public rows in a question about public tables alone: exact, in doubles."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from adomnia.plans.descriptions import describe
from adomnia.privacy.expressions import Column, Expression, truth_as_number
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity
from adomnia.privacy.relations import PublicGroups, PublicValue, Relation, Selected
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.values.scalars import read_expression
from adomnia.sql.values.scope import Scope, check_parts

_NUMBERS: dict[type[exp.Expr], str] = {
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Median: "median",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
}
_ORDERED: dict[type[exp.Expr], str] = {exp.Min: "min", exp.Max: "max"}
_CONDITIONS: dict[type[exp.Expr], str] = {exp.LogicalOr: "bool_or", exp.LogicalAnd: "bool_and"}
_TAKES = (
    (_NUMBERS, (Quantity, Boolean), "numbers"),
    (_ORDERED, (Quantity, Day, Moment), "numbers, dates or timestamps"),
    (_CONDITIONS, (Boolean,), "conditions"),
)
_USE = "use COUNT, SUM, AVG, MIN, MAX, MEDIAN, VAR, STDDEV, BOOL_OR or BOOL_AND"


@dataclass
class PublicValues:
    """Collects the aggregates of public rows that a SELECT asks for, each once."""

    relation: Relation
    scope: Scope
    outputs: tuple[PublicValue, ...] = ()

    def columns(self, asked: Sequence[tuple[exp.Expr, bool]]) -> dict[int, Column]:
        """The columns of all aggregates, by the identity of their nodes."""
        wanted = {id(node): self._value(node) for node, _ in asked}
        named = {
            value: PublicValue(f"v{place}", value.function, value.value)
            for place, value in enumerate(dict.fromkeys(wanted.values()))
        }
        self.outputs = tuple(named.values())
        return {node: named[value].column for node, value in wanted.items()}

    def arguments(self) -> Iterator[Expression]:
        """The expressions that are aggregated."""
        yield from (output.value for output in self.outputs if output.value is not None)

    def group(self, keys: tuple[Selected, ...] = ()) -> PublicGroups:
        """One row for each combination of keys."""
        return PublicGroups(self.relation, keys, self.outputs)

    def _value(self, node: exp.Expr) -> PublicValue:
        check_parts(node, "this", "big_int")
        match node:
            case exp.Count(this=exp.Star()):
                return PublicValue("", "count")
            case exp.Count(this=exp.Distinct(expressions=[value])):
                return PublicValue("", "count distinct", self._read(value))
            case exp.Count():
                return PublicValue("", "count", self._read(node.this))
        for functions, kinds, wanted in _TAKES:
            if type(node) in functions:
                value = self._read(node.this)
                if not isinstance(value.kind, kinds):
                    why = f"takes {wanted}, and this is of type {value.kind}"
                    raise refusal("type_error", node, why, "aggregate something else", describe(value))
                return PublicValue("", functions[type(node)], _as_number(value) if functions is _NUMBERS else value)
        raise refusal("aggregate_not_allowed", node, "is not an aggregate of public rows", _USE)

    def _read(self, node: exp.Expr) -> Expression:
        if node is None or isinstance(node, exp.Distinct | exp.Order) or node.find(exp.AggFunc):
            raise refusal("aggregate_not_allowed", node or exp.Null(), "is not an aggregate of public rows", _USE)
        value = read_expression(node, self.scope)
        if isinstance(value.kind, Identity):
            raise refusal("identifier_column", node, "is an id, and ids are not kept", "count rows with COUNT(*)")
        return value


def _as_number(value: Expression) -> Expression:
    return truth_as_number(value) if isinstance(value.kind, Boolean) else value
