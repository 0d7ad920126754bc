from functools import partial

import numpy as np
import pytest
from scipy import stats

from adomnia.methods.column_bins import split_evenly
from adomnia.methods.testing.mann_whitney import (
    MannWhitney,
    MannWhitneyByRank,
    Pairs,
    superiority,
    vary_by_order,
    vary_by_sampling,
)
from adomnia.privacy.events import Pure
from kit.analyses import analyse, frame
from kit.bits import SeededBits
from kit.trials import (
    NO_NOISE,
    PRICES,
    answer,
    build,
    fewer_draws,
    most_rejected,
    read_p_value,
    share_covered,
    share_rejected,
    share_rejected_naively,
)

ROWS = frame({"x": (0, 1), "n": (0, 9)}, {"g": ("A", "B")}, whole=("n",))
X, G = ROWS.numbers["x"], ROWS.factors["g"]
TEST = build("mann_whitney", ROWS, column=X, group=G)
TRIALS = 40
COUNTS = np.array([[5.0, 20.0, 75.0], [50.0, 30.0, 20.0]])
RIGHT = 0.05 * 0.25 + 0.20 * 0.65 + 0.75 * 0.9


def draw(random, rows=300, shift=0.0, kind="normal", share=0.5):
    group = np.where(random.random(rows) < share, "A", "B").astype(object)
    values = {
        "normal": lambda: random.normal(0.5, 0.15, rows),
        "zeros": lambda: np.where(random.random(rows) < 0.9, 0.0, random.exponential(0.2, rows)),
        "constant": lambda: np.full(rows, 0.37),
    }[kind]()
    return {
        "x": np.clip(values + shift * (group == "A"), 0, 1),
        "n": random.integers(0, 10, rows) * 1.0 - (group == "A") * (random.random(rows) < 0.3),
        "g": group,
    }


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_without_noise_and_of_few_values_it_is_the_classical_test(alternative):
    data = draw(np.random.default_rng(4), 400)
    data["n"] = np.maximum(data["n"], 0)
    statistic = build("mann_whitney", ROWS, column=ROWS.numbers["n"], group=G, alternative=alternative)
    table = answer(statistic, NO_NOISE, data)
    inside = [data["n"][data["g"] == each] for each in "AB"]
    theirs = stats.mannwhitneyu(*inside, alternative=alternative)
    share = theirs.statistic / len(inside[0]) / len(inside[1])
    assert table.estimates["estimate"].values[0] == pytest.approx(share, abs=1e-9)
    assert read_p_value(table) == pytest.approx(theirs.pvalue, abs=0.03)
    assert table.labels["term"] == ("P(A > B)",)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("kind", ["normal", "zeros", "constant"])
def test_it_keeps_its_level(price, kind):
    drawn = partial(draw, kind=kind, share=0.2)
    assert share_rejected(TEST, PRICES[price], drawn, TRIALS, price + kind) <= most_rejected(TRIALS)


@pytest.mark.parametrize("rows", [0, 1, 2, 20])
def test_of_few_rows_it_says_little_and_nothing_wrong(rows):
    for price in PRICES.values():
        assert share_rejected(TEST, price, partial(draw, rows=rows), 10, f"{rows} {price}") <= most_rejected(10)


def test_it_finds_what_is_there():
    assert share_rejected(TEST, PRICES["epsilon = 1"], partial(draw, rows=1000, shift=0.08), 20, "power") >= 0.9


def test_the_classical_test_on_noisy_bins_rejects_what_is_true():
    def classical(noisy):
        rows = np.maximum(noisy.sum(axis=-1), 2)
        below = np.cumsum(noisy[1]) - noisy[1] / 2
        share = (noisy[0] * below).sum() / rows.prod()
        return 2 * stats.norm.sf(abs(share - 0.5) / np.sqrt((rows.sum() + 1) / 12 / rows.prod()))

    rho = PRICES["rho of (1, 1e-6)"]
    assert share_rejected_naively(TEST, rho, draw, classical, 60) > most_rejected(60)


def test_its_intervals_cover_the_population():
    truth = stats.norm.cdf(0.1 / 0.15 / np.sqrt(2))
    drawn = partial(draw, rows=1000, shift=0.1)
    missed = 1 - share_covered(TEST, PRICES["epsilon = 1"], drawn, truth, TRIALS)
    assert missed <= most_rejected(TRIALS, 0.07)


def test_where_a_group_is_lost_in_noise_anything_is_possible_and_a_note_says_so():
    table = answer(TEST, PRICES["rho of (1, 1e-6)"], draw(np.random.default_rng(1), 4))
    lower, upper = table.estimates["estimate"].interval(0.95, 1)
    assert (lower[0], upper[0]) == (0, 1)
    assert table.facts["p_value"]()[0] == 1
    assert "lost in the noise" in " ".join(table.notes)


def test_the_interval_of_a_large_effect_covers_it_where_the_noise_is_large():
    """80 trials that miss 7%: a false alarm in 1e-6. Projected counts, whose effects are too small, miss
    a quarter."""
    drawn = partial(draw, rows=200, shift=0.3)
    truth = stats.norm.cdf(0.3 / 0.15 / np.sqrt(2))
    assert 1 - share_covered(TEST, PRICES["rho of (1, 1e-6)"], drawn, truth, 80) <= most_rejected(80, 0.07)


MONEY = frame({"x": (0, 500_000)}, {"g": ("A", "B")})
SKEWED = build("mann_whitney", MONEY, column=MONEY.numbers["x"], group=MONEY.factors["g"])
EVEN = MannWhitney(SKEWED.relation, (), split_evenly(MONEY.numbers["x"], 64), SKEWED.group, "two-sided")


def draw_money(random, rows=1500, higher=0.2):
    """Lognormal money, of which the first group has `higher` more on the scale of logarithms."""
    group = np.where(random.random(rows) < 0.5, "A", "B").astype(object)
    return {"x": np.minimum(random.lognormal(7.5 + higher * (group == "A"), 1, rows), 500_000), "g": group}


def draw_many_zeros(random, rows=1500):
    """A group pays more often, and no more when it does."""
    group = np.where(random.random(rows) < 0.5, "A", "B").astype(object)
    pays = random.random(rows) < np.where(group == "A", 0.5, 0.4)
    return {"x": np.where(pays, random.lognormal(7.5, 1, rows), 0.0), "g": group}


def try_intervals(statistic, draw, truth, trials, price=PRICES["epsilon = 1"]):
    """The share of 95% intervals that hold the truth, their median width, and the share of rejections."""
    random, bits, found = np.random.default_rng(5), SeededBits("money"), []
    with fewer_draws():
        for _ in range(trials):
            table = analyse(statistic, price, draw(random), bits)
            lower, upper = table.estimates["estimate"].interval(0.95, 1)
            found.append((lower[0] <= truth <= upper[0], upper[0] - lower[0], read_p_value(table) <= 0.05))
    covered, widths, rejected = zip(*found, strict=True)
    return np.mean(covered), np.median(widths), np.mean(rejected)


def test_skewed_money_is_compared_nearly_as_without_noise():
    """30 trials that miss 6%: a false alarm in 1e-6. Bins of equal width miss nearly always, and find little.

    Without noise the interval is 0.058 wide, and 97% of the tests reject.
    """
    truth = stats.norm.cdf(0.2 / np.sqrt(2))
    covered, width, power = try_intervals(SKEWED, draw_money, truth, 30)
    assert 1 - covered <= most_rejected(30)
    assert width < 0.058 * 1.35
    assert power >= 0.75
    covered, _, power = try_intervals(EVEN, draw_money, truth, 12)
    assert (covered < 0.5, power < 0.75) == (True, True)


def test_many_zeros_are_ties_and_no_order_is_allowed_for():
    """25 trials that miss 6%: a false alarm in 1e-6. Were the zeros one bin of any order, 0.06 would be added."""
    truth = 0.5 * 0.6 + (0.5 * 0.6 + 0.5 * 0.4) / 2
    covered, width, _ = try_intervals(SKEWED, draw_many_zeros, truth, 25)
    assert 1 - covered <= most_rejected(25)
    assert width < 0.065


def test_what_differs_within_bins_alone_is_within_the_interval():
    """Values that take turns, a step apart: both groups have the same share in every bin."""
    random = np.random.default_rng(3)
    group = np.where(random.random(4000) < 0.5, "A", "B").astype(object)
    values = random.integers(0, 40, 4000) * 100 + np.where(group == "A", 50.0, 0.0)
    table = answer(SKEWED, Pure(2), {"x": values, "g": group})
    lower, upper = table.estimates["estimate"].interval(0.95, 1)
    truth = 0.5 + 1 / 80
    assert lower[0] <= truth <= upper[0]


def test_few_whole_numbers_are_asked_as_ever_and_others_by_rank():
    few = build("mann_whitney", ROWS, column=ROWS.numbers["n"], group=G)
    assert isinstance(few, MannWhitney)
    assert len(few.bins) == 10
    assert isinstance(build("mann_whitney", ROWS, column=ROWS.numbers["n"], group=G, bins=9), MannWhitneyByRank)
    assert isinstance(TEST, MannWhitneyByRank)


def test_without_noise_it_is_nearly_the_classical_test_of_money():
    data = draw_money(np.random.default_rng(4), 3000, 0.05)
    table = answer(SKEWED, NO_NOISE, data)
    inside = [data["x"][data["g"] == each] for each in "AB"]
    theirs = stats.mannwhitneyu(*inside)
    share = theirs.statistic / len(inside[0]) / len(inside[1])
    assert table.estimates["estimate"].values[0] == pytest.approx(share, abs=1e-3)
    assert read_p_value(table) == pytest.approx(theirs.pvalue, abs=0.03)


@pytest.mark.soak
@pytest.mark.parametrize("epsilon", [0.3, 1, 3])
@pytest.mark.parametrize("rows", [200, 2000, 20_000])
def test_intervals_and_levels_hold_on_skewed_money(rows, epsilon):
    """300 trials that miss 6%: a false alarm in 1e-6."""
    truth = stats.norm.cdf(0.2 / np.sqrt(2))
    covered, *_ = try_intervals(SKEWED, partial(draw_money, rows=rows), truth, 300, Pure(epsilon))
    assert 1 - covered <= most_rejected(300)
    *_, level = try_intervals(SKEWED, partial(draw_money, rows=rows, higher=0.0), 0.5, 300, Pure(epsilon))
    assert level <= most_rejected(300)


def test_ties_count_half():
    assert superiority(COUNTS) == pytest.approx(RIGHT)


def test_exact_counts_of_the_data_leave_one_probability():
    lower, upper = Pairs(COUNTS, 0.0, 0.0).interval(3.0)
    assert (lower[0], upper[0]) == pytest.approx((RIGHT, RIGHT))


def test_noise_stays_within_its_standard_errors_and_projected_shares_are_too_small():
    """10,000 draws: a share of 5% is off by 1.1% in one of 10**6 runs, a mean by less than 0.01."""
    wide = np.pad(COUNTS, ((0, 0), (15, 15)))
    noisy = wide + np.random.default_rng(1).normal(0, 4, (10_000, *wide.shape))
    outside = np.abs(Pairs(noisy, 16.0, 0.0).studentize(RIGHT)) > 1.96
    assert 0.03 <= outside.mean() <= 0.06
    assert superiority(noisy).mean() < RIGHT - 0.03


def test_sampling_varies_as_it_does_in_simulations():
    """A variance of 20,000 draws is off by 6% in one of 10**6 runs."""
    random, shares = np.random.default_rng(2), COUNTS / 100
    drawn = np.stack([random.multinomial(100, share, 20_000) for share in shares], axis=1).astype(float)
    assert vary_by_sampling(shares, np.array([100.0, 100.0])) == pytest.approx(
        (superiority(drawn) * 1e4).var(), rel=0.06
    )


def test_where_a_group_is_all_noise_everything_is_possible():
    lower, upper = Pairs(np.array([[1.0, -1.0, 1.0], [50.0, 30.0, 20.0]]), 64.0, 0.0).interval(2.0)
    assert (lower[0], upper[0]) == (0, 1)


def test_order_within_bins_varies_as_any_order_does_and_not_where_one_value_is_alone():
    """A variance of 20,000 draws is off by 6% in one of 10**6 runs."""
    shares = COUNTS / 100
    any_order = np.random.default_rng(3).random((20_000, 3)) - 0.5
    drawn = (any_order * shares[0] * shares[1])[:, 1:].sum(axis=1)
    assert vary_by_order(shares, (True, False, False)) == pytest.approx(drawn.var(), rel=0.06)
    assert vary_by_order(shares, (True, True, True)) == 0
