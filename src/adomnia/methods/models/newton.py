"""Generalised linear models by Newton's method on noisy scores and noisy information.

Each round reads the rows once and measures the score and the information of the coefficients found so far. The first
is where the weights of all rows are largest, whatever the data: it tells the means and products of the columns, and a
start that is right for normal columns follows from them. Rounds in the middle are only bought where their noise is
small enough to be worth it; what they do not take, the last one has.

The last step s from noisy score and information H has the covariance

    V = 1/H + 1/H (noise of the score + noise of the information times s) 1/H + (what Newton's step may miss)

of which the first part, that of the sample, is left out for intervals about the data itself. Newton's step misses about
half of its length in linear predictors, times itself.
"""

from abc import abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import TypeAlias

import numpy as np

from adomnia.errors import Refusal
from adomnia.methods.analysis import Analysis
from adomnia.methods.contract import BadArgument
from adomnia.methods.models.coefficients import Coefficients
from adomnia.methods.models.design import Design
from adomnia.methods.models.evidence import Coordinates, Evidence, predictor_length, shorten
from adomnia.methods.models.formula import ARGUMENT
from adomnia.methods.models.predictor import LARGEST_COEFFICIENT, round_coefficient, write_predictor
from adomnia.methods.models.weighted_sums import Layout, Multiplier, Source, lay_out
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price, Pure
from adomnia.privacy.expressions import Expression, call, number
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.vectors import Variable
from adomnia.statistics.contract import Floats, Measure, Measured, ResultTable, Round, Steps

MOST_COEFFICIENTS = 32
MOST_SCANS = 6  # of the rows, in all rounds
_FIRST = (Fraction(2, 25), Fraction(2, 25))  # of the price, for the score and for the information
_MIDDLE = (Fraction(7, 100), Fraction(7, 100))
_MOST_MIDDLE = 2
_LAST = Fraction(13, 20)  # of what is left, for the score
_WORTH = 0.3  # the most noise that a round in the middle may have, in linear predictors
_CONVERGED = 0.3  # a step after which the last one follows
_TOO_FAR = 0.5  # of the score before, with its sign turned, after a step
_RESIDUAL_STEPS = 2**19  # on each side of zero
_WEIGHT_STEPS = 2**14
_LARGEST_VARIANCE = 4.0  # of linear predictors at the start
_LEAST_WEIGHT = 0.01  # of the largest: what a mean of weights is supposed to be at least
_FEWEST_ROWS = 4.0
_BALANCING = 30

_Multipliers: TypeAlias = tuple[Multiplier, Multiplier]  # the residual and the weight of each row
_Looking: TypeAlias = Generator[Round, tuple[Measured, ...], Evidence]


@dataclass(frozen=True)
class GeneralisedLinear(Analysis):
    """A model whose linear predictor tells the mean of the response. A family of responses is a subclass."""

    relation: Relation
    design: Design
    inference: str

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
    @abstractmethod
    def mean_at_start(self) -> float:
        """The mean of the response at the start."""

    @cached_property
    def coordinates(self) -> Coordinates:
        """The directions in which it is computed."""
        return Coordinates(self.design)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:  # type: ignore[override]  # computed once
        asked = self._ask(Pure(1), (Fraction(1, 2), Fraction(1, 2)), self._extreme)
        return tuple((each.query, Fraction(1, len(asked))) for each in asked)

    def rehearse(self, price: Price) -> Round:
        """All rounds at one point: sensitivities depend on no coefficient. Its constants are long and extreme."""
        middle = [_MIDDLE] * self._most_middle(price)
        last = _split_rest(1 - sum(map(sum, [_FIRST, *middle])))
        return tuple(each for parts in (_FIRST, *middle, last) for each in self._ask(price, parts, self._extreme))

    def steps(self, price: Price) -> Steps:
        left = 1 - sum(_FIRST)
        first = yield from self._look(price, _FIRST, self._write(self.start, self._zeros))
        outset = _Outset(self, first)
        point, rounds = self._confine(outset.point), 2
        before, score = outset.constant * float(self.start), first.score
        for _ in range(self._most_middle(price)):
            if outset.predict_noise(price) > _WORTH:
                break
            found = yield from self._look(price, _MIDDLE, self._write(Fraction(0), self._round(point)))
            left, rounds = left - sum(_MIDDLE), rounds + 1
            step = outset.step_from(found, point - before, score)
            before, score, point = point, found.score, self._confine(point + step)
            if predictor_length(step, outset.squares) < _CONVERGED:
                break
        last = yield from self._look(price, _split_rest(left), self._write(Fraction(0), self._round(point)))
        return self._conclude(outset, last, point, rounds)

    def _conclude(self, outset: "_Outset", last: Evidence, point: Floats, rounds: int) -> ResultTable:
        wanted = point + last.newton()
        step = shorten(last.newton(), outset.squares)
        reached = self._confine(point + step)
        missed = predictor_length(step, outset.squares) / 2 * step
        noise = last.score_noise + last.information_noise(step)
        covariance = last.inverse @ noise @ last.inverse + np.outer(missed, missed)
        if self.inference == "population":
            covariance = covariance + last.inverse
        found = Coefficients(
            self.design,
            self.coordinates.to_columns @ reached,
            self.coordinates.to_columns @ covariance @ self.coordinates.to_columns.T,
            last.carried,
        )
        stopped = predictor_length(wanted - reached, outset.squares) > _CONVERGED
        return found.tabulate(self.name, self.inference, self._describe(outset, rounds, stopped))

    def _describe(self, outset: "_Outset", rounds: int, stopped: bool) -> tuple[str, ...]:
        notes = [f"Fitted in {rounds} rounds to about {max(0, round(outset.counted)):,} complete rows (noisy)."]
        if stopped:
            notes.append(
                "Boundary: the coefficients were still growing where they stopped, as they do where columns tell the "
                "response apart completely, or where there are too few rows for the price."
            )
        return tuple(notes)

    # What is measured.

    @property
    def _zeros(self) -> list[Fraction]:
        return [Fraction(0)] * len(self.design.basis)

    def _most_middle(self, price: Price) -> int:
        scans = max(each.scans for each in self._layouts(isinstance(price, Pure)))
        return max(0, min(_MOST_MIDDLE, MOST_SCANS // scans - 2))

    def _layouts(self, pure: bool) -> tuple[Layout, Layout]:
        sizes = tuple(len(factor.levels) for factor in self.design.factors)
        coordinates = self.coordinates
        return lay_out(coordinates.basis, sizes, pure), lay_out(coordinates.pairs, sizes, pure)

    @property
    def _source(self) -> Source:
        return Source(self.relation, self.design.factors, self.coordinates.numbers)

    @cached_property
    def _extreme(self) -> _Multipliers:
        ends = [round_coefficient(LARGEST_COEFFICIENT * (-0.987654321) ** place) for place in range(1, 3)]
        return self._write(Fraction(0), [ends[place % 2] for place in range(len(self.design.basis))])

    def _write(self, offset: Fraction, point: Sequence[Fraction]) -> _Multipliers:
        """The residual and the weight of each row."""
        lower, upper = self.limits
        written = write_predictor(self.design, self.coordinates.numbers, offset, point)
        predictor = call("clamp", written, number(lower), number(upper))
        response, bounds = self.design.response, self.design.response.domain
        clamped = call("clamp", response.value, number(bounds.lower), number(bounds.upper))
        residual = call("-", clamped, self.write_mean(predictor))
        most, heaviest = self.largest_residual, self.largest_weight
        return (
            Multiplier(Variable(residual, Numbers(-most, most, most / _RESIDUAL_STEPS)), signed=True),
            Multiplier(
                Variable(self.write_weight(predictor), Numbers(0, heaviest, heaviest / _WEIGHT_STEPS)), signed=False
            ),
        )

    def _ask(self, price: Price, parts: tuple[Fraction, Fraction], multipliers: _Multipliers) -> Round:
        asked = zip(self._layouts(isinstance(price, Pure)), multipliers, parts, strict=True)
        return tuple(
            each for layout, multiplier, part in asked for each in layout.measures(self._source, multiplier, price * part)
        )

    def _look(self, price: Price, parts: tuple[Fraction, Fraction], multipliers: _Multipliers) -> _Looking:
        """One round, and what it tells."""
        measured = yield self._ask(price, parts, multipliers)
        scores, information = self._layouts(isinstance(price, Pure))
        residual, weight = multipliers
        split = len(scores.blocks)
        return Evidence(
            self.coordinates,
            scores.recover(measured[:split], self._source, residual),
            information.recover(measured[split:], self._source, weight),
        )

    def _round(self, point: Floats) -> list[Fraction]:
        return [round_coefficient(each) for each in (self.coordinates.of_design @ point).tolist()]

    def _confine(self, point: Floats) -> Floats:
        """A point none of whose coefficients is beyond the limits."""
        largest = float(np.abs(self.coordinates.of_design @ point).max(initial=0.0))
        return point if largest <= LARGEST_COEFFICIENT else point * (LARGEST_COEFFICIENT / largest)


class _Outset:
    """What the first round tells: how many rows there are, the means and mean products of columns, and a start."""

    def __init__(self, model: GeneralisedLinear, first: Evidence) -> None:
        self.model, self.first = model, first
        heaviest = float(model.largest_weight)
        self.counted = first.weight / heaviest
        self.rows = max(self.counted, _FEWEST_ROWS)
        self.squares = first.steady / (heaviest * self.rows)
        self.means = first.ones / (heaviest * self.rows)

    @cached_property
    def constant(self) -> Floats:
        """The coefficients by which the columns add up to 1, or nearly so."""
        return np.linalg.solve(self.squares, self.means)

    @cached_property
    def _balanced(self) -> tuple[Floats, float, float]:
        """The slopes, the level and the mean weight that agree with each other and with the linear regression.

        For normal columns the covariance of a column with the mean response is its covariance with the linear
        predictor times the mean weight (Stein 1981; Brillinger 1983).
        """
        model, at_start = self.model, self.model.mean_at_start
        mean = at_start + float(self.first.sums.values[0]) / self.rows
        linear = np.linalg.solve(self.squares, self.first.score / self.rows + at_start * self.means)
        centred = linear - float(linear @ self.means) * self.constant
        variance = float(centred @ self.squares @ centred)
        least = _LEAST_WEIGHT * float(model.largest_weight)
        weight = level = float(model.largest_weight)
        for _ in range(_BALANCING):
            own = min(variance / weight**2, _LARGEST_VARIANCE)
            level = model.find_level(mean, own)
            weight = (weight + max(least, model.mean_weight(level, own))) / 2
        length = sqrt(max(variance, 0.0)) / weight
        kept = min(1.0, sqrt(_LARGEST_VARIANCE) / length) if length > 0 else 1.0
        return centred * (kept / weight), level, weight

    @property
    def point(self) -> Floats:
        """Where Newton's method starts."""
        slopes, level, _ = self._balanced
        return slopes + level * self.constant

    def predict_noise(self, price: Price) -> float:
        """The noise of a round in the middle, in the linear predictors after its step."""
        times = float(_FIRST[0] / _MIDDLE[0]) ** (2 if isinstance(price, Pure) else 1)
        inverse = self.first.inverse * (float(self.model.largest_weight) / self._balanced[2])
        return sqrt(max(0.0, float(np.trace(inverse @ self.first.score_noise @ inverse @ self.squares)) * times))

    def step_from(self, found: Evidence, last_step: Floats, last_score: Floats) -> Floats:
        """Newton's step; back along the last one where that went much too far, which Newton's would make worse."""
        before, now = float(last_step @ last_score), float(last_step @ found.score)
        if now < -_TOO_FAR * before < 0:
            return last_step * (before / (before - now) - 1)
        return shorten(found.newton(), self.squares)


def _split_rest(left: Fraction) -> tuple[Fraction, Fraction]:
    return left * _LAST, left * (1 - _LAST)


def check_model(relation: Relation, design: Design, inference: str) -> None:
    """Refuses what a generalised linear model cannot be of."""
    if len(design.basis) > MOST_COEFFICIENTS:
        why = f"makes {len(design.basis)} coefficients, and {MOST_COEFFICIENTS} are the most here"
        raise BadArgument(ARGUMENT, why, "use fewer terms, or factors of fewer levels")
    if inference == "population" and relation.rows_per_person > 1:
        raise Refusal(
            "Inference about the population",
            "needs rows that are independent, and a person may have several here",
            "reduce them to one row for each person in the SELECT in brackets, or write inference => 'data'",
            code="rows_per_person",
        )
