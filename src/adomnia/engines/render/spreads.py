"""The variance of one person's own values as SQL: doubles that are made of exact integers, hence always the same."""

from adomnia.engines.render.constants import double, integer
from adomnia.engines.render.scalars import Scalars
from adomnia.privacy.aggregates import OwnSpread


def render_spread(spread: OwnSpread, rows: int, scalars: Scalars) -> str:
    """The mean square less the square of the mean, not below zero, or its root, in steps of the grid.

    It is of so many rows at most.
    """
    grid, dialect, spell = scalars.grid(spread.value, spread.domain), scalars.dialect, scalars.dialect.spell
    wide, zero, one = dialect.types.wide.name, double(0, dialect), double(1, dialect)
    centred = f"(CAST({grid} AS {wide}) - CAST({integer(spread.domain.middle)} AS {wide}))"
    counted = scalars.as_double(f"COUNT({scalars.present(spread.value)})")
    most = max(1, spread.domain.width)
    mean = spell("/", scalars.wide_as_double(f"SUM({centred})", rows * most), counted)
    square = spell("/", scalars.wide_as_double(f"SUM({centred} * {centred})", rows * most**2), counted)
    divisor = spell("-", counted, one) if spread.sample else counted
    varied = spell("*", spell("-", square, spell("*", mean, mean)), spell("/", counted, divisor))
    value = f"GREATEST({varied}, {zero})"
    value = f"SQRT({value})" if spread.root else value
    # GREATEST passes over NULL: where there are too few values, a quotient beside it is NULL.
    known = spell("*", spell("/", counted, counted), spell("/", divisor, divisor))
    step = spread.domain.step if spread.root else spread.domain.step**2
    return spell("*", spell("*", known, value), double(step, dialect))
