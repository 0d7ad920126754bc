from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import stats

from adomnia.distributions.projections import project_shares
from adomnia.methods.contract import BadArgument
from adomnia.methods.testing.signed_rank import balance
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

ROWS = frame({"x": (0, 500_000), "y": (0, 500_000), "n": (1, 5), "m": (1, 5)}, whole=("n", "m"))
X, Y, N, M = (ROWS.numbers[name] for name in "xynm")
MONEY = build("signed_rank", ROWS, column=X, other=Y, bins=24)
LIKERT = build("signed_rank", ROWS, column=N, other=M)
TRIALS = 20


def draw(random, rows=400, higher=0.0):
    """Pairs of money, and of answers from 1 to 5, of which the first is higher."""
    answers = random.choice(5, (2, rows), p=[0.1, 0.2, 0.3, 0.25, 0.15]) + 1.0
    return {
        "x": np.minimum(random.lognormal(7.5 + higher, 1, rows), 500_000),
        "y": np.minimum(random.lognormal(7.5, 1, rows), 500_000),
        "n": np.minimum(answers[0] + (random.random(rows) < higher), 5),
        "m": answers[1],
    }


def correlate(differences):
    """Without zeros: the ranks of positive differences less those of negative ones, as a share of all."""
    inside = differences[differences != 0]
    ranks = stats.rankdata(np.abs(inside))
    return float((ranks * np.sign(inside)).sum() / ranks.sum())


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_without_noise_and_of_few_values_it_is_the_classical_test(alternative):
    data = draw(np.random.default_rng(4), 400, 0.1)
    table = answer(build("signed_rank", ROWS, column=N, other=M, alternative=alternative), NO_NOISE, data)
    theirs = stats.wilcoxon(data["n"], data["m"], alternative=alternative, correction=False, method="asymptotic")
    assert table.estimates["estimate"].values[0] == pytest.approx(correlate(data["n"] - data["m"]), abs=0.005)
    assert read_p_value(table) == pytest.approx(theirs.pvalue, abs=0.03)
    assert table.labels["term"] == ("rank correlation of n - m",)


def test_without_noise_it_is_nearly_the_classical_test_of_money():
    data = draw(np.random.default_rng(4), 1500, 0.1)
    table = answer(MONEY, NO_NOISE, data)
    assert table.estimates["estimate"].values[0] == pytest.approx(correlate(data["x"] - data["y"]), abs=0.005)


@pytest.mark.parametrize("mu", [Fraction(3), Fraction(5, 2), Fraction(23, 10)])
def test_a_column_is_compared_with_a_number_and_zeros_are_left_out(mu):
    data = draw(np.random.default_rng(5), 300)
    table = answer(build("signed_rank", ROWS, column=N, mu=mu), NO_NOISE, data)
    assert table.estimates["estimate"].values[0] == pytest.approx(correlate(data["n"] - float(mu)), abs=0.005)
    assert "zero are left out" in " ".join(table.notes)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("statistic", [MONEY, LIKERT], ids=["money", "likert"])
def test_it_keeps_its_level(price, statistic):
    assert share_rejected(statistic, PRICES[price], draw, TRIALS, price) <= most_rejected(TRIALS)


@pytest.mark.parametrize("rows", [0, 2, 20])
def test_of_few_rows_it_says_little_and_nothing_wrong(rows):
    for price in PRICES.values():
        assert share_rejected(MONEY, price, partial(draw, rows=rows), 10, f"{rows} {price}") <= most_rejected(10)


def test_it_finds_what_is_there():
    """Without noise 99% of the tests reject."""
    assert share_rejected(MONEY, Pure(1), partial(draw, rows=1500, higher=0.2), 20, "power") >= 0.75


def test_the_classical_test_on_noisy_bins_rejects_what_is_true():
    def classical(noisy):
        rows = max(float(noisy.sum()), 2.0)
        return 2 * stats.norm.sf(abs(float(balance(noisy.reshape(1, -1), 0.0))) / np.sqrt(4 / 3 / rows))

    drawn = partial(draw, rows=100)
    assert share_rejected_naively(LIKERT, PRICES["rho of (1, 1e-6)"], drawn, classical, 100) > most_rejected(100)


def test_noise_cancels_in_the_mean_and_projected_shares_are_too_small():
    """A mean of 20,000 draws is off by 0.005 in one of 10**6 runs."""
    below, above = np.array([5.0, 20.0, 30.0]), np.array([30.0, 90.0, 160.0])
    exact = np.concatenate([np.pad(below, (0, 20)), np.pad(above, (0, 20))])[None, :]
    noisy = exact + np.random.default_rng(1).normal(0, 4, (20_000, *exact.shape))
    right = float(balance(exact, 0.0))
    assert balance(noisy, 16.0).mean() == pytest.approx(right, abs=0.02)
    assert balance(project_shares(noisy), 0.0).mean() < right - 0.04


def test_its_interval_covers_the_population_and_is_not_much_wider_than_without_noise():
    """30 trials that miss 6%: a false alarm in 1e-6. Without noise it is 0.101 wide."""
    large = draw(np.random.default_rng(0), 400_000, 0.2)
    truth = correlate(large["x"] - large["y"])
    random, bits, held, widths = np.random.default_rng(3), SeededBits("covered"), [], []
    with fewer_draws():
        for _ in range(30):
            lower, upper = (
                analyse(MONEY, Pure(1), draw(random, 2000, 0.2), bits).estimates["estimate"].interval(0.95, 1)
            )
            held.append(lower[0] <= truth <= upper[0])
            widths.append(upper[0] - lower[0])
    assert 1 - np.mean(held) <= most_rejected(30)
    assert np.median(widths) < 0.13


def test_where_all_are_lost_in_noise_there_is_no_estimate_and_a_note_says_so():
    table = answer(MONEY, PRICES["rho of (1, 1e-6)"], draw(np.random.default_rng(1), 4))
    lower, upper = table.estimates["estimate"].interval(0.95, 1)
    assert np.isnan(table.estimates["estimate"].values[0])
    assert (lower[0], upper[0]) == (-1, 1)
    assert table.facts["p_value"]()[0] == 1
    assert "lost in the noise" in " ".join(table.notes)


def test_a_column_less_itself_is_refused():
    with pytest.raises(BadArgument, match="same as column"):
        build("signed_rank", ROWS, column=X, other=X)


def test_a_number_beyond_the_bounds_is_refused():
    with pytest.raises(BadArgument, match="must lie within the bounds of x"):
        build("signed_rank", ROWS, column=X, mu=Fraction(10**30))
