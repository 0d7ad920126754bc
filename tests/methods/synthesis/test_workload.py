"""Which tables rows should be good for, and which may be measured for them."""

from __future__ import annotations

from itertools import combinations

from adomnia.methods.synthesis.workload import MOST_TABLES, Workload


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
