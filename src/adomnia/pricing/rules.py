"""How a plan is rewritten on its way to its price: a tuple of rules, each from plans to plans, applied in this order.

All questions that one price pays for are rewritten together, because they may share what they measure. No rule reads
data, and none changes what an answer means: only how it is measured.

Of effort="high": the queries that statistics start from decide what is paid. What follows from each of them, in all
rounds together, costs its price at most, and what two statistics start from goes on alike in both: so the bill is that
of the plan.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, log, prod
from typing import TypeAlias

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.messages.texts import write
from adomnia.methods.analysis import Analysis
from adomnia.plans.formulas import Formula, Term, WindowFunction, statistics_of
from adomnia.plans.plan import Plan
from adomnia.pricing.caps import apply_caps
from adomnia.pricing.parts import apply_weights, split_together, weigh_starts
from adomnia.pricing.questions import PlannedQuestion, check_effort
from adomnia.pricing.simulated import Simulated
from adomnia.privacy.events import Concentrated, Price, Pure
from adomnia.privacy.expressions import Expression
from adomnia.privacy.keys import MOST_CELLS, count_cells, is_open, widen_key
from adomnia.privacy.kinds import Identity
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Statistic
from adomnia.statistics.count import Count
from adomnia.statistics.joint import find_joint
from adomnia.statistics.located import locate, unlocate
from adomnia.statistics.mean import Mean
from adomnia.statistics.population.quantile import EarlierPopulationQuantile, PopulationQuantile
from adomnia.statistics.quantile import EarlierQuantile, Quantile
from adomnia.statistics.sum import Sum

_HIGH = write("{effort=high}")


def apply_effort(drafts: Sequence[PlannedQuestion], price: Price, _catalog: Catalog) -> list[PlannedQuestion]:
    """Rule: a question is measured with the effort that it names."""
    return [replace(each, plan=with_effort(each.plan, each.question.effort, price)) for each in drafts]


def with_effort(plan: Plan, effort: str, price: Price) -> Plan:
    """The plan as it is measured with that effort."""
    check_effort(effort)
    if effort == "normal":
        return plan
    if not isinstance(price, Concentrated):
        why = "shortens what each person adds, by a length that only Gaussian noise can make use of"
        raise Refusal(_HIGH, why, write("pay with {rho=} instead"), code="bad_effort")
    if plan.view is not None:
        why, fix = "shortens sums of one value, and methods add up several", "leave it out"
        raise Refusal(_HIGH, why, fix, code="bad_effort")
    if plan.relation.has_blocks:
        why, fix = "shortens what each person adds, and here rows are of blocks of people", "leave it out"
        raise Refusal(_HIGH, why, fix, code="bad_effort")
    if plan.sets:
        why, fix = (
            "finds a length for each group, and these do not add up over groups",
            "leave it out, or ask for each grouping",
        )
        raise Refusal(_HIGH, why, fix, code="bad_effort")
    return replace(plan.with_statistics(locate), effort="high")


def without_effort(plan: Plan) -> Plan:
    """The same plan with normal effort."""
    if plan.effort == "normal":
        return plan
    return replace(plan.with_statistics(unlocate), effort="normal")


MOST_COMPARED = 200  # a second of the processor's time
_CONFIDENCE = 0.95
_SMALLEST = 1e-300  # an error of none, or without bound, is one of this or of its reciprocal


def choose_estimators(drafts: Sequence[PlannedQuestion], price: Price, _catalog: Catalog) -> list[PlannedQuestion]:
    """Rule: each sum is measured the way that has the smallest error."""
    plans = with_estimators([each.plan for each in drafts], price)
    return [replace(each, plan=plan) for each, plan in zip(drafts, plans, strict=True)]


def with_estimators(plans: Sequence[Plan], price: Price) -> list[Plan]:
    """The same plans, each sum the way that has the smallest error to expect when one price pays for all of them.

    Comparing takes as long as there are sums times terms: where they are too many, each sum is measured itself.
    """
    chosen = list(plans)
    others = [
        (place, each, other)
        for place, plan in enumerate(plans)
        for each in plan.statistics
        for other in alternatives(each)
    ]
    if len(others) * sum(len(plan.terms) for plan in plans) > MOST_COMPARED:
        return chosen
    for place, statistic, other in others:
        if _is_shared(other, chosen):
            chosen = _better(chosen, place, statistic, other, price)
    return chosen


def _is_shared(other: Statistic, plans: list[Plan]) -> bool:
    """Whether something that the statistic could be put together from is measured anyway."""
    measured = {query for plan in plans for query, _ in weigh_starts(plan)}
    return any(query in measured for query in other.queries)


def _better(plans: list[Plan], place: int, statistic: Statistic, other: Statistic, price: Price) -> list[Plan]:
    changed = plans[place].with_statistics(lambda each: other if each == statistic else each)
    swapped = [*plans[:place], changed, *plans[place + 1 :]]
    # Where it is an output by itself and nothing is weighted, it is always better (docs/decisions/0012).
    if not any(plan.weights or any(_is_within(statistic, term) for term in plan.terms) for plan in plans):
        return swapped
    return swapped if error_together(swapped, price) < error_together(plans, price) else plans


def _is_within(statistic: Statistic, term: Term) -> bool:
    return isinstance(term, Formula | WindowFunction) and statistic in statistics_of(term)


def error_together(plans: Sequence[Plan], price: Price) -> float:
    """How large the errors to expect of all outputs are, by the logarithm of their product."""
    return sum(_errors(plan, part) for plan, part in zip(plans, split_together(plans, price), strict=True))


def _errors(plan: Plan, price: Price) -> float:
    supposed = Simulated(plan, price)
    try:
        errors = [supposed.error(term, _CONFIDENCE) for term in plan.terms]
    except ValueError:  # no noise can be drawn for so little, which is refused later
        return inf
    return sum(log(min(max(error, _SMALLEST), 1 / _SMALLEST)) for error in errors)


Rule: TypeAlias = Callable[[Sequence[PlannedQuestion], Price, Catalog], list[PlannedQuestion]]
_SINGLE = ("COUNT", "SUM")  # that have one noise where they are measured by themselves


@dataclass(frozen=True)
class Rules:
    """The rules of one version: of a question with a price, and of one that names an error or nothing.

    The price of a question that names an error is found between `before_error` and `after_error`; weights follow from
    it. A question that names no price has no caps yet.
    """

    priced: tuple[Rule, ...]
    before_error: tuple[Rule, ...]
    after_error: tuple[Rule, ...]
    without_price: tuple[Rule, ...]

    @property
    def before_caps(self) -> tuple[Rule, ...]:
        """Those that decide how many measurements there are, whatever the caps."""
        return self.priced[: self.priced.index(apply_caps)]


def specialize_methods(drafts: Sequence[PlannedQuestion], price: Price, _catalog: Catalog) -> list[PlannedQuestion]:
    """Rule: every analysis is the one that has the least noise for the kind of its price, Laplace's or Gauss's."""
    return _specialize(drafts, lambda each: each.specialize_for(price))


def specialize_methods_as_before(
    drafts: Sequence[PlannedQuestion], price: Price, _catalog: Catalog
) -> list[PlannedQuestion]:
    """Rule: every analysis is the one that suited the price in version 0.1.0."""
    return _specialize(drafts, lambda each: each.specialize_as_before(price))


def _specialize(drafts: Sequence[PlannedQuestion], choose: Callable[[Analysis], Analysis]) -> list[PlannedQuestion]:
    def specialize_for(statistic: Statistic) -> Statistic:
        return choose(statistic) if isinstance(statistic, Analysis) else statistic

    suited = [each.plan.with_statistics(specialize_for) if each.plan.view is not None else each.plan for each in drafts]
    return [replace(each, plan=plan) for each, plan in zip(drafts, suited, strict=True)]


def join_counts(drafts: Sequence[PlannedQuestion], _price: Price, _catalog: Catalog) -> list[PlannedQuestion]:
    """Rule: a question that is asked alone, with normal effort, measures both counts as one.

    COUNT(*) beside AVG(x) or COUNT(x) needs two counts. A row has a value or has none, so that a person moves the two
    counts together no further than one of them: measured as one they cost what one does, and all else gets more of the
    price. COUNT(*) is then the sum of both.
    """
    if [each.question.effort for each in drafts] != ["normal"]:
        return list(drafts)
    return [replace(each, plan=with_presence(each.plan)) for each in drafts]


def with_presence(plan: Plan) -> Plan:
    """The plan that measures both counts as one, if it needs both and is about one value and nothing else.

    Another value would be read in a scan of its own, and the interval of a formula would have to know the shared noise.
    """
    if (
        plan.weights
        or any(isinstance(term, Formula | WindowFunction) for term in plan.terms)
        or any(map(is_open, plan.keys))
    ):
        return plan
    counted = [find_counted(one) if 2 * prod(one.query.shape) <= MOST_CELLS else None for one in plan.statistics]
    found = [each for each in counted if each is not None]
    values = {each.value for each in found if each.value is not None}
    both = any(each.rows for each in found) and any(each.values for each in found)
    if len(found) < len(counted) or len(values) != 1 or not both:
        return plan
    (value,) = values
    return plan.with_statistics(lambda one: part_by(one, value))


def join_sums(drafts: Sequence[PlannedQuestion], price: Price, _catalog: Catalog) -> list[PlannedQuestion]:
    """Rule: for a price in epsilon, and with normal effort, sums of one value are measured jointly.

    Distances from both ends of the bounds, and products of those, add up to the same for every row: a person moves all
    of them together as far as a count. What that gains, and that it gains nothing under rho: docs/decisions/0020.
    """
    if not isinstance(price, Pure) or any(each.question.effort != "normal" for each in drafts):
        return list(drafts)
    plans = [each.plan for each in drafts]
    joint = with_joint_sums(plans)
    if _are_divided(plans, joint) and not _is_better(joint, plans, price):
        return list(drafts)
    return [replace(each, plan=plan) for each, plan in zip(drafts, joint, strict=True)]


def with_joint_sums(plans: Sequence[Plan]) -> list[Plan]:
    """The same plans, whose statistics of one value or pair share a measurement.

    The number of rows is among them unless outputs have weights: it then has a price of its own.
    """
    statistics = (each for plan in plans for each in plan.statistics)
    found = find_joint(statistics, counting=not any(plan.weights for plan in plans))
    return [plan.with_statistics(lambda each: found.get(each, each)) if found else plan for plan in plans]


def _are_divided(plans: Sequence[Plan], joint: Sequence[Plan]) -> bool:
    """Whether a formula computes with a sum or a count that would be made of several noises instead of one."""
    before, after = (
        [
            each
            for plan in some
            for term in plan.terms
            if isinstance(term, Formula | WindowFunction)
            for each in statistics_of(term)
        ]
        for some in (plans, joint)
    )
    return any(one != two and one.name in _SINGLE for one, two in zip(before, after, strict=True))


def _is_better(joint: Sequence[Plan], plans: Sequence[Plan], price: Price) -> bool:
    if sum(len(plan.terms) for plan in plans) > MOST_COMPARED:
        return True
    return error_together(joint, price) < error_together(with_estimators(plans, price), price)


def keep_quantiles(drafts: Sequence[PlannedQuestion], _price: Price, _catalog: Catalog) -> list[PlannedQuestion]:
    """Rule: quantiles are measured as in earlier versions, whose stored answers are found and read by it."""
    return [replace(each, plan=with_earlier_quantiles(each.plan)) for each in drafts]


def with_earlier_quantiles(plan: Plan) -> Plan:
    """The same plan, whose quantiles are those of earlier versions."""
    return plan.with_statistics(_earlier)


def _earlier(statistic: Statistic) -> Statistic:
    match statistic:
        case Quantile(query=query, share=share):
            return EarlierQuantile(query, share)
        case PopulationQuantile(query=query, share=share):
            return EarlierPopulationQuantile(query, share)
    return statistic


def widen_keys(drafts: Sequence[PlannedQuestion], _price: Price, _catalog: Catalog) -> list[PlannedQuestion]:
    """Rule: all values of keys are measured, as in versions where WHERE left none of them out."""
    return [replace(each, plan=with_whole_keys(each.plan)) for each in drafts]


def with_whole_keys(plan: Plan) -> Plan:
    """The same plan with all values of its keys; as it is where no version could have measured so many."""
    wide = {key: widen_key(key) for key in plan.keys}
    if all(key == each for key, each in wide.items()) or count_cells(wide.values()) > MOST_CELLS:
        return plan
    return plan.with_keys_everywhere(lambda key: wide.get(key, key))


CURRENT = Rules(
    priced=(apply_weights, join_sums, specialize_methods, apply_caps, choose_estimators, join_counts, apply_effort),
    before_error=(join_sums, apply_caps, choose_estimators),
    after_error=(apply_effort,),
    without_price=(apply_weights, join_sums, specialize_methods, choose_estimators, join_counts),
)


# As answers of earlier versions were measured, which are given again as they are stored: the last first.
THIRD = Rules(
    priced=(widen_keys, *CURRENT.priced),
    before_error=(widen_keys, *CURRENT.before_error),
    after_error=CURRENT.after_error,
    without_price=(widen_keys, *CURRENT.without_price),
)
SECOND = Rules(
    priced=(widen_keys, keep_quantiles, apply_weights, join_sums, specialize_methods_as_before, *CURRENT.priced[3:]),
    before_error=(widen_keys, keep_quantiles, *CURRENT.before_error),
    after_error=CURRENT.after_error,
    without_price=(
        *(widen_keys, keep_quantiles, apply_weights, join_sums),
        *(specialize_methods_as_before, *CURRENT.without_price[3:]),
    ),
)
FIRST = Rules(
    priced=(widen_keys, keep_quantiles, apply_weights, apply_caps, choose_estimators, join_counts, apply_effort),
    before_error=(widen_keys, keep_quantiles, apply_caps, choose_estimators),
    after_error=CURRENT.after_error,
    without_price=(widen_keys, keep_quantiles, apply_weights, choose_estimators, join_counts),
)
VERSIONS = (CURRENT, THIRD, SECOND, FIRST)


def rewrite(
    drafts: Sequence[PlannedQuestion], price: Price, catalog: Catalog, rules: tuple[Rule, ...]
) -> list[PlannedQuestion]:
    """The drafts after all rules."""
    rewritten = list(drafts)
    for rule in rules:
        rewritten = rule(rewritten, price, catalog)
    return rewritten


@dataclass(frozen=True)
class Counted:
    """What a statistic counts: rows, values that are there, or neither, and the value that it is about if any."""

    value: Expression | None
    rows: bool = False
    values: bool = False


def alternatives(statistic: Statistic) -> tuple[Statistic, ...]:
    """The same statistic put together from what others may measure anyway.

    A sum is the values' distances from the middle of their bounds, added up, and the middle times their number: what a
    mean measures. Where the middle is zero, that is the sum itself.
    """
    if isinstance(statistic, Sum) and not statistic.centred:
        other = replace(statistic, centred=True)
        return () if statistic.query in other.queries else (other,)
    return ()


def find_counted(statistic: Statistic) -> Counted | None:
    """What a statistic counts, if it can be had from rows with a value and rows without."""
    if not isinstance(statistic, Count | Sum | Mean):
        return None
    if not isinstance(statistic, Count):  # a sum counts its values only if it is put together from them
        return Counted(statistic.query.total.value, values=not isinstance(statistic, Sum) or statistic.centred)
    value = statistic.query.aggregate.counted
    if value is None:
        return Counted(None, rows=True) if statistic.query.aggregate == Rows() else None
    # Whether an id is NULL is not a key.
    return None if isinstance(value.kind, Identity) else Counted(value, values=True)


def part_by(statistic: Statistic, value: Expression) -> Statistic:
    """The same of rows with a value and rows without it, counted as one."""
    assert isinstance(statistic, Count | Sum | Mean)  # noqa: S101 - as found by find_counted
    return replace(statistic, parted=value)
