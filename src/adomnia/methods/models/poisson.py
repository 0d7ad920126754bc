"""Poisson regression: what makes a number of events larger."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import exp, log
from typing import ClassVar, Self

from adomnia.messages.texts import Note, NoteTemplate
from adomnia.methods.analysis import with_values
from adomnia.methods.contract import INFERENCE, Arguments, BadArgument, Frame, Method, NumberColumn, Parameter
from adomnia.methods.parts.models.coefficients import EXPONENTIATE, RETURNS
from adomnia.methods.parts.models.design import build_design, take_logarithm
from adomnia.methods.parts.models.formula import ARGUMENT
from adomnia.methods.parts.models.newton import FAR_VALUES, GeneralisedLinear, check_model
from adomnia.methods.parts.testing.report import ADJUST
from adomnia.methods.sampling_weights import WEIGHT, read_weights
from adomnia.privacy.events import Price
from adomnia.privacy.expressions import Expression, call, number
from adomnia.privacy.kinds import LATER

_LOWEST = -30
_LEAST_SHARE = 1e-3  # of the largest number, where a start is looked for
_UNIT = 2**20
_LEAST_BOUND = 1e-6  # of the upper end of responses: their means are told from 0 far below
_MOST_BOUND = 1e100  # of the same: squares of residuals and of noise are still numbers


_EXPOSURE = NoteTemplate(
    "exposure",
    "Fitted in {rounds} rounds. The exposure of all complete rows is about that of {rows:,} rows with the largest "
    "exposure{weights} (noisy).",
)


@dataclass(frozen=True)
class Poisson(GeneralisedLinear):
    """Poisson regression with a logarithmic link. No mean is above the upper bound of the response.

    Method      Newton's method on noisy scores sum (y - m) x and information sum m x x'. Standard errors are those of
                counts whose variance is their mean times a dispersion, which sum (y - m)^2 tells.
    Guarantee   all rounds composed; between them is post-processing.
    Bias        none beyond that of Poisson regression, if the bounds of the response cut nothing off and columns are
                not skewed. The slope of a skewed one is too steep: by about a tenth of itself at 20,000 rows, at any
                price, and by half and more at 2,000 rows and epsilon 1. Intervals allow for that.
    Cite        Wedderburn 1974 (quasi-likelihood); McCullagh & Nelder 1989; Dwork, McSherry, Nissim & Smith 2006
                (sums).
    """

    tag: ClassVar[str] = "Poisson"
    name: ClassVar[str] = "poisson"
    offset: NumberColumn | None = field(default=None, metadata={LATER: True})

    def specialize_for(self, price: Price) -> Self:
        """As others, with standard errors for counts that scatter farther than Poisson's, if they are about people."""
        return replace(super().specialize_for(price), dispersed=self.inference == "population")

    @property
    def highest_offset(self) -> Fraction:
        return Fraction(0) if self.offset is None else self.offset.domain.upper

    def add_offset(self, predictor: Expression) -> Expression:
        if self.offset is None:
            return predictor
        ends = number(self.offset.domain.lower), number(self.offset.domain.upper)
        return call("+", predictor, call("clamp", self.offset.value, *ends))

    def describe_rows(self, rounds: int, counted: float) -> Note:
        if self.offset is None:
            return super().describe_rows(rounds, counted)
        weights = " and weight" if self.weights else ""
        return _EXPOSURE(rounds=rounds, rows=max(0, round(counted)), weights=weights)

    @property
    def limits(self) -> tuple[Fraction, Fraction]:
        return Fraction(_LOWEST), self.start

    @property
    def start(self) -> Fraction:
        return Fraction(int(log(self.design.response.domain.upper) * _UNIT), _UNIT)

    @property
    def largest_residual(self) -> Fraction:
        return self.design.response.domain.upper

    @property
    def largest_weight(self) -> Fraction:
        return self.design.response.domain.upper

    def start_mean(self, mean: float, noise: float) -> float:
        # From below, Newton's steps are far too long.
        return max(mean, 0.0) + noise if self.cautious else mean

    @property
    def mean_at_start(self) -> float:
        return exp(self.start)

    def write_mean(self, predictor: Expression) -> Expression:
        return call("exp", predictor)

    def write_weight(self, predictor: Expression) -> Expression:
        return self.write_mean(predictor)

    def mean_weight(self, level: float, variance: float) -> float:
        return exp(min(level + variance / 2, float(self.start)))

    def heaviest(self, lower: float, upper: float) -> float:  # noqa: ARG002 - weights rise
        return self.mean_weight(upper, 0.0)

    def bend(self, level: float) -> float:  # noqa: ARG002 - the same everywhere
        return 1.0

    def find_level(self, mean: float, variance: float) -> float:
        return log(max(mean, _LEAST_SHARE * float(self.largest_weight))) - variance / 2


def _build(frame: Frame, arguments: Arguments) -> Poisson:
    design = build_design(arguments[ARGUMENT], frame)
    bounds = design.response.domain
    if bounds.lower < 0 or bounds.upper <= 0:
        why = f"explains {design.response.name}, which may be {float(bounds.lower):g}"
        fix = f"count from 0: SELECT CLAMP({design.response.name}, 0, 100) AS {design.response.name} ..."
        raise BadArgument(ARGUMENT, why, fix)
    if bounds.upper < _LEAST_BOUND:
        why = f"explains {design.response.name}, which is {float(bounds.upper):g} at most"
        raise BadArgument(ARGUMENT, why, "multiply it in the SELECT, as by 1,000: the intercept grows by LN(1000)")
    if bounds.upper > _MOST_BOUND:
        why = f"explains {design.response.name}, which may be {float(bounds.upper):g}"
        raise BadArgument(ARGUMENT, why, "bound it by what there can be, as CLAMP(..., 0, 1000000) in the SELECT")
    check_model(frame.relation, design, arguments["inference"])
    rows, offset = design.complete_cases(frame.relation), _read_exposure(arguments.get("exposure"))
    weights = read_weights(arguments)
    rows = with_values(rows, *(each.value for each in (offset, weights) if each is not None))
    return Poisson(rows, design, arguments["inference"], weights, offset=offset)


def _read_exposure(exposure: NumberColumn | None) -> NumberColumn | None:
    """What is added to the linear predictor: the logarithm of the exposure."""
    if exposure is None:
        return None
    lower, upper = float(exposure.domain.lower), float(exposure.domain.upper)
    if lower <= 0:
        ends = f"{upper / 1000 if upper > 0 else 1:g}, {max(upper, 2):g}"
        fix = f"name the least exposure that there can be, such as exposure => CLAMP({exposure.name}, {ends})"
        raise BadArgument("exposure", f"is {exposure.name}, which may be {lower:g}", fix)
    return take_logarithm(exposure)


METHOD = Method(
    name="poisson",
    chapter="models",
    summary="Poisson regression: logarithms of expected counts, with standard errors, tests and intervals.",
    parameters=(
        Parameter(ARGUMENT, "formula", "the count and what explains it: 'visits ~ age + C(city)'", required=True),
        Parameter(
            "exposure",
            "column",
            "how long or how often events were counted in a row, above zero: its logarithm is added to the predictor",
        ),
        WEIGHT,
        EXPONENTIATE,
        ADJUST,
        INFERENCE,
    ),
    build=_build,
    returns=RETURNS,
    example=(
        "SELECT * FROM poisson((SELECT LEAST(FLOOR(age / 10), 12) AS decades, sex FROM people), "
        "formula => 'decades ~ sex')"
    ),
    known_as={"R": "glm(family = quasipoisson), offset(log(x))", "SAS": "PROC GENMOD", "statsmodels": "Poisson"},
    notes=(
        "A note tells the Wald test of all terms. Deviance and AIC are not told: the likelihood is not measured.",
        "Standard errors allow for counts whose variance is not their mean (quasi-Poisson). A note tells the ratio.",
        "With weights, standard errors are those of sampling weights, where the model holds.",
        "With an exposure, coefficients and predictions are about rates: the expected count of an exposure of 1.",
        "An exposure that is mostly far below its upper bound makes for more noise: CLAMP it.",
        "The upper bound of the count is that of its mean, too: choose one that the data does not reach.",
        FAR_VALUES,
        "Of a skewed column, such as an income, the interval is wider: take its logarithm, if that explains as well.",
    ),
)
