"""Robust regression: Huber's M-estimator, which gross outliers of the response hardly move.

All rounds measure the same sums at other coefficients and another reach: of the residuals, cut at the reach, times the
columns (the score), and of the products of columns in the rows whose residuals are within it (the information). The
first has a reach that no residual exceeds, which is least squares. Between rounds the scale is the median size of the
residuals. The last step has the sandwich of score, noise and information as its covariance (Huber 1967): the squares of
residuals that were cut are 1, in reaches, and those of the others are taken to be no larger than of nearly even ones.
"""

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import sqrt
from typing import ClassVar, Self, TypeAlias, TypeVar

import numpy as np

from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.methods.contract import INFERENCE, Arguments, Frame, Method
from adomnia.methods.describe.huber_location import NORMAL_SCALE, TUNING
from adomnia.methods.parts.describe.rounds import SeveralRounds
from adomnia.methods.parts.models.coefficients import RETURNS, Coefficients
from adomnia.methods.parts.models.design import Design, build_design
from adomnia.methods.parts.models.evidence import Coordinates, Evidence, Span, shorten
from adomnia.methods.parts.models.formula import ARGUMENT
from adomnia.methods.parts.models.newton import check_model
from adomnia.methods.parts.models.outset import REACH, Outset, Scene
from adomnia.methods.parts.models.predictor import LARGEST_COEFFICIENT, round_coefficient, scale, write_predictor
from adomnia.methods.parts.models.regression import FORMULA
from adomnia.methods.parts.models.weighted_sums import Multiplier, NoisySums, Source, SumLayout, lay_out
from adomnia.methods.parts.testing.report import ADJUST
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price, Pure
from adomnia.privacy.expressions import Expression, call, number
from adomnia.privacy.kinds import LATER
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Histogram
from adomnia.privacy.vectors import Variable
from adomnia.statistics.contract import Floats, Measure, Measured, ResultTable, Round, Steps
from adomnia.work import spend

# Of the price: score and information of the first round, of the middle one and of the last, and the scale before those.
_FIRST = Fraction(8, 100), Fraction(26, 100)
_MIDDLE = Fraction(8, 100), Fraction(3, 100)
_LAST = Fraction(37, 100), Fraction(10, 100)
_SCALES = Fraction(4, 100), Fraction(4, 100)
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
_BESIDE = 0.5  # of the standard error that sampling makes: the most that noise may, where columns are not cut at 3.5 sd
_CLEAR = 5.0  # times its noise: the least that the products of a column with itself are to have
_FEWEST = 4.0  # rows

_Parts: TypeAlias = tuple[Fraction, Fraction]  # of the price, for the score and for the information
_Found = TypeVar("_Found")
_Flow: TypeAlias = Generator[Round, tuple[Measured, ...], _Found]


@dataclass(frozen=True)
class HuberView:
    """Where a round looks: coefficients of the basis in some coordinates, and the reach that residuals are cut at."""

    coordinates: Coordinates
    point: tuple[Fraction, ...]
    reach: Fraction


_ROWS = NoteTemplate("fitted_to_rows", "Fitted to about {rows:,} complete rows (noisy).")
_SCALE = NoteTemplate(
    "scale_of_residuals",
    "The released scale is {scale:.4g}: residuals beyond {size:.4g} count as that. Intervals are about the "
    "coefficients at this scale.",
)
_LONG_STEP = define_note(
    "long_last_step", "The last step was still a long one: there are too few rows for the price, or the fit is odd."
)


@dataclass(frozen=True)
class HuberRegression(SeveralRounds):
    """Coefficients of a linear model that outliers of the response hardly move.

    Method      least squares from noisy sums; then Newton's method on noisy sums of residuals that are cut at k scales,
                the scale being the median size of the residuals, chosen by rank.
    Guarantee   all rounds composed; between them is post-processing.
    Bias        clamping; values of columns that explain are cut at a released range in the sums. Intervals are about
                the coefficients at the released scale.
    Cite        Huber 1964, 1973; Huber 1967 (the covariance); Dwork & Lei 2009 (private robust statistics).
    """

    tag: ClassVar[str] = "HuberRegression"
    name: ClassVar[str] = "huber_regression"
    relation: Relation
    design: Design
    inference: str
    k: Fraction
    confidence: Fraction
    cautious: bool = field(default=False, metadata={LATER: True})  # False: as answers of version 0.1.0 were measured

    def specialize_for(self, _price: Price) -> Self:
        """With columns that are cut only where noise asks for it."""
        return replace(self, cautious=True)

    def specialize_as_before(self, _price: Price) -> Self:
        return self

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        """What each query of the first round gets in all rounds; the first pays for the scales, too.

        So the rounds lose no more than the sums of their parts, in squares neither.
        """
        whole, start = Pure(1), self._start
        parts = (_FIRST[0] + _MIDDLE[0] + _LAST[0], _FIRST[1] + _MIDDLE[1] + _LAST[1])
        found = [(each.query, each.price.epsilon) for each in self._ask(whole, parts, start)]  # type: ignore[union-attr]  # as asked
        (first, part), others = found[0], found[1:]
        return ((first, part + sum(_SCALES)), *others)

    def planned_measures(self, price: Price) -> Round:
        """All rounds, with long constants: no part of the price and no sensitivity depends on these."""
        ends = [round_coefficient(LARGEST_COEFFICIENT * (-0.987654321) ** place) for place in range(1, 3)]
        far = tuple(ends[place % 2] for place in range(len(self.design.basis)))
        cut = HuberView(self._start.coordinates, far, Fraction(12345677, _FINE))
        scales = tuple(self._ask_scale(cut, price * part) for part in _SCALES)
        asked = (self._ask(price, parts, cut) for parts in (_FIRST, _MIDDLE, _LAST))
        return (*chain.from_iterable(asked), *scales)

    def steps(self, price: Price) -> Steps:
        start = self._start
        first = Evidence(start.coordinates, *(yield from self._look(price, _FIRST, start)))
        scene = Outset(LeastSquaresStart(), first, self._choose_reach(first, price)).scene
        usual, point = UsualInformation(scene, first), _confine(scene, scene.point)
        cut = yield from self._cut(scene, point, price * _SCALES[0])
        found = usual.pool(*(yield from self._look(price, _MIDDLE, cut)))
        point = _confine(scene, point + float(cut.reach) * shorten(found.newton(), scene.squares))
        cut = yield from self._cut(scene, point, price * _SCALES[1])
        last = usual.pool(*(yield from self._look(price, _LAST, cut)))
        return self._conclude(scene, cut, point, last)

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

    def _choose_reach(self, first: Evidence, price: Price) -> float:
        """Within how many standard deviations of their means columns are multiplied with residuals.

        Where the model is no more than an approximation, slopes of columns that are cut are others. Noise in a slope
        goes with the range that is left, in parts of its standard error with the root of the number of rows.
        """
        if not self.cautious:
            return REACH
        rows, power = max(first.weight, _FEWEST), 1.0 if isinstance(price, Pure) else 0.5
        of_scores, of_products = (
            float(_FIRST[place] / _LAST[place]) ** power * float(np.sqrt((each.spread**2).sum(axis=1)).max())
            for place, each in enumerate((first.sums, first.pairs))
        )
        seen = sqrt(_LEAST_INSIDE * rows / (_CLEAR * of_products))
        beside: float = _BESIDE * sqrt(_SQUARE * rows) / of_scores
        return max(REACH, min(seen, beside))

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
        (scores, pairs), (residual, inside) = self._layouts(price), self._multiply(cut)
        split, numbers = len(scores.blocks), cut.coordinates.numbers
        return scores.recover(measured[:split], numbers, residual), pairs.recover(measured[split:], numbers, inside)

    # What follows.

    def _conclude(self, scene: Scene, cut: HuberView, point: Floats, last: "PooledEvidence") -> ResultTable:
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
        known = last.identified & settled
        fitted = Coefficients(self.design, values, back @ covariance @ back.T * (half * reach) ** 2, known)
        return fitted.tabulate(self.name, self.inference, self._describe(scene, cut, length))

    def _describe(self, scene: Scene, cut: HuberView, length: float) -> tuple[Note, ...]:
        size = float(cut.reach * self._span.half)
        return (
            _ROWS(rows=max(0, round(scene.rows))),
            _SCALE(scale=size / float(self.k), size=size),
            *scene.coordinates.describe_cuts(),
            *([_LONG_STEP] if length > _LONG else []),
        )


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
    known_as={"R": "MASS::rlm", "SAS": "PROC ROBUSTREG", "statsmodels": "RLM", "scikit-learn": "HuberRegressor"},
    notes=(
        "Residuals may differ in spread.",
        (
            "Values far from the mean of a column pull at the coefficients no more than the ends of a range that is"
            " found with noise: at least 3.5 standard deviations on both sides, more where there are enough rows for"
            " the price. A note tells it."
        ),
    ),
)
