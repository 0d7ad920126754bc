"""Sums of integers, and of the pieces of their bits: as many rows as there may be cannot overflow what carries them."""

from sqlglot import exp

from adomnia.engines.check.columns import Range
from adomnia.engines.check.nodes import integer, integer_type, only, require
from adomnia.engines.dialect import Dialect, Types


def is_in_pieces(node: exp.Expr) -> bool:
    """Whether a node may be a sum in pieces: several of them in brackets, each cast to wide integers."""
    return type(node) is exp.Paren and type(node.this) is exp.Add and bool(node.this.find(exp.Cast))


def read_pieces(node: exp.Expr, dialect: Dialect) -> tuple[exp.Expr, int, int]:
    """The x of a sum in pieces, of how many bits these are, and how many: what it adds up is SUM(x).

    (CAST(SUM((x) & m) AS wide) + CAST(SUM(((x) >> b) & m) AS wide) * 2**b + ... + CAST(SUM((x) >> c) AS wide) * 2**c),
    where m is 2**b - 1: in two's complement x is its lowest b bits, the next b bits times 2**b, ..., and what is left.
    """
    only(node, "this")
    parts = list(node.this.flatten(unnest=False))
    first, what = parts[0], "a sum in pieces"
    require(type(first) is exp.Cast and integer_type(first, dialect) == dialect.types.wide, what)
    masked = first.this.this if type(first.this) is exp.Sum else None
    require(type(masked) is exp.BitwiseAnd and type(masked.this) is exp.Paren, what)
    assert isinstance(masked, exp.BitwiseAnd)  # noqa: S101 - just required
    mask, value = integer(masked.expression), masked.this.this
    bits, last = mask.bit_length(), len(parts) - 1
    require(mask == 2**bits - 1 > 0, what)
    pieces = [
        _render_piece(value, place * bits, mask if place < last else None, first.to) for place in range(len(parts))
    ]
    require(parts == pieces, what)
    return value, bits, len(parts)


def require_width(within: Range, bits: int, pieces: int, most_rows: int, types: Types) -> None:
    """No piece overflows 64 bits, in a row or added up over so many."""
    require(types.sum == types.long and within.magnitude <= types.long.largest, "integers of 64 bits")
    shift = bits * (pieces - 1)
    require(2**shift <= 2 * within.magnitude, "no more pieces than bits")  # engines shift by the remainder of 32 or 64
    left = (within.magnitude >> shift) + 1
    require(most_rows * max(2**bits - 1, left) <= types.sum.largest, "the width of a sum")
    require(most_rows * (within.magnitude + 2**shift) <= types.wide.largest // 2, "the width of a sum")


def _render_piece(value: exp.Expr, shift: int, mask: int | None, wide: exp.Expr) -> exp.Expr:
    piece: exp.Expr = exp.Paren(this=value.copy())
    if shift:
        piece = exp.BitwiseRightShift(this=piece, expression=exp.Literal.number(shift))
    if mask is not None:
        inside = exp.Paren(this=piece) if shift else piece
        piece = exp.BitwiseAnd(this=inside, expression=exp.Literal.number(mask))
    summed = exp.Cast(this=exp.Sum(this=piece), to=wide.copy())
    return exp.Mul(this=summed, expression=exp.Literal.number(2**shift)) if shift else summed
