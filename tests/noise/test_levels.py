"""The level of a choice: draws against the law it states, far tails and wide counts included."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from adomnia.errors import Failure
from adomnia.noise import level
from adomnia.noise import levels as module
from kit.bits import SeededBits

DRAWS = 10_000
COUNTS = {
    "none at first": [0, 0, 3, 5, 5, 40],
    "at once": [7],
    "growing": [(3 * k + 1) ** 2 for k in range(60)],
    "beyond 64 bits": [10**40 * (k + 1) ** 3 for k in range(40)],
}


def law(copies, rate, levels=400):
    weights = np.array([float(copies[min(k, len(copies) - 1)]) * np.exp(-rate * k) for k in range(levels)])
    return weights / weights.sum()


def p_value(draws, probabilities):
    """Of a chi-square test, cells of fewer than ten expected draws put together."""
    seen = np.bincount(np.minimum(draws, len(probabilities) - 1), minlength=len(probabilities))
    expected = probabilities * len(draws)
    small = expected < 10
    observed = np.append(seen[~small], seen[small].sum())
    wanted = np.append(expected[~small], expected[small].sum())
    return stats.chisquare(observed, wanted).pvalue


@pytest.mark.parametrize("copies", COUNTS.values(), ids=COUNTS)
@pytest.mark.parametrize("rate", [Fraction(1, 7), Fraction(2)])
@pytest.mark.no_cover
def test_draws_fit_the_law_and_no_other(copies, rate):
    """False alarms: below 1e-7 for each of eight; a rate that is a tenth off is found out."""
    bits = SeededBits((len(copies), rate))
    draws = np.array([level(copies, rate, bits) for _ in range(DRAWS)])
    assert p_value(draws, law(copies, float(rate))) > 1e-7
    assert p_value(draws, law(copies, 1.1 * float(rate))) < 1e-7


@pytest.mark.no_cover
def test_a_uniform_number_that_leaves_two_levels_open_is_refined(monkeypatch):
    """With two bits at a time nearly every draw is open at first, and the law is the same."""
    monkeypatch.setattr(module, "_GUARD_BITS", 2)
    bits = SeededBits("refined")
    draws = np.array([level(COUNTS["growing"], Fraction(1, 7), bits) for _ in range(DRAWS)])
    assert p_value(draws, law(COUNTS["growing"], 1 / 7)) > 1e-7


def test_what_stays_open_for_ever_is_a_failure(monkeypatch):
    monkeypatch.setattr(module, "_powers", lambda rate, count, precision: ([0] * count, [1 << 2000] * count))
    with pytest.raises(Failure):
        level([1, 2], Fraction(1), SeededBits("open"))


@pytest.mark.parametrize("copies", [[2, 1], [0, 0]])
def test_counts_that_fall_or_are_none_are_refused(copies):
    with pytest.raises(ValueError, match="never fall"):
        level(copies, Fraction(1), SeededBits("none"))
