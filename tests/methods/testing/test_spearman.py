from functools import partial

import numpy as np
import pytest
from scipy import stats

from adomnia.methods.contract import BadArgument
from adomnia.methods.parts.testing.rank_correlation import Margin
from adomnia.methods.testing.spearman import Spearman
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
    share_rejected,
    share_rejected_naively,
)

ROWS = frame({"x": (0, 500_000), "y": (0, 500_000), "n": (0, 4), "m": (1, 5)}, whole=("n", "m"))
X, Y, N, M = (ROWS.numbers[name] for name in "xynm")
MONEY = build("spearman", ROWS, column=X, other=Y)
FEW = build("spearman", ROWS, column=N, other=M)
MIXED = build("spearman", ROWS, column=X, other=N)
TRIALS = 20


def draw(random, rows=400, correlation=0.0):
    """Skewed money, whole numbers from 0 to 4 and from 1 to 5 that belong together so much."""
    first = random.standard_normal(rows)
    second = correlation * first + np.sqrt(1 - correlation**2) * random.standard_normal(rows)
    return {
        "x": np.minimum(np.exp(7.5 + first), 500_000),
        "y": np.minimum(np.exp(7.5 + second), 500_000),
        "n": np.digitize(second, [0.0, 0.7, 1.3, 1.9]).astype(float),
        "m": np.digitize(first, [-1.3, -0.5, 0.3, 1.0]) + 1.0,
    }


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_without_noise_and_of_few_values_it_is_the_classical_test(alternative):
    data = draw(np.random.default_rng(4), 400, 0.08)
    table = answer(build("spearman", ROWS, column=N, other=M, alternative=alternative), NO_NOISE, data)
    theirs = stats.spearmanr(data["n"], data["m"], alternative=alternative)
    assert table.estimates["estimate"].values[0] == pytest.approx(theirs.statistic, abs=1e-9)
    assert read_p_value(table) == pytest.approx(theirs.pvalue, abs=0.04)
    assert table.labels["term"] == ("rank correlation of n and m",)


@pytest.mark.parametrize("correlation", [0.0, 0.5, -0.95])
@pytest.mark.parametrize(("statistic", "other"), [(MONEY, "y"), (MIXED, "n")], ids=["money", "mixed"])
def test_without_noise_it_is_nearly_the_classical_correlation(correlation, statistic, other):
    data = draw(np.random.default_rng(4), 1500, correlation)
    table = answer(statistic, NO_NOISE, data)
    assert table.estimates["estimate"].values[0] == pytest.approx(stats.spearmanr(data["x"], data[other])[0], abs=0.02)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("statistic", [MONEY, FEW], ids=["money", "few"])
def test_it_keeps_its_level(price, statistic):
    assert share_rejected(statistic, PRICES[price], draw, TRIALS, price) <= most_rejected(TRIALS)


@pytest.mark.parametrize("rows", [0, 2, 20])
def test_of_few_rows_it_says_little_and_nothing_wrong(rows):
    for price in PRICES.values():
        assert share_rejected(MONEY, price, partial(draw, rows=rows), 10, f"{rows} {price}") <= most_rejected(10)


def test_it_finds_what_is_there():
    """Without noise 99% of the tests reject."""
    assert share_rejected(MONEY, Pure(1), partial(draw, rows=1500, correlation=0.12), 20, "power") >= 0.6


def test_the_classical_test_on_noisy_bins_rejects_what_is_true():
    def classical(noisy):
        rows = max(float(noisy.sum()), 3.0)
        table = np.maximum(noisy, 0) / max(np.maximum(noisy, 0).sum(), 1.0)
        found = float(FEW.correlate(table, [Margin(table.sum(axis=axis), (True,) * 5) for axis in (1, 0)])[0])
        return 2 * stats.norm.sf(abs(found) * np.sqrt(rows - 1))

    drawn = partial(draw, rows=200)
    assert share_rejected_naively(FEW, PRICES["rho of (1, 1e-6)"], drawn, classical, 100) > most_rejected(100)


@pytest.mark.parametrize(("correlation", "widest"), [(0.3, 0.12), (0.9, 0.1)])
def test_its_interval_covers_the_population_and_is_not_much_wider_than_without_noise(correlation, widest):
    """30 trials that miss 6%: a false alarm in 1e-6. Without noise it is 0.085 wide, and 0.02 of the strong one."""
    truth = 6 / np.pi * np.arcsin(correlation / 2)
    random, bits, held, widths = np.random.default_rng(3), SeededBits("covered"), [], []
    with fewer_draws():
        for _ in range(30):
            table = analyse(MONEY, Pure(2), draw(random, 2000, correlation), bits)
            lower, upper = table.estimates["estimate"].interval(0.95, 1)
            held.append(lower[0] <= truth <= upper[0])
            widths.append(upper[0] - lower[0])
    assert 1 - np.mean(held) <= most_rejected(30)
    assert np.median(widths) < widest


def test_where_all_are_lost_in_noise_there_is_no_estimate_and_a_note_says_so():
    for data in (draw(np.random.default_rng(1), 4), {**draw(np.random.default_rng(1), 500), "x": np.full(500, 9.0)}):
        table = answer(MONEY, PRICES["epsilon = 1"], data)
        lower, upper = table.estimates["estimate"].interval(0.95, 1)
        assert np.isnan(table.estimates["estimate"].values[0])
        assert (lower[0], upper[0]) == (-1, 1)
        assert "lost in the noise" in " ".join(table.notes)


def test_a_column_beside_itself_is_refused():
    with pytest.raises(BadArgument, match="same as column"):
        build("spearman", ROWS, column=X, other=X)


def bin_ranks(score, other, bins):
    """The shares of rows in a table of equal bins of both ranks, and its margins."""
    ranks = [stats.rankdata(each) / len(each) for each in (score, other)]
    table = np.histogram2d(*ranks, bins=bins, range=[[0, 1]] * 2)[0] / len(score)
    first, second = (Margin(table.sum(axis=axis), (False,) * bins) for axis in (1, 0))
    return table, (first, second)


def draw_clayton(random, rows):
    """A pair whose smallest values occur together."""
    together = random.gamma(0.5, size=rows)
    return tuple(1 / np.sqrt(1 + random.exponential(size=(2, rows)) / together))


def draw_normal(correlation, random, rows):
    score, other = random.normal(size=(2, rows))
    return score, correlation * score + np.sqrt(1 - correlation**2) * other


@pytest.mark.parametrize("bins", [4, 5, 8])
@pytest.mark.parametrize(
    "draw", [*(partial(draw_normal, each) for each in (-0.6, 0.0, 0.3, 0.5, 0.8, 0.95)), draw_clayton]
)
def test_few_bins_leave_candidates_on_both_sides_of_the_correlation_of_all_ranks(draw, bins):
    """The first two alone were 0.014 below a correlation of 0.48, when its standard error is 0.017."""
    pair = draw(np.random.default_rng(6), 200_000)
    truth, (table, margins) = stats.spearmanr(*pair)[0], bin_ranks(*pair, bins)
    found = Spearman.list_candidates(np.stack(Spearman.correlate(table, margins)), margins)
    assert found.min() - 0.003 <= truth <= found.max() + 0.003
    if draw is not draw_clayton:
        assert found[2] == pytest.approx(truth, abs=0.003)


def test_bins_of_one_value_leave_one_candidate():
    table, margins = bin_ranks(*draw_normal(0.5, np.random.default_rng(6), 20_000), 5)
    tied = tuple(Margin(each.shares, (True,) * 5) for each in margins)
    found = Spearman.list_candidates(np.stack(Spearman.correlate(table, tied)), tied)
    assert np.ptp(found) < 1e-4
