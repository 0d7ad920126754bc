"""The table of a fitted model: coefficients with intervals, standard errors and tests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.contract import find_alpha
from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.methods.contract import Parameter
from adomnia.methods.parts.models.design import Design
from adomnia.statistics.contract import Bounds, Estimate, Fact, Floats, ResultTable, name_about
from adomnia.statistics.p_values import EXPLAINED, bound_p_values, say_p_value

RETURNS = {
    "term": "the column of the design that the coefficient belongs to",
    "estimate": "the coefficient, in the units of its column",
    "standard_error": "its standard error, noise included",
    "statistic": "the estimate in standard errors",
    "p_value": f"how probable a statistic that far from zero is if the coefficient is zero; {EXPLAINED}",
}
ESTIMATE = "estimate"
_RATIOS = {"logit": "odds ratios", "poisson": "rate ratios"}
EXPONENTIATE = Parameter(
    "exponentiate",
    "boolean",
    "tell odds or rate ratios in the place of coefficients: exp of them and of the ends of intervals; free of charge",
    default=False,
)
_LARGEST = 700.0  # exp of more is beyond doubles
_ALONE = 1e-10  # of a variance that no other estimate tells: with less, coefficients are not told apart
_ABOUT = {
    "population": define_note(
        "coefficients_of_population",
        "Intervals are about the population that the people are a sample of: they hold sampling and noise.",
    ),
    "data": define_note(
        "coefficients_of_data", "Intervals are about the coefficients of the data itself, without noise."
    ),
}
_WALD = NoteTemplate(
    "wald_test",
    "Wald test of all terms together: chi-square {chi_square:.4g} on {freedom} degree{freedom:s} of freedom, "
    "{p_value}.",
)
_SILENT = NoteTemplate(
    "coefficients_not_estimable",
    "Not estimable: {terms}. What the rows tell of them is not larger than the noise. A higher price, narrower bounds, "
    "fewer terms or more rows would help.",
)
_EXPONENTIATED = NoteTemplate(
    "exponentiated",
    "Estimates are {ratios}: exp of the coefficients and of the ends of their intervals. Standard errors and "
    "statistics are those of the coefficients.",
)


@dataclass(frozen=True)
class Coefficients:
    """Estimates of the coefficients of a design and their covariance; `identified` are those that the data can tell."""

    design: Design
    values: Floats
    covariance: Floats
    identified: NDArray[np.bool_]

    @cached_property
    def errors(self) -> Floats:
        """The standard errors, at least so large that they divide."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 1e-300))

    @cached_property
    def told(self) -> NDArray[np.bool_]:
        """Which coefficients there is a reply for."""
        return np.asarray(self.identified & np.isfinite(self.values) & np.isfinite(self.errors))

    def tabulate(self, kind: str, inference: str, notes: Sequence[Note]) -> ResultTable:
        """One row for each coefficient."""
        estimate = Estimate(np.where(self.told, self.values, np.nan), self._bound, "Newton's method on noisy sums")
        statistic = self.values / self.errors
        return ResultTable(
            {"term": self.design.names},
            {ESTIMATE: estimate},
            notes=(*notes, _ABOUT[inference], *self._test_all(inference), *self._explain_silence()),
            figure={"kind": "points", "x": "term", "y": "estimate"},
            facts={
                "standard_error": self._reply(lambda: self.errors),
                "statistic": self._reply(lambda: statistic),
                "p_value": lambda: bound_p_values(self._reply(lambda: _two_sided(statistic))()),
            },
            model=self._describe(kind, inference),
            about=name_about(population=inference == "population"),
        )

    def _bound(self, confidence: float, cells: int) -> Bounds:
        from scipy.special import ndtri

        width = self.errors * float(-ndtri(find_alpha(confidence, cells, "any") / 2))
        return (
            np.where(self.told, self.values - width, -np.inf),
            np.where(self.told, self.values + width, np.inf),
        )

    def _reply(self, compute: Callable[[], Floats]) -> Callable[[], tuple[Fact, ...]]:
        return lambda: tuple(
            value if told else None for value, told in zip(compute().tolist(), self.told.tolist(), strict=True)
        )

    @cached_property
    def wald(self) -> tuple[float, int, float] | None:
        """The Wald test that all coefficients but the intercept are 0: its chi-square, degrees of freedom, p-value.

        None where there are none, where one is not estimable, or where the errors of some are not told apart.
        """
        from scipy.special import chdtrc

        tested = np.array([column.levels != () or any(column.powers) for column in self.design.columns])
        if not tested.any() or not self.told[tested].all():
            return None
        scores, errors = (self.values / self.errors)[tested], self.errors[tested]
        correlations = self.covariance[np.ix_(tested, tested)] / np.outer(errors, errors)
        values, vectors = np.linalg.eigh(correlations)
        if values[0] < _ALONE:
            return None
        square = float(((vectors.T @ scores) ** 2 / values).sum())
        return square, int(tested.sum()), float(chdtrc(int(tested.sum()), square))

    def _test_all(self, inference: str) -> tuple[Note, ...]:
        """The test of all terms together, where intervals are about the population."""
        if inference != "population" or self.wald is None:
            return ()
        square, freedom, p_value = self.wald
        return (_WALD(chi_square=square, freedom=freedom, p_value=say_p_value(p_value)),)

    def _explain_silence(self) -> tuple[Note, ...]:
        silent = [name for name, told in zip(self.design.names, self.told, strict=True) if not told]
        return (_SILENT(terms=silent),) if silent else ()

    def _describe(self, kind: str, inference: str) -> dict[str, Any]:
        """What predictions need, and the test of all terms."""
        both = np.outer(self.told, self.told)
        wald = self.wald if inference == "population" else None
        return {
            "kind": kind,
            "response": self.design.response.name,
            "columns": self.design.plain_columns(),
            "factors": self.design.plain_factors(),
            "coefficients": list(self._reply(lambda: self.values)()),
            "covariance": np.where(both, self.covariance, 0.0).tolist(),
            **({} if wald is None else {"wald": dict(zip(("chi_square", "df", "p_value"), wald, strict=True))}),
        }


def exponentiate_table(table: ResultTable) -> ResultTable:
    """The table with ratios of odds or rates in the place of coefficients, and a note that says so."""
    note = _EXPONENTIATED(ratios=_RATIOS[table.model["kind"]])
    changed = {**table.estimates, ESTIMATE: _exponentiate(table.estimates[ESTIMATE])}
    return replace(table, estimates=changed, notes=(*table.notes, note))


def _exponentiate(estimate: Estimate) -> Estimate:

    def interval(confidence: float, cells: int) -> Bounds:
        lower, upper = (np.asarray(end) for end in estimate.interval(confidence, cells))
        ends = np.exp(np.clip(lower, -np.inf, _LARGEST)), np.exp(np.clip(upper, -_LARGEST, _LARGEST))
        return ends[0], np.where(upper > _LARGEST, np.inf, ends[1])

    return Estimate(np.exp(np.clip(estimate.values, -_LARGEST, _LARGEST)), interval, f"exp of {estimate.method}")


def _two_sided(statistic: Floats) -> Floats:
    from scipy.special import ndtr

    return np.asarray(2 * ndtr(-np.abs(statistic)))
