"""Vectors: combinations of sums of polynomials of grid integers, and how far one row moves all of a vector together.

Polynomials are multiplied out from the text, and their control points over the box of the grids are computed from its
corners (as polar forms), not by the rule that plans use. Proof: docs/proofs/vectors.md.
"""

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import factorial, prod
from typing import NamedTuple, TypeAlias

from sqlglot import exp

from adomnia.engines.check.aggregates import grid, is_in_pieces, read_pieces, require_width
from adomnia.engines.check.columns import Range
from adomnia.engines.check.nodes import integer, integer_type, only, place, require
from adomnia.engines.check.scalars import Row
from adomnia.privacy.sensitivity import Sensitivity

_MOST_POINTS = 2**22  # of all polynomials, multiplied out: more would take seconds to look at

_Product: TypeAlias = tuple[int, ...]  # the places of the variables that are multiplied, in their order, with repeats


class _Integers(NamedTuple):
    """What an expression computes: a polynomial, its range, and the largest integer of its type; 0 for a constant.

    `named` are the variables that stand in it, also those that cancel out: where one of them is NULL, so is all of it.
    """

    terms: dict[_Product, int]
    within: Range
    named: frozenset[int] = frozenset()
    room: int = 0


def is_vector(node: exp.Expr) -> bool:
    """Whether an output combines sums."""
    return type(node) is exp.Cast and type(node.this) in (exp.Add, exp.Mul)


def derive_joint_sensitivity(nodes: list[exp.Expr], row: Row, most_rows: int) -> Sensitivity:
    """How far one row moves CAST(constant * SUM(polynomial) + ... AS ...), all of them together."""
    polynomials = _Polynomials(row)
    absent = len(nodes) > 1 and _is_of_absent(nodes[-1])
    present = polynomials.largest_move(
        [polynomials.read_output(node, most_rows) for node in (nodes[:-1] if absent else nodes)]
    )
    # A row has the value or has it not: it moves all entries but the last, or the last alone.
    added = Fraction(polynomials.read_absent(nodes[-1], most_rows) if absent else 0)
    return Sensitivity(
        max(present.l1, added), max(present.l2_squared, added**2), max(present.linf, added), present.monotone
    )


@dataclass
class _Polynomials:
    """Reads polynomials, and remembers the grids that they are made of: equal texts are one variable."""

    row: Row
    places: dict[tuple[str, str] | str, int] = field(default_factory=dict)  # by the name of a column, or by a text
    grids: list[Range] = field(default_factory=list)
    named: set[frozenset[int]] = field(default_factory=set)  # what outputs name, each of them
    columns: dict[tuple[str, str], _Integers] = field(default_factory=dict)  # what was read of bare columns

    def read_output(self, node: exp.Expr, most_rows: int) -> dict[_Product, int]:
        """What one row adds to an output, which so many rows cannot overflow."""
        require(is_vector(node), "sums that are combined")
        parts = [self._part(part, most_rows) for part in _split_sum(node.this)]
        # A row with a value of one part and without that of another would add what is no value of the polynomial.
        require(len({summed.named for _, summed in parts}) == 1, "sums of the same rows")
        self.named.add(parts[0][1].named)
        self._check_width(node, most_rows * sum(max(1, abs(factor)) * each.within.magnitude for factor, each in parts))
        terms: Counter[_Product] = Counter()
        for factor, summed in parts:
            for each, coefficient in summed.terms.items():
                terms[each] += factor * coefficient
        return {each: terms[each] for each in terms if terms[each]}

    def read_absent(self, node: exp.Expr, most_rows: int) -> int:
        """CAST(wide constant * (COUNT(*) - COUNT(grid)) AS ...): what a row adds that lacks what all others name."""
        added, rest = self._times(node.this)
        difference = rest.this
        only(rest, "this")
        only(difference, "this", "expression")
        every, having = difference.this, difference.expression
        require(type(every) is exp.Count and type(every.this) is exp.Star, "a count of all rows")
        require(type(having) is exp.Count, "a count of the rows with the value")
        for count in (every, having, every.this):
            only(count, "this")
        self._place(having.this)
        require(len(self.grids) == 1 and self.named == {frozenset({0})}, "entries that all name the value")
        require(added >= 0, "an entry that rises")
        self._check_width(node, most_rows * max(1, added))
        return added

    def _check_width(self, node: exp.Expr, largest: int) -> None:
        kind = integer_type(node, self.row.dialect)
        require(largest <= self.row.dialect.types.wide.largest, "the width of a sum")
        require(kind is not None and largest <= kind.largest, "the width of a result")

    def _part(self, node: exp.Expr, most_rows: int) -> tuple[int, _Integers]:
        """CAST(constant AS a wide integer) * SUM(polynomial), or * COUNT(grid): the rows that have it, 1 each."""
        factor, summed = self._times(node)
        if is_in_pieces(summed):
            return factor, self._read_pieces(summed, most_rows)
        require(type(summed) in (exp.Sum, exp.Count), "an exact sum times a wide constant")
        only(summed, "this")
        if type(summed) is exp.Sum:
            added, types = self._read(summed.this), self.row.dialect.types
            carried = types.wide if added.room == types.wide.largest else types.sum
            require(most_rows * added.within.magnitude <= carried.largest, "the width of a sum")
            return factor, added
        return factor, _Integers({(): 1}, Range(1, 1), frozenset({self._place(summed.this)}))

    def _read_pieces(self, node: exp.Expr, most_rows: int) -> _Integers:
        value, bits, pieces = read_pieces(node, self.row.dialect)
        added, types = self._read(value), self.row.dialect.types
        require(added.room == types.long.largest, "integers of 64 bits")
        require_width(added.within, bits, pieces, most_rows, types)
        return added

    def _times(self, node: exp.Expr) -> tuple[int, exp.Expr]:
        """CAST(constant AS a wide integer) * something."""
        what, dialect = "an exact sum times a wide constant", self.row.dialect
        require(type(node) is exp.Mul and type(node.this) is exp.Cast, what)
        only(node, "this", "expression")
        require(integer_type(node.this, dialect) == dialect.types.wide, what)
        return integer(node.this.this), node.expression

    def _read(self, node: exp.Expr) -> _Integers:
        if type(node) in (exp.Add, exp.Sub, exp.Mul):
            only(node, "this", "expression")
            return _compute(type(node), self._read(node.this), self._read(node.expression))
        if type(node.unnest()) in (exp.Literal, exp.Neg):
            constant = integer(node)
            return _Integers({(): constant}, Range(constant, constant))
        if type(node) is exp.Paren:
            only(node, "this")
            return self._read(node.this)
        if type(node) is exp.Cast and type(node.this) in (exp.Add, exp.Sub, exp.Mul, exp.Paren, exp.Cast):
            return self._widened(node)
        return self._variable(node)

    def _widened(self, node: exp.Cast) -> _Integers:
        """CAST(a polynomial AS a wide integer), of one variable too, which is a cast itself."""
        wide = self.row.dialect.types.wide
        require(integer_type(node, self.row.dialect) == wide, "a wide integer")
        return self._read(node.this)._replace(room=wide.largest)

    def _variable(self, node: exp.Expr) -> _Integers:
        """CAST(grid AS a long or wide integer), or a grid of a known width: NULL where it is, else within its range."""
        if (name := place(node)) is not None:
            if name not in self.columns:
                room = self.row.column(node).room
                require(room > 0, "a stored grid of a known width")
                self.columns[name] = self._within(self._place(node), room)
            return self.columns[name]
        require(type(node) is exp.Cast, "a stored grid of a known width")
        kind, types = integer_type(node, self.row.dialect), self.row.dialect.types
        room = kind.largest if kind is not None and kind in (types.long, types.wide) else 0
        return self._within(self._place(node.this), room)

    def _within(self, variable: int, room: int) -> _Integers:
        within = self.grids[variable]
        require(within.magnitude <= room, "a stored grid within its width")
        return _Integers({(variable,): 1}, within, frozenset({variable}), room)

    def _place(self, node: exp.Expr) -> int:
        """The number of a grid among those that were read."""
        name = place(node) or node.sql()
        if name not in self.places:
            self.places[name] = len(self.grids)
            self.grids.append(grid(node, self.row))
        return self.places[name]

    def largest_move(self, polynomials: list[dict[_Product, int]]) -> Sensitivity:
        """The worst control point in every norm; at least 1, because no noise hides nothing."""
        whole, points = self._control_points(polynomials)
        return Sensitivity(
            Fraction(max([whole, *(sum(map(abs, point)) for point in points)]), whole),
            Fraction(max([whole**2, *(sum(part**2 for part in point) for point in points)]), whole**2),
            Fraction(max([whole, *(abs(part) for point in points for part in point)]), whole),
            monotone=all(part >= 0 for point in points for part in point),
        )

    def _control_points(self, polynomials: list[dict[_Product, int]]) -> tuple[int, list[list[int]]]:
        """The polar forms of all polynomials, where every argument is an end of its grid; over one denominator."""
        places = range(len(self.grids))
        powers = {each: tuple(map(each.count, places)) for polynomial in polynomials for each in polynomial}
        degrees = [max((each[place] for each in powers.values()), default=0) for place in places]
        points = prod(degree + 1 for degree in degrees)
        require(points * sum(map(len, polynomials)) <= _MOST_POINTS, "a vector of few control points")
        corners = [
            [_polar([ends.lowest] * (degree - above) + [ends.highest] * above) for above in range(degree + 1)]
            for ends, degree in zip(self.grids, degrees, strict=True)
        ]
        found = []
        for corner in product(*corners):
            forms = {each: prod(map(list.__getitem__, corner, own)) for each, own in powers.items()}
            found.append([sum([forms[each] * many for each, many in terms.items()]) for terms in polynomials])
        return prod(map(factorial, degrees)), found


def _compute(kind: type[exp.Expr], left: _Integers, right: _Integers) -> _Integers:
    """A sum, a difference or a product, of which no row can leave its type."""
    (low, high), (least, most) = _ends(left), _ends(right)
    room = max(left.room, right.room)
    if kind is exp.Mul:
        terms: dict[_Product, int] = {}
        ends = (low * least, low * most, high * least, high * most)
        for one, first in left.terms.items():
            for two, second in right.terms.items():
                both = tuple(sorted(one + two))
                terms[both] = terms.get(both, 0) + first * second
    else:
        terms, sign = dict(left.terms), 1 if kind is exp.Add else -1
        ends = (low + sign * least, low + sign * most, high + sign * least, high + sign * most)
        for two, second in right.terms.items():
            terms[two] = terms.get(two, 0) + sign * second
    within = Range(min(ends), max(ends))
    # Two constants have no room at all: the engine would compute them in integers of 32 bits.
    require(left.within.magnitude <= room and right.within.magnitude <= room, "the width of a part")
    require(within.magnitude <= room, "the width of a product or a sum")
    return _Integers(terms, within, left.named | right.named, room)


def _is_of_absent(node: exp.Expr) -> bool:
    """Whether an output is a constant times a difference in brackets, as only that of absent values is."""
    inside = node.this.expression if is_vector(node) and type(node.this) is exp.Mul else None
    return type(inside) is exp.Paren and type(inside.this) is exp.Sub


def _split_sum(node: exp.Expr) -> list[exp.Expr]:
    """The parts of a chain of +."""
    parts = []
    while type(node) is exp.Add:
        only(node, "this", "expression")
        parts.append(node.expression)
        node = node.this
    return [node, *parts]


def _ends(integers: _Integers) -> tuple[int, int]:
    return integers.within.lowest, integers.within.highest


def _polar(arguments: list[int]) -> list[int]:
    """The polar forms of x**0, x**1, ... at these arguments, times n! for n of them.

    That of x**a is the a-th elementary symmetric function, divided by how many products it adds up.
    """
    symmetric = [1]
    for argument in arguments:
        symmetric = [a + argument * b for a, b in zip([*symmetric, 0], [0, *symmetric], strict=True)]
    count = len(arguments)
    return [factorial(a) * factorial(count - a) * each for a, each in enumerate(symmetric)]
