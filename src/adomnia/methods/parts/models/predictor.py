"""The linear predictor of a model, as an expression that the engine computes in every row.

Coefficients are on a public grid and within public limits, and each is written as a difference of two that are not
negative: predictors at different points are the same expression but for its constants.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce

from adomnia.methods.contract import Factor, NumberColumn
from adomnia.methods.parts.models.design import Design, Levels, Powers
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression, call, number, text
from adomnia.privacy.keys import Bucket, key_cells
from adomnia.privacy.kinds import Boolean, Quantity

LARGEST_COEFFICIENT = 64  # of a number between -1 and 1
_UNIT = 2**30


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
