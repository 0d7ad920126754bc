from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.parts.describe.cut_quantiles import CutQuantile, estimate_quantiles, find_cuts
from adomnia.methods.parts.describe.cuts import Cutting
from kit.analyses import Arms, frame
from kit.bits import SeededBits
from kit.describing import EPSILON, EXACT, LAWS, RHO, covers_as_often

FRAME = frame({"x": (0, 100)})
COLUMN = FRAME.numbers["x"]
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))


def find(values, price, seed=0, population=True, shares=QUARTILES):
    parts = price * Fraction(1, 3), price * Fraction(2, 3)
    plan = Cutting(FRAME.relation, (), COLUMN.value, COLUMN.domain, shares, population, Fraction(19, 20), *parts)
    arms, flow = Arms({"x": values}, SeededBits(str(seed))), find_cuts(plan, np.array(float(len(values))))
    asked = next(flow)
    while True:
        try:
            asked = flow.send(tuple(map(arms.measure, asked)))
        except StopIteration as end:
            return end.value[0]


@pytest.mark.parametrize("law", LAWS)
def test_with_next_to_no_noise_they_are_the_quantiles_of_the_data(law):
    values = LAWS[law](np.random.default_rng(2), 4000)
    found = estimate_quantiles(find(values, EXACT, population=False))
    exact = np.quantile(values, [0.25, 0.5, 0.75], method="inverted_cdf")
    lower, upper = found.interval(0.95, 1)
    assert found.values == pytest.approx(exact, abs=0.6)
    assert (lower <= exact + 1e-4).all()
    assert (exact <= upper + 1e-4).all()


@pytest.mark.parametrize("price", [EPSILON, RHO], ids=str)
@pytest.mark.parametrize("law", ["normal", "rounded", "clusters", "constant"])
def test_intervals_hold_for_the_population_and_say_something(law, price):
    draws, size = 30, 3000
    truth, random = np.quantile(LAWS[law](np.random.default_rng(0), 10**6), 0.5), np.random.default_rng(5)
    hits, blind, widths = 0, 0, []
    for seed in range(draws):
        values = LAWS[law](random, size)
        (found,) = find(values, price, seed, shares=QUARTILES[1:2])
        low, high = found.bounds(0.95, 1)
        hits += low <= truth <= high
        widths.append(high - low)
        if law == "normal":
            low, high = find(values, price, seed, population=False, shares=QUARTILES[1:2])[0].bounds(0.95, 1)
            blind += low <= truth <= high
    assert covers_as_often(hits, draws, 0.94)
    assert np.median(widths) < {"normal": 3.0, "rounded": 0.1, "clusters": 1.5}.get(law, 0.01)
    if law == "normal" and price == EPSILON:  # intervals that know of the noise alone do not hold
        assert not covers_as_often(blind, draws, 0.94)


def test_half_of_the_intervals_of_fifty_percent_hold():
    random = np.random.default_rng(8)
    found = [find(LAWS["normal"](random, 3000), EPSILON, seed, shares=QUARTILES[1:2])[0] for seed in range(40)]
    assert 10 <= sum(low <= 40 <= high for low, high in (each.bounds(0.5, 1) for each in found)) < 40


@pytest.mark.parametrize("values", [np.zeros(0), np.full(1, 50.0), np.array([0.0, 100.0])])
def test_few_rows_leave_the_bounds_and_rising_values(values):
    for seed in range(10):
        found = estimate_quantiles(find(values, EPSILON, seed))
        lower, upper = found.interval(0.95, 1)
        assert (np.diff(found.values) >= 0).all()
        assert (lower <= found.values).all()
        assert (found.values <= upper).all()
        assert (upper - lower).min() > 50


def test_ties_and_gaps_are_seen():
    random = np.random.default_rng(9)
    assert all(each.even for each in find(LAWS["normal"](random, 20_000), EPSILON))
    assert not any(each.even for each in find(LAWS["constant"](random, 20_000), EPSILON))
    (median,) = find(np.where(random.random(20_000) < 0.5, 20.0, 80.0), EPSILON, shares=QUARTILES[1:2])
    assert not median.even


@pytest.mark.soak
@pytest.mark.parametrize("price", [EPSILON, RHO], ids=str)
@pytest.mark.parametrize("size", [1000, 10_000, 100_000])
@pytest.mark.parametrize("law", ["normal", "lognormal"])
def test_coverage_is_near_what_is_promised(law, size, price):
    draws = 300
    truth = np.quantile(LAWS[law](np.random.default_rng(0), 4 * 10**6), [0.25, 0.5, 0.75])
    random, hits = np.random.default_rng(size), np.zeros(3)
    for seed in range(draws):
        ends = [each.bounds(0.95, 1) for each in find(LAWS[law](random, size), price, seed)]
        hits += [low <= exact <= high for (low, high), exact in zip(ends, truth, strict=True)]
    assert all(covers_as_often(each, draws, 0.94) for each in hits)
    assert hits.mean() / draws < 0.995


def median_of(counts):
    """The median of rows that were counted between cuts a thousand places apart, half of them below the middle."""
    prices = EPSILON / 3, EPSILON / 3
    plan = Cutting(FRAME.relation, (), COLUMN.value, COLUMN.domain, QUARTILES[1:2], True, Fraction(19, 20), *prices)
    edges = 400_000.0 + 1000 * np.arange(len(counts) - 1)
    return CutQuantile(plan, 0, int(edges.mean()), edges, np.array(counts, dtype=np.float64), (8.0, 192.0))


def test_what_is_uneven_is_seen_among_many_rows_too():
    """Blocks that no cut divides say nothing: counting them let half a million rows look even."""
    far, even, uneven = [450_000], [200] * 10, [230, 170] * 5
    assert median_of(far + even + far).even
    assert not median_of(far + uneven + far).even


def test_more_rows_than_there_is_memory_for_are_looked_at():
    many = [2**46] + [2**40] * 10 + [2**46]
    assert isinstance(median_of(many).even, bool)
    low, high = median_of(many).bounds(0.95, 1)
    assert low < high
