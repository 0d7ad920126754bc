"""Aggregates as SQL: exact sums in what holds them, a person's own variance, and those of public rows."""

from adomnia.engines.dialect import Dialect
from adomnia.engines.render.numbers import double, integer
from adomnia.engines.render.scalars import Scalars
from adomnia.privacy.expressions import Column, Expression
from adomnia.privacy.relations import PublicValue
from adomnia.privacy.scans import OwnSpread

_LEAST_BITS = 8  # of a piece: in smaller ones there would be many


def render_sum(integers: str, rows: int, size: int, dialect: Dialect) -> str:
    """The sum of integers over so many rows, each at most `size`, in a type that carries it."""
    types = dialect.types
    if rows * size <= types.sum.largest:
        return f"SUM({integers})"
    if types.sum == types.long and size <= types.long.largest and types.wide.name not in integers:
        bits = (types.sum.largest // rows + 1).bit_length() - 1
        if bits >= _LEAST_BITS:
            return _render_pieces(integers, bits, rows, size, dialect)
    return f"SUM(CAST({integers} AS {types.wide.name}))"


def _render_pieces(integers: str, bits: int, rows: int, size: int, dialect: Dialect) -> str:
    """The same in pieces of a few bits, each summed up in 64 bits: that is several times as fast as wide integers."""
    mask, wide, shift = 2**bits - 1, dialect.types.wide.name, bits
    parts = [f"CAST(SUM(({integers}) & {mask}) AS {wide})"]
    while rows * ((size >> shift) + 1) > dialect.types.sum.largest:
        shifted = dialect.shifted.format(integers, shift)
        parts.append(f"CAST(SUM(({shifted}) & {mask}) AS {wide}) * {2**shift}")
        shift += bits
    return f"({' + '.join(parts)} + CAST(SUM({dialect.shifted.format(integers, shift)}) AS {wide}) * {2**shift})"


_EXACT = ("min", "max", "bool_or", "bool_and")  # of values that there are: nothing is computed


def render_public(output: PublicValue, scalars: Scalars) -> str:
    """One aggregate."""
    function, value = output.function, output.value
    if value is None:
        return scalars.as_double("COUNT(*)")
    if function in ("count", "count distinct"):
        distinct = "DISTINCT " if function == "count distinct" else ""
        return scalars.as_double(f"COUNT({distinct}{_present(value, scalars)})")
    asked, dialect = _present(value, scalars), scalars.dialect
    aggregate = dialect.spell(function, asked) if function in dialect.aggregates else f"{function.upper()}({asked})"
    return aggregate if function in _EXACT else dialect.spell("finite", aggregate)


def _present(value: Expression, scalars: Scalars) -> str:
    return scalars.value(value) if isinstance(value, Column) else scalars.present(value)


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
