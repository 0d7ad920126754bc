from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import lognorm

import adomnia
from adomnia.methods.parts.describe.cut_quantiles import CutQuantile, estimate_quantiles, find_cuts
from adomnia.methods.parts.describe.cuts import Cutting
from adomnia.privacy.events import Pure
from kit.analyses import Arms, frame
from kit.bits import SeededBits
from kit.describing import DISTRIBUTIONS, EPSILON, EXACT, RHO, build, covers_as_often, table_of
from kit.robust import RobustNumber, every_price

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


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_with_next_to_no_noise_they_are_the_quantiles_of_the_data(distribution):
    values = DISTRIBUTIONS[distribution](np.random.default_rng(2), 4000)
    found = estimate_quantiles(find(values, EXACT, population=False))
    exact = np.quantile(values, [0.25, 0.5, 0.75], method="inverted_cdf")
    lower, upper = found.interval(0.95, 1)
    assert found.values == pytest.approx(exact, abs=0.6)
    assert (lower <= exact + 1e-4).all()
    assert (exact <= upper + 1e-4).all()


@pytest.mark.parametrize("price", [EPSILON, RHO], ids=str)
@pytest.mark.parametrize("distribution", ["normal", "rounded", "clusters", "constant"])
def test_intervals_hold_for_the_population_and_say_something(distribution, price):
    draws, size = 30, 3000
    truth, random = (
        np.quantile(DISTRIBUTIONS[distribution](np.random.default_rng(0), 10**6), 0.5),
        np.random.default_rng(5),
    )
    hits, blind, widths = 0, 0, []
    for seed in range(draws):
        values = DISTRIBUTIONS[distribution](random, size)
        (found,) = find(values, price, seed, shares=QUARTILES[1:2])
        low, high = found.bounds(0.95, 1)
        hits += low <= truth <= high
        widths.append(high - low)
        if distribution == "normal":
            low, high = find(values, price, seed, population=False, shares=QUARTILES[1:2])[0].bounds(0.95, 1)
            blind += low <= truth <= high
    assert covers_as_often(hits, draws, 0.94)
    assert np.median(widths) < {"normal": 3.0, "rounded": 0.1, "clusters": 1.5}.get(distribution, 0.01)
    if distribution == "normal" and price == EPSILON:  # intervals that know of the noise alone do not hold
        assert not covers_as_often(blind, draws, 0.94)


def test_half_of_the_intervals_of_fifty_percent_hold():
    random = np.random.default_rng(8)
    found = [find(DISTRIBUTIONS["normal"](random, 3000), EPSILON, seed, shares=QUARTILES[1:2])[0] for seed in range(40)]
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
    assert all(each.even for each in find(DISTRIBUTIONS["normal"](random, 20_000), EPSILON))
    assert not any(each.even for each in find(DISTRIBUTIONS["constant"](random, 20_000), EPSILON))
    (median,) = find(np.where(random.random(20_000) < 0.5, 20.0, 80.0), EPSILON, shares=QUARTILES[1:2])
    assert not median.even


@pytest.mark.soak
@pytest.mark.parametrize("price", [EPSILON, RHO], ids=str)
@pytest.mark.parametrize("size", [1000, 10_000, 100_000])
@pytest.mark.parametrize("distribution", ["normal", "lognormal"])
def test_coverage_is_near_what_is_promised(distribution, size, price):
    draws = 300
    truth = np.quantile(DISTRIBUTIONS[distribution](np.random.default_rng(0), 4 * 10**6), [0.25, 0.5, 0.75])
    random, hits = np.random.default_rng(size), np.zeros(3)
    for seed in range(draws):
        ends = [each.bounds(0.95, 1) for each in find(DISTRIBUTIONS[distribution](random, size), price, seed)]
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


def iqr(values):
    return float(np.subtract(*np.quantile(values, [0.75, 0.25], method="inverted_cdf")))


def mad(values):
    return float(1.4826 * np.median(np.abs(values - np.median(values))))


def trimmed_mean(values):
    low, high = np.quantile(values, [0.1, 0.9])
    return float((np.clip(values, low, high).mean() - 0.1 * (low + high)) / 0.8)


def winsorized_mean(values):
    return float(np.clip(values, *np.quantile(values, [0.1, 0.9])).mean())


NAMES = ("iqr", "mad", "trimmed_mean", "winsorized_mean")


TRIMMED = RobustNumber("trimmed_mean", trimmed_mean, widest=0.8)


NUMBERS = [
    RobustNumber("iqr", iqr, widest=1.6),
    RobustNumber("mad", mad, widest=1.6),
    TRIMMED,
    RobustNumber("winsorized_mean", winsorized_mean, widest=1.0),
]


every_number = pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number.method)


@every_number
@pytest.mark.parametrize("distribution", ["normal", "lognormal", "constant"])
def test_with_little_noise_it_is_that_of_the_data(number, distribution):
    number.check_without_noise(distribution)


@every_number
@every_price
@pytest.mark.parametrize("distribution", ["lognormal", "rounded"])
def test_its_interval_holds_for_the_population_and_says_something(number, distribution, price):
    number.check_interval(distribution, price)


@pytest.mark.soak
@every_number
@every_price
@pytest.mark.parametrize("size", [1000, 10_000, 100_000])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_coverage_is_near_what_is_promised_of_robust(number, distribution, size, price):
    number.check_coverage(distribution, size, price)


def test_the_interval_of_a_mad_allows_for_the_median_where_all_cuts_are_near_the_answer():
    """As wide as sampling alone makes it, at least (Falk 1997): without the median's part it is 0.7 of that."""
    random, distribution, size = np.random.default_rng(7), lognorm(0.6, scale=np.exp(2.5)), 100_000
    values = DISTRIBUTIONS["lognormal"](random, size)
    median, density = np.median(values), distribution.pdf(np.median(values))
    far = np.median(np.abs(values - median))
    left, right = distribution.pdf([median - far, median + far])
    moved = (0.5 - (values < median)) / density
    parts = (0.5 - (np.abs(values - median) < far) + (left - right) * moved) / (left + right)
    least = 2 * 1.96 * 1.4826 * parts.std() / np.sqrt(size)
    low, high = RobustNumber("mad", mad).ends(Pure(3), values, 0)
    assert 0.95 * least < high - low < 1.5 * least


def test_values_that_are_all_equal_are_not_taken_for_spread_ones():
    """All rows lie between two cuts: nothing tells that they do not lie at one place, as they do."""
    values = DISTRIBUTIONS["constant"](np.random.default_rng(6), 1000)
    ends = [TRIMMED.ends(EPSILON, values, seed) for seed in range(15)]
    assert covers_as_often(sum(low - 1e-3 <= 37.3 <= high + 1e-3 for low, high in ends), 15, 0.94)


def test_a_trimmed_mean_is_that_of_the_rows_in_the_middle_as_scipy_has_it():
    from scipy.stats import trim_mean

    values = DISTRIBUTIONS["lognormal"](np.random.default_rng(5), 20_000)
    assert trimmed_mean(values) == pytest.approx(trim_mean(values, 0.1), abs=0.01)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("values", [np.zeros(0), np.full(1, 100.0), np.full(50, np.nan)], ids=["none", "one", "null"])
def test_nearly_no_rows_leave_a_finite_number_and_a_wide_interval(name, values):
    for seed in range(3):
        table = table_of(build(name, FRAME, column=FRAME.numbers["x"]), EPSILON, {"x": values}, seed)
        estimate = table.estimates["estimate"]
        (low,), (high,) = estimate.interval(0.95, 1)
        assert np.isfinite([low, high]).all()
        assert low <= estimate.values[0] <= high
        assert high - low > 20


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_one_person_are_no_sample(name):
    with pytest.raises(adomnia.Refusal, match="one person"):
        build(name, frame({"x": (0, 100)}, rows_per_person=2), column=FRAME.numbers["x"])


@pytest.mark.parametrize("name", NAMES)
def test_all_rounds_together_cost_the_price(name):
    asked = build(name, FRAME, column=FRAME.numbers["x"])
    assert sum(each.price.epsilon for each in asked.planned_measures(EPSILON)) == 1
