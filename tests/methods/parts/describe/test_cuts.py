from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from adomnia.methods.contract import BadArgument
from adomnia.methods.parts.describe.cuts import EDGES, Cutting, EqualBins, check_cells
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Measured
from kit.analyses import Arms, frame
from kit.bits import SeededBits
from kit.describing import EPSILON

FRAME = frame({"x": (0, 100)}, {"city": ("A", "B", "C"), "sex": ("F", "M")})
COLUMN = FRAME.numbers["x"]
MEDIAN = (Fraction(1, 2),)


def cutting(by=(), shares=MEDIAN, population=True):
    parts = EPSILON * Fraction(1, 3), EPSILON * Fraction(2, 3)
    return Cutting(FRAME.relation, by, COLUMN.value, COLUMN.domain, shares, population, Fraction(19, 20), *parts)


def test_three_rising_shares_are_asked_for_each_quantile_however_many_rows_there_are():
    quantiles = tuple(Fraction(each, 100) for each in (1, 25, 50, 99))
    for rows in (-5.0, 0.0, 3.0, 1e3, 1e6, 1e12):
        asked = cutting(shares=quantiles).choose(np.array(rows)).query.aggregate.shares
        assert len(asked) == 12
        assert asked[1::3] == quantiles
        assert all(before < after for before, after in pairwise(asked))
        assert 0 < asked[0] < asked[-1] < 1


def test_more_rows_are_asked_for_nearer_to_the_quantile():
    far, near = (cutting().choose(np.array(rows)).query.aggregate.shares for rows in (1e3, 1e5))
    assert far[2] - far[0] > 3 * (near[2] - near[0])


def test_edges_rise_within_the_grid_whatever_was_chosen():
    plan = cutting()
    mechanism = plan.choose(np.array(1e4)).mechanism
    last = COLUMN.domain.width
    for chosen in ([0, 0, 0], [last, last, last], [0, 0, last], [500, 500, 500]):
        edges = plan.lay(Measured(np.array(chosen), mechanism), np.array(1e4))
        assert edges.shape == (EDGES,)
        assert (np.diff(edges) >= 0).all()
        assert 0 <= edges[0] <= edges[-1] <= last + 1
        assert {chosen[1], chosen[1] + 1} <= set(edges.tolist())


def test_rows_are_counted_between_the_edges_of_their_own_group():
    by = (FRAME.factors["city"].key, FRAME.factors["sex"].key)
    plan = cutting(by)
    random = np.random.default_rng(3)
    data = {
        "x": np.round(random.uniform(0, 100, 500)),
        "city": random.choice(np.array(["A", "B", "C"], dtype=object), 500),
        "sex": random.choice(np.array(["F", "M"], dtype=object), 500),
    }
    places = np.sort(random.integers(0, 101, (3, 2, EDGES)), axis=-1)
    edges = (places / float(COLUMN.domain.step)).astype(np.int64)
    exact = Arms(data, SeededBits("0")).exact(plan.count(edges).query)
    for one, city in enumerate("ABC"):
        for two, sex in enumerate("FM"):
            mine = data["x"][(data["city"] == city) & (data["sex"] == sex)]
            below = [(mine < edge).sum() for edge in places[one, two]]
            assert exact[one, two].tolist() == np.diff([0, *below, len(mine)]).tolist()


def test_too_many_groups_are_refused():
    check_cells((), 40)
    with pytest.raises(BadArgument, match="6 groups"):
        check_cells(tuple(FRAME.factors.values()), 26)


FRAME_OF_BINS = frame({"x": (-10, 10), "y": (0, 120)}, whole=("y",))


@pytest.mark.parametrize(("name", "wanted", "count"), [("x", 8, 8), ("y", 24, 21), ("y", 500, 121)])
def test_bins_hold_all_rows_each_with_its_upper_end(name, wanted, count):
    bins = EqualBins(FRAME_OF_BINS.numbers[name], wanted)
    edges = [float(each) for each in bins.edges]
    assert bins.count == count == len(edges) - 1
    random = np.random.default_rng(1)
    values = random.uniform(-12, 12, 400) if name == "x" else np.round(random.uniform(0, 120, 400))
    values = np.append(values, edges)
    data = {"x": values, "y": values}
    counts = Arms(data, SeededBits("0")).exact(Query(FRAME_OF_BINS.relation, (bins.key,), Rows()))
    inside = np.clip(values, edges[0], edges[-1])
    assert np.cumsum(counts).tolist() == [(inside <= edge + 1e-9).sum() for edge in edges[1:]]


def test_whole_numbers_are_never_divided():
    assert all(each.denominator == 1 for each in EqualBins(FRAME_OF_BINS.numbers["y"], 24).edges)
    assert EqualBins(FRAME_OF_BINS.numbers["x"], 8).width == Fraction(5, 2)
