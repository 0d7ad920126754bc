"""Terms of an answer that follow from the counts of a release together: they share noise of a known distribution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, cast

from adomnia.plans.formulas import Formula, Order, Term, WindowFunction
from adomnia.plans.plan import Output, Plan, RowFilter
from adomnia.statistics.count import Count
from adomnia.statistics.sum import Sum

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.privacy.keys import Key
    from adomnia.statistics.contract import Statistic

_COUNTED = "at least 1"


@dataclass(frozen=True)
class CountLine:
    """A constant, and counts and sums times constants."""

    constant: Fraction
    parts: tuple[tuple[Statistic, Fraction], ...]

    def times(self, factor: Fraction) -> CountLine:
        return CountLine(self.constant * factor, tuple((each, share * factor) for each, share in self.parts if factor))

    def plus(self, other: CountLine) -> CountLine:
        shares = dict(self.parts)
        for statistic, share in other.parts:
            shares[statistic] = shares.get(statistic, Fraction(0)) + share
        kept = tuple((statistic, share) for statistic, share in shares.items() if share)
        return CountLine(self.constant + other.constant, kept)


@dataclass(frozen=True)
class JointTerm:
    """A line, or a quotient of two: one leaf of the answer's formulas. The divisor is at least 1 if it is `counted`.

    With `over`, it is the total over all rows that have the same values of these keys.
    """

    tag: ClassVar[str] = "JointTerm"
    above: CountLine
    below: CountLine | None = None
    counted: bool = False
    over: tuple[Key, ...] | None = None


def join_terms(plan: Plan, is_known: Callable[[JointTerm], bool]) -> tuple[Plan, list[JointTerm]]:
    """The plan with its largest parts that are joint terms as leaves, as far as they are known together."""
    found: dict[JointTerm, None] = {}
    totals = not plan.sets and plan.named is None

    def keep(joint: JointTerm) -> Term | None:
        if not is_known(joint):
            return None
        found[joint] = None
        return cast("Statistic", joint)  # a leaf like any statistic

    def change(term: Any) -> Any:  # noqa: ANN401 - keys are left as they are
        if not isinstance(term, Formula | WindowFunction):
            return term
        joint = _find_joint(term, totals=totals)
        kept = None if joint is None else keep(joint)
        if kept is not None:
            return kept
        if isinstance(term, Formula):
            return Formula(term.function, tuple(map(change, term.terms)))
        orders = tuple(replace(order, by=change(order.by)) for order in term.order)
        return replace(term, terms=tuple(map(change, term.terms)), order=orders)

    outputs = tuple(Output(output.name, change(output.source)) for output in plan.outputs)
    order = tuple(Order(change(each.by), each.descending, each.nulls_first) for each in plan.order)
    having = None if plan.having is None else change(plan.having)
    inner = tuple(RowFilter(change(each.condition)) if isinstance(each, RowFilter) else each for each in plan.inner)
    return replace(plan, outputs=outputs, order=order, having=having, inner=inner), list(found)


def find_line(term: Term) -> CountLine | None:
    """A term as a sum of counts and sums times constants, if it is one."""
    if isinstance(term, Fraction):
        return CountLine(term, ())
    if isinstance(term, Count | Sum):
        return CountLine(Fraction(0), ((cast("Any", term), Fraction(1)),))
    if not isinstance(term, Formula):
        return None
    lines = [find_line(part) for part in term.terms]
    known = [line for line in lines if line is not None]
    return _LINES[term.function](*known) if term.function in _LINES and len(known) == len(lines) else None


def _find_joint(term: Formula | WindowFunction, *, totals: bool) -> JointTerm | None:
    if isinstance(term, WindowFunction):
        plain = totals and term.function == "sum" and term.stage == 0 and not term.order
        line = find_line(term.terms[0]) if plain and term.terms else None
        return None if line is None or not line.parts or line.constant else JointTerm(line, over=term.keys)
    line = find_line(term)
    if line is not None:
        return JointTerm(line) if line.parts else None
    if term.function != "/":
        return None
    above, below = term.terms
    counted = isinstance(below, Formula) and below.function == _COUNTED
    lines = find_line(above), find_line(below.terms[0] if counted and isinstance(below, Formula) else below)
    if lines[0] is None or lines[1] is None or not lines[0].parts or not lines[1].parts:
        return None
    if lines[0].constant or lines[1].constant:
        return None
    return JointTerm(lines[0], lines[1], counted)


def _product(left: CountLine, right: CountLine) -> CountLine | None:
    if left.parts and right.parts:
        return None
    return left.times(right.constant) if left.parts else right.times(left.constant)


def _quotient(left: CountLine, right: CountLine) -> CountLine | None:
    return None if right.parts or not right.constant else left.times(1 / right.constant)


_LINES: dict[str, Callable[..., CountLine | None]] = {
    "+": CountLine.plus,
    "-": lambda left, right: left.plus(right.times(Fraction(-1))),
    "*": _product,
    "/": _quotient,
    "negative": lambda line: line.times(Fraction(-1)),
}
