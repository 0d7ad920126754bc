"""Rounded noise: every short word decided rightly or left open, draws of the stated distribution, and an end."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, floor

import numpy as np
import pytest

from adomnia.errors import Failure
from adomnia.noise import round_cauchy, round_laplace, round_student, uniform
from adomnia.noise.rounded import FARTHEST
from kit.bits import Exhausted, ScriptedBits, SeededBits
from kit.distributions import cauchy_below, fits_the_distribution, laplace_below, rounded_distribution, student_below

DISTRIBUTIONS = {
    "cauchy": (round_cauchy, cauchy_below),
    "student": (round_student, student_below),
    "laplace": (round_laplace, laplace_below),
}
INSIDE = {
    "cauchy": lambda x, v: x * x + v * v <= 1,
    "student": lambda x, v: v * v + x * x / 4 <= v,
}
every_distribution = pytest.mark.parametrize("name", DISTRIBUTIONS)
ONES = 2**64 - 1


class ShortWords:
    """Words of few bits, where the sampler takes them for whole ones."""

    def __init__(self, seed, length):
        self._bits, self._length = SeededBits(seed), length

    def words(self, count):
        return self._bits.words(count) >> np.uint64(64 - self._length)


def draws_of(name, scale, count, bits):
    return np.array([DISTRIBUTIONS[name][0](scale, bits) for _ in range(count)], dtype=object)


@every_distribution
@pytest.mark.no_cover
def test_draws_fit_the_distribution_and_none_of_another_scale(name):
    """False alarms: 1e-6; a scale that is an eighth off is found out, on both sides."""
    draws = draws_of(name, Fraction(7), 16_000, SeededBits(name))
    below = DISTRIBUTIONS[name][1]
    assert fits_the_distribution(draws, rounded_distribution(below, Fraction(7)))
    assert not fits_the_distribution(draws, rounded_distribution(below, Fraction(7) * Fraction(9, 8)))
    assert not fits_the_distribution(draws, rounded_distribution(below, Fraction(7) * Fraction(7, 8)))
    others = {"cauchy": student_below, "student": laplace_below, "laplace": cauchy_below}
    assert not fits_the_distribution(draws, rounded_distribution(others[name], Fraction(7)))


@every_distribution
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(10**12)], ids=str)
@pytest.mark.no_cover
def test_draws_fit_the_distribution_at_scales_below_a_step_and_far_above(name, scale):
    """False alarms: 1e-6 for each of six."""
    draws = draws_of(name, scale, 4000, SeededBits((name, scale)))
    assert fits_the_distribution(draws, rounded_distribution(DISTRIBUTIONS[name][1], scale))
    assert not fits_the_distribution(draws, rounded_distribution(DISTRIBUTIONS[name][1], scale * Fraction(4, 3)))


@every_distribution
@pytest.mark.no_cover
def test_words_of_few_bits_leave_most_draws_open_and_change_no_distribution(name, monkeypatch):
    """False alarms: 1e-6 for each of three."""
    monkeypatch.setattr(uniform, "_WORD", 5)
    draws = draws_of(name, Fraction(7), 4000, ShortWords(name, 5))
    assert fits_the_distribution(draws, rounded_distribution(DISTRIBUTIONS[name][1], Fraction(7)))


def outcome(name, scale, *words):
    """What these first words decide; None where they do not."""
    try:
        return DISTRIBUTIONS[name][0](scale, ScriptedBits([[word] for word in words]))
    except Exhausted:
        return None


@pytest.mark.parametrize("name", INSIDE)
@pytest.mark.parametrize("sign", [0, 1])
def test_all_short_points_are_decided_as_every_point_of_their_box(name, sign, monkeypatch):
    monkeypatch.setattr(uniform, "_WORD", 5)
    scale, decided = Fraction(3, 2), 0
    for x, v in product(range(32), repeat=2):
        found = outcome(name, scale, sign, x, v)
        within = [(Fraction(8 * x + i, 256), Fraction(8 * v + j, 256)) for i, j in product((1, 4, 7), repeat=2)]
        accepted = {INSIDE[name](*point) for point in within}
        if found is not None:
            decided += 1
            rounded = {floor((1 - 2 * sign) * scale * at / height + Fraction(1, 2)) for at, height in within}
            assert (accepted, rounded) == ({True}, {found})
        if accepted == {True, False}:
            assert found is None
    assert decided > 250


@pytest.mark.parametrize("sign", [0, 1])
def test_all_short_uniform_numbers_are_decided_as_every_number_of_their_interval(sign, monkeypatch):
    monkeypatch.setattr(uniform, "_WORD", 8)
    decided = 0
    for word in range(256):
        found = outcome("laplace", Fraction(5), sign, word)
        if found is not None:
            decided += 1
            size = abs(found)
            assert word / 256 >= exp(-(size + 0.5) / 5) - 1e-12
            assert (word + 1) / 256 <= exp(-(size - 0.5) / 5) + 1e-12
            assert found <= 0 if sign else found >= 0
    assert decided > 200


@every_distribution
def test_what_lies_beyond_all_integers_is_the_farthest_one(name):
    drawn = {DISTRIBUTIONS[name][0](Fraction(10**40), SeededBits((name, place))) for place in range(20)}
    assert drawn == {-FARTHEST, FARTHEST}


@every_distribution
def test_a_scale_of_next_to_nothing_moves_nothing(name):
    drawn = {DISTRIBUTIONS[name][0](Fraction(1, 2**40), SeededBits((name, place))) for place in range(50)}
    assert drawn == {0}


@every_distribution
def test_a_number_that_stays_open_is_a_failure(name):
    """At zero nothing is decided, however many bits there are: neither how far out, nor whether inside."""
    with pytest.raises(Failure):
        DISTRIBUTIONS[name][0](Fraction(1), ScriptedBits([[0]] * 64))


@pytest.mark.parametrize("name", INSIDE)
def test_points_that_are_never_accepted_are_a_failure(name):
    with pytest.raises(Failure):
        DISTRIBUTIONS[name][0](Fraction(1), ScriptedBits([[ONES]] * 3 * 256))
