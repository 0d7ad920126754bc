from functools import partial

import numpy as np
import pytest
from scipy import stats

from adomnia.methods.contract import BadArgument
from adomnia.methods.testing.kendall import _order
from adomnia.privacy.events import Pure
from kit.analyses import analyse, frame
from kit.bits import SeededBits
from kit.trials import NO_NOISE, PRICES, answer, build, fewer_draws, most_rejected, read_p_value, share_rejected

ROWS = frame({"x": (0, 500_000), "y": (0, 500_000), "n": (0, 4), "m": (1, 5)}, whole=("n", "m"))
X, Y, N, M = (ROWS.numbers[name] for name in "xynm")
MONEY = build("kendall", ROWS, column=X, other=Y)
FEW = build("kendall", ROWS, column=N, other=M)
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


def test_without_noise_and_of_few_values_it_is_the_classical_test():
    data = draw(np.random.default_rng(4), 400, 0.08)
    table, theirs = answer(FEW, NO_NOISE, data), stats.kendalltau(data["n"], data["m"])
    assert table.estimates["estimate"].values[0] == pytest.approx(theirs.statistic, abs=1e-9)
    assert read_p_value(table) == pytest.approx(theirs.pvalue, abs=0.04)


@pytest.mark.parametrize("correlation", [0.0, 0.5, -0.95])
def test_without_noise_it_is_nearly_the_classical_correlation_of_money(correlation):
    data = draw(np.random.default_rng(4), 1500, correlation)
    estimate = answer(MONEY, NO_NOISE, data).estimates["estimate"]
    (lower,), (upper,) = estimate.interval(0.95, 1)
    theirs = stats.kendalltau(data["x"], data["y"]).statistic
    assert estimate.values[0] == pytest.approx(theirs, abs=0.02)
    assert lower <= theirs <= upper


def test_noise_adds_nothing_to_the_mean():
    """A mean of 20,000 draws is off by 0.003 in one of 10**6 runs."""
    table = np.array([[30.0, 5.0, 2.0], [8.0, 20.0, 9.0], [1.0, 6.0, 19.0]]) / 100
    noisy = table + np.random.default_rng(1).normal(0, 0.03, (20_000, 3, 3))
    assert _order(noisy).mean() == pytest.approx(float(_order(table)), abs=0.005)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("statistic", [MONEY, FEW], ids=["money", "few"])
def test_it_keeps_its_level(price, statistic):
    assert share_rejected(statistic, PRICES[price], draw, TRIALS, price) <= most_rejected(TRIALS)


def test_it_finds_what_is_there():
    """Without noise 99% of the tests reject."""
    assert share_rejected(MONEY, Pure(1), partial(draw, rows=1500, correlation=0.12), 15, "power") >= 0.6


def test_its_interval_covers_the_population_and_is_not_much_wider_than_without_noise():
    """30 trials that miss 6%: a false alarm in 1e-6. Without noise it is 0.056 wide."""
    truth = 2 / np.pi * np.arcsin(0.3)
    random, bits, held, widths = np.random.default_rng(3), SeededBits("covered"), [], []
    with fewer_draws():
        for _ in range(30):
            table = analyse(MONEY, Pure(2), draw(random, 2000, 0.3), bits)
            lower, upper = table.estimates["estimate"].interval(0.95, 1)
            held.append(lower[0] <= truth <= upper[0])
            widths.append(upper[0] - lower[0])
    assert 1 - np.mean(held) <= most_rejected(30)
    assert np.median(widths) < 0.11


def test_a_column_beside_itself_is_refused():
    with pytest.raises(BadArgument, match="same as column"):
        build("kendall", ROWS, column=X, other=X)
