"""The variance of one person's own values as SQL: doubles that are made of exact integers, hence always the same."""

from adomnia.engines.render.constants import double, integer
from adomnia.engines.render.scalars import Scalars
from adomnia.privacy.aggregates import OwnSpread


def render_spread(spread: OwnSpread, scalars: Scalars) -> str:
    """The mean square less the square of the mean, not below zero, or its root, in steps of the grid."""
    grid, wide = scalars.grid(spread.value, spread.domain), scalars.dialect.types.wide.name
    zero, one = (double(number, scalars.dialect) for number in (0, 1))
    centred = f"(CAST({grid} AS {wide}) - CAST({integer(spread.domain.middle)} AS {wide}))"
    counted = scalars.as_double(f"COUNT({scalars.present(spread.value)})")
    mean = f"({scalars.as_double(f'SUM({centred})')} / NULLIF({counted}, {zero}))"
    square = f"({scalars.as_double(f'SUM({centred} * {centred})')} / NULLIF({counted}, {zero}))"
    divisor = f"({counted} - {one})" if spread.sample else counted
    value = f"GREATEST(({square} - {mean} * {mean}) * ({counted} / NULLIF({divisor}, {zero})), {zero})"
    value = f"SQRT({value})" if spread.root else value
    # GREATEST passes over NULL: where there are too few values, a quotient beside it is NULL.
    known = f"({counted} / NULLIF({counted}, {zero})) * ({divisor} / NULLIF({divisor}, {zero}))"
    step = spread.domain.step if spread.root else spread.domain.step**2
    return f"{known} * {value} * {double(step, scalars.dialect)}"
