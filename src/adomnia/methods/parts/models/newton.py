"""Generalised linear models by Newton's method on noisy scores and noisy information.

Each round reads the rows once and measures the score and the information of the coefficients found so far. The first
is where the weights of all rows are largest, whatever the data: it tells the means and products of the columns, and a
start that is right for normal columns follows from them. Rounds in the middle are only bought where their noise is
small enough to be worth it; what they do not take, the last one has.

The last step s from noisy score and information H has the covariance

    V = 1/H + 1/H (noise of the score + noise of the information times s) 1/H + (what Newton's step may miss)

of which the first part, that of the sample, is left out for intervals about the data itself. With sampling weights, as
parts of the largest one, score and information are weighted, and the first part is 1/H B 1/H, where B is the
information with squared weights. Where responses may scatter farther than the model says, the last round measures how
far, and the first part is multiplied with that dispersion.
"""

from abc import abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import zip_longest
from math import exp, expm1, inf, sqrt
from typing import Self, TypeAlias

import numpy as np

from adomnia.errors import Refusal
from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.methods.analysis import Analysis
from adomnia.methods.contract import BadArgument, NumberColumn
from adomnia.methods.parts.models.coefficients import Coefficients
from adomnia.methods.parts.models.design import Design
from adomnia.methods.parts.models.dispersion import (
    PART,
    ScatterSum,
    choose_ceiling,
    describe_dispersion,
    find_highest,
    predict_noise,
)
from adomnia.methods.parts.models.evidence import Coordinates, Evidence, Span, SteadyEvidence, shorten
from adomnia.methods.parts.models.formula import ARGUMENT
from adomnia.methods.parts.models.outset import Outset, Scene
from adomnia.methods.parts.models.predictor import LARGEST_COEFFICIENT, round_coefficient, write_predictor
from adomnia.methods.parts.models.weighted_sums import SQUARED, Multiplier, Source, SumLayout, lay_out
from adomnia.methods.sampling_weights import SamplingWeights
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price, Pure
from adomnia.privacy.expressions import Expression, call, number
from adomnia.privacy.kinds import LATER
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.vectors import Variable
from adomnia.statistics.contract import Floats, Measured, ResultTable, Round, Steps
from adomnia.work import spend

MOST_COEFFICIENTS = 32
MOST_DEGREE = 3  # of a column: the information has twice that, and a weight
MOST_SCANS = 6  # of the rows, in all rounds
_EARLY = (Fraction(3, 40), Fraction(3, 40))  # of the price, for the score and for the information of a round
_MOST_MIDDLE = 2
_LAST = Fraction(13, 20)  # of what is left, for the score
_WORTH = 0.3  # the most noise that a round in the middle may have, in linear predictors
_CONVERGED = 0.3  # a step after which the last one follows
_RESIDUAL_STEPS = 2**19  # on each side of zero
_WEIGHT_STEPS = 2**14
_SPLIT_STEPS = 2**12  # of a weight that is split by sampling weights: third powers of a column still fit
_LEAST_WEIGHT = Fraction(1, 64)  # of the largest: where weights are clamped at the lowest
_DOUBT = 9.0  # a start with slopes that noise made has large weights, which have much noise; one without has not
_HEAVIER = 8.0  # times the mean weight: more has hardly a row, and all of them would have more noise
_FINE = 2**20
_CURVED = 0.7  # the longest last step that can be corrected for its curvature
_STEPS_OF_A_BLOCK = 150  # to write it, and to derive how far a person moves it
_LOPSIDED = 0.11  # of a step: what it misses where weights change and columns reach twice as far on one side
_SHORT = 1e-3  # a step in linear predictors
_AHEAD = 2.0  # how far they may still have to move after a long last step, as a standard deviation

FAR_VALUES = (
    "Values far from the mean of a column pull at the coefficients no more than the ends of a range that is found with"
    " noise: 3.5 standard deviations on both sides. A note tells it."
)
_WEIGHTS = NoteTemplate(
    "rounds_on_weights", "Fitted in {rounds} rounds to rows whose weights add up to about {weights:,.6g} (noisy)."
)
_ROWS = NoteTemplate("rounds_on_rows", "Fitted in {rounds} rounds to about {rows:,} complete rows (noisy).")
_STOPPED = define_note(
    "last_step_long",
    "Boundary: the last step was still a long one. Coefficients grow without end where columns tell the response apart "
    "completely; or there are too few rows for the price.",
)

_Parts: TypeAlias = tuple[Fraction, ...]  # of the price: for the score, for the information, and for the dispersion
_Looking: TypeAlias = Generator[Round, tuple[Measured, ...], Evidence]


@dataclass(frozen=True)
class GeneralisedLinear(Analysis):
    """A model whose linear predictor tells the mean of the response. A family of responses is a subclass."""

    relation: Relation
    design: Design
    inference: str
    weights: NumberColumn | None = field(default=None, metadata={LATER: True})
    cautious: bool = field(default=False, metadata={LATER: True})  # False: as answers of version 0.1.0 were measured
    dispersed: bool = field(default=False, metadata={LATER: True})  # how far responses scatter is measured

    def specialize_for(self, _price: Price) -> Self:
        """With a start whose slopes are clear of noise, and no weight far above their mean."""
        return replace(self, cautious=True)

    def specialize_as_before(self, _price: Price) -> Self:
        return self

    @property
    @abstractmethod
    def limits(self) -> tuple[Fraction, Fraction]:
        """Between which linear predictors are clamped."""

    @property
    @abstractmethod
    def start(self) -> Fraction:
        """The linear predictor where weights are largest."""

    @property
    @abstractmethod
    def largest_residual(self) -> Fraction:
        """The size that no residual exceeds."""

    @property
    @abstractmethod
    def largest_weight(self) -> Fraction:
        """The weight at the start."""

    @abstractmethod
    def write_mean(self, predictor: Expression) -> Expression:
        """The mean of the response."""

    @abstractmethod
    def write_weight(self, predictor: Expression) -> Expression:
        """Its variance, which is the derivative of the mean."""

    @abstractmethod
    def mean_weight(self, level: float, variance: float) -> float:
        """The mean of the weights where linear predictors are normal."""

    @abstractmethod
    def find_level(self, mean: float, variance: float) -> float:
        """The mean of normal linear predictors for which the mean of the response is this one."""

    @property
    def doubt(self) -> float:
        """How many times the square of their noise slopes at the start must have."""
        return _DOUBT if self.cautious else 1.0

    def start_mean(self, mean: float, _noise: float) -> float:
        """The mean response to start from, where a noisy one has noise of such a standard deviation."""
        return mean

    @property
    @abstractmethod
    def mean_at_start(self) -> float:
        """The mean of the response at the start."""

    @abstractmethod
    def heaviest(self, lower: float, upper: float) -> float:
        """The largest weight of linear predictors between two ends."""

    @abstractmethod
    def bend(self, level: float) -> float:
        """By which part of itself a weight changes with the linear predictor."""

    @property
    def highest_offset(self) -> Fraction:
        """The largest number that an offset adds to a linear predictor."""
        return Fraction(0)

    def add_offset(self, predictor: Expression) -> Expression:
        """The linear predictor with what is known of it in every row."""
        return predictor

    @cached_property
    def weighting(self) -> SamplingWeights | None:
        """The weights of rows, if they have some."""
        return None if self.weights is None else SamplingWeights(self.weights)

    @cached_property
    def coordinates(self) -> Coordinates:
        """The directions in which the first round is computed."""
        return Coordinates(self.design, tuple(map(Span.of, self.design.numbers)))

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        """What each query gets in the first round and in the last.

        A round between them takes of the last and is no larger than the first. So the rounds lose no more than the sums
        of their parts, in squares neither: these are at most the squares of the sums.
        """
        first, last = self._ask_extremes(Pure(1))
        pairs = zip_longest(first, last)  # the dispersion is asked for in the last round alone
        return tuple(
            (two.query, two.price.epsilon + (one.price.epsilon if one else 0))  # type: ignore[union-attr]  # as asked
            for one, two in pairs
        )

    def planned_measures(self, price: Price) -> Round:
        """The first round and the last, if there is none between them: no part of the price is smaller or larger.

        Sensitivities depend on no coefficient. Constants are long and extreme.
        """
        first, last = self._ask_extremes(price)
        return first + last

    def _ask_extremes(self, price: Price) -> tuple[Round, Round]:
        highest = find_highest(self.largest_residual) if self.dispersed else None
        last = replace(self._extreme, ceiling=highest)
        return self._ask(price, _EARLY, self._extreme), self._ask(price, self._split_rest(1 - sum(_EARLY)), last)

    def steps(self, price: Price) -> Steps:
        left = 1 - sum(_EARLY)
        first = yield from self._look(price, _EARLY, self._begin(self.start - self.highest_offset))
        outset = Outset(self, first)
        scene = outset.scene
        point, before, score, rounds = self._confine(scene, scene.point), scene.start, scene.score, 2
        for _ in range(self._most_middle(price) if scene.predict_noise(first.sums.spread) < _WORTH else 0):
            found = yield from self._look(price, _EARLY, self._view(scene, point))
            left, rounds = left - sum(_EARLY), rounds + 1
            step = scene.step(found, point - before, score)
            before, score, point = point, found.score, self._confine(scene, point + step)
            if scene.length(step) < _CONVERGED:
                break
        parts = self._split_rest(left)
        last = yield from self._look(price, parts, self._view_last(scene, point, [price * part for part in parts]))
        return self._conclude(scene, last, point, (rounds, outset.counted))

    def _conclude(self, scene: Scene, last: Evidence, point: Floats, facts: tuple[int, float]) -> ResultTable:
        step = shorten(last.newton(), scene.squares)
        bend = self.bend(float(scene.means @ (point + step / 2)))
        curved = scene.curve(last, step, bend)
        reached = self._confine(scene, point + step + (curved if scene.length(step) < _CURVED else 0))
        stopped = scene.length(last.newton()) > _CURVED or scene.length(point + step - reached) > _CURVED
        lopsided = abs(bend) * _LOPSIDED * sqrt(scene.lopsided - 1) if self.cautious else 0.0
        missed = (_miss(scene.length(step)) + lopsided) * step
        noise = last.score_noise + last.information_noise(step)
        # Where the step leads, there is less information than where it was measured if weights fall on the way.
        less = exp(min(max(0.0, -bend * scene.rise(last, step)), _CURVED)) if self.cautious else 1.0
        covariance = less**2 * last.inverse @ noise @ last.inverse + np.outer(missed, missed) + np.outer(curved, curved)
        covariance = covariance + last.unknown
        if stopped and self.cautious:
            ahead = _AHEAD / max(scene.length(step), _SHORT) * step
            covariance = covariance + np.outer(ahead, ahead)
        if self.inference == "population":
            covariance = covariance + less * last.sampling
        back = scene.coordinates.to_columns
        found = Coefficients(self.design, back @ reached, back @ covariance @ back.T, last.identified)
        cuts = scene.coordinates.describe_cuts()
        scattered = [describe_dispersion(last.dispersion)] if self.dispersed else []
        notes = (self.describe_rows(*facts), *cuts, *scattered, *([_STOPPED] if stopped else []))
        return found.tabulate(self.name, self.inference, notes)

    def describe_rows(self, rounds: int, counted: float) -> Note:
        """How many rows there are about; none is public."""
        if self.weighting is not None:
            whole = max(0.0, counted) * self.weighting.upper
            return _WEIGHTS(rounds=rounds, weights=float(whole))
        return _ROWS(rounds=rounds, rows=max(0, round(counted)))

    # What is measured.

    def _most_middle(self, price: Price) -> int:
        scans = max(each.scans for each in self._layouts(isinstance(price, Pure)))
        return max(0, min(_MOST_MIDDLE, (MOST_SCANS - self.dispersed) // scans - 2))

    def _layouts(self, pure: bool) -> tuple[SumLayout, SumLayout]:
        sizes = tuple(len(factor.levels) for factor in self.design.factors)
        coordinates = self.coordinates
        return lay_out(coordinates.basis, sizes, pure), lay_out(coordinates.pairs, sizes, pure)

    def _begin(self, offset: Fraction) -> "_View":
        """The first round, or one like it."""
        return _View(self.coordinates, offset, (Fraction(0),) * len(self.design.basis), self.largest_weight)

    @cached_property
    def _extreme(self) -> "_View":
        """A round whose constants are long and extreme."""
        ends = [round_coefficient(LARGEST_COEFFICIENT * (-0.987654321) ** place) for place in range(1, 3)]
        point = tuple(ends[place % 2] for place in range(len(self.design.basis)))
        return _View(self.coordinates, Fraction(0), point, self.largest_weight)

    def _view(self, scene: Scene, point: Floats) -> "_View":
        """A round at a point, whose weights are clamped where hardly one of them is expected."""
        written = (scene.coordinates.of_design @ point).tolist()
        lower, upper = (end + float(self.highest_offset) for end in scene.locate(point))
        heaviest = min(self.heaviest(lower, upper), _HEAVIER * scene.mean_weight if self.cautious else inf)
        share = heaviest / float(self.largest_weight)
        weight = self.largest_weight * min(Fraction(1), max(_LEAST_WEIGHT, Fraction(share).limit_denominator(_FINE)))
        return _View(scene.coordinates, Fraction(0), tuple(map(round_coefficient, written)), weight)

    def _view_last(self, scene: Scene, point: Floats, prices: Sequence[Price]) -> "_View":
        """The last round: how far responses scatter is measured with it, for the last of these prices."""
        view = self._view(scene, point)
        if not self.dispersed:
            return view
        of_scores, of_squares = (predict_noise(self.relation, prices[place]) for place in (0, -1))
        expected, noise = scene.rows * scene.mean_weight, of_scores * float(self.largest_residual)
        wanted = choose_ceiling(of_squares, expected, scene.mean_weight, noise)
        return replace(view, ceiling=min(wanted, find_highest(self.largest_residual)))

    def _scatter(self, view: "_View") -> tuple[ScatterSum, ...]:
        """What is added up of squared residuals in a round, if anything is."""
        if view.ceiling is None:
            return ()
        return (ScatterSum(self.relation, self._multiply(view)[0].variable.value, view.ceiling),)

    def _split_rest(self, left: Fraction | int) -> _Parts:
        """The parts of the last round."""
        squares = left * PART if self.dispersed else Fraction(0)
        rest = left - squares
        return (rest * _LAST, rest * (1 - _LAST), *([squares] if self.dispersed else []))

    def _multiply(self, view: "_View") -> tuple[Multiplier, Multiplier]:
        """The residual and the weight of each row."""
        lower, upper = self.limits
        scaled = [each.value for each in view.coordinates.numbers]
        written = write_predictor(self.design, scaled, view.offset, view.point)
        predictor = call("clamp", self.add_offset(written), number(lower), number(upper))
        response, bounds = self.design.response, self.design.response.domain
        clamped = call("clamp", response.value, number(bounds.lower), number(bounds.upper))
        residual, weight, split = call("-", clamped, self.write_mean(predictor)), self.write_weight(predictor), None
        if self.weighting is not None:
            residual, weight = (call("*", each, self.weighting.share) for each in (residual, weight))
            split = self.weighting.coarse
        steps = _WEIGHT_STEPS if split is None else _SPLIT_STEPS
        most, weights = self.largest_residual, Numbers(0, view.heaviest, view.heaviest / steps)
        return (
            Multiplier(Variable(residual, Numbers(-most, most, most / _RESIDUAL_STEPS)), signed=True),
            Multiplier(Variable(weight, weights), signed=False, split=split),
        )

    def _ask(self, price: Price, parts: _Parts, view: "_View") -> Round:
        source = Source(self.relation, self.design.factors, view.coordinates.numbers)
        layouts = self._layouts(isinstance(price, Pure))
        spend(_STEPS_OF_A_BLOCK * sum(len(each.blocks) for each in layouts))
        asked = zip(layouts, self._multiply(view), parts[:2], strict=True)
        sums = (
            each for layout, multiplier, part in asked for each in layout.measures(source, multiplier, price * part)
        )
        return (*sums, *(each.measure(price * parts[-1]) for each in self._scatter(view)))

    def _look(self, price: Price, parts: _Parts, view: "_View") -> _Looking:
        """One round, and what it tells."""
        measured = yield self._ask(price, parts, view)
        scores, information = self._layouts(isinstance(price, Pure))
        residual, weight = self._multiply(view)
        both = len(scores.blocks) + len(information.blocks)
        of_scores, others = measured[: len(scores.blocks)], measured[len(scores.blocks) : both]
        numbers = view.coordinates.numbers
        squared = None if weight.split is None else information.recover(others, numbers, weight, SQUARED)
        found = (SteadyEvidence if self.cautious else Evidence)(
            view.coordinates,
            scores.recover(of_scores, numbers, residual),
            information.recover(others, numbers, weight),
            squared=squared,
        )
        for scatter, each in zip(self._scatter(view), measured[both:], strict=True):
            found = replace(found, dispersion=scatter.estimate(each, found.expected_squares))
        return found

    def _confine(self, scene: Scene, point: Floats) -> Floats:
        """A point none of whose coefficients is beyond the limits."""
        largest = float(np.abs(scene.coordinates.of_design @ point).max(initial=0.0))
        return point if largest <= LARGEST_COEFFICIENT else point * (LARGEST_COEFFICIENT / largest)


@dataclass(frozen=True)
class _View:
    """At which coefficients of the basis a round looks, in which coordinates, and the weight that none exceeds."""

    coordinates: Coordinates
    offset: Fraction
    point: tuple[Fraction, ...]
    heaviest: Fraction
    ceiling: Fraction | None = None  # of squared residuals, where their sum is asked for


def _miss(length: float) -> float:
    """Which part of itself Newton's step may miss: weights change by a factor of e where linear predictors change by 1.

    It is half of the length for short steps.
    """
    return (expm1(length) - length) / length if length > _SHORT else length / 2


def check_model(relation: Relation, design: Design, inference: str) -> None:
    """Refuses what a generalised linear model cannot be of."""
    if len(design.basis) > MOST_COEFFICIENTS:
        why = f"makes {len(design.basis)} coefficients, and {MOST_COEFFICIENTS} are the most here"
        raise BadArgument(ARGUMENT, why, "use fewer terms, or factors of fewer levels")
    if max(sum(column.powers) for column in design.columns) > MOST_DEGREE:
        why = f"multiplies more than {MOST_DEGREE} numbers, which are the most here"
        raise BadArgument(ARGUMENT, why, "use fewer, or lower powers")
    if inference == "population" and relation.rows_per_person > 1:
        raise Refusal(
            "Inference about the population",
            "needs rows that are independent, and a person may have several here",
            "reduce them to one row for each person in the SELECT in brackets, or write inference => 'data'",
            code="rows_per_person",
        )
