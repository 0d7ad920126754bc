"""ColumnBins: where they end, and into which of them a value is counted."""

from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.column_bins import ColumnBins, choose_bins, split_evenly, split_finely
from adomnia.methods.contract import BadArgument
from kit.analyses import Arms, frame
from kit.bits import SeededBits

COLUMNS = frame({"x": (0, 1), "salary": (0, 500), "age": (0, 90), "score": (-3, 4)}, whole=("age",)).numbers


def places(bins, values):
    arms = Arms({bins.column.name: np.array(values, dtype=float)}, SeededBits("bins"))
    return arms._place(bins.key).tolist()


def test_equal_bins_reach_from_bound_to_bound():
    bins = split_evenly(COLUMNS["score"], 7)
    assert bins.edges == tuple(map(Fraction, range(-3, 5)))
    assert places(bins, [-3, -2.5, -2, 0, 3.999, 4]) == [0, 0, 1, 3, 6, 6]


def test_an_edge_belongs_to_the_bin_above_it_even_where_tenths_are_no_doubles():
    bins = split_evenly(COLUMNS["x"], 10)
    assert places(bins, [place / 10 for place in range(11)]) == [*range(10), 9]


def test_what_lies_outside_is_counted_in_the_outer_bins():
    bins = choose_bins(COLUMNS["salary"], {"breaks": (Fraction(10), Fraction(20), Fraction(50)), "bins": 20})
    assert places(bins, [-5, 0, 10, 19.9, 20, 49, 50, 400, 1e9]) == [0, 0, 0, 0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("breaks", [(0, 1, 4, 9), (2, 7), (0, Fraction(1, 3), 100)])
def test_uneven_breaks_are_compared_and_even_ones_divided_alike(breaks):
    column, edges = COLUMNS["salary"], tuple(map(Fraction, breaks))
    values = [0, 0.1, 1 / 3, 0.5, 1, 3, 4, 5, 7, 9, 100, 499]
    expected = np.clip(np.searchsorted(np.array(edges, dtype=float), values, side="right") - 1, 0, len(edges) - 2)
    assert places(ColumnBins(column, edges), values) == expected.tolist()


def test_whole_numbers_are_divided_half_way_between_two():
    bins = split_finely(COLUMNS["age"], 40)
    assert bins.edges[0] == Fraction(-1, 2)
    assert bins.edges[-1] == Fraction(181, 2)
    counts = np.bincount(places(bins, range(91)))
    assert counts.tolist() == [3] * 30 + [1]
    assert bins.widths.tolist() == [3.0] * 30 + [1.0]


def test_numbers_that_are_not_whole_are_divided_evenly():
    assert split_finely(COLUMNS["x"], 16) == split_evenly(COLUMNS["x"], 16)


@pytest.mark.parametrize("breaks", [(3,), (5, 3), (1, 1, 2), tuple(range(300))])
def test_breaks_that_make_no_bins_are_refused(breaks):
    with pytest.raises(BadArgument) as refused:
        choose_bins(COLUMNS["x"], {"breaks": tuple(map(Fraction, breaks)), "bins": 20})
    assert refused.value.argument == "breaks"


def test_a_column_of_one_value_is_refused():
    constant = frame({"x": (3, 3)}, whole=("x",)).numbers["x"]
    with pytest.raises(BadArgument, match="one value alone"):
        split_evenly(constant, 5)


@pytest.mark.parametrize("bins", [10, 20, 25, 50, 100, 1000])
def test_decimals_that_are_edges_are_in_the_bin_above(bins):
    """0.29 * 100 is less than 29 in doubles."""
    assert places(split_evenly(COLUMNS["x"], bins), [place / bins for place in range(bins + 1)]) == [
        *range(bins),
        bins - 1,
    ]


def test_what_is_clearly_below_an_edge_stays_there():
    assert places(split_evenly(COLUMNS["x"], 4), [0.25 - 2**-22, 0.25, 0.5 - 2**-22]) == [0, 1, 1]
