"""What a table says beyond its columns costs less than all it says, and adds up to the same noise."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from adomnia.methods.releases.mst import METHOD
from adomnia.methods.synthesis.choosing import MOST_TABLES, Workload, relative_noise, split_table
from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals
from adomnia.privacy.events import Concentrated, Pure
from kit.placed_rows import build

RHO = Concentrated(Fraction(1, 10))


def test_two_columns_of_two_values_have_half_the_noise():
    assert relative_noise((2, 2), (0, 1), RHO) == pytest.approx(0.5)
    assert relative_noise((100, 100), (0, 1), RHO) == pytest.approx(0.99)


@pytest.mark.parametrize("table", [(0, 1), (0, 1, 2), (1, 2, 3)])
def test_parts_add_up_to_equal_noise_on_all_counts(table):
    """With what is known of single columns made as exact, all counts have the noise of counts measured whole."""
    sizes = (3, 4, 2, 5)
    whole = Residuals.from_measured(sizes, [NoisyMarginal(table, np.zeros([sizes[c] for c in table]), 7.0)])
    tables = build(METHOD, sizes).tables
    measures = tables.ask_parts(table, RHO)
    parts = split_table(sizes, table, RHO)
    assert sum(part.share for part in parts) == 1
    assert {part.columns for part in parts} == {columns for columns in whole.variances if len(columns) > 1}
    factors = set()
    for part, measure in zip(parts, measures, strict=True):
        kept = float(np.prod([sizes[column] for column in part.columns])) ** -2
        factors.add(round(float(measure.mechanism.variance) * kept / whole.variances[part.columns], 9))
    assert len(factors) == 1
    at_the_same_price = float(1 / (2 * RHO.rho)) / 7.0
    assert next(iter(factors)) == pytest.approx(at_the_same_price * relative_noise(sizes, table, RHO) ** 2)


@pytest.mark.parametrize(
    ("sizes", "table", "price"),
    [((3, 4), (0, 1), Pure(1)), ((3, 4), (0,), RHO), ((500, 4), (0, 1), RHO), ((1, 4), (0, 1), RHO)],
    ids=["laplace", "one column", "many values", "one value"],
)
def test_what_gains_nothing_is_measured_as_counts(sizes, table, price):
    (only,) = split_table(sizes, table, price)
    assert (only.columns, only.basis, only.share) == (table, "counts", 1)
    assert relative_noise(sizes, table, price) == 1.0


def test_all_tables_of_so_many_columns_are_wanted_and_their_parts_may_be_measured():
    workload = Workload((2, 3, 4, 5), 3, 1000)
    assert set(workload.wanted) == set(combinations(range(4), 3))
    assert len(workload.tables) == 4 + 6 + 4
    assert workload.tables[:2] == ((0,), (1,))


def test_tables_of_too_many_cells_are_not_wanted_but_their_parts_are():
    workload = Workload((10, 10, 10, 2), 3, 200)
    assert set(workload.wanted) == {(0, 1, 3), (0, 2, 3), (1, 2, 3)}
    assert (0, 1, 2) not in workload.tables
    assert (0, 1) in workload.tables


def test_columns_that_are_in_no_table_are_wanted_by_themselves():
    workload = Workload((50, 50, 2), 2, 100)
    assert set(workload.wanted) == {(0, 2), (1, 2)}
    assert set(Workload((50, 50), 2, 100).wanted) == {(0,), (1,)}


def test_a_table_matters_by_the_columns_that_it_shares_with_each_wanted_one():
    workload = Workload((10, 10, 10, 2), 3, 200)
    shared = {table: sum(len(set(table) & set(wanted)) for wanted in workload.wanted) for table in workload.tables}
    ratios = {shared[table] / weight for table, weight in workload.weights.items()}
    assert len(ratios) == 1


def test_of_many_columns_the_tables_with_few_cells_may_be_measured():
    workload = Workload((3,) * 20 + (2,) * 3, 3, 1000)
    assert len(workload.tables) == MOST_TABLES
    assert {(column,) for column in range(23)} <= set(workload.tables)
    assert (20, 21, 22) in workload.tables


def test_more_ways_than_columns_are_all_of_them():
    assert Workload((2, 3), 4, 100).wanted == ((0, 1),)
