"""The tables enclose the exact cumulative distribution: first bits decide rightly, and leave little open."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from adomnia.noise.discrete import LogQuadratic
from adomnia.noise.table import boundaries
from kit.bits import Exhausted, ScriptedBits
from kit.distributions import exp_between

DISTRIBUTIONS = [
    (Fraction(2), Fraction(0)),
    (Fraction(1), Fraction(0)),
    (Fraction(2, 3), Fraction(0)),
    (Fraction(1, 3), Fraction(0)),
    (Fraction(0), Fraction(2)),
    (Fraction(0), Fraction(1, 2)),
    (Fraction(0), Fraction(1, 18)),
    (Fraction(1, 5), Fraction(1, 10)),
]
EVERY_DISTRIBUTION = pytest.mark.parametrize(("linear", "quadratic"), DISTRIBUTIONS, ids=str)


def masses(linear, quadratic, count=80):
    """Enclosures, in Fractions, of P[k] for k = 0, 1, ... under the distribution on k >= 0, from its definition."""
    weights = [exp_between(linear * k + quadratic * k * k) for k in range(count)]
    rest = (
        weights[-1][1] * 10
    )  # the ratios are at most exp(-1/5), so the tail is at most 1 / (1 - exp(-1/5)) < 6 weights
    least, most = sum(lower for lower, _ in weights), sum(upper for _, upper in weights) + rest
    return [(lower / most, upper / least) for lower, upper in weights]


@EVERY_DISTRIBUTION
@pytest.mark.parametrize("first_bits", [6, 7, 8, 12])
@pytest.mark.no_cover
def test_what_any_first_word_decides_is_part_of_the_exact_mass(linear, quadratic, first_bits):
    """All first words, exactly: decided <= P[k] <= decided + open, and at most two words a boundary stay open."""
    sampler = LogQuadratic(linear, quadratic, first_bits)
    decided, left_open = Counter(), 0
    for value in range(2**first_bits):
        try:
            decided[int(sampler.magnitudes(1, ScriptedBits([[value << (64 - first_bits)]]))[0])] += 1
        except Exhausted:
            left_open += 1
    exact = masses(linear, quadratic)
    for k, (lower, upper) in enumerate(exact):
        assert Fraction(decided[k], 2**first_bits) <= upper
        assert lower <= Fraction(decided[k] + left_open, 2**first_bits)
    resolved = sum(1 for lower, _ in exact if lower > Fraction(1, 2**first_bits))
    assert left_open <= 2 * resolved + 2
    assert sum(decided.values()) + left_open == 2**first_bits


@EVERY_DISTRIBUTION
def test_both_signs_get_the_same_words_and_minus_zero_none(linear, quadratic):
    sampler = LogQuadratic(linear, quadratic, 8)
    for value in range(256):
        results = []
        for sign in (0, 1):
            bits = ScriptedBits([[value << 56 | sign]])
            try:
                results.append(int(sampler.draw(1, bits)[0]))
            except Exhausted:
                results.append("open" if bits.requests[-1] == 1 else "rejected")
        assert results in (["open", "open"], [0, "rejected"]) or results[0] == -results[1] > 0


@EVERY_DISTRIBUTION
@pytest.mark.parametrize("precision", [4, 20, 40, 104])
@pytest.mark.no_cover
def test_boundaries_enclose_the_cumulative_distribution_and_no_more_than_they_must(linear, quadratic, precision):
    table = boundaries(linear, quadratic, precision)
    head_lower, head_upper = Fraction(0), Fraction(0)
    for below, above, (lower, upper) in zip(table.lower, table.upper, masses(linear, quadratic, 160), strict=False):
        head_lower, head_upper = head_lower + lower, head_upper + upper
        assert Fraction(below, 2**precision) <= head_upper
        assert Fraction(above, 2**precision) >= head_lower
        assert above - below <= 2


@EVERY_DISTRIBUTION
@pytest.mark.parametrize("precision", [4, 40, 104])
def test_boundaries_never_fall_and_leave_out_a_small_tail(linear, quadratic, precision):
    table = boundaries(linear, quadratic, precision)
    assert list(table.lower) == sorted(table.lower)
    assert list(table.upper) == sorted(table.upper)
    assert table.lower[-1] >= 2**precision - 2
    assert table.upper[-1] <= 2**precision


@pytest.mark.parametrize("first_bits", [0, -1, 63, 64])
def test_first_words_that_cannot_hold_a_boundary_and_a_sign_are_refused(first_bits):
    with pytest.raises(ValueError, match=r"^CumulativeTable first_bits must be between 1 and 62, got"):
        LogQuadratic(Fraction(1), Fraction(0), first_bits)
