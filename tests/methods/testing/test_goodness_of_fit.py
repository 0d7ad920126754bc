from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import stats

from adomnia.methods.contract import BadArgument
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

KINDS = tuple("pqrs")
CHANCES = np.array([0.1, 0.2, 0.3, 0.4])
ROWS = frame({}, {"k": KINDS, "one": ("only",)})
FIT = build(
    "goodness_of_fit", ROWS, column=ROWS.factors["k"], probabilities=tuple(Fraction(n, 10) for n in (1, 2, 3, 4))
)
TRIALS = 40


def draw(random, rows=200, chances=CHANCES):
    return {"k": random.choice(np.array(KINDS, dtype=object), rows, p=chances)}


def count(data):
    return np.array([(data["k"] == kind).sum() for kind in KINDS])


def test_without_noise_it_is_pearsons_test():
    data = draw(np.random.default_rng(4), 300, [0.15, 0.15, 0.3, 0.4])
    table, theirs = answer(FIT, NO_NOISE, data), stats.chisquare(count(data), 300 * CHANCES)
    assert table.facts["statistic"]()[0] == pytest.approx(theirs.statistic, rel=1e-6)
    assert read_p_value(table) == pytest.approx(theirs.pvalue, abs=0.02)


def test_without_probabilities_all_values_are_equally_probable():
    data = draw(np.random.default_rng(4), 300, [0.25] * 4)
    table = answer(build("goodness_of_fit", ROWS, column=ROWS.factors["k"]), NO_NOISE, data)
    assert table.facts["statistic"]()[0] == pytest.approx(stats.chisquare(count(data)).statistic, rel=1e-6)


@pytest.mark.parametrize("price", PRICES)
def test_it_keeps_its_level(price):
    assert share_rejected(FIT, PRICES[price], draw, TRIALS, price) <= most_rejected(TRIALS)


@pytest.mark.parametrize("rows", [0, 1, 2, 20])
def test_of_few_rows_it_says_little_and_nothing_wrong(rows):
    for price in PRICES.values():
        assert share_rejected(FIT, price, partial(draw, rows=rows), 10, f"{rows} {price}") <= most_rejected(10)


def test_pearsons_test_of_noisy_counts_rejects_what_is_true():
    def pearson(noisy):
        expected = max(1.0, noisy.sum()) * CHANCES
        return stats.chi2.sf(((noisy - expected) ** 2 / expected).sum(), 3)

    rho = PRICES["rho of (1, 1e-6)"]
    assert share_rejected_naively(FIT, rho, partial(draw, rows=100), pearson, 200) > most_rejected(200)


@pytest.mark.parametrize("price", PRICES)
def test_the_interval_of_the_effect_covers_it(price):
    truth = np.array([0.2, 0.3, 0.3, 0.2])
    effect = float(np.sqrt(((truth - CHANCES) ** 2 / CHANCES).sum()))
    drawn = partial(draw, rows=600, chances=truth)
    assert 1 - share_covered(FIT, PRICES[price], drawn, effect, TRIALS) <= most_rejected(TRIALS, 0.07)


@pytest.mark.parametrize(
    ("given", "why"),
    [((0.5, 0.5), "number 2"), ((0.5, 0.5, 0.5, 0.5), "add up to 1"), ((0, 0.2, 0.4, 0.4), "positive")],
)
def test_probabilities_that_are_none_are_refused(given, why):
    with pytest.raises(BadArgument, match=why):
        build("goodness_of_fit", ROWS, column=ROWS.factors["k"], probabilities=tuple(map(Fraction, given)))


def test_thirds_may_be_written_with_three_digits():
    rows = frame({}, {"k": tuple("abc")})
    found = build("goodness_of_fit", rows, column=rows.factors["k"], probabilities=(Fraction("0.333"),) * 3)
    assert found.probabilities == (Fraction(1, 3),) * 3


def test_one_value_fits_always():
    with pytest.raises(BadArgument, match="between 2 and"):
        build("goodness_of_fit", ROWS, column=ROWS.factors["one"])
