from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import stats

from adomnia.methods.contract import BadArgument
from adomnia.privacy.events import Pure
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

ROWS = frame({"x": (0, 1)}, {"s": ("no", "yes"), "g": ("A", "B"), "k": ("p", "q", "r")})
S, G, K = (ROWS.factors[name] for name in "sgk")
TRIALS = 40


def one(p, **options):
    return build("proportion_test", ROWS, column=S, p=Fraction(p), **options)


TWO = build("proportion_test", ROWS, column=S, group=G)


def draw(random, rows=200, p=0.3, shift=0.0):
    group = random.choice(np.array(["A", "B"], dtype=object), rows)
    success = np.where(random.random(rows) < p + shift * (group == "A"), "yes", "no").astype(object)
    return {"s": success, "g": group, "k": random.choice(np.array(["p", "q", "r"], dtype=object), rows)}


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_without_noise_it_is_the_binomial_test_with_ties_drawn(alternative):
    data = draw(np.random.default_rng(3), 400, 0.34)
    successes = int((data["s"] == "yes").sum())
    ours = read_p_value(answer(one("0.3", alternative=alternative), NO_NOISE, data))
    at = [stats.binomtest(successes + step, 400, 0.3, alternative=alternative).pvalue for step in (-1, 0, 1)]
    assert min(at) - 0.02 <= ours <= max(at) + 0.02


def test_without_noise_its_interval_is_wilsons():
    data = draw(np.random.default_rng(3), 400, 0.34)
    lower, upper = answer(one("0.3"), NO_NOISE, data).estimates["estimate"].interval(0.95, 1)
    wilson = stats.binomtest(int((data["s"] == "yes").sum()), 400).proportion_ci(method="wilson")
    assert (lower[0], upper[0]) == pytest.approx(tuple(wilson), abs=0.006)


def test_without_noise_two_groups_are_compared_as_by_chi_square():
    data = draw(np.random.default_rng(3), 400, 0.3, 0.08)
    table = answer(TWO, NO_NOISE, data)
    counts = [[((data["g"] == a) & (data["s"] == b)).sum() for b in ("no", "yes")] for a in "AB"]
    theirs = stats.chi2_contingency(counts, correction=False)
    assert table.facts["statistic"]()[0] ** 2 == pytest.approx(theirs.statistic, rel=1e-6)
    assert read_p_value(table) == pytest.approx(theirs.pvalue, abs=0.03)
    assert table.labels["term"] == ("A - B", "share of A", "share of B")


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("p", ["0.05", "0.5", "0.9"])
def test_it_keeps_its_level_though_the_number_of_rows_is_noisy(price, p):
    drawn = partial(draw, p=float(p))
    assert share_rejected(one(p), PRICES[price], drawn, TRIALS, price + p) <= most_rejected(TRIALS)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("p", [0.02, 0.3])
def test_two_groups_keep_the_level(price, p):
    assert share_rejected(TWO, PRICES[price], partial(draw, p=p), TRIALS, price) <= most_rejected(TRIALS)


@pytest.mark.parametrize("rows", [0, 1, 2, 20])
def test_of_few_rows_it_says_little_and_nothing_wrong(rows):
    for price in PRICES.values():
        for statistic in (one("0.3"), TWO):
            drawn = partial(draw, rows=rows)
            assert share_rejected(statistic, price, drawn, 10, f"{rows} {price}") <= most_rejected(10)


@pytest.mark.parametrize(("p", "truth"), [("0", 0.0), ("1", 1.0)])
def test_the_ends_may_be_tested_too(p, truth):
    assert share_rejected(one(p), Pure(1), partial(draw, p=truth), 50, p) <= most_rejected(50)
    assert share_rejected(one(p), Pure(1), partial(draw, p=0.5), 20, p) == 1


def test_the_binomial_test_of_noisy_counts_rejects_what_is_true():
    def binomial(noisy):
        rows = max(1, round(noisy.sum()))
        return stats.binomtest(int(np.clip(noisy[1], 0, rows)), rows, 0.05).pvalue

    rho = PRICES["rho of (1, 1e-6)"]
    drawn = partial(draw, rows=100, p=0.05)
    assert share_rejected_naively(one("0.05"), rho, drawn, binomial, 200) > most_rejected(200)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("p", [0.02, 0.4])
def test_its_intervals_cover_the_population(price, p):
    missed = 1 - share_covered(one("0.5"), PRICES[price], partial(draw, p=p), p, TRIALS)
    assert missed <= most_rejected(TRIALS, 0.07)


def test_of_several_values_one_is_the_success():
    data = draw(np.random.default_rng(1), 300)
    statistic = build("proportion_test", ROWS, column=K, success="Q")
    table = answer(statistic, NO_NOISE, data)
    assert table.estimates["estimate"].values[0] == (data["k"] == "q").mean()
    assert table.labels["term"] == ("share of k = q",)
    (measure,) = statistic.planned_measures(Pure(1))
    assert measure.query.shape == (2,)  # successes and all others: no noise for each of the others


def test_of_two_values_the_second_is_the_success_unless_another_is_named():
    data = draw(np.random.default_rng(1), 300)
    shares = [
        answer(build("proportion_test", ROWS, column=S, success=each), NO_NOISE, data).estimates["estimate"].values[0]
        for each in (None, "yes", "no")
    ]
    assert shares[0] == shares[1] == pytest.approx(1 - shares[2])


def test_what_cannot_be_is_refused():
    with pytest.raises(BadArgument, match="success => "):
        build("proportion_test", ROWS, column=K)
    with pytest.raises(BadArgument, match="choose one of p, q, r"):
        build("proportion_test", ROWS, column=K, success="z")
