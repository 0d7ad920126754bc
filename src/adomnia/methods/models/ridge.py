"""Ridge regression: coefficients that are drawn towards zero, where noise would carry them away."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from adomnia.mechanisms.contract import find_alpha
from adomnia.messages.texts import NoteTemplate, define_note
from adomnia.methods.contract import BY, Arguments, Frame, Method, Parameter
from adomnia.methods.models.lm import NOT_ESTIMABLE, bound_known, describe_model
from adomnia.methods.parts.models.least_squares import LeastSquares
from adomnia.methods.parts.models.regression import FORMULA, Regression, read_rows
from adomnia.statistics.contract import Bounds, Estimate, Measured, ResultTable

_PENALTY = NoteTemplate(
    "penalty", "The penalty is {penalty:.4g} on the squares of slopes, in half widths of the bounds."
)
_ABOUT = define_note(
    "about_penalised",
    "Intervals are about the coefficients that these rows have with this penalty, without noise. Those of the "
    "population are further from zero: a penalty has no standard errors.",
)


@dataclass(frozen=True)
class Ridge(Regression):
    """Coefficients of a linear model with a penalty on the squares of all slopes, in half widths of the bounds.

    Method      penalised least squares from noisy sums of products; without a penalty of the caller's, as much as
                lifts the products of every direction above twice their noise.
    Guarantee   all sums composed; everything else is post-processing.
    Bias        towards zero, on purpose.
    Cite        Wang 2018 (AdaSSP).
    """

    tag: ClassVar[str] = "Ridge"
    name: ClassVar[str] = "ridge"
    penalty: Fraction | None = None

    def tabulate(self, *measured: Measured) -> ResultTable:
        fit = self._penalise(self.fit(measured))
        covariance = fit.covariance(population=False)
        errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
        lost = [name for name, known in zip(self.design.names, fit.known, strict=True) if not known]

        def interval(confidence: float, cells: int) -> Bounds:
            from scipy.special import ndtri

            reach = float(ndtri(1 - find_alpha(confidence, cells, "any") / 2)) * errors
            return bound_known(fit.coefficients, -reach, reach)

        return ResultTable(
            labels={"term": self.design.names},
            estimates={"estimate": Estimate(fit.coefficients, interval, "penalised least squares from noisy sums")},
            notes=(
                _PENALTY(penalty=float(fit.penalty)),
                _ABOUT,
                *([NOT_ESTIMABLE(terms=lost)] if lost else []),
            ),
            figure={"kind": "points", "x": "term", "y": "estimate"},
            model=describe_model(self, fit, covariance),
        )

    def _penalise(self, fit: LeastSquares) -> LeastSquares:
        return replace(fit, penalty=fit.missing_signal if self.penalty is None else float(self.penalty))


def _build(frame: Frame, arguments: Arguments) -> Ridge:
    return Ridge(*read_rows(frame, arguments), penalty=arguments["penalty"])


METHOD = Method(
    name="ridge",
    chapter="models",
    summary="Ridge regression: coefficients drawn towards zero, for predictions.",
    parameters=(
        FORMULA,
        Parameter("penalty", "number", "the penalty on squares of slopes; if left out, as the noise needs", lower=0),
        BY,
    ),
    build=_build,
    returns={
        "term": "the column of the model: (Intercept), age, city[Oslo], age:city[Oslo]",
        "estimate": "its coefficient, in the units of the columns",
    },
    example="SELECT * FROM ridge((SELECT salary, age, sex FROM people), formula => 'salary ~ age + C(sex)')",
    known_as={"R": "MASS::lm.ridge, glmnet", "SAS": "PROC REG / RIDGE", "statsmodels": "OLS.fit_regularized"},
    notes=("The intercept has no penalty. The penalty is in rows: it counts as much as so many rows at the bounds.",),
)
