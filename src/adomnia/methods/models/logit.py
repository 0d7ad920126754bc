"""Logistic regression: what makes an outcome more probable."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, log, pi, sqrt
from typing import ClassVar

from adomnia.methods.analysis import with_values
from adomnia.methods.contract import INFERENCE, Arguments, BadArgument, Frame, Method, NumberColumn, Parameter
from adomnia.methods.parts.models.coefficients import EXPONENTIATE, RETURNS
from adomnia.methods.parts.models.design import build_design
from adomnia.methods.parts.models.formula import ARGUMENT
from adomnia.methods.parts.models.newton import FAR_VALUES, GeneralisedLinear, check_model
from adomnia.methods.parts.models.predictor import at_level
from adomnia.methods.parts.testing.report import ADJUST
from adomnia.methods.sampling_weights import WEIGHT, read_weights
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression, call, number, truth_as_number

_LIMIT = 30
_LEAST_SHARE = 1e-3  # of an outcome, where a start is looked for
_SPREAD = pi / 8  # of a normal distribution through which the logistic function stays one (MacKay 1992)
_FACTOR_RESPONSE = re.compile(r"\s*(?:C\(\s*)?(`[^`]+`|[\w.]+)\s*\)?\s*~")
_FIX = "use a condition, a number from 0 to 1, or a factor of two values: y ~ x, C(outcome) ~ x"


@dataclass(frozen=True)
class Logit(GeneralisedLinear):
    """Logistic regression.

    Method      Newton's method on noisy scores sum (y - p) x and information sum p (1 - p) x x'.
    Guarantee   all rounds composed; between them is post-processing.
    Bias        none beyond that of logistic regression and what its intervals allow for, where the model holds. Values
                far from the mean of a column are cut at a released range in scores and information.
    Cite        McCullagh & Nelder 1989; Dwork, McSherry, Nissim & Smith 2006 (sums).
    """

    tag: ClassVar[str] = "Logit"
    name: ClassVar[str] = "logit"

    @property
    def limits(self) -> tuple[Fraction, Fraction]:
        return Fraction(-_LIMIT), Fraction(_LIMIT)

    @property
    def start(self) -> Fraction:
        return Fraction(0)

    @property
    def largest_residual(self) -> Fraction:
        return Fraction(1)

    @property
    def largest_weight(self) -> Fraction:
        return Fraction(1, 4)

    @property
    def mean_at_start(self) -> float:
        return 0.5

    def write_mean(self, predictor: Expression) -> Expression:
        return call("/", number(1), call("+", number(1), call("exp", call("negative", predictor))))

    def write_weight(self, predictor: Expression) -> Expression:
        mean = self.write_mean(predictor)
        return call("*", mean, call("-", number(1), mean))

    def mean_weight(self, level: float, variance: float) -> float:
        width = sqrt(1 + _SPREAD * variance)
        share = 1 / (1 + exp(min(max(-level / width, -_LIMIT), _LIMIT)))
        return share * (1 - share) / width

    def heaviest(self, lower: float, upper: float) -> float:
        return self.mean_weight(max(lower, min(upper, 0.0)), 0.0)

    def bend(self, level: float) -> float:
        return 1 - 2 / (1 + exp(min(max(-level, -_LIMIT), _LIMIT)))

    def find_level(self, mean: float, variance: float) -> float:
        share = min(max(mean, _LEAST_SHARE), 1 - _LEAST_SHARE)
        return log(share / (1 - share)) * sqrt(1 + _SPREAD * variance)


def _build(frame: Frame, arguments: Arguments) -> Logit:
    text = arguments[ARGUMENT]
    design = build_design(_hide_factor(text), _with_response(frame, text))
    bounds = design.response.domain
    if bounds.lower < 0 or bounds.upper > 1:
        why = f"explains {design.response.name}, whose bounds are not 0 and 1"
        raise BadArgument(ARGUMENT, why, _FIX)
    check_model(frame.relation, design, arguments["inference"])
    rows, weights = design.complete_cases(frame.relation), read_weights(arguments)
    if weights is not None:
        rows = with_values(rows, weights.value)
    return Logit(rows, replace(design, formula=text), arguments["inference"], weights)


def _with_response(frame: Frame, text: str) -> Frame:
    """The frame with the response as 0 and 1, if it is a factor of two values: 1 is the second of them."""
    found = dict(_find_factor(frame, text))
    return replace(frame, numbers={**frame.numbers, **found}) if found else frame


def _find_factor(frame: Frame, text: str) -> Iterator[tuple[str, NumberColumn]]:
    written = _FACTOR_RESPONSE.match(text)
    name = written[1].strip("`").lower() if written else ""
    factor = frame.factors.get(name)
    as_factor = written is not None and "C(" in written[0]
    if factor is None or (name in frame.numbers and not as_factor):
        return
    if len(factor.levels) != 2:
        raise BadArgument(ARGUMENT, f"explains {factor.name}, which has {len(factor.levels)} values", _FIX)
    yield name, NumberColumn(factor.name, truth_as_number(at_level(factor, 1)), Numbers.integers(0, 1))


def _hide_factor(text: str) -> str:
    """The text with the response alone where it stands in C(): every other place stays where it is."""
    written = _FACTOR_RESPONSE.match(text)
    if written is None or "C(" not in written[0]:
        return text
    return written[0].replace("C(", "  ").replace(")", " ") + text[written.end() :]


METHOD = Method(
    name="logit",
    chapter="models",
    summary="Logistic regression: log-odds of an outcome, with standard errors, tests and intervals.",
    parameters=(
        Parameter(ARGUMENT, "formula", "the outcome and what explains it: 'rich ~ age + C(city)'", required=True),
        WEIGHT,
        EXPONENTIATE,
        ADJUST,
        INFERENCE,
    ),
    build=_build,
    returns=RETURNS,
    example="SELECT * FROM logit((SELECT salary > 60000 AS rich, age, sex FROM people), formula => 'rich ~ age + sex')",
    known_as={
        "R": "glm(family = binomial)",
        "SAS": "PROC LOGISTIC",
        "statsmodels": "Logit",
        "scikit-learn": "LogisticRegression",
    },
    notes=(
        "A note tells the Wald test of all terms. Deviance and AIC are not told: the likelihood is not measured.",
        "With weights, standard errors are those of sampling weights, where the model holds.",
        "An outcome of two values is explained by its second one.",
        "Where effects are so steep that most rows are nearly sure, and rows are few, intervals are too narrow.",
        FAR_VALUES,
    ),
)
