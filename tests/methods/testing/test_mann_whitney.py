from functools import partial

import numpy as np
import pytest
from scipy import stats

from kit.analyses import frame
from kit.trials import (
    NO_NOISE,
    PRICES,
    answer,
    build,
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
    assert share_rejected_naively(TEST, rho, draw, classical, 200) > most_rejected(200)


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
