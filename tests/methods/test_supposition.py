"""What is supposed of rows is spread evenly over cells and values."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.methods.supposition import suppose
from adomnia.privacy.aggregates import NonNull, Rows, Total
from adomnia.privacy.events import Pure
from adomnia.privacy.matrices import Combination, Matrix
from adomnia.privacy.polynomials import constant, variable
from adomnia.privacy.queries import Query
from adomnia.privacy.vectors import Vector
from adomnia.statistics.contract import Measure
from kit.analyses import frame

FRAME = frame({"x": (0, 8)}, {"city": ("A", "B", "C", "D")}, whole=("x",))
X, CITY = FRAME.numbers["x"], FRAME.factors["city"]


def supposed(aggregate, *keys, rows=100):
    return suppose(Measure(Query(FRAME.relation, keys, aggregate), Pure(Fraction(1))), rows).tolist()


@pytest.mark.parametrize("aggregate", [Rows(), NonNull(X.value)])
def test_rows_are_in_all_cells_alike(aggregate):
    assert supposed(aggregate) == 100
    assert supposed(aggregate, CITY.key) == [25] * 4


def test_sums_are_those_of_values_that_are_spread_evenly():
    assert supposed(Total(X.value, X.domain, 3), CITY.key) == [25] * 4


def test_polynomials_have_their_mean_over_the_bounds():
    x = variable(0, 1)
    squares = Vector((X.variable,), (x, x * x, constant(5, 1)))
    assert supposed(squares) == [400, 2133, 500]
    assert supposed(squares, CITY.key) == [[100, 533, 125]] * 4


def test_what_is_missing_is_supposed_not_to_be():
    counted = Vector((X.variable,), (variable(0, 1),), absent=8)
    assert supposed(counted) == [400, 0]


def test_combinations_are_of_equal_counts():
    both = Combination(((Matrix.total(4),), (Matrix.identity(4),)))
    assert supposed(both, CITY.key) == [100, 25, 25, 25, 25]
