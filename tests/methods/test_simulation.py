"""What is supposed of rows is spread evenly over groups and values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.parts.describe.cuts import Cutting
from adomnia.methods.simulation import count_simulations, drive, simulate, simulate_less
from adomnia.privacy.events import Pure
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import NonNull, Rows, Total
from adomnia.privacy.transforms.matrices import Combination, Matrix
from adomnia.privacy.vectors import Vector, constant, variable
from adomnia.statistics.contract import Measure
from kit.analyses import frame
from kit.describing import build

FRAME = frame({"x": (0, 8)}, {"city": ("A", "B", "C", "D")}, whole=("x",))
X, CITY = FRAME.numbers["x"], FRAME.factors["city"]


def supposed(aggregate, *keys, rows=100):
    return simulate(Measure(Query(FRAME.relation, keys, aggregate), Pure(Fraction(1))), rows).tolist()


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


@pytest.mark.parametrize("by", [(), (CITY.key,)])
def test_rows_between_cuts_are_as_many_as_values_are(by):
    prices = Pure(Fraction(1, 2)), Pure(Fraction(1, 2))
    shares = (Fraction(1, 2),)
    cutting = Cutting(FRAME.relation, by, X.value, X.domain, shares, True, Fraction(19, 20), *prices)
    counted = cutting.count(np.array([[1, 1, 5]] * 4) if by else np.array([1, 1, 5]))
    chosen = cutting.choose(np.full(4, 9.0) if by else np.array(36.0))
    found = simulate(counted, 36 * 9, (chosen,))
    assert found.tolist() == ([[9, 0, 36, 36]] * 4 if by else [36, 0, 144, 144])
    assert len(set(simulate(counted, 36 * 9).ravel().tolist())) == 1  # of which nothing else is known


@pytest.mark.parametrize("name", ["quantiles", "summary", "iqr", "mad"])
def test_the_error_to_expect_of_quantiles_is_that_of_evenly_spread_rows(name):
    people = frame({"x": (0, 100)})
    column = {} if name == "summary" else {"column": people.numbers["x"]}
    table = drive(build(name, people, **column), Pure(Fraction(1)), 1000)[1]
    for named in {"median", "q1", "q3", "estimate"} & table.estimates.keys():
        lower, upper = table.estimates[named].interval(0.95, 1)
        assert (upper - lower > 5.0).all()  # a sample of so many rows alone has 6
        assert (upper - lower < 25.0).all()


def test_results_are_simulated_as_often_as_a_method_says():
    assert count_simulations(500) == 500


def test_prices_are_simulated_less_and_never_less_than_is_enough():
    with simulate_less():
        assert count_simulations(4000) == 500
        assert count_simulations(100) == 60
        assert count_simulations(40) == 40
        assert count_simulations(1000, least=400) == 400
    assert count_simulations(4000) == 4000
