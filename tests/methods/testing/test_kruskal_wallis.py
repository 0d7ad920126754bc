from functools import partial

import numpy as np
import pytest
from scipy import optimize, stats

from adomnia.methods.contract import BadArgument
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

ROWS = frame({"x": (0, 500_000), "n": (0, 4)}, {"g": ("a", "b", "c"), "one": ("only",)}, whole=("n",))
X, N, G = ROWS.numbers["x"], ROWS.numbers["n"], ROWS.factors["g"]
MONEY = build("kruskal_wallis", ROWS, column=X, group=G)
FEW = build("kruskal_wallis", ROWS, column=N, group=G)
TRIALS = 16


def draw(random, rows=600, higher=0.0, sizes=(0.5, 0.3, 0.2)):
    """Money and whole numbers from 0 to 4, of which the last group has more."""
    place = random.choice(3, rows, p=sizes)
    up = (place == 2) & (random.random(rows) < 2 * higher)
    return {
        "x": np.minimum(random.lognormal(7.5 + higher * (place == 2), 1, rows), 500_000),
        "n": np.minimum(random.choice(5, rows, p=[0.5, 0.25, 0.15, 0.07, 0.03]) + up, 4).astype(float),
        "g": np.array(["a", "b", "c"], dtype=object)[place],
    }


def groups(data, name):
    return [data[name][data["g"] == each] for each in "abc"]


def test_without_noise_and_of_few_values_it_is_the_classical_test():
    data = draw(np.random.default_rng(2), 500, 0.1)
    table, theirs = answer(FEW, NO_NOISE, data), stats.kruskal(*groups(data, "n"))
    assert table.facts["statistic"]()[0] == pytest.approx(theirs.statistic, rel=1e-9)
    assert read_p_value(table) == pytest.approx(theirs.pvalue, abs=0.03)
    ranks = stats.rankdata(data["n"]) / 500
    means = [0.5 + (ranks[data["g"] == each] - ranks.mean()).mean() for each in "abc"]
    assert table.estimates["estimate"].values[1:] == pytest.approx(means, abs=1e-9)
    assert table.labels["term"] == ("epsilon squared", "P(a > anyone)", "P(b > anyone)", "P(c > anyone)")


def test_without_noise_it_is_nearly_the_classical_test_of_money():
    data = draw(np.random.default_rng(2), 1500, 0.1)
    table, theirs = answer(MONEY, NO_NOISE, data), stats.kruskal(*groups(data, "x"))
    assert table.facts["statistic"]()[0] == pytest.approx(theirs.statistic, rel=0.05)
    assert table.estimates["estimate"].values[0] == pytest.approx(theirs.statistic / 1499, abs=2e-3)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("statistic", [MONEY, FEW], ids=["money", "few"])
def test_it_keeps_its_level(price, statistic):
    drawn = partial(draw, sizes=(0.85, 0.1, 0.05))
    assert share_rejected(statistic, PRICES[price], drawn, TRIALS, price) <= most_rejected(TRIALS)


@pytest.mark.parametrize("rows", [0, 2, 20])
def test_of_few_rows_it_says_little_and_nothing_wrong(rows):
    for price in PRICES.values():
        assert share_rejected(MONEY, price, partial(draw, rows=rows), 10, f"{rows} {price}") <= most_rejected(10)


def test_it_finds_what_is_there():
    """Without noise 99% of the tests reject."""
    assert share_rejected(MONEY, Pure(1), partial(draw, rows=1500, higher=0.3), 20, "power") >= 0.75


def test_the_classical_test_on_noisy_bins_rejects_what_is_true():
    def classical(noisy):
        rows = np.maximum(noisy.sum(axis=-1), 2)
        pooled = noisy.sum(axis=0) / rows.sum()
        off = (noisy * (np.cumsum(pooled) - pooled / 2 - 0.5)).sum(axis=-1) / rows
        return stats.chi2(2).sf(12 * (rows * off**2).sum())

    drawn = partial(draw, rows=200)
    assert share_rejected_naively(FEW, PRICES["rho of (1, 1e-6)"], drawn, classical, 100) > most_rejected(100)


def test_its_intervals_cover_the_population_and_are_not_much_wider_than_without_noise():
    """24 trials that miss 6%: a false alarm in 1e-6 for each group. Without noise the widths are 0.021 to 0.046."""
    p = stats.norm.cdf(0.3 / np.sqrt(2))
    truth = np.array([0.8 * 0.5 + 0.2 * (1 - p)] * 2 + [0.8 * p + 0.2 * 0.5])
    random, bits, held, widths = np.random.default_rng(3), SeededBits("covered"), [], []
    with fewer_draws():
        for _ in range(24):
            lower, upper = (
                analyse(MONEY, Pure(1), draw(random, 2000, 0.3), bits).estimates["estimate"].interval(0.95, 1)
            )
            held.append((lower[1:] <= truth) & (truth <= upper[1:]))
            widths.append(upper - lower)
    assert (1 - np.mean(held, axis=0) <= most_rejected(24)).all()
    assert (np.median(widths, axis=0)[1:] < np.array([0.04, 0.05, 0.065])).all()


def test_a_size_that_looks_like_none_by_chance_may_be_a_small_one():
    """Without noise H is noncentral chi-square: the largest size of which one as small is no rare sight."""
    data = draw(np.random.default_rng(5), 500)
    seen = stats.kruskal(*groups(data, "n")).statistic
    assert seen < 2  # which chance alone makes on average
    lower, upper = answer(FEW, NO_NOISE, data).estimates["estimate"].interval(0.95, 1)
    largest = optimize.brentq(lambda size: stats.ncx2(2, 500 * size).cdf(seen) - 0.025, 1e-9, 1)
    assert lower[0] == 0
    assert upper[0] == pytest.approx(largest, rel=0.3)


def test_where_a_group_is_lost_in_noise_it_has_no_estimate_and_the_others_stand():
    data = draw(np.random.default_rng(1), 2000)
    data["g"] = np.where(data["g"] == "c", "b", data["g"])
    table = answer(MONEY, PRICES["epsilon = 1"], data)
    values, (lower, upper) = table.estimates["estimate"].values, table.estimates["estimate"].interval(0.95, 1)
    assert np.isnan(values).tolist() == [False, False, False, True]
    assert (lower[3], upper[3]) == (0, 1)
    assert upper[1] - lower[1] < 0.1
    assert "lost in the noise" in " ".join(table.notes)


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(BadArgument, match="one has 1"):
        build("kruskal_wallis", ROWS, column=X, group=ROWS.factors["one"])
