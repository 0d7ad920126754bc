"""Vectors as SQL: each entry is an exact sum of products, or a combination of such sums put together by the engine.

A product of distances from the ends of several variables, or from their middles, is written as that: a Bernstein
polynomial of two columns, multiplied out, is a statement five times as long. Other entries share their products, which
are added up once. No row can make it fail: every step stays within `Vector.magnitude`, and is computed in integers that
hold it. Proof: docs/proofs/vectors.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, prod
from typing import TypeAlias

from adomnia.engines.dialect import Dialect, IntegerType, Types
from adomnia.engines.render.scalars import Scalars, double, integer
from adomnia.privacy.expressions import Column, Expression
from adomnia.privacy.relations import PublicValue
from adomnia.privacy.scans import OwnSpread
from adomnia.privacy.vectors import Exponents, Polynomial, Variable, Vector

_Powers: TypeAlias = tuple[tuple[int, int], ...]  # of each variable's distance from its lower and from its upper end
_LEAST_BITS = 8  # of a piece: in smaller ones there would be many


@dataclass(frozen=True)
class _Rows:
    """What is added up: variables with the SQL of their grids, over so many rows at most.

    Of what is computed in the same statement, integers are `long` ones wherever these hold them.
    """

    variables: list[tuple[str, Variable]]
    most: int
    computed: frozenset[Expression]
    dialect: Dialect

    @property
    def types(self) -> Types:
        return self.dialect.types

    def integer(self, place: int, kind: IntegerType) -> str:
        """A grid in integers of a type."""
        grid, variable = self.variables[place]
        return grid if kind == self.types.long and variable.value in self.computed else f"CAST({grid} AS {kind.name})"

    def sum(self, added: str, size: int) -> str:
        """The sum of what is at most that large in a row."""
        return render_sum(added, self.most, size, self.dialect)


def render_entries(vector: Vector, rows: int, computed: frozenset[Expression], scalars: Scalars) -> list[str]:
    """The exact sum of each entry over so many rows at most, NULL where none has all that it names.

    Then how much the rows without one add.
    """
    grids = [scalars.grid(variable.value, variable.domain) for variable in vector.variables]
    types = scalars.dialect.types
    read = _Rows(list(zip(grids, vector.variables, strict=True)), rows, computed, scalars.dialect)
    entries = [_render_entry(entry, read) for entry in vector.entries]
    if vector.absent:
        entries.append(f"{_widen(vector.absent, types)} * (COUNT(*) - COUNT({grids[0]}))")
    return entries


def _render_entry(entry: Polynomial, rows: _Rows) -> str:
    """A * SUM((w - x) * y), or a * SUM(x * x * y) + b * SUM(x * y) + ... where it is no product of distances from ends.

    Each sum is over the rows where all variables of the entry have a value.

    Products with constants are of the widest integers, because in others enough rows would make them fail.
    """
    named = [any(exponents[place] for _, exponents in entry.terms) for place in range(len(rows.variables))]
    widths = [_width(variable) for _, variable in rows.variables]
    if sum(named) > 1 and (found := factor(entry, widths)) is not None:
        distances = " * ".join(_render_distances(found[1], rows))
        size = prod(width ** sum(powers) for width, powers in zip(widths, found[1], strict=True))
        return f"{_widen(found[0], rows.types)} * {rows.sum(distances, size)}"
    if any(named) and (centred := factor_centred(entry, widths)) is not None:
        halves, factors = _render_centred(centred[1], rows)
        size = prod(width**power for width, power in zip(widths, centred[1], strict=True))
        return f"{_widen(centred[0] * 2**halves, rows.types)} * {rows.sum(' * '.join(factors), size)}"
    terms = entry.terms or ((0, (0,) * len(rows.variables)),)
    return " + ".join(
        f"{_widen(coefficient, rows.types)} * {_render_sum(exponents, named, rows)}" for coefficient, exponents in terms
    )


def _render_sum(exponents: Exponents, named: list[bool], rows: _Rows) -> str:
    """The sum of one product; where nothing is multiplied of one variable, how many rows have it: that is quicker."""
    if not any(exponents) and sum(named) == 1:
        return f"COUNT({rows.variables[named.index(True)][0]})"
    added = render_product(exponents, _render_steps(exponents, named, rows))
    size = prod(_width(variable) ** power for (_, variable), power in zip(rows.variables, exponents, strict=True))
    return rows.sum(added, size)


def _widen(constant: int, types: Types) -> str:
    return f"CAST({integer(constant)} AS {types.wide.name})"


def _render_steps(exponents: Exponents, named: list[bool], rows: _Rows) -> dict[int, str]:
    """The variables that an entry names, in integers that hold the product of one of its terms."""
    domains = [variable.domain for _, variable in rows.variables]
    size = prod(max(1, domain.width) ** exponent for domain, exponent in zip(domains, exponents, strict=True))
    # A variable that is not in the product is still counted from its lower end, to be multiplied by 0.
    largest = max([size, *(max(domain.magnitude, domain.width) for domain in domains)])
    kind = rows.types.long if largest <= rows.types.long.largest else rows.types.wide
    return {
        place: _count_from(domain.grid_lower, rows.integer(place, kind))
        for place, domain in enumerate(domains)
        if named[place]
    }


def _count_from(start: int, step: str) -> str:
    """Steps counted from one of them."""
    return f"({step} - {integer(start)})" if start else step


def render_product(exponents: Exponents, steps: Mapping[int, str]) -> str:
    """X * x * y, with 0 times what is not in it: so that it is NULL where that is."""
    factors = [step for place, step in steps.items() for _ in range(exponents[place])]
    absent = [f"0 * {step}" for place, step in steps.items() if not exponents[place]]
    return " + ".join([" * ".join(factors) or "1", *absent])


def factor(entry: Polynomial, widths: Sequence[int]) -> tuple[int, _Powers] | None:
    """An entry as a constant times powers of each x and of its width less x; None where it is no such product.

    >>> x, y = Polynomial(((1, (1, 0)),)), Polynomial(((1, (0, 1)),))
    >>> factor(Polynomial(((10, (0, 2)),)) * y - x * y * y * y, (10, 7))
    (1, ((0, 1), (3, 0)))
    >>> factor(x + y, (10, 7))
    """
    coefficient, lowest = entry.terms[0]
    highest = (max(exponents[place] for _, exponents in entry.terms) for place in range(len(widths)))
    powers = tuple((low, high - low) for low, high in zip(lowest, highest, strict=True))
    whole = coefficient // prod(width**above for width, (_, above) in zip(widths, powers, strict=True))
    return (whole, powers) if tuple(_expand(whole, powers, widths)) == entry.terms else None


def factor_centred(entry: Polynomial, widths: Sequence[int]) -> tuple[int, Exponents] | None:
    """An entry as a constant times powers of 2x less the width of each x; None where it is no such product.

    >>> factor_centred(Polynomial(((70, (0, 0)), (-20, (0, 1)), (-14, (1, 0)), (4, (1, 1)))), (10, 7))
    (1, (1, 1))
    """
    coefficient, powers = entry.terms[-1]
    whole = coefficient // 2 ** sum(powers)
    families = [
        [(comb(power, k) * 2**k * (-width) ** (power - k), k) for k in range(power + 1)]
        for power, width in zip(powers, widths, strict=True)
    ]
    terms = (
        (whole * prod(coefficient for coefficient, _ in chosen), tuple(exponent for _, exponent in chosen))
        for chosen in product(*families)
    )
    return (whole, powers) if tuple(terms) == entry.terms else None


def _expand(whole: int, powers: _Powers, widths: Sequence[int]) -> Iterator[tuple[int, Exponents]]:
    """The terms of a constant times powers of each x and of its width less x, in the order of exponents."""
    families = [
        [(comb(above, k) * (-1) ** k * width ** (above - k), below + k) for k in range(above + 1)]
        for (below, above), width in zip(powers, widths, strict=True)
    ]
    for chosen in product(*families):
        yield whole * prod(coefficient for coefficient, _ in chosen), tuple(exponent for _, exponent in chosen)


def _render_distances(powers: _Powers, rows: _Rows) -> Iterator[str]:
    """The factors of a product, from left to right in integers that hold all that is multiplied so far."""
    size, types = 1, rows.types
    for place, ((below, above), (_, variable)) in enumerate(zip(powers, rows.variables, strict=True)):
        lower, width = variable.domain.grid_lower, _width(variable)
        size *= width ** (below + above)
        kind = types.long if max(size, variable.domain.magnitude, width) <= types.long.largest else types.wide
        step = rows.integer(place, kind)
        yield from [_count_from(lower, step)] * below
        yield from [f"({integer(lower + width)} - {step})"] * above


def _render_centred(powers: Exponents, rows: _Rows) -> tuple[int, list[str]]:
    """The factors of a product in integers that hold all of them multiplied, and how many of them are halved.

    A factor is twice the distance from the middle; where that is a whole number of steps away, the distance itself.
    """
    variables, types = [variable for _, variable in rows.variables], rows.types
    size = prod(_width(variable) ** power for variable, power in zip(variables, powers, strict=True))
    largest = max([size, *(2 * max(variable.domain.magnitude, variable.domain.width) for variable in variables)])
    kind = types.long if largest <= types.long.largest else types.wide
    halves, factors = 0, []
    for place, (variable, power) in enumerate(zip(variables, powers, strict=True)):
        middle, odd = divmod(2 * variable.domain.grid_lower + _width(variable), 2)
        step = rows.integer(place, kind)
        factors += [f"(2 * {step} - {integer(2 * middle + odd)})" if odd else _count_from(middle, step)] * power
        halves += 0 if odd else power
    return halves, factors


def _width(variable: Variable) -> int:
    """How many steps a grid is wide; 1 where it is a single point, so that powers of it divide."""
    return max(1, variable.domain.width)


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
