"""The linear predictor of a model, as an expression that the engine computes in every row.

Coefficients are on a public grid and within public limits, and each is written as a difference of two that are not
negative: predictors at different points are the same expression but for its constants.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import exp, isfinite, log
from typing import Any

import numpy as np

from adomnia.errors import Refusal
from adomnia.methods.contract import Factor, NumberColumn
from adomnia.methods.parts.models.design import Design, Levels, Powers
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression, call, number, text
from adomnia.privacy.keys import Bucket, key_cells
from adomnia.privacy.kinds import Boolean, Quantity
from adomnia.statistics.contract import Floats

LARGEST_COEFFICIENT = 64  # of a number between -1 and 1
_UNIT = 2**30
_FARTHEST = 700.0  # exp of more is beyond doubles


def round_coefficient(value: float) -> Fraction:
    """The nearest coefficient on the grid, within the limits."""
    within = min(max(value, -LARGEST_COEFFICIENT), LARGEST_COEFFICIENT)
    return Fraction(round(within * _UNIT), _UNIT)


def write_predictor(
    design: Design, scaled: Sequence[Expression], offset: Fraction, coefficients: Sequence[Fraction]
) -> Expression:
    """The offset and the sum of the columns of the design's basis, of scaled numbers, each times its coefficient."""
    parts: dict[tuple[int, ...], dict[Levels, list[Expression]]] = {}
    for (levels, powers), coefficient in zip(design.basis, coefficients, strict=True):
        cells = parts.setdefault(tuple(factor for factor, _ in levels), {})
        cells.setdefault(levels, []).append(_write_product(coefficient, powers, scaled))
    found = [_write_constant(offset)]
    for factors, cells in parts.items():
        found += _write_cases(design.factors, cells) if factors else [_add(cells[()])]
    return _add(found)


def scale(column: NumberColumn, middle: Fraction, half: Fraction) -> Expression:
    """A number within its bounds, counted from a middle in half widths."""
    clamped = call("clamp", column.value, number(column.domain.lower), number(column.domain.upper))
    return call("*", call("-", clamped, _write_constant(middle)), number(1 / half))


def _write_product(coefficient: Fraction, powers: Powers, scaled: Sequence[Expression]) -> Expression:
    factors = [each for each, power in zip(scaled, powers, strict=True) for _ in range(power)]
    return reduce(lambda left, right: call("*", left, right), factors, _write_constant(coefficient))


def _write_constant(value: Fraction) -> Expression:
    return call("-", number(max(value, Fraction(0))), number(max(-value, Fraction(0))))


def _write_cases(factors: Sequence[Factor], cells: dict[Levels, list[Expression]]) -> Iterator[Expression]:
    """What is added in the cells of some factors; nothing in the others."""
    outcomes: list[Expression] = []
    for levels, parts in cells.items():
        conditions = [at_level(factors[factor], level) for factor, level in levels]
        outcomes += [reduce(lambda left, right: call("and", left, right), conditions), _add(parts)]
    yield call("case", *outcomes, number(0))


def at_level(factor: Factor, level: int) -> Expression:
    """Whether a row has a level of a factor, by its place."""
    key = factor.key
    value = key.value if isinstance(key, Bucket) else key
    if isinstance(value.kind, Boolean):
        return value if level else call("not", value)
    if isinstance(value.kind, Quantity):
        cells, step = key_cells(key), _step_of(factor)
        ends = (number(cells[0] * step), number(cells[-1] * step))
        return call("=", call("clamp", value, *ends), number(cells[level] * step))
    return call("=", value, text(str(factor.levels[level])))


def _step_of(factor: Factor) -> Fraction:
    among = factor.key.among if isinstance(factor.key, Bucket) else None
    return among.step if isinstance(among, Numbers) else Fraction(1)


def _add(parts: Sequence[Expression]) -> Expression:
    return reduce(lambda left, right: call("+", left, right), parts)


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

    None where a coefficient that a row needs is not estimable, or where numbers are beyond doubles.
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
