"""Sums of integers, carried in what holds them: the engine's own sum, pieces of 64 bits, or wide integers."""

from adomnia.engines.dialect import Dialect

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
