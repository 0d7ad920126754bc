"""What aggregates add up: integers within a range that the text proves, of everybody's rows or of one person's.

As many rows as there may be cannot overflow what carries their sum, whole or in pieces of bits. In a statement about
public rows alone no aggregate fails, and none is other than finite.
"""

from dataclasses import replace
from math import floor, isfinite
from sys import float_info
from typing import NamedTuple

from sqlglot import exp

from adomnia.engines.check.columns import ProvedColumn, Range
from adomnia.engines.check.nodes import double, integer, integer_type, not_proved, only, place, require
from adomnia.engines.check.scalars import SAME, Row, is_total
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


class GroupSize(NamedTuple):
    """How many rows are aggregated together at most, and whether those of each person are capped."""

    most: int
    capped: bool


def value(node: exp.Expr | None, row: Row) -> ProvedColumn:
    """A column as it is, or an expression over one row."""
    if node is None:
        raise not_proved("a value")
    if place(node) is not None:
        return row.column(node)
    found = row.type(node)
    require(found in SAME, "a value of a type")
    return ProvedColumn("number" if found == "double" else found)


def counts(node: exp.Expr, row: Row, *, different: bool = False) -> bool:
    """COUNT(*), COUNT(x), and where allowed COUNT(DISTINCT x): what one row adds is 0 or 1."""
    if type(node) is not exp.Count:
        return False
    only(node, "this")
    counted = node.this
    if different and type(counted) is exp.Distinct:
        only(counted, "expressions")
        require(len(counted.expressions) == 1, "one value to count")
        counted = counted.expressions[0]
    if type(counted) is exp.Star:
        only(counted)
    else:
        value(counted, row)
    return True


def total(node: exp.Expr, row: Row, most_rows: int) -> Range:
    """SUM(grid), or SUM(grid) - centre * COUNT(grid): what one row adds to it.

    All of it is computed in integers that so many rows cannot overflow, so that no row can make it fail.
    """
    summed, centre = _from_centre(node, row.dialect)
    integers, types = _summed_integers(summed, row.dialect), row.dialect.types
    added = grid(integers, row)
    if is_in_pieces(summed):
        _, bits, pieces = read_pieces(summed, row.dialect)
        require_width(added, bits, pieces, most_rows, types)
    else:
        carried = types.sum if integers is summed.this else types.wide
        require(most_rows * added.magnitude <= carried.largest, "the width of a sum")
    require(most_rows * max(added.magnitude, abs(centre)) <= types.wide.largest // 2, "the width of a sum")
    return Range(added.lowest - centre, added.highest - centre)


def own_value(node: exp.Expr, row: Row, group: GroupSize) -> ProvedColumn:
    """An aggregate of a person's or a block's rows: one of the values, integers in a range, or a double of these."""
    if type(node) in (exp.Min, exp.Max):
        only(node, "this")
        found = value(node.this, row)
        require(found.type != "id", "an extreme of what may be looked at")
        return replace(found, repeats=None)
    if type(node) in (exp.ArgMin, exp.ArgMax):
        return _chosen(node, row)
    if type(node) is exp.Case:
        middle = finite(node)
        require(type(middle) is exp.Median and row.type(middle.this) == "double", "a median of numbers")
        only(middle, "this")
        require(group.capped, "a cap on what is remembered")
        return ProvedColumn("number")
    if type(node) is exp.Cast:
        return ProvedColumn("number", _limited(node, row, group))
    product = node.unnest()
    require(type(product) is exp.Mul, "an aggregate of one person")
    double(product.expression)
    _measured(product, row, group)
    return ProvedColumn("number")


def _chosen(node: exp.Expr, row: Row) -> ProvedColumn:
    """ARG_MIN(CASE WHEN order IS NULL THEN NULL ELSE value END, ROW(order, value)): no place of a row decides."""
    only(node, "this", "expression")
    case, order = node.this, node.expression
    require(type(order) is exp.Anonymous and str(order.this) == "ROW" and len(order.expressions) == 2, "an order")
    by, chosen = order.expressions
    require(type(case) is exp.Case and case.this is None and len(case.args["ifs"]) == 1, "a value with an order")
    (branch,) = case.args["ifs"]
    guarded = branch.this == exp.Is(this=by, expression=exp.Null()) and type(branch.args["true"]) is exp.Null
    require(guarded and case.args.get("default") == chosen, "a value with an order")
    require(row.type(by) in ("double", "day"), "an order of numbers or dates")
    found = value(chosen, row)
    require(found.type != "id", "a value of what may be looked at")
    return replace(found, repeats=None)


def finite(node: exp.Expr) -> exp.Expr:
    """The x of CASE WHEN ABS(x) <= the largest double THEN x END."""
    require(type(node) is exp.Case and node.this is None and len(node.args["ifs"]) == 1, "a finite number")
    only(node, "ifs")
    (branch,) = node.args["ifs"]
    test = branch.this
    found: exp.Expr = branch.args["true"]
    require(type(test) is exp.LTE and type(test.this) is exp.Abs and test.this.this == found, "a finite number")
    require(double(test.expression) == float_info.max, "a finite number")
    return found


def _measured(node: exp.Expr, row: Row, group: GroupSize) -> None:
    """Doubles where nothing fails: integers as such, their sums, products, guarded quotients and guarded roots."""
    # A root is guarded here, whatever an engine does with those of negative numbers.
    total_here = type(node) is exp.Sqrt or is_total(node, row.dialect)
    require(total_here, "doubles that no row can make fail")
    match node:
        case exp.Paren():
            _measured(node.this, row, group)
        case exp.Div():
            divisor = node.expression
            require(type(divisor) is exp.Nullif and double(divisor.expression) == 0, "a guarded division")
            _measured(node.this, row, group)
            _measured(divisor.this, row, group)
        case exp.Sub() | exp.Mul():
            only(node, "this", "expression")
            _measured(node.this, row, group)
            _measured(node.expression, row, group)
        case exp.Sqrt():
            only(node, "this")
            require(type(node.this) is exp.Greatest, "a root of what is not below zero")
            _measured(node.this, row, group)
        case exp.Greatest():
            only(node, "this", "expressions", "ignore_nulls")
            require([double(least) for least in node.expressions] == [0], "not below zero")
            _measured(node.this, row, group)
        case exp.Literal():
            double(node)
        case _:
            _as_double(node, row, group)


def _as_double(node: exp.Expr, row: Row, group: GroupSize) -> None:
    """CAST(integers AS DOUBLE)."""
    require(type(node) is exp.Cast and node.to.this is row.words.double, "a double")
    only(node, "this", "to")
    if type(node.this) is exp.Cast:
        _limited(node.this, row, group)
    else:
        _integers(node.this, row, group)


def _integers(node: exp.Expr, row: Row, group: GroupSize) -> None:
    # Different values are remembered: of a person whose rows are not capped, there may be more than memory holds.
    if counts(node, row, different=group.capped):
        return
    if type(node) is exp.Sum and type(node.this.unnest()) in (exp.Sub, exp.Mul):
        only(node, "this")
        largest = _wide_magnitude(node.this.unnest(), row)
        require(group.most * largest <= row.dialect.types.wide.largest // 2, "the width of a sum")
    else:
        total(node, row, group.most)


def _wide_magnitude(node: exp.Expr, row: Row) -> int:
    """How large CAST(grid AS HUGEINT) - CAST(centre AS HUGEINT), or the product of two of these, can be."""
    require(type(node) in (exp.Sub, exp.Mul), "a centred value")
    only(node, "this", "expression")
    if type(node) is exp.Mul:
        return _wide_magnitude(node.this.unnest(), row) * _wide_magnitude(node.expression.unnest(), row)
    for cast in (node.this, node.expression):
        require(type(cast) is exp.Cast and integer_type(cast, row.dialect) == row.dialect.types.wide, "a wide integer")
    within, centre = grid(node.this.this, row), integer(node.expression.this)
    return max(1, abs(within.lowest - centre), abs(within.highest - centre))


def _limited(cast: exp.Expr, row: Row, group: GroupSize) -> Range:
    """CAST(CASE WHEN i < a THEN b WHEN i > c THEN d ELSE i END AS ...) of integers i: from a, b, c or d to another."""
    case = cast.this
    require(type(case) is exp.Case and case.args.get("default") is not None, "integers within limits")
    _integers(case.args["default"], row, group)
    branches = _branches(case, case.args["default"])
    require([type(branch.this) for branch in branches] == [exp.LT, exp.GT], "a clamp")
    reached = [integer(end) for each in branches for end in (each.this.expression, each.args["true"])]
    return _within(reached, cast, row.dialect)


def _from_centre(node: exp.Expr, dialect: Dialect) -> tuple[exp.Expr, int]:
    if type(node) is not exp.Sub:
        return node, 0
    times = node.expression
    require(type(times) is exp.Mul and type(times.this) is exp.Cast and type(times.expression) is exp.Count, "a centre")
    require(integer_type(times.this, dialect) == dialect.types.wide, "a wide centre")
    only(times.expression, "this")
    require(times.expression.this == _summed_integers(node.this, dialect), "a centre for each value")
    return node.this, integer(times.this.this)


def _summed_integers(summed: exp.Expr, dialect: Dialect) -> exp.Expr:
    """The x of SUM(x), of SUM(CAST(x AS a wide integer)), or of a sum of the pieces of x."""
    if is_in_pieces(summed):
        return read_pieces(summed, dialect)[0]
    require(type(summed) is exp.Sum, "an exact sum")
    only(summed, "this")
    return _uncast(summed.this, dialect)


def _uncast(node: exp.Expr, dialect: Dialect) -> exp.Expr:
    """The x of CAST(x AS a wide integer), in which its sum is then carried; anything else as it is."""
    if type(node) is not exp.Cast:
        return node
    require(integer_type(node, dialect) == dialect.types.wide, "a wide integer")
    inside: exp.Expr = node.this
    return inside


def grid(node: exp.Expr, row: Row) -> Range:
    """Integers: a stored grid, or a value clamped onto one."""
    if type(node) is exp.Case:
        return _clamped(node, row)
    stored = row.column(node).grid if place(node) is not None else None
    if stored is None:
        raise not_proved("a stored grid")
    return stored


def _clamped(node: exp.Case, row: Row) -> Range:
    """CASE [WHEN v = NaN THEN NULL] WHEN v < a THEN i WHEN v > b THEN j ELSE TRY_CAST(rounded v AS ...) END."""
    cast = node.args.get("default") or exp.Null()
    clamped, step = _rounded(cast)
    require(row.type(clamped) == "double", "a double to clamp")
    branches = _branches(node, clamped)
    require(all(row.type(branch.this) == "boolean" for branch in branches), "comparisons to clamp by")
    # The guard against NaN may be missing: NaN is above every number, hence clamped like one.
    require([type(b.this) for b in branches] in ([exp.LT, exp.GT], [exp.EQ, exp.LT, exp.GT]), "a clamp")
    require(all(type(branch.args["true"]) is exp.Null for branch in branches[:-2]), "NULL for NaN")
    # Division by a positive double, adding and floor all rise with the value, in IEEE arithmetic as in the engine's.
    bounds = [double(branch.this.expression) / step + 0.5 for branch in branches[-2:]]
    require(all(map(isfinite, bounds)), "a finite clamp")
    reached = [floor(bound) for bound in bounds] + [integer(b.args["true"]) for b in branches[-2:]]
    within = _within(reached, cast, row.dialect)
    # Where it may fail, it does so beyond 64 bits.
    fits = is_total(cast.this, row.dialect) or within.magnitude <= row.dialect.types.long.largest
    require(fits, "a floor that no row can make fail")
    return within


def _branches(case: exp.Case, clamped: exp.Expr) -> list[exp.If]:
    """The WHENs of a CASE, which all compare the value that it clamps."""
    only(case, "ifs", "default")
    branches: list[exp.If] = case.args["ifs"]
    require(all(branch.this.this == clamped for branch in branches), "a clamp of the value itself")
    return branches


def _within(reached: list[int], cast: exp.Expr, dialect: Dialect) -> Range:
    within, held = Range(min(reached), max(reached)), integer_type(cast, dialect)
    # Not in a DECIMAL: sums of those are not carried in integers when a centre is subtracted.
    fits = [kind for kind in (dialect.types.long, dialect.types.wide) if within.magnitude <= kind.largest]
    require(held in fits, "the width of a clamp")
    return within


def _rounded(cast: exp.Expr) -> tuple[exp.Expr, float]:
    """The value and the step of TRY_CAST(FLOOR(value / step + 0.5) AS ...)."""
    require(type(cast) is exp.TryCast and type(cast.this) is exp.Floor, "rounding")
    only(cast.this, "this")
    added = cast.this.this.unnest()
    require(type(added) is exp.Add and type(added.this) is exp.Div and double(added.expression) == 0.5, "rounding")
    step = double(added.this.expression)
    require(step > 0, "a step")
    return added.this.this, step


_CHOSEN: dict[type[exp.Expr], tuple[str, ...]] = {
    **dict.fromkeys((exp.Min, exp.Max), ("double", "day")),
    **dict.fromkeys((exp.LogicalOr, exp.LogicalAnd), ("boolean",)),
}
_COMPUTED = (exp.Sum, exp.Avg, exp.Median, exp.Variance, exp.VariancePop, exp.StddevSamp, exp.StddevPop)


def public_value(node: exp.Expr, row: Row) -> ProvedColumn:
    """A count as a double, one of the values that there are, or a finite double computed from them."""
    if type(node) is exp.Cast:
        only(node, "this", "to")
        require(node.to.this is row.words.double and counts(node.this, row, different=True), "a count")
        return ProvedColumn("number")
    if type(node) in _CHOSEN:
        only(node, "this")
        found = row.type(node.this)
        require(found in _CHOSEN[type(node)], "values of an order")
        return value(node.this, row) if found != "double" else ProvedColumn("number")
    computed = finite(node)
    require(type(computed) in _COMPUTED, "an aggregate of public rows")
    only(computed, "this")
    require(row.type(computed.this) == "double", "numbers")
    return ProvedColumn("number")
