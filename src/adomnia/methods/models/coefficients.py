"""The table of a fitted model: coefficients with intervals, standard errors and tests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.models.design import Design
from adomnia.statistics.contract import Bounds, Estimate, Fact, Floats, ResultTable
from adomnia.statistics.p_values import EXPLAINED, bound_p_values

RETURNS = {
    "term": "the column of the design that the coefficient belongs to",
    "estimate": "the coefficient, in the units of its column",
    "standard_error": "its standard error, noise included",
    "statistic": "the estimate in standard errors",
    "p_value": f"how probable a statistic that far from zero is if the coefficient is zero; {EXPLAINED}",
}
_ABOUT = {
    "population": "Intervals are about the population that the people are a sample of: they hold sampling and noise.",
    "data": "Intervals are about the coefficients of the data itself, without noise.",
}


@dataclass(frozen=True)
class Coefficients:
    """Estimates of the coefficients of a design and their covariance; `carried` are those that the data can tell."""

    design: Design
    values: Floats
    covariance: Floats
    carried: NDArray[np.bool_]

    @cached_property
    def errors(self) -> Floats:
        """The standard errors, at least so large that they divide."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 1e-300))

    @cached_property
    def told(self) -> NDArray[np.bool_]:
        """Which coefficients there is a reply for."""
        return np.asarray(self.carried & np.isfinite(self.values) & np.isfinite(self.errors))

    def tabulate(self, kind: str, inference: str, notes: Sequence[str]) -> ResultTable:
        """One row for each coefficient."""
        estimate = Estimate(np.where(self.told, self.values, np.nan), self._bound, "Newton's method on noisy sums")
        statistic = self.values / self.errors
        return ResultTable(
            {"term": self.design.names},
            {"estimate": estimate},
            notes=(*notes, _ABOUT[inference], *self._explain_silence()),
            figure={"kind": "points", "x": "term", "y": "estimate"},
            facts={
                "standard_error": self._reply(lambda: self.errors),
                "statistic": self._reply(lambda: statistic),
                "p_value": lambda: bound_p_values(self._reply(lambda: _two_sided(statistic))()),
            },
            model=self._describe(kind),
        )

    def _bound(self, confidence: float, cells: int) -> Bounds:
        from scipy.special import ndtri

        width = self.errors * float(-ndtri((1 - confidence) / (2 * cells)))
        return (
            np.where(self.told, self.values - width, -np.inf),
            np.where(self.told, self.values + width, np.inf),
        )

    def _reply(self, compute: Callable[[], Floats]) -> Callable[[], tuple[Fact, ...]]:
        return lambda: tuple(
            value if told else None for value, told in zip(compute().tolist(), self.told.tolist(), strict=True)
        )

    def _explain_silence(self) -> tuple[str, ...]:
        silent = [name for name, told in zip(self.design.names, self.told, strict=True) if not told]
        if not silent:
            return ()
        why = f"No reply for {', '.join(silent)}: what the rows tell of them is not larger than the noise."
        return (f"{why} A higher price, narrower bounds, fewer terms or more rows would help.",)

    def _describe(self, kind: str) -> dict[str, Any]:
        """What predictions need."""
        both = np.outer(self.told, self.told)
        return {
            "kind": kind,
            "response": self.design.response.name,
            "columns": self.design.plain_columns(),
            "factors": self.design.plain_factors(),
            "coefficients": list(self._reply(lambda: self.values)()),
            "covariance": np.where(both, self.covariance, 0.0).tolist(),
        }


def _two_sided(statistic: Floats) -> Floats:
    from scipy.special import ndtr

    return np.asarray(2 * ndtr(-np.abs(statistic)))
