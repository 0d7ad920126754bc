"""Reads values of groups: keys, aggregates and arithmetic with them."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from operator import add, mul, sub, truediv

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.plans.formulas import DATE, Formula, Term, count_nodes
from adomnia.plans.plan import Output
from adomnia.privacy.expressions import Column
from adomnia.privacy.keys import Bucket, Key
from adomnia.privacy.kinds import Identity
from adomnia.sql.reading.refusals import refusal, refusal_of_node
from adomnia.sql.values.aggregates import AGGREGATES, read_aggregate
from adomnia.sql.values.functions import NAMES
from adomnia.sql.values.groups import Groups
from adomnia.sql.values.scalars import read_expression, read_number
from adomnia.sql.values.scope import check_parts, own_nodes, strip_brackets
from adomnia.statistics.contract import Statistic
from adomnia.statistics.count import Count

MOST_TERMS = 100

_LARGEST_CONSTANT = 10**300
_DIGITS = re.compile("[0-9]|1[0-5]", re.ASCII)
_SIGNS: dict[type[exp.Expr], tuple[str, Callable[[Fraction, Fraction], Fraction]]] = {
    exp.Add: ("+", add),
    exp.Sub: ("-", sub),
    exp.Mul: ("*", mul),
    exp.Div: ("/", truediv),
}


@dataclass(frozen=True)
class Values:
    """Reads values over the groups of a question. The names of `outputs` go before those of columns."""

    groups: Groups
    outputs: tuple[Output, ...] = ()

    def source(self, node: exp.Expr) -> Key | Statistic | Formula:
        """Read a key, an aggregate or a formula."""
        found = self.value(node)
        if isinstance(found, Fraction):
            raise refusal("not_an_aggregate", node, "is the same whatever is asked", "use COUNT, SUM or AVG")
        return found

    def value(self, node: exp.Expr) -> Key | Term:
        """Read a key, an aggregate, a formula or a constant number."""
        node = strip_brackets(node)
        return self._find_key(node) or self._read_computed(node)

    def _read_computed(self, node: exp.Expr) -> Key | Term:
        if type(node) in AGGREGATES:
            return read_aggregate(self.groups, node)
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            return self._read_name(node)
        if type(node) in _SIGNS:
            check_parts(node, "this", "expression")
            return _combine(node, *self._read_pair(node))
        if isinstance(node, exp.Neg):
            check_parts(node, "this")
            return _negate(self._read_term(node.this))
        if isinstance(node, exp.Anonymous) and str(node.this).upper() == "ROUND":
            return self._read_round(node)
        if isinstance(node, exp.Literal) and not node.is_string:
            return _constant(node)
        raise _refusal_of_value(node)

    def _read_pair(self, node: exp.Expr) -> tuple[Term, Term]:
        """Both sides of an operation: numbers, or two dates, whose difference is a number of days."""
        sides = self._read_term(node.this, dates=True), self._read_term(node.expression, dates=True)
        if isinstance(node, exp.Sub) and all(map(is_date, sides)):
            return sides[0].terms[0], sides[1].terms[0]  # type: ignore[union-attr]  # formulas, then
        if any(map(is_date, sides)):
            raise _refusal_of_date(node)
        return sides

    def _read_term(self, node: exp.Expr, *, dates: bool = False) -> Term:
        found = self.value(node)
        if not dates and is_date(found):
            raise _refusal_of_date(node)
        if isinstance(found, Key):
            why = "is a key, and keys are not computed with"
            raise refusal("type_error", node, why, "compute with aggregates and numbers")
        return found

    def _find_key(self, node: exp.Expr) -> Bucket | None:
        """The key by an expression that a node stands for, if there is one."""
        buckets = [key for key in self.groups.keys if isinstance(key, Bucket)]
        known = self.groups.scope.given
        own = list(own_nodes(node, self.groups.scope))
        computes = any(isinstance(each, exp.AggFunc | exp.Query) and id(each) not in known for each in own)
        if not buckets or computes or not any(isinstance(each, exp.Column) or id(each) in known for each in own):
            return None
        if isinstance(node, exp.Column) and not self.groups.scope.knows(node):
            return None
        with suppress(Refusal):
            meaning = read_expression(node, self.groups.scope)
            return next((key for key in buckets if key.written == meaning), None)
        return None

    def _read_name(self, node: exp.Column) -> Key | Statistic | Formula:
        for output in self.outputs:
            if not node.table and output.name.lower() == node.name.lower():
                return output.source
        column = self.groups.scope.column(node)
        if isinstance(column, Column) and column in self.groups.keys:
            return column
        by = "" if isinstance(column.kind, Identity) else f", or GROUP BY {node.name}"
        raise refusal("not_an_aggregate", node, "would show values of single rows", f"use COUNT, SUM or AVG{by}")

    def _read_round(self, node: exp.Anonymous) -> Term:
        value, digits = [*node.expressions, exp.Literal.number(0), exp.Null()][:2]
        plain = isinstance(digits, exp.Literal) and not digits.is_string and _DIGITS.fullmatch(str(digits.this))
        if not plain or not 1 <= len(node.expressions) <= 2:
            raise refusal("bad_literal", node, "takes a value and 0 to 15 digits", "write ROUND(AVG(...), 2)", "ROUND")
        found = self._read_term(value)
        if isinstance(found, Fraction):
            raise refusal("not_an_aggregate", node, "rounds a constant", "write it rounded")
        return _check_size(node, Formula("round", (found, Fraction(int(digits.this)))))


def is_date(term: Key | Term) -> bool:
    """Whether a term is a date, and not a number."""
    return isinstance(term, Formula) and term.function == DATE


def _refusal_of_date(node: exp.Expr) -> Refusal:
    fix = "subtract two of them for a number of days, as in MAX(day) - MIN(day)"
    return refusal("type_error", node, "computes with a date", fix)


def _refusal_of_value(node: exp.Expr) -> Refusal:
    scalar = isinstance(node, exp.Case | exp.If | exp.Cast | exp.Predicate | exp.Connector | exp.Not)
    if scalar or (isinstance(node, exp.Anonymous) and str(node.this).upper() in NAMES):
        return _refusal_of_scalar(node)
    if isinstance(node, exp.Func | exp.Query | exp.Window | exp.Filter | exp.IgnoreNulls | exp.Binary):
        return refusal_of_node(node)
    constant = isinstance(node, exp.Literal | exp.Boolean | exp.Null)
    why = "is neither a number nor an aggregate" if constant else "would show values of single rows"
    return refusal("not_an_aggregate", node, why, "use COUNT, SUM or AVG")


def _refusal_of_scalar(node: exp.Expr) -> Refusal:
    """Of a function of single rows where a number of a group is wanted."""
    what = "CASE" if isinstance(node, exp.Case) else None
    if node.find(exp.AggFunc):
        fix = "use +, -, *, / or ROUND, and compute the rest from the answer, which costs nothing"
        return refusal("function_not_allowed", node, "is not computed with answers", fix, what)
    fix = "use COUNT, SUM or AVG of it, or group by it"
    return refusal("not_an_aggregate", node, "would show values of single rows", fix, what)


def _combine(node: exp.Expr, left: Term, right: Term) -> Term:
    sign, compute = _SIGNS[type(node)]
    if sign == "/" and right == Fraction(0):
        raise refusal("bad_literal", node, "divides by zero", "divide by something else")
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        found = compute(left, right)
        if abs(found) > _LARGEST_CONSTANT:
            raise refusal("bad_literal", node, "is beyond the range of a double", "use smaller constants")
        return found
    if sign == "/" and isinstance(right, Count):
        # Of nobody there is no ratio: one is the least that a count can be where there is one.
        right = Formula("at least 1", (right,))
    return _check_size(node, Formula(sign, (left, right)))


def _negate(term: Term) -> Term:
    return -term if isinstance(term, Fraction) else Formula("negative", (term,))


def _constant(node: exp.Literal) -> Fraction:
    value = read_number(node, str(node.this)).value
    assert isinstance(value, Fraction)  # noqa: S101 - as read
    return value


def _check_size(node: exp.Expr, formula: Formula) -> Formula:
    if count_nodes(formula) > MOST_TERMS:
        why = f"has more than {MOST_TERMS} operations, aggregates and constants"
        raise refusal("too_complex", node, why, "ask for its parts", "This formula")
    return formula
