from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.contract import BadArgument, NumberColumn
from adomnia.methods.parts.testing.rank_cuts import (
    RankCuts,
    demand_few_cuts,
    even_shares,
    fill_bins,
    fill_table,
    lay_edges,
)
from adomnia.noise.discrete import NotDrawableError
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Concentrated, Pure
from adomnia.statistics.contract import Measured
from kit.analyses import Arms, frame
from kit.bits import SeededBits
from kit.trials import build

ROWS = frame({"x": (0, 500_000), "n": (0, 4)}, {"g": ("A", "B"), "h": tuple("abc")}, whole=("n",))
X, N, G, H = ROWS.numbers["x"], ROWS.numbers["n"], ROWS.factors["g"], ROWS.factors["h"]
PRICE = Pure(50)


def count(cuts, data, *apart):
    """The rows that are counted, and how many rounds that takes."""
    arms, flow, rounds = Arms(data, SeededBits("cuts")), cuts.count(PRICE, *apart), 1
    asked = next(flow)
    while True:
        try:
            asked = flow.send(tuple(map(arms.measure, asked)))
            rounds += 1
        except StopIteration as end:
            return end.value, rounds


def test_a_value_is_the_last_of_its_bin_and_stands_alone_where_it_is_chosen_twice():
    assert lay_edges(np.array([3, 7, 7, 9]), 5, 6, 20) == [4, 7, 8, 10, 21, 21]


def test_no_cut_is_at_the_bounds_where_nothing_is_beyond_it():
    assert lay_edges(np.array([0, 0, 0, 20]), 5, 4, 20) == [1, 21, 21, 21]


def test_fewer_bins_take_values_at_even_ranks():
    assert lay_edges(np.arange(10, 17), 4, 7, 99) == [12, 14, 16, 100, 100, 100, 100]


def test_shares_are_even_and_as_fine_as_may_be():
    assert even_shares(4) == (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
    assert len(set(even_shares(200))) == 199
    assert all(1000 % each.denominator == 0 for each in even_shares(64))


@pytest.mark.parametrize("fill", [fill_bins, fill_table])
def test_more_rows_and_less_noise_fill_more_bins_within_what_is_asked(fill):
    few, many = fill(np.array([-50.0, 1e9]), 4.0, 32)
    assert (few, many) == (4, 32)
    assert fill(np.array([2e3]), 4.0, 64) < fill(np.array([2e4]), 4.0, 64) < fill(np.array([2e4]), 0.5, 64)


def test_few_values_are_counted_at_the_whole_price_in_one_round():
    data = {"n": np.repeat(np.arange(5.0), (7, 1, 0, 2, 90)), "g": np.full(100, "A", dtype=object)}
    (found,), rounds = count(RankCuts(ROWS.relation, (), (N,), 8), data, G.key)
    assert rounds == 1
    assert found.measured.values.tolist() == [[7, 1, 0, 2, 90], [0] * 5]
    assert found.exact
    (measure,) = next(RankCuts(ROWS.relation, (), (N,), 8).count(PRICE, G.key))
    assert measure.price == PRICE


def test_a_declared_step_makes_few_values_too():
    half = NumberColumn("x", X.value, Numbers(0, 10, Fraction(1, 2)))
    data = {"x": np.repeat([0.0, 2.5, 10.0], (5, 3, 4)), "g": np.full(12, "B", dtype=object)}
    (found,), rounds = count(RankCuts(ROWS.relation, (), (half,), 64), data, G.key)
    assert (rounds, found.measured.values.shape) == (1, (2, 21))
    assert found.measured.values[1, [0, 5, 20]].tolist() == [5, 3, 4]


def test_ties_stand_alone_and_the_rest_is_cut_evenly():
    random = np.random.default_rng(1)
    values = np.where(random.random(4000) < 0.6, 0.0, random.lognormal(7, 1, 4000))
    (found,), rounds = count(
        RankCuts(ROWS.relation, (), (X,), 20), {"x": values, "g": np.full(4000, "A", dtype=object)}, G.key
    )
    rows = found.measured.values.sum(axis=0)
    assert rounds == 3
    assert found.tied[0][0]
    assert rows[0] == (values == 0).sum()
    assert not any(found.tied[0][1:])
    assert rows[1:].max() <= 2 * 4000 / 20


def test_each_cell_has_cuts_of_its_own():
    random = np.random.default_rng(2)
    scale = np.repeat([100.0, 4_000.0, 160_000.0], 2000)
    data = {
        "x": scale * random.random(6000),
        "g": np.full(6000, "A", dtype=object),
        "h": np.repeat(np.array(list("abc"), dtype=object), 2000),
    }
    found, _ = count(RankCuts(ROWS.relation, (H,), (X,), 10), data, G.key)
    assert len(found) == 3
    assert all(each.measured.values[0].max() <= 400 for each in found)


def test_so_many_groups_that_the_statement_would_be_too_long_are_refused_with_how_many_bins_there_may_be():
    cities = frame(levels={"city": tuple(map(str, range(60)))}).factors["city"]
    demand_few_cuts((cities,), 40, X)
    demand_few_cuts((cities,), 64, N)
    with pytest.raises(BadArgument, match="with 64 bins there may be 37") as refused:
        demand_few_cuts((cities,), 64, X)
    assert "bins => 40" in refused.value.fix


@pytest.mark.parametrize("bins", [4, 17, 64])
def test_what_is_counted_has_the_same_number_of_cuts_whatever_the_noise(bins):
    """Later rounds differ from what was proved in constants alone."""
    statistic = build("mann_whitney", ROWS, column=X, group=G, bins=bins)
    for rows in (0, 30, 3000):
        arms = Arms({"x": np.linspace(0, 9, rows), "g": np.full(rows, "A", dtype=object)}, SeededBits(rows))
        flow = statistic.steps(Pure(1))
        asked = next(flow)
        for _ in range(2):
            asked = flow.send(tuple(map(arms.measure, asked)))
        assert asked[0].query.shape == (2, bins)


def test_a_column_of_many_values_that_is_searched_has_no_list_of_them():
    wide = NumberColumn("x", X.value, Numbers(0, 2**39, 1))
    (first,) = next(RankCuts(ROWS.relation, (), (wide,), 16).count(Pure(1), G.key))
    flow = RankCuts(ROWS.relation, (), (wide,), 16).count(Pure(1), G.key)
    (choice,) = (next(flow), flow.send((Measured(np.array(1000), first.mechanism),)))[1]
    chosen = Measured(choice.mechanism.spread_evenly(1000), choice.mechanism)
    (counted,) = flow.send((chosen,))
    assert counted.query.shape == (2, 16)


@pytest.mark.parametrize("method", ["mann_whitney", "ks_test", "kruskal_wallis", "signed_rank", "spearman", "kendall"])
def test_a_column_of_more_values_than_can_be_chosen_from_is_refused(method):
    wide = frame({"x": (-(2**60), 2**60), "y": (0, 1)}, {"g": ("A", "B")}, whole=("x",))
    other = {"other": wide.numbers["y"]} if method in {"spearman", "kendall"} else {}
    group = {} if method in {"signed_rank", "spearman", "kendall"} else {"group": wide.factors["g"]}
    with pytest.raises(BadArgument, match="too many to choose from"):
        build(method, wide, column=wide.numbers["x"], **group, **other)


@pytest.mark.parametrize("price", [Pure(Fraction(1, 2**28)), Concentrated(Fraction(1, 2**61))])
def test_a_price_at_which_more_values_could_not_be_chosen_is_refused_before_rows_are_counted(price):
    """Of few rows few are chosen, which could be drawn; the noise alone may make many of them."""
    few = RankCuts(ROWS.relation, (), (X,), 4).count(price, G.key)
    assert next(few)
    with pytest.raises(NotDrawableError):
        next(RankCuts(ROWS.relation, (), (X,), 64).count(price, G.key))
