"""Predictions of a fitted model for rows that are public: plain arithmetic on what was released."""

from collections.abc import Callable, Mapping, Sequence
from math import exp, isfinite, log
from typing import Any

import numpy as np

from adomnia.errors import Refusal
from adomnia.statistics.contract import Floats

_FARTHEST = 700.0  # exp of more is beyond doubles


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-min(max(value, -_FARTHEST), _FARTHEST)))


# How the mean of the response follows from the sum of columns times coefficients; all of them rise.
LINKS: Mapping[str, Callable[[float], float]] = {
    "lm": lambda value: value,
    "ridge": lambda value: value,
    "huber_regression": lambda value: value,
    "logit": _logistic,
    "poisson": lambda value: exp(min(max(value, -_FARTHEST), _FARTHEST)),
}


def predict(
    model: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], confidence: float = 0.95
) -> list[tuple[float | None, float | None, float | None]]:
    """The mean of the response in rows like these, and its interval.

    None where a coefficient that a row needs has no reply, or where numbers are beyond doubles.
    """
    from scipy.special import stdtrit

    if not 0 < confidence < 1:
        raise ValueError(f"predict confidence must be above 0 and below 1, got {confidence}.")
    reach = float(stdtrit(model.get("df") or np.inf, (1 + confidence) / 2))
    _check_levels(model.get("factors", {}), rows)
    matrix = design_matrix(model["columns"], rows)
    known = np.array([each is not None for each in model["coefficients"]])
    values = np.array([0.0 if each is None else each for each in model["coefficients"]])
    covariance = np.asarray(model["covariance"], dtype=np.float64)
    link = LINKS[model["kind"]]
    with np.errstate(all="ignore"):
        middles = matrix @ values
        halves = reach * np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", matrix, covariance, matrix), 0.0))
    clear = ~np.any(matrix[:, ~known] != 0, axis=1) & np.isfinite(middles) & np.isfinite(halves)
    return [
        (link(middle), link(middle - half), link(middle + half)) if able else (None, None, None)
        for middle, half, able in zip(middles.tolist(), halves.tolist(), clear.tolist(), strict=True)
    ]


def _check_levels(factors: Mapping[str, Sequence[object]], rows: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a level that the model does not know: it would be taken for the first one."""
    for place, row in enumerate(rows, 1):
        held = {name.lower(): value for name, value in row.items()}
        for name, levels in factors.items():
            if (value := _hold(held, name, place)) not in levels:
                why = f"knows no {name} {str(value)[:63]!r}, which row {place} has"
                raise Refusal("predict", why, f"use one of {', '.join(map(str, levels[:12]))}", code="bad_row")


def design_matrix(columns: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> Floats:
    """The columns of a model in some rows; columns are found whatever the case of their names."""
    lowered = [{name.lower(): value for name, value in row.items()} for row in rows]
    cells = [[_evaluate(column, row, place) for column in columns] for place, row in enumerate(lowered, 1)]
    return np.array(cells, dtype=np.float64).reshape(len(rows), len(columns))


def _evaluate(column: Mapping[str, Any], row: Mapping[str, Any], place: int) -> float:
    value = 1.0
    for name, level in column["levels"]:
        value *= _hold(row, name, place) == level
    for name, logged, power in column["powers"]:
        value *= _number(row, name, place, logged=logged) ** power
    return value


def _hold(row: Mapping[str, Any], name: str, place: int) -> Any:  # noqa: ANN401 - whatever the row has
    if (value := row.get(name.lower())) is None:
        raise Refusal("predict", f"needs {name}, and row {place} has none", f"give {name} a value", code="bad_row")
    return value


def _number(row: Mapping[str, Any], name: str, place: int, *, logged: bool) -> float:
    held = _hold(row, name, place)
    try:
        value = float(held)
    except (TypeError, ValueError):
        value = float("nan")
    if not isfinite(value) or (logged and value <= 0):
        wanted = "a number above zero" if logged else "a number"
        raise Refusal(
            "predict", f"needs {wanted} for {name}, and row {place} has {held!r}", "change it", code="bad_row"
        )
    return log(value) if logged else value
