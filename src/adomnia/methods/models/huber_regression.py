"""Robust regression: Huber's M-estimator, which gross outliers of the response hardly move.

All rounds measure the same sums at other coefficients and another reach: of the residuals, cut at the reach, times the
columns (the score), and of the products of columns in the rows whose residuals are within it (the information). The
first has a reach that no residual exceeds, which is least squares. Between rounds the scale is the median size of the
residuals. The last step has the sandwich of score, noise and information as its covariance (Huber 1967): the squares of
residuals that were cut are 1, in reaches, and those of the others are taken to be no larger than of nearly even ones.
With the last sums the squares of what rows add to coefficients are measured: variances are larger where residuals have
no one spread (influence.py).
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import sqrt
from typing import ClassVar, Self, TypeAlias, TypeVar

import numpy as np

from adomnia.methods.contract import INFERENCE, Arguments, Frame, Method
from adomnia.methods.describe.huber_location import NORMAL_SCALE, TUNING
from adomnia.methods.describe.rounds import SeveralRounds
from adomnia.methods.models.coefficients import RETURNS, Coefficients
from adomnia.methods.models.design import Design, build_design
from adomnia.methods.models.evidence import Coordinates, Evidence, Span, shorten
from adomnia.methods.models.formula import ARGUMENT
from adomnia.methods.models.influence import MOST_INFLUENCES, Influences, InfluenceSums, widen
from adomnia.methods.models.newton import FAR_VALUES, check_model
from adomnia.methods.models.outset import Outset, Scene
from adomnia.methods.models.predictor import LARGEST_COEFFICIENT, round_coefficient, scale, write_predictor
from adomnia.methods.models.regression import FORMULA
from adomnia.methods.models.weighted_sums import Multiplier, NoisySums, Source, SumLayout, lay_out
from adomnia.methods.testing.adjustment import ADJUST
from adomnia.privacy.aggregates import Histogram
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price, Pure
from adomnia.privacy.expressions import Expression, call, number
from adomnia.privacy.kinds import LATER
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.vectors import Variable
from adomnia.statistics.contract import Floats, Measure, Measured, ResultTable, Round, Steps
from adomnia.work import spend

# Of the price: score and information of the first round, of the middle one and of the last, and the scale before those.
_FIRST = Fraction(8, 100), Fraction(26, 100)
_MIDDLE = Fraction(8, 100), Fraction(3, 100)
_LAST = Fraction(37, 100), Fraction(10, 100)
_SCALES = Fraction(4, 100), Fraction(4, 100)
_SPREADS = Fraction(1, 20)  # for the squares of influences, before all that
_SQUARE = 0.3  # the mean square of residuals within the reach; 0.26 of normal ones, 1/3 of evenly spread ones
_LEAST_INSIDE = 0.2
_RESIDUALS = Numbers(-1, 1, Fraction(1, 2**15))
_INSIDE = Numbers(0, 1, Fraction(1, 2**14))  # as fine as residuals, nearly: their noises can be drawn alike
_SIZES = Numbers(0, 2, Fraction(1, 2**19))  # of residuals, in half widths of the response's bounds
_LARGEST = 4  # linear predictor, in the same
_LEAST_REACH = Fraction(1, 2**16)
_FINE = 2**24
_MISSED = 0.3  # of the length of the last step: the part of it that Newton's step may miss
_LONG = 1.0  # in reaches: a last step after which the fit may not have settled
_UNSETTLED = 2.0  # and one that nothing can be said after
_VAGUE = 0.5  # in half widths of the response's bounds: a standard error of its mean that tells nothing
_LARGEST_SIZE = 1.05  # the median size of residuals beyond which the fit is worse than none
_STEPS_OF_A_BLOCK = 150

_Parts: TypeAlias = tuple[Fraction, Fraction]  # of the price, for the score and for the information
_Found = TypeVar("_Found")
_Flow: TypeAlias = Generator[Round, tuple[Measured, ...], _Found]


@dataclass(frozen=True)
class HuberView:
    """Where a round looks: coefficients of the basis in some coordinates, and the reach that residuals are cut at."""

    coordinates: Coordinates
    point: tuple[Fraction, ...]
    reach: Fraction


@dataclass(frozen=True)
class HuberRegression(SeveralRounds):
    """Coefficients of a linear model that outliers of the response hardly move.

    Method      least squares from noisy sums; then Newton's method on noisy sums of residuals that are cut at k scales,
                the scale being the median size of the residuals, chosen by rank.
    Guarantee   all rounds composed; between them is post-processing.
    Bias        clamping; values of columns that explain are cut at a released range in the sums. Intervals are about
                the coefficients at the released scale.
    Cite        Huber 1964, 1973; Huber 1967, White 1980 (the covariance); Dwork & Lei 2009 (private robust statistics).
    """

    tag: ClassVar[str] = "HuberRegression"
    name: ClassVar[str] = "huber_regression"
    relation: Relation
    design: Design
    inference: str
    k: Fraction
    confidence: Fraction
    sandwich: bool = field(default=False, metadata={LATER: True})  # the squares of influences; as in version 0.1.0

    def suit(self, _price: Price) -> Self:
        """With standard errors for residuals of any spread, if they are about people."""
        told = self.inference == "population" and len(self.design.columns) <= MOST_INFLUENCES
        return replace(self, sandwich=told)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        """What each query of the first round gets in all rounds; the first pays for the scales, too.

        So the rounds lose no more than the sums of their parts, in squares neither.
        """
        whole, start = Pure(self._rest), self._start
        parts = (_FIRST[0] + _MIDDLE[0] + _LAST[0], _FIRST[1] + _MIDDLE[1] + _LAST[1])
        found = [(each.query, each.price.epsilon) for each in self._ask(whole, parts, start)]  # type: ignore[union-attr]  # as asked
        (first, part), others = found[0], found[1:]
        spreads = [(self._write_influences(start).query, _SPREADS)] if self.sandwich else []
        return ((first, part + sum(_SCALES) * self._rest), *others, *spreads)

    @property
    def _rest(self) -> Fraction:
        """The part of the price that all other rounds share."""
        return 1 - _SPREADS if self.sandwich else Fraction(1)

    def rehearse(self, price: Price) -> Round:
        """All rounds, with long constants: no part of the price and no sensitivity depends on these."""
        ends = [round_coefficient(LARGEST_COEFFICIENT * (-0.987654321) ** place) for place in range(1, 3)]
        far = tuple(ends[place % 2] for place in range(len(self.design.basis)))
        cut, rest = HuberView(self._start.coordinates, far, Fraction(12345677, _FINE)), price * self._rest
        scales = tuple(self._ask_scale(cut, rest * part) for part in _SCALES)
        asked = (self._ask(rest, parts, cut) for parts in (_FIRST, _MIDDLE, _LAST))
        spreads = (self._write_influences(cut).measure(price * _SPREADS),) if self.sandwich else ()
        return (*chain.from_iterable(asked), *scales, *spreads)

    def steps(self, price: Price) -> Steps:
        start, rest = self._start, price * self._rest
        first = Evidence(start.coordinates, *(yield from self._look(rest, _FIRST, start)))
        scene = Outset(LeastSquaresStart(), first).scene
        usual, point = UsualInformation(scene, first), _confine(scene, scene.point)
        cut = yield from self._cut(scene, point, rest * _SCALES[0])
        found = usual.pool(*(yield from self._look(rest, _MIDDLE, cut)))
        point = _confine(scene, point + float(cut.reach) * shorten(found.newton(), scene.squares))
        cut = yield from self._cut(scene, point, rest * _SCALES[1])
        if not self.sandwich:
            last = usual.pool(*(yield from self._look(rest, _LAST, cut)))
            return self._conclude(scene, cut, point, last)
        known = _find_influences(scene, found, pure=isinstance(price, Pure))
        sums = known.choose(self._write_influences(cut), price * _SPREADS, 1.0)
        *measured, squares = yield (*self._ask(rest, _LAST, cut), sums.measure(price * _SPREADS))
        last = usual.pool(*self._recover(rest, cut, measured))
        ratios = replace(known, supposed=_suppose(scene, found, last)).compare(sums, squares, _correct(scene), 1.0)
        return self._conclude(scene, cut, point, last, np.where(last.carried, ratios, 1.0))

    @property
    def _start(self) -> HuberView:
        coordinates = Coordinates(self.design, tuple(map(Span.of, self.design.numbers)))
        return HuberView(coordinates, (Fraction(0),) * len(self.design.basis), Fraction(1))

    def _cut(self, scene: Scene, point: Floats, price: Price) -> _Flow[HuberView]:
        """The round that looks at a point, at the reach that follows from the median size of the residuals there."""
        written = tuple(map(round_coefficient, (scene.coordinates.of_design @ point).tolist()))
        (chosen,) = yield (self._ask_scale(HuberView(scene.coordinates, written, Fraction(1)), price),)
        wanted = int(chosen.values.ravel()[0]) * float(_SIZES.step) * NORMAL_SCALE * float(self.k)
        return HuberView(scene.coordinates, written, max(Fraction(round(wanted * _FINE), _FINE), _LEAST_REACH))

    # What is measured.

    def _ask_scale(self, cut: HuberView, price: Price) -> Measure:
        """The median size of the residuals."""
        size = call("abs", self._write_residual(cut))
        histogram = Histogram(size, _SIZES, (Fraction(1, 2),), self.confidence)
        return Measure(Query(self.relation, (), histogram), price, "halving")

    @cached_property
    def _span(self) -> Span:
        """Where the response lies."""
        return Span.of_response(self.design)

    def _write_residual(self, cut: HuberView) -> Expression:
        """The residual of a row, in reaches."""
        scaled = [each.value for each in cut.coordinates.numbers]
        written = write_predictor(self.design, scaled, Fraction(0), cut.point)
        predictor = call("clamp", written, number(-_LARGEST), number(_LARGEST))
        response = scale(self.design.response, self._span.middle, self._span.half)
        return call("*", call("-", response, predictor), number(1 / cut.reach))

    def _multiply(self, cut: HuberView) -> tuple[Multiplier, Multiplier]:
        """The cut residual of each row, and whether it was not cut."""
        residual = self._write_residual(cut)
        inside = call("case", call("<=", call("abs", residual), number(1)), number(1), number(0))
        return (
            Multiplier(Variable(residual, _RESIDUALS), signed=True),
            Multiplier(Variable(inside, _INSIDE), signed=False),
        )

    def _layouts(self, price: Price) -> tuple[SumLayout, SumLayout]:
        sizes, pure = tuple(len(factor.levels) for factor in self.design.factors), isinstance(price, Pure)
        coordinates = self._start.coordinates
        return lay_out(coordinates.basis, sizes, pure), lay_out(coordinates.pairs, sizes, pure)

    def _ask(self, price: Price, parts: _Parts, cut: HuberView) -> Round:
        source = Source(self.relation, self.design.factors, cut.coordinates.numbers)
        layouts = self._layouts(price)
        spend(_STEPS_OF_A_BLOCK * sum(len(layout.blocks) for layout in layouts))
        asked = zip(layouts, self._multiply(cut), parts, strict=True)
        return tuple(
            each for layout, multiplier, part in asked for each in layout.measures(source, multiplier, price * part)
        )

    def _look(self, price: Price, parts: _Parts, cut: HuberView) -> _Flow[tuple[NoisySums, NoisySums]]:
        """The sums of the score and those of the information."""
        measured = yield self._ask(price, parts, cut)
        return self._recover(price, cut, measured)

    def _recover(self, price: Price, cut: HuberView, measured: Sequence[Measured]) -> tuple[NoisySums, NoisySums]:
        (scores, pairs), (residual, inside) = self._layouts(price), self._multiply(cut)
        split, numbers = len(scores.blocks), cut.coordinates.numbers
        return scores.recover(measured[:split], numbers, residual), pairs.recover(measured[split:], numbers, inside)

    def _write_influences(self, cut: HuberView) -> InfluenceSums:
        """The squares of influences, where a round looks; of extreme combinations."""
        ends = number(-1), number(1)
        numbers = tuple(call("clamp", each.value, *ends) for each in cut.coordinates.numbers)
        return InfluenceSums.extreme(self.relation, self.design, numbers, call("clamp", self._write_residual(cut), *ends))

    # What follows.

    def _conclude(
        self, scene: Scene, cut: HuberView, point: Floats, last: "PooledEvidence", ratios: Floats | None = None
    ) -> ResultTable:
        reach, half = float(cut.reach), float(self._span.half)
        step = shorten(last.newton(), scene.squares)
        length = scene.length(last.newton())
        missed = _MISSED * length * step
        noise = last.score_noise + last.information_noise(step)
        if self.inference == "population":
            noise = noise + last.squares * _correct(scene)
        covariance = last.inverse @ noise @ last.inverse + np.outer(missed, missed) + last.unknown / reach**2
        back = last.coordinates.to_columns
        values = half * (back @ (point + reach * step))
        if self.design.intercept:
            values[0] += float(self._span.middle)
        vague = reach * sqrt(max(0.0, float(scene.means @ (covariance - last.unknown / reach**2) @ scene.means)))
        settled = length <= _UNSETTLED and vague <= _VAGUE and reach <= _LARGEST_SIZE * NORMAL_SCALE * float(self.k)
        known, total = last.carried & settled, back @ covariance @ back.T
        if ratios is not None:
            alike = back @ last.inverse @ (last.squares * _correct(scene)) @ last.inverse @ back.T
            total = total + widen(alike, ratios, intercept=self.design.intercept) - alike
        fitted = Coefficients(self.design, values, total * (half * reach) ** 2, known)
        return fitted.tabulate(self.name, self.inference, self._describe(scene, cut, length))

    def _describe(self, scene: Scene, cut: HuberView, length: float) -> tuple[str, ...]:
        size = float(cut.reach * self._span.half)
        notes = [
            f"Fitted to about {max(0, round(scene.rows)):,} complete rows (noisy).",
            (
                f"The released scale is {size / float(self.k):.4g}: residuals beyond {size:.4g} count as that. "
                "Intervals are about the coefficients at this scale."
            ),
            *scene.coordinates.describe_cuts(),
        ]
        if length > _LONG:
            notes.append("The last step was still a long one: there are too few rows for the price, or the fit is odd.")
        return tuple(notes)


@dataclass(frozen=True)
class UsualInformation:
    """The products of columns in all rows, from the first round: what the rows within a reach have a share of."""

    scene: Scene
    first: Evidence

    def pool(self, score: NoisySums, own: NoisySums) -> "PooledEvidence":
        """A score with a share of them, and the products that were measured with it as far as these clearly differ."""
        share = min(max(float(own.values[0]) / self.scene.rows, _LEAST_INSIDE), 1.0)
        alone = PooledEvidence(self.scene.coordinates, score, own, self, share, 1.0)
        apart = float(((alone.information - share * self.matrix) ** 2).sum())
        noise = float((alone.spread**2).sum() + share**2 * (self.spread**2).sum())
        trust = max(0.0, 1 - noise / max(apart, noise))  # James & Stein 1961
        return replace(alone, trust=trust)

    @cached_property
    def _change(self) -> Floats:
        return self.first.coordinates.from_columns @ self.scene.coordinates.to_columns

    @cached_property
    def matrix(self) -> Floats:
        """These products in the coordinates of later rounds."""
        return np.asarray(self._change.T @ self.first.information @ self._change)

    @cached_property
    def spread(self) -> Floats:
        """Their noise there."""
        found: Floats = np.einsum("ia,ijk,jb->abk", self._change, self.first.spread, self._change, optimize=True)
        return found


@dataclass(frozen=True)
class PooledEvidence(Evidence):
    """Evidence whose information is a share of the usual one, and its own as far as that is trusted."""

    usual: UsualInformation
    share: float
    trust: float

    @cached_property
    def information(self) -> Floats:
        usual = (1 - self.trust) * self.share * self.usual.matrix
        return np.asarray(usual + self.trust * super().information)

    @cached_property
    def spread(self) -> Floats:
        usual = (1 - self.trust) * self.share * self.usual.spread
        return np.concatenate([usual, self.trust * super().spread], axis=-1)

    @property
    def squares(self) -> Floats:
        """The products of columns times the squares of the cut residuals."""
        return _make_positive(self.usual.matrix - (1 - _SQUARE) * self.information)


@dataclass(frozen=True)
class LeastSquaresStart:
    """The response itself, whose mean is the linear predictor: all rows have the same weight."""

    start: ClassVar[Fraction] = Fraction(0)
    highest_offset: ClassVar[Fraction] = Fraction(0)
    largest_weight: ClassVar[Fraction] = Fraction(1)
    mean_at_start: ClassVar[float] = 0.0
    doubt: ClassVar[float] = 1.0

    def start_mean(self, mean: float, _noise: float) -> float:
        """The mean itself."""
        return mean

    def mean_weight(self, _level: float, _variance: float) -> float:
        """The same everywhere."""
        return 1.0

    def find_level(self, mean: float, _variance: float) -> float:
        """The mean itself."""
        return mean


def _confine(scene: Scene, point: Floats) -> Floats:
    """A point whose linear predictors are no larger than the response can be."""
    return point / max(1.0, scene.length(point))


def _correct(scene: Scene) -> float:
    """What the squares of residuals of a fit lack."""
    size = scene.coordinates.size
    return max(scene.rows, 2.0 * size) / (max(scene.rows, 2.0 * size) - size)


def _combine(found: PooledEvidence) -> Floats:
    """How the coefficients of columns follow from scores."""
    return np.asarray(found.coordinates.to_columns @ found.inverse)


def _suppose(scene: Scene, found: PooledEvidence, last: PooledEvidence) -> Floats:
    """The variances of such combinations of the scores of a last round, for residuals of one spread."""
    ways = _combine(found)
    return np.diagonal(ways @ last.squares @ ways.T) * _correct(scene)


def _find_influences(scene: Scene, found: PooledEvidence, *, pure: bool) -> Influences:
    """What rows will add to coefficients in the last round, as the round before it lets one expect."""
    ways, less = _combine(found), float(_MIDDLE[0] / _LAST[0]) ** (2 if pure else 1)
    noise = np.diagonal(ways @ found.score_noise @ ways.T) * less
    return Influences(ways @ found.coordinates.of_design.T, _suppose(scene, found, found), noise)


def _make_positive(matrix: Floats) -> Floats:
    """The nearest matrix that squares can have."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _build(frame: Frame, arguments: Arguments) -> HuberRegression:
    design = build_design(arguments[ARGUMENT], frame)
    check_model(frame.relation, design, arguments["inference"])
    rows = design.complete_cases(frame.relation)
    return HuberRegression(rows, design, arguments["inference"], arguments["k"], frame.confidence)


METHOD = Method(
    name="huber_regression",
    chapter="models",
    summary="Robust linear regression (Huber): coefficients that outliers of the response hardly move.",
    parameters=(FORMULA, TUNING, ADJUST, INFERENCE),
    build=_build,
    returns=RETURNS,
    example="SELECT * FROM huber_regression((SELECT salary, age, sex FROM people), formula => 'salary ~ age + C(sex)')",
    elsewhere={"R": "MASS::rlm", "SAS": "PROC ROBUSTREG", "statsmodels": "RLM", "scikit-learn": "HuberRegressor"},
    notes=(
        "Residuals may differ in spread.",
        FAR_VALUES,
    ),
)
