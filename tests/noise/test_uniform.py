"""A comparison with a uniform number is decided by as many of its bits as it needs, and then rightly."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from adomnia.errors import Failure
from adomnia.noise.uniform import Uniform, draw_below, is_below_exp
from kit.bits import Exhausted, ScriptedBits, SeededBits
from kit.distributions import exp_between, p_value_of_counts, rational

EXPONENTS = [Fraction(text) for text in ("1/1000", "1/7", "1/2", "1", "355/113", "20", "99/2")]
ONES = 2**64 - 1


@pytest.mark.parametrize("exponent", EXPONENTS, ids=str)
@pytest.mark.parametrize("length", range(1, 11))
def test_all_first_words_are_decided_rightly_or_left_open(exponent, length):
    """Every uniform number of `length` bits, in Fractions: true only if surely below, false only if surely not."""
    lower, upper = exp_between(exponent)
    left_open = 0
    for value in range(2**length):
        try:
            decided = is_below_exp(Uniform(value, length), exponent, ScriptedBits([]))
        except Exhausted:
            left_open += 1
        else:
            first, end = Fraction(value, 2**length), Fraction(value + 1, 2**length)
            assert end <= lower if decided else first >= upper
    assert left_open <= 4  # the enclosure is at most two units wide


@pytest.mark.parametrize("exponent", EXPONENTS, ids=str)
@pytest.mark.parametrize("length", [0, 3, 40])
def test_the_coin_turns_at_the_digit_where_the_exponential_lies(exponent, length):
    with mpmath.workdps(100):
        turn = int(mpmath.floor(mpmath.ldexp(mpmath.exp(-rational(exponent)), length + 128)))
    for uniform, expected in ((turn - 1, True), (turn + 1, False)):
        tail = ScriptedBits([[uniform >> 64 & ONES], [uniform & ONES]])
        assert is_below_exp(Uniform(uniform >> 128, length), exponent, tail) is expected


@pytest.mark.parametrize("exponent", EXPONENTS[:5], ids=str)
@pytest.mark.parametrize(
    "factor", [Fraction(1, 3), Fraction(1), Fraction(1001, 1000), Fraction(10**9, 10**9 + 1)], ids=str
)
def test_a_factor_moves_the_turn_by_exactly_itself(exponent, factor):
    with mpmath.workdps(100):
        turn = int(mpmath.floor(mpmath.ldexp(rational(factor) * mpmath.exp(-rational(exponent)), 128)))
    for uniform, expected in ((turn - 2, True), (turn + 2, False)):
        if uniform < 2**128:
            script = ScriptedBits([[uniform >> 64], [uniform & ONES]])
            assert is_below_exp(Uniform(0, 0).refine(script), exponent, script, factor) is expected


def test_a_comparison_that_never_ends_is_a_failure():
    """A stuck source that repeats the digits of the bound itself must end, and without an answer."""
    with mpmath.workdps(800):
        digits = int(mpmath.floor(mpmath.ldexp(mpmath.exp(-1), 64 * 32)))
    words = [[digits >> 64 * (31 - place) & ONES] for place in range(32)]
    with pytest.raises(Failure):
        is_below_exp(Uniform(0, 0), Fraction(1), ScriptedBits(words))


@pytest.mark.parametrize("limit", [1, 2, 3, 10, 2**61 - 1, 2**64, 2**64 + 1, 10**30])
def test_integers_stay_below_their_limit(limit):
    bits = SeededBits(limit)
    drawn = [draw_below(limit, bits) for _ in range(300)]
    assert 0 <= min(drawn) <= max(drawn) < limit
    assert limit < 10 or len(set(drawn)) > 5


@pytest.mark.parametrize("limit", [2, 3, 7, 10])
@pytest.mark.no_cover
def test_small_integers_are_uniform(limit):
    bits = SeededBits(("small", limit))
    counts = [0] * limit
    for _ in range(20_000):
        counts[draw_below(limit, bits)] += 1
    assert p_value_of_counts(np.array(counts), np.full(limit, 1 / limit)) >= 1e-6


@pytest.mark.parametrize("limit", [3, 10, 2**61 - 1, 3 * 2**62])
def test_the_last_incomplete_copy_of_the_range_is_rejected(limit):
    """Without the rejection the first few integers would come once more often than the others."""
    words = 2 if limit.bit_length() <= 64 else 3
    span = 2 ** (64 * words)
    last_good = span - span % limit - 1
    script = [last_good >> 64 * place & ONES for place in range(words)]
    assert draw_below(limit, ScriptedBits([script])) == limit - 1
    script = [last_good + 1 >> 64 * place & ONES for place in range(words)]
    assert draw_below(limit, ScriptedBits([script, [1, 0]])) == 1
