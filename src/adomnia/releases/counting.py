"""Answers a plan from the counts of a release: values follow by addition alone, and so do the errors of their noise."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from adomnia.distributions.fieller import NoisyPair
from adomnia.distributions.margins import margin
from adomnia.errors import Refusal
from adomnia.mechanisms.contract import find_alpha
from adomnia.plans.intervals import around
from adomnia.privacy.scans import NonNull
from adomnia.releases.levels import Levels
from adomnia.releases.rows import RowCounts
from adomnia.releases.selection import MOST_CELLS, CellGroups, Selector, Weights, spread
from adomnia.releases.tables import AttributeTable
from adomnia.releases.terms import CountLine, JointTerm, join_terms
from adomnia.statistics.contract import Estimate
from adomnia.statistics.count import Count
from adomnia.statistics.mean import Mean
from adomnia.statistics.sum import Sum
from adomnia.work import spend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adomnia.plans.plan import Plan
    from adomnia.privacy.keys import Key
    from adomnia.privacy.relations import Relation
    from adomnia.statistics.contract import Bounds, Floats, Result, Statistic
    from adomnia.statistics.products import LinearRelease, Product, WeightedRelease

_METHOD = "from a release, by the distribution of its noise"
_CELLS_A_STEP = 1000
_MOST_NAMED = 8
_SAME = 1e-9  # of weights that were computed in doubles


class ReleaseCounts:
    """The counts of a release, asked by plans over its table."""

    def __init__(self, name: str, product: Product, levels: Levels | None = None) -> None:
        self.name, self.product = name, product
        self.levels = Levels(AttributeTable(name, product.attributes)) if levels is None else levels
        self._selector = Selector(self.levels)

    @property
    def table(self) -> AttributeTable:
        """What questions name it by."""
        return self.levels.table

    def answer(self, plan: Plan) -> tuple[Plan, dict[Statistic, Result]]:
        """The plan with what follows together as one leaf, and the result of every leaf."""
        estimates = self._require_estimates()
        reader = _PlanReader(plan, self._selector, estimates, self.product)
        statistics = plan.statistics
        for statistic in statistics:
            reader.check(statistic)
        changed, joint = join_terms(plan, reader.is_known)
        results: dict[Any, Result] = {each: reader.estimate_statistic(each) for each in statistics}
        results |= {term: reader.estimate_joint(term) for term in joint}
        return changed, cast("dict[Statistic, Result]", results)

    def _require_estimates(self) -> LinearRelease:
        if self.product.estimates is None:
            why, fix = "has no measurements that counts follow from", "read its table, or ask the private one"
            raise Refusal(f"The release {self.name}", why, fix, code="release_without_estimates")
        return self.product.estimates


class _PlanReader:
    """Reads the statistics of one plan: which cells each adds up, and what was measured of them."""

    def __init__(self, plan: Plan, selector: Selector, estimates: LinearRelease, product: Product) -> None:
        self._plan, self._selector, self._estimates, self._product = plan, selector, estimates, product
        self._rows = None if product.rows is None else RowCounts(product.rows)
        self._people = _count_people(product)  # that a row stands for
        self._groups: dict[tuple[Relation, tuple[Key, ...]], CellGroups] = {}
        self._weights: dict[Statistic, Weights] = {}

    def check(self, statistic: Statistic) -> None:
        """Refuse a statistic that does not follow from counts, or from columns that were measured together."""
        if not isinstance(statistic, Count | Sum | Mean):
            self._selector.weigh(statistic.query, statistic.name)
            fix = "ask for COUNT, SUM or AVG, or ask the table that it was made from, which has a price"
            raise Refusal(statistic.name, "does not follow from the counts of a release", fix, code="release_aggregate")
        attributes = self._attributes([statistic])
        if not self._estimates.covers(attributes):
            raise self._refuse_apart(attributes)

    def is_known(self, term: JointTerm) -> bool:
        """Whether all of a term was measured together."""
        lines = [term.above] if term.below is None else [term.above, term.below]
        statistics = [statistic for line in lines for statistic, _ in line.parts]
        if len({statistic.query.relation for statistic in statistics}) > 1:
            return False
        attributes = self._attributes(statistics)
        sizes = [len(self._product.attributes[each]) for each in attributes]
        return bool(np.prod(sizes, dtype=np.float64) <= MOST_CELLS) and self._estimates.covers(attributes)

    def estimate_statistic(self, statistic: Statistic) -> Estimate:
        """A count, a sum or a mean in every group."""
        groups = self._group(statistic)
        if isinstance(statistic, Mean):
            counted = Count(replace(statistic.query, aggregate=NonNull(_value_of(statistic))))
            above, below = self._weigh(statistic), self._weigh(counted)
            return self._build_ratio(groups, above, below, counted=True)
        return self._build_sum(groups, self._weigh(statistic))

    def estimate_joint(self, term: JointTerm) -> Estimate:
        """A line or a quotient of two, in every group."""
        groups = self._group(term.above.parts[0][0])
        above = self._weigh_line(term.above)
        if term.below is not None:
            return self._build_ratio(groups, above, self._weigh_line(term.below), counted=term.counted)
        if term.over is None:
            return self._build_sum(groups, above, float(term.above.constant))
        axes = tuple(axis for axis, key in enumerate(self._plan.keys) if key not in term.over)
        total = self._build_sum(groups.coarsen(axes), above)
        return _repeat(total, groups.shape)

    def _build_sum(self, groups: CellGroups, weights: Weights, constant: float = 0.0) -> Estimate:
        measured, variances = self._add(groups, weights)
        error = np.sqrt(np.maximum(variances, 0.0))
        values = constant + (measured if self._rows is None else self._show(groups, weights))
        half = self._product.step * _least_weight(weights) / 2

        def interval(confidence: float, cells: int) -> Bounds:
            reach = self._find_margin(confidence, cells) * error + half
            return around(values, (measured + constant - reach, measured + constant + reach))

        limits = (0.0, inf) if constant >= 0 and float(weights.values.min(initial=0.0)) >= 0 else None
        return Estimate(
            values,
            interval,
            _METHOD,
            whole=self._rows is not None and self._people == 1 and _are_whole(weights, constant),
            limits=limits,
            coarsen=lambda axes: self._build_sum(groups.coarsen(axes), weights, constant),
        )

    def _build_ratio(self, groups: CellGroups, above: Weights, below: Weights, *, counted: bool) -> Estimate:
        pair = self._measure_pair(groups, above, below)
        limits = _find_limits(above, below, groups)
        shown = (pair.above, pair.below)
        if self._rows is not None:
            shown = (self._show(groups, above), self._show(groups, below))
        values = _divide(*shown, limits, counted=counted)

        def interval(confidence: float, cells: int) -> Bounds:
            bounds = pair.bound_ratio(self._find_margin(confidence, cells))
            lower, upper = bounds if limits is None else (np.clip(end, *limits) for end in bounds)
            return around(values, (lower, upper))

        return Estimate(
            values,
            interval,
            f"{_METHOD} (Fieller)",
            limits=limits,
            coarsen=lambda axes: self._build_ratio(groups.coarsen(axes), above, below, counted=counted),
        )

    def _find_margin(self, confidence: float, cells: int) -> float:
        """How many standard deviations hold all of so many sums at once: all are linear functions of the noise."""
        return margin(self._product.tails, find_alpha(confidence, cells))

    def _measure_pair(self, groups: CellGroups, above: Weights, below: Weights) -> NoisyPair:
        """Both sums; their covariance follows from the variance of their difference, of which noise is a sum too."""
        (top, top_variance), (bottom, bottom_variance) = self._add(groups, above), self._add(groups, below)
        errors = np.sqrt(np.maximum(top_variance, 0.0)), np.sqrt(np.maximum(bottom_variance, 0.0))
        scale = float(np.abs(above.values).max(initial=0.0) / max(float(np.abs(below.values).max(initial=0.0)), 1e-300))
        if scale == 0:
            return NoisyPair(top, bottom, *errors, np.zeros_like(top))
        rest = below.plus(above.times(-1 / scale))
        if self._only_counts and not all(map(_is_of_one_weight, (above, below, rest))):
            return NoisyPair(top, bottom, *errors)
        _, difference = self._add(groups, rest)
        covariance = scale * (top_variance / scale**2 + bottom_variance - difference) / 2
        return NoisyPair(top, bottom, *errors, covariance)

    @property
    def _only_counts(self) -> bool:
        """Whether it counts alone: then variances of weighted sums are upper bounds."""
        return not hasattr(self._estimates, "add")

    def _add(self, groups: CellGroups, weights: Weights) -> tuple[Floats, Floats]:
        """The weights of all rows in each group, and the variance of the noise in it."""
        attributes, shape = self._widen(groups, weights)
        spend(1 + int(np.prod(shape, dtype=np.int64)) // _CELLS_A_STEP)
        places = np.broadcast_to(spread(groups.attributes, groups.places, attributes), shape)
        factors = np.broadcast_to(weights.over(attributes), shape)
        distinct = np.unique(weights.values[weights.values != 0])
        if not len(distinct):
            return np.zeros(groups.shape), np.zeros(groups.shape)
        if _is_of_one_weight(weights):
            inside = places if weights.values.all() else np.where(factors == 0, -1, places)
            values, variances = self._estimates.count(attributes, np.ascontiguousarray(inside), groups.number)
            factor = float(distinct[0])
            return factor * values.reshape(groups.shape), factor**2 * variances.reshape(groups.shape)
        if not self._only_counts:
            weighted = cast("WeightedRelease", self._estimates)
            sums = weighted.add(attributes, np.ascontiguousarray(places), groups.number, np.ascontiguousarray(factors))
            return sums[0].reshape(groups.shape), sums[1].reshape(groups.shape)
        return self._add_apart(attributes, places, factors, distinct, groups)

    def _add_apart(
        self,
        attributes: tuple[int, ...],
        places: NDArray[np.intp],
        factors: Floats,
        distinct: Floats,
        groups: CellGroups,
    ) -> tuple[Floats, Floats]:
        """A weighted sum from a count for each weight: no deviation is more than those of its parts together."""
        kinds = np.searchsorted(distinct, factors).clip(max=len(distinct) - 1)
        inside = (places >= 0) & (factors != 0)
        split = np.where(inside, places * len(distinct) + kinds, -1)
        values, variances = self._estimates.count(attributes, split, groups.number * len(distinct))
        values, errors = (
            values.reshape(-1, len(distinct)),
            np.sqrt(np.maximum(variances, 0.0)).reshape(-1, len(distinct)),
        )
        return (values @ distinct).reshape(groups.shape), ((errors @ np.abs(distinct)) ** 2).reshape(groups.shape)

    def _show(self, groups: CellGroups, weights: Weights) -> Floats:
        """What the rows have where there are rows: those are what is shown."""
        assert self._rows is not None  # noqa: S101 - its callers looked
        attributes, shape = self._widen(groups, weights)
        spend(1 + len(self._rows.rows) // _CELLS_A_STEP)
        places = np.broadcast_to(spread(groups.attributes, groups.places, attributes), shape)
        factors = np.broadcast_to(weights.over(attributes), shape)
        counted = self._rows.add(attributes, places, groups.number, factors)[0].reshape(groups.shape)
        return self._people * counted

    def _widen(self, groups: CellGroups, weights: Weights) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """All attributes that groups and weights name, and how many levels each has."""
        attributes = tuple(sorted({*groups.attributes, *weights.attributes}))
        return attributes, tuple(len(self._product.attributes[each]) for each in attributes)

    def _group(self, statistic: Statistic) -> CellGroups:
        place = (statistic.query.relation, self._plan.keys)
        if place not in self._groups:
            self._groups[place] = self._selector.group(*place)
        return self._groups[place]

    def _weigh(self, statistic: Statistic) -> Weights:
        if statistic not in self._weights:
            query = statistic.query
            self._weights[statistic] = self._selector.weigh(query, statistic.name)
        return self._weights[statistic]

    def _weigh_line(self, line: CountLine) -> Weights:
        found = Weights((), np.zeros(()))
        for statistic, share in line.parts:
            found = found.plus(self._weigh(statistic).times(float(share)))
        return found

    def _attributes(self, statistics: Sequence[Statistic]) -> tuple[int, ...]:
        found = {each for statistic in statistics for each in self._group(statistic).attributes}
        return tuple(sorted(found | {each for statistic in statistics for each in self._weigh(statistic).attributes}))

    def _refuse_apart(self, attributes: tuple[int, ...]) -> Refusal:
        names = self._selector.name_attributes(attributes)
        smaller = [place for place in attributes if not self._estimates.covers((place,))]
        why = f"were not measured together in the release {self._selector.table.name}"
        pairs = [
            f"{names[one]} and {names[two]}"
            for one in range(len(attributes))
            for two in range(one)
            if not smaller and self._estimates.covers(tuple(sorted((attributes[one], attributes[two]))))
        ]
        known = f"ask for fewer of them at once, such as {pairs[0]}" if pairs else "ask for fewer of them at once"
        fix = f"{known}, or ask the table that it was made from, which has a price"
        shown = names[:_MOST_NAMED]
        return Refusal(f"The columns {', '.join(shown)}", why, fix, code="release_apart")


def _value_of(statistic: Mean) -> Any:  # noqa: ANN401 - an expression
    return statistic.query.total.value


def _count_people(product: Product) -> float:
    """How many rows of data a synthetic row stands for: more or fewer than one where somebody said how many to draw."""
    total = product.about.get("total")
    if product.rows is None or total is None or len(product.rows) in (0, max(round(total), 1)):
        return 1.0
    return max(float(total), 0.0) / len(product.rows)


def _is_of_one_weight(weights: Weights) -> bool:
    """Whether every cell counts alike, or not at all."""
    there = weights.values[np.abs(weights.values) > _SAME]
    return not len(there) or bool(np.ptp(there) <= _SAME * abs(float(there.flat[0])))


def _least_weight(weights: Weights) -> float:
    """The smallest that counts: sums of counts in whole steps differ by no more."""
    return float(np.abs(weights.values[weights.values != 0]).min(initial=inf)) if weights.values.any() else 0.0


def _are_whole(weights: Weights, constant: float) -> bool:
    return bool(float(constant).is_integer() and (weights.values == np.floor(weights.values)).all())


def _divide(above: Floats, below: Floats, limits: tuple[float, float] | None, *, counted: bool) -> Floats:
    """A ratio, cut at what it can be; from the middle of that where rows are counted, which may be all noise."""
    divisor = np.maximum(below, 1.0) if counted else np.where(below == 0, np.inf, below)
    middle = 0.0 if limits is None or not counted else (limits[0] + limits[1]) / 2
    values = middle + (above - middle * below) / divisor
    return values if limits is None else np.clip(values, *limits)


def _find_limits(above: Weights, below: Weights, groups: CellGroups) -> tuple[float, float] | None:
    """What a ratio of two weighted sums of rows can be: between the least and the greatest ratio of one row."""
    attributes = tuple(sorted({*above.attributes, *below.attributes}))
    top, bottom = np.broadcast_arrays(above.over(attributes), below.over(attributes))
    counts = bottom != 0
    if (bottom < 0).any() or (top[~counts] != 0).any() or not counts.any() or not groups.number:
        return None
    ratios = top[counts] / bottom[counts]
    return float(ratios.min()), float(ratios.max())


def _repeat(estimate: Estimate, shape: tuple[int, ...]) -> Estimate:
    """The same in all cells along the axes of length 1."""

    def interval(confidence: float, cells: int) -> Bounds:
        lower, upper = (np.broadcast_to(end, shape) for end in estimate.interval(confidence, cells))
        return lower, upper

    return replace(estimate, values=np.broadcast_to(estimate.values, shape), interval=interval, coarsen=None)
