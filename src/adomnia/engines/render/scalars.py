"""Expressions over one row as SQL. Categories are compared by their codes; text constants are bound, never written.

Numbers become grid integers that agree with `Numbers.grid` to the last bit on every value. `Numbers.grid` clamps in
doubles, rounds by floor(x / step + 0.5), and clamps again in integers. That rounding never falls as x rises, because
IEEE division, addition and floor do not; so the two clamps are one, at the doubles where it enters and leaves the range
of grid integers. One CASE does both. Proof: docs/proofs/grid.md.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from functools import lru_cache
from math import floor, inf, isfinite, nextafter
from sys import float_info

from adomnia.engines.backtracking import count_ways
from adomnia.engines.contract import grid_name, stored_name
from adomnia.engines.dialect import Dialect, Types
from adomnia.errors import Refusal
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Column, Expression, Literal
from adomnia.privacy.kinds import Boolean, Day, Kind, Moment, Quantity, Text
from adomnia.privacy.wall_time import count_seconds


@dataclass(frozen=True)
class Rounding:
    """`lowest` below `first`, `highest` above `last`, and between them plain rounding, which stays in range there."""

    first: float
    last: float
    lowest: int
    highest: int


@lru_cache(maxsize=1024)
def find_rounding(domain: Numbers) -> Rounding:
    """Where the clamps of a domain begin and end."""
    lower, upper, step = (nearest_double(bound) for bound in (domain.lower, domain.upper, domain.step))

    def reaches(x: float) -> bool:
        return floor(x / step + 0.5) >= domain.grid_lower

    def exceeds(x: float) -> bool:
        return floor(x / step + 0.5) > domain.grid_upper

    return Rounding(
        first=_first_where(reaches, lower, upper),
        last=nextafter(_first_where(exceeds, lower, upper), -inf),
        lowest=_known(domain.grid(lower)),
        highest=_known(domain.grid(upper)),
    )


def render_grid(value: str, domain: Numbers, dialect: Dialect, *, may_be_nan: bool) -> str:
    """The grid integer of a rendered double, NULL for NULL and NaN."""
    limits, types = find_rounding(domain), dialect.types
    unless_nan = f"WHEN {value} = {dialect.not_a_number} THEN NULL " if may_be_nan else ""
    rounding = dialect.fine_rounding if dialect.fine_rounding and domain.step <= 1 else dialect.rounding
    rounded = rounding.format(value, double(domain.step, dialect))
    width = types.long if domain.magnitude <= types.long.largest else types.wide
    return (
        f"CASE {unless_nan}"
        f"WHEN {value} < {double(limits.first, dialect)} THEN {integer(limits.lowest)} "
        f"WHEN {value} > {double(limits.last, dialect)} THEN {integer(limits.highest)} "
        f"ELSE {dialect.fitting(rounded, width.name)} END"
    )


def _first_where(rising: Callable[[float], bool], lower: float, upper: float) -> float:
    """The first double from `lower` where a condition that stays true holds; the one after `upper` if there is none."""
    if rising(lower):
        return lower
    if not rising(upper):
        return nextafter(upper, inf)
    while nextafter(lower, inf) < upper:
        middle = lower + (upper - lower) / 2
        lower, upper = (lower, middle) if rising(middle) else (middle, upper)
    return upper


def _known(grid: int | None) -> int:
    assert grid is not None  # noqa: S101 - only NULL and NaN are on no grid
    return grid


def double(value: Fraction | float, dialect: Dialect) -> str:
    """A finite number as a literal that is read as exactly this double; beyond their range, as the last of them."""
    nearest = value if isinstance(value, float) else nearest_double(value)
    if not isfinite(nearest):
        raise ValueError(f"SQL number must be finite, got {nearest}.")
    digits = repr(nearest)
    # With an exponent in every case: without one, a literal is a decimal, whose conversion rounds a second time.
    text = dialect.double.format(digits if "e" in digits else f"{digits}e0")
    return f"({text})" if text.startswith("-") else text


def integer(value: int) -> str:
    """A whole number."""
    return f"({value})" if value < 0 else str(value)


def nearest_double(value: Fraction) -> float:
    """The double nearest to a fraction, and the last finite one for fractions beyond."""
    try:
        return float(value)
    except OverflowError:
        return float_info.max if value > 0 else -float_info.max


_FAR_FROM_OVERFLOW = 2**1000
_EXACT = 2**53  # integers up to here are doubles


@dataclass
class Scalars:
    """Renders expressions in a dialect, and collects the text constants to bind."""

    dialect: Dialect
    parameters: dict[str, int] = field(default_factory=dict)  # each constant and the number it is bound to

    def value(self, expression: Expression) -> str:
        """Any expression; numbers and the seconds of timestamps are DOUBLEs, however their column is stored."""
        match expression:
            case Column(kind=Text(values=tuple() as values)):
                return self._spelled_out(expression, values)
            case Column(kind=Quantity() | Moment()):
                return self.as_double(self.column(expression))
            case Column():
                return self.column(expression)
            case Literal(value=None, kind=kind):
                return f"CAST(NULL AS {_type_of(kind, self.dialect.types)})"
            case Literal(value=constant):
                return self._constant(constant)
        return self._by_codes(expression) or self._applied(expression)

    def present(self, expression: Expression) -> str:
        """Something that is NULL exactly where an expression is NULL or NaN."""
        if isinstance(expression, Column):
            return self.column(expression, grid=expression.domain is not None)
        rendered = self.value(expression)
        if not may_be_nan(expression):
            return rendered
        return f"CASE WHEN {rendered} = {self.dialect.not_a_number} THEN NULL ELSE {rendered} END"

    def grid(self, expression: Expression, domain: Numbers) -> str:
        """The grid integer of a number: as it is stored for a bare column, computed for anything else."""
        if isinstance(expression, Column) and expression.domain == domain:
            return self.column(expression, grid=True)
        return render_grid(self.value(expression), domain, self.dialect, may_be_nan=may_be_nan(expression))

    def places(self, expression: Expression, texts: tuple[str, ...]) -> str:
        """The place of a text in a list, NULL where it is not in it."""
        cases = (f"WHEN {self._bound(text)} THEN {place}" for place, text in enumerate(texts))
        return f"CASE {self.value(expression)} {' '.join(cases)} END"

    def column(self, column: Column, *, grid: bool = False) -> str:
        """A column as the index keeps it, or its grid integers; of a join, with the name of its side."""
        name = self.quote(grid_name(column) if grid else stored_name(column))
        return f"{self.quote(column.source)}.{name}" if column.source else name

    def quote(self, name: str) -> str:
        """An identifier."""
        return self.dialect.quote(name)

    def as_double(self, number: str) -> str:
        """A rendered number, converted."""
        return f"CAST({number} AS {self.dialect.types.double})"

    def wide_as_double(self, integers: str, largest: int) -> str:
        """Rendered integers of at most this size, converted: where doubles do not hold them all, as DuckDB does it."""
        return self.as_double(integers) if largest <= _EXACT else self.dialect.spell("wide as double", integers)

    def _constant(self, constant: Fraction | str | bool | date | datetime | None) -> str:
        match constant:
            case bool():
                return "TRUE" if constant else "FALSE"
            case Fraction():
                return double(constant, self.dialect)
            case datetime():  # which is a date as well
                return double(count_seconds(constant), self.dialect)
            case date():
                return f"CAST('{constant.isoformat()}' AS {self.dialect.types.date})"
        return self._bound(str(constant))

    def _bound(self, constant: str) -> str:
        return self.dialect.parameter.format(self.parameters.setdefault(constant, len(self.parameters) + 1))

    def _applied(self, call: Call) -> str:
        match call.function, call.arguments:
            case "matches", (_, Literal(value=str(pattern))):
                self._check_pattern(pattern)
        return self.dialect.spell(call.function, *map(self.value, call.arguments))

    def _check_pattern(self, pattern: str) -> None:
        """Refuse what one row may keep an engine busy with for hours, where another reads it at once."""
        if self.dialect.most_ways < inf and count_ways(pattern) > self.dialect.most_ways:
            why = "has repetitions that one text may fit in too many ways, which this engine tries one after the other"
            fix = "repeat single characters and no groups, behind ^, or use LIKE"
            raise Refusal("The regular expression", why, fix, code="engine")

    def _by_codes(self, call: Call) -> str | None:
        """What can be said by the codes of a category alone; None for everything else."""
        match call.function, call.arguments:
            case "is null", (Column() as column,):
                return f"({self.present(column)} IS NULL)"
            case "=" | "<>", (Literal() as constant, Column() as column):
                return self._by_codes(Call(call.function, (column, constant), call.kind))
            case "=" | "<>" | "same", (
                Column(kind=Text(values=tuple() as values)) as left,
                Column(kind=Text(values=others)) as right,
            ):
                compared = self.dialect.spell(call.function, self.column(left), self.column(right))
                return compared if values == others else None
            case "=" | "<>" | "like", (
                Column(kind=Text(values=tuple() as values)) as column,
                Literal(value=str(constant)),
            ):
                return _among_codes(self.column(column), call.function, values, constant)
        return None

    def _spelled_out(self, column: Column, values: tuple[str, ...]) -> str:
        """A category as text: for the rare comparison that codes cannot make."""
        cases = (f"WHEN {code} THEN {self._bound(value)}" for code, value in enumerate(values))
        return f"CASE {self.column(column)} {' '.join(cases)} END"


def may_be_nan(expression: Expression) -> bool:
    """Whether a number can be NaN: no column stores one, so not before some part of it can overflow."""
    match expression:
        case Call(function="finite") | Column() | Literal():
            return False
        case Call(kind=Quantity(lower=lower, upper=upper)):
            far = lower is None or upper is None or max(-lower, upper) > _FAR_FROM_OVERFLOW
            return far or any(map(may_be_nan, expression.arguments))
    return False


def _type_of(kind: Kind, types: Types) -> str:
    match kind:
        case Quantity() | Moment():
            return types.double
        case Boolean():
            return types.boolean
        case Day():
            return types.date
    return types.text


def _among_codes(column: str, function: str, values: tuple[str, ...], constant: str) -> str:
    accept = matches if function == "like" else str.__eq__
    codes = [code for code, value in enumerate(values) if accept(value, constant)]
    if not codes:  # a constant that was not declared is like no value: an answer, not an error
        return f"CASE WHEN {column} IS NULL THEN NULL ELSE {'TRUE' if function == '<>' else 'FALSE'} END"
    if function == "<>":
        return f"({column} <> {integer(codes[0])})"
    return f"({column} IN ({', '.join(map(integer, codes))}))"


def matches(text: str, pattern: str) -> bool:
    """Whether a text is like a pattern: `%` stands for any characters, `_` for exactly one.

    >>> matches("Bergen", "%er_en"), matches("Bergen", "er%")
    (True, False)
    """
    return _with_any_character(text, pattern) if "_" in pattern else _by_pieces(text, *pattern.split("%"))


def _by_pieces(text: str, first: str, *others: str) -> bool:
    """Whether a text consists of pieces in their order: each is as good as any later one where it is found first."""
    if not others:
        return text == first
    *middle, last = others
    place, end = len(first), len(text) - len(last)
    if place > end or not text.startswith(first) or not text.endswith(last):
        return False
    for piece in middle:
        found = text.find(piece, place, end)
        if found < 0:
            return False
        place = found + len(piece)
    return True


def _with_any_character(text: str, pattern: str) -> bool:
    place, read = 0, 0
    resume, consumed = -1, 0  # behind the last %, and how far the text had been read there
    while read < len(text):
        if place < len(pattern) and pattern[place] == "%":
            place, resume, consumed = place + 1, place + 1, read
        elif place < len(pattern) and pattern[place] in ("_", text[read]):
            place, read = place + 1, read + 1
        elif resume >= 0:
            consumed += 1
            place, read = resume, consumed
        else:
            return False
    return pattern[place:].strip("%") == ""
