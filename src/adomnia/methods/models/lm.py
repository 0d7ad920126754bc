"""Linear regression with standard errors, tests and intervals that know the noise."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from adomnia.mechanisms.contract import find_alpha
from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.methods.analysis import with_values
from adomnia.methods.contract import BY, INFERENCE, Arguments, Frame, Method
from adomnia.methods.parts.models.evidence import Span
from adomnia.methods.parts.models.influence import MOST_INFLUENCES, InfluenceSums
from adomnia.methods.parts.models.least_squares import LeastSquares, Scores
from adomnia.methods.parts.models.predictor import LARGEST_COEFFICIENT, round_coefficient, scale, write_predictor
from adomnia.methods.parts.models.regression import (
    FORMULA,
    Regression,
    TermTest,
    find_overall_test,
    is_about_population,
    read_rows,
)
from adomnia.methods.parts.models.sums import NoisyProducts
from adomnia.methods.parts.testing.report import ADJUST
from adomnia.methods.sampling_weights import WEIGHT, read_weights
from adomnia.methods.simulation import drive
from adomnia.privacy.events import Price
from adomnia.privacy.expressions import call, number
from adomnia.privacy.kinds import LATER
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Bounds, Estimate, Fact, Floats, Measured, ResultTable, Steps, name_about
from adomnia.statistics.p_values import EXPLAINED, bound_p_values, say_p_value

NOT_ESTIMABLE = NoteTemplate(
    "columns_not_estimable",
    "Not estimable: {terms}. In the data these columns do not differ enough from the others, or too few rows have "
    "them, to be seen above the noise. The rest stands. A larger price, fewer terms or another reference level may "
    "help.",
)
PART = Fraction(3, 50)  # of the price, for the squares of influences
_LARGEST = 4  # linear predictor there, in half widths of the response's bounds


_OF_POPULATION = define_note(
    "lm_about_population",
    "Intervals, standard errors and tests are about the population that these rows are a sample of; they know the "
    "noise.",
)
_OF_ROWS = define_note(
    "lm_about_rows", "Intervals, standard errors and tests are about these rows themselves; they know the noise."
)
_FIT = NoteTemplate(
    "fit_of_lm",
    "{rows}; residual standard error about {deviation:.4g} on {degrees_of_freedom:,} degrees of freedom; {squares}. "
    "All are noisy.",
)
_F_TEST = NoteTemplate(
    "f_test",
    "F test of all terms together: F {statistic:.4g} on {terms:,} and {degrees_of_freedom:,} degrees of freedom, "
    "{p_value}. It knows the noise.",
)


@dataclass(frozen=True)
class Lm(Regression):
    """Coefficients of a linear model.

    Method      least squares from noisy sums of products (noisy sufficient statistics); then the sums of squares of
                what each row adds to a coefficient, for standard errors where residuals have no one spread.
    Guarantee   both rounds composed; everything else is post-processing.
    Bias        clamping, rounding to the grid, and of second order in the noise.
    Cite        McSherry & Mironov 2009, Wang 2018 (noisy sufficient statistics); Fieller 1954 (the intervals); White
                1980, Angrist & Pischke 2009 (standard errors).
    """

    tag: ClassVar[str] = "Lm"
    name: ClassVar[str] = "lm"
    sandwich: bool = field(default=False, metadata={LATER: True})  # the second round; False: as in version 0.1.0

    def specialize_for(self, price: Price) -> Self:
        """With standard errors for residuals of any spread, if they are about people and not in groups."""
        told = self.population and not self.by and len(self.design.columns) <= MOST_INFLUENCES
        return replace(super().specialize_for(price), sandwich=told)

    def specialize_as_before(self, price: Price) -> Self:
        return super().specialize_for(price)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        first = super().shares
        if not self.sandwich:
            return first
        return (*((query, part * (1 - PART)) for query, part in first), (self._write_influences(None).query, PART))

    def steps(self, price: Price) -> Steps:
        if not self.sandwich:
            return (yield from super().steps(price))
        measured = yield self.planned_measures(price)[:-1]
        fit = self.fit(measured)
        influences = fit.find_influences(float(self._span.half))
        sums = influences.choose(self._write_influences(fit), price * PART, 1.0 + _LARGEST)
        (squares,) = yield (sums.measure(price * PART),)
        ratios = influences.compare(sums, squares, fit.correction, 1.0 + _LARGEST)
        return self._tell(replace(fit, ratios=np.where(fit.known, ratios, 1.0)))

    def expected_result(self, price: Price, rows: int) -> ResultTable | None:
        """What the first round tells, for residuals of one spread: none are supposed to have another."""
        if not self.sandwich:
            return None
        found = drive(replace(self, sandwich=False), price * (1 - PART), rows)[1]
        return found if isinstance(found, ResultTable) else None

    @cached_property
    def _span(self) -> Span:
        return Span.of_response(self.design)

    def _write_influences(self, fit: LeastSquares | None) -> InfluenceSums:
        """The squares of influences at the residuals of a fit; at extreme ones without it."""
        span, domains = self._span, [each.domain for each in self.sums.variables]
        found = np.array([(-0.987654321) ** place for place in range(len(self.design.basis))]) * LARGEST_COEFFICIENT
        if fit is not None:
            found = fit.predict(float(span.half), float(span.middle))
        point = [round_coefficient(each) for each in found.tolist()]
        middles = [(each.grid_lower + each.grid_upper) * each.step / 2 for each in domains]
        scaled = zip(self.design.numbers, middles, (each.width * each.step / 2 for each in domains), strict=False)
        numbers = tuple(scale(column, middle, half) for column, middle, half in scaled)
        predictor = write_predictor(self.design, numbers, Fraction(0), point)
        confined = call("clamp", predictor, number(-_LARGEST), number(_LARGEST))
        residual = call("-", scale(self.design.response, span.middle, span.half), confined)
        if self.sums.weighting is not None:
            residual = call("*", residual, self.sums.weighting.share)
        return InfluenceSums.extreme(self.relation, self.design, numbers, residual)

    def tabulate(self, *measured: Measured) -> ResultTable:
        return self._tell(self.fit(measured))

    def _tell(self, fit: LeastSquares) -> ResultTable:
        covariance = fit.covariance(population=self.population)
        errors = np.where(fit.known, np.sqrt(np.maximum(np.diagonal(covariance), 0.0)), np.nan)
        tests, quality = _Tests(fit, self.population), _Quality.of(fit, self.population)
        return ResultTable(
            labels={"term": self.design.names},
            estimates={"estimate": Estimate(fit.coefficients, tests.interval, "least squares from noisy sums")},
            notes=self._notes(fit, quality),
            figure={"kind": "points", "x": "term", "y": "estimate"},
            facts={
                "standard_error": lambda: list_facts(errors),
                "statistic": lambda: list_facts(tests.statistics),
                "p_value": lambda: bound_p_values(list_facts(tests.p_values)),
            },
            model=describe_model(self, fit, covariance) | quality.to_record(),
            about=name_about(population=self.population),
        )

    def _notes(self, fit: LeastSquares, quality: "_Quality") -> tuple[Note, ...]:
        lost = [name for name, known in zip(self.design.names, fit.known, strict=True) if not known]
        return (
            _OF_POPULATION if self.population else _OF_ROWS,
            _FIT(
                rows=self._describe_rows(fit.products),
                deviation=float(fit.deviation),
                degrees_of_freedom=round(fit.degrees_of_freedom),
                squares=quality.describe_squares(),
            ),
            *quality.describe_test(),
            *([NOT_ESTIMABLE(terms=lost)] if lost else []),
        )

    def _describe_rows(self, products: NoisyProducts) -> str:
        rows = max(0.0, products.rows)
        if self.sums.weighting is None:
            return f"About {round(rows):,} complete rows"
        whole, effective = rows * self.sums.weighting.upper, round(products.effective_rows)
        return f"Weights of about {whole:,.6g} in all, as exact as {effective:,} rows of equal weight"


@dataclass(frozen=True)
class _Quality:
    """How well the model explains the response: shares without intervals, and the test of all terms together."""

    squared: float | None
    adjusted: float | None
    test: TermTest
    degrees: tuple[int, int]

    @classmethod
    def of(cls, fit: LeastSquares, population: bool) -> "_Quality":
        """The test is about the population alone."""
        intercept = fit.products.plan.design.intercept
        test, terms = find_overall_test(fit, intercept=intercept) if population else (TermTest(None, None, None), 0)
        squared = fit.explained
        lost = (
            None
            if squared is None
            else (1 - squared) * (fit.degrees_of_freedom + fit.chosen - intercept) / fit.degrees_of_freedom
        )
        return cls(squared, None if lost is None else 1 - lost, test, (terms, round(fit.degrees_of_freedom)))

    def describe_squares(self) -> str:
        if self.squared is None or self.adjusted is None:
            return "R-squared is lost in the noise"
        return f"R-squared about {self.squared:.3g}, adjusted {self.adjusted:.3g}"

    def describe_test(self) -> tuple[Note, ...]:
        if self.test.statistic is None or self.test.p_value is None:
            return ()
        terms, rest = self.degrees
        p_value = say_p_value(self.test.p_value)
        return (_F_TEST(statistic=float(self.test.statistic), terms=terms, degrees_of_freedom=rest, p_value=p_value),)

    def to_record(self) -> dict[str, Any]:
        """As plain data; what is not known is left out."""
        facts = {"r_squared": self.squared, "adjusted_r_squared": self.adjusted}
        if self.test.statistic is not None:
            facts |= {"f": self.test.statistic, "f_p_value": self.test.p_value, "f_df": self.degrees[0]}
        return {name: value for name, value in facts.items() if value is not None}


@dataclass(frozen=True)
class _Tests:
    """Intervals and tests of coefficients, computed when they are read: by Student's t of their scores."""

    fit: LeastSquares
    population: bool

    @cached_property
    def _scores(self) -> Scores:
        return self.fit.scores(population=self.population)

    def interval(self, confidence: float, cells: int) -> Bounds:
        from scipy.special import stdtrit

        below, above = self._scores.interval(
            float(stdtrit(self.fit.degrees_of_freedom, 1 - find_alpha(confidence, cells, "any") / 2))
        )
        return bound_known(self.fit.coefficients, below, above)

    @cached_property
    def statistics(self) -> Floats:
        return -self._scores.statistics(-self.fit.coefficients)

    @property
    def p_values(self) -> Floats:
        from scipy.special import stdtr

        return np.asarray(2 * stdtr(self.fit.degrees_of_freedom, -np.abs(self.statistics)))


def bound_known(values: Floats, below: Floats, above: Floats) -> Bounds:
    """From so far below to so far above the values; without bounds where they are not estimable."""
    lost = np.isnan(values)
    return np.where(lost, -np.inf, values + below), np.where(lost, np.inf, values + above)


def list_facts(values: Floats) -> list[Fact]:
    """As a column without intervals: None where it is not estimable."""
    return [float(each) if np.isfinite(each) else None for each in values]


def describe_model(analysis: Regression, fit: LeastSquares, covariance: Floats) -> dict[str, Any]:
    """What predictions need, as plain data."""
    return {
        "kind": analysis.name,
        "formula": analysis.design.formula,
        "columns": analysis.design.plain_columns(),
        "factors": analysis.design.plain_factors(),
        "coefficients": list_facts(fit.coefficients),
        "covariance": covariance.tolist(),
        "sigma": fit.deviation,
        "df": fit.degrees_of_freedom,
    }


def _build(frame: Frame, arguments: Arguments) -> Lm:
    (relation, by, design), weights = read_rows(frame, arguments), read_weights(arguments)
    rows = relation if weights is None else with_values(relation, weights.value)
    return Lm(rows, by, design, population=is_about_population(frame, arguments, "lm"), weights=weights)


METHOD = Method(
    name="lm",
    chapter="models",
    summary="Linear regression: coefficients with standard errors, tests and intervals.",
    parameters=(FORMULA, WEIGHT, BY, ADJUST, INFERENCE),
    build=_build,
    returns={
        "term": "the column of the model: (Intercept), age, city[Oslo], age:city[Oslo]",
        "estimate": "its coefficient, in the units of the columns",
        "standard_error": "its standard error: noise and sampling together",
        "statistic": "how far the estimate is from 0, in standard errors if the coefficient were 0",
        "p_value": f"of the test that the coefficient is 0; {EXPLAINED}",
    },
    example="SELECT * FROM lm((SELECT salary, age, sex FROM people), formula => 'salary ~ age + C(sex)')",
    known_as={"R": "lm", "SAS": "PROC REG, PROC GLM", "statsmodels": "ols", "SciPy": "linregress"},
    notes=(
        "Rows are taken for independent; no distribution is assumed. Residuals may differ in spread.",
        (
            "Standard errors are the larger of R's lm and White's (HC1). Sums for White's take 6% of the price. "
            "With `by`, about the data, or with more than 10 coefficients, they are those of R's lm with noise."
        ),
        "With weights, standard errors are those of sampling weights.",
        "Notes tell the residual standard error, R-squared, adjusted R-squared, and the F test of all terms.",
        "poly(x, k) makes raw powers, as poly(x, k, raw = TRUE) in R.",
        "A factor is compared with its first declared value, or with the one that Treatment() names.",
    ),
)
