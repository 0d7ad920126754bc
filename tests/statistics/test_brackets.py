"""Noisy ranks: the tail of their noise against exact sums, and ends that are found from the outside in."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp

import numpy as np
import pytest

from adomnia.mechanisms.brackets import Brackets
from adomnia.mechanisms.earlier_brackets import EarlierBrackets
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.privacy.events import Concentrated, Pure
from adomnia.statistics.brackets import Bracket, isotonic, tail

HALF = Fraction(1, 2)
MANY = 10**6  # rows


def exact_tails(noise, weights, unit):
    """P[sum >= x] for x = 0, unit, 2 unit, ...: by adding up the distribution of every sum of whole noises."""
    reach, total = 400, np.array([1.0])
    for weight, many in weights:
        step = round(weight / unit)
        mechanism = np.zeros(2 * reach * step + 1)
        mechanism[::step] = [noise.probability(k) for k in range(-reach, reach + 1)]
        for _ in range(many):
            total = np.convolve(total, mechanism)
            spare = max(0, (len(total) - 1) // 2 - 6000)
            total = total[spare : len(total) - spare]
    middle = len(total) // 2
    return np.cumsum(total[::-1])[::-1][middle:]


@pytest.mark.parametrize(
    "noise",
    [DiscreteLaplace(Fraction(3, 2)), DiscreteLaplace(7), DiscreteGaussian(Fraction(1, 2)), DiscreteGaussian(30)],
)
@pytest.mark.parametrize(
    ("weights", "unit"),
    [
        (((0.5, 1), (0.5, 2), (0.5, 2)), 0.5),
        (((0.9, 1), (0.9, 1), (0.1, 3)), 0.1),
        (((0.9, 1), (0.1, 9)), 0.1),
        (((0.5, 12),), 0.5),
    ],
)
def test_the_tail_with_half_a_row_less_is_above_the_exact_one_and_not_by_far(noise, weights, unit):
    exact, larger = exact_tails(noise, weights, unit), max(weight for weight, _ in weights)
    for place, chance in enumerate(exact[1:], 1):
        if not 1e-4 < chance < 0.25:
            continue
        x = place * unit
        assert tail(noise, x - larger / 2, weights) >= chance * 0.995
        assert tail(noise, x + larger, weights) <= chance * 1.01


def test_tails_at_both_ends():
    weights = ((0.5, 2),)
    assert tail(DiscreteLaplace(1), 0, weights) == tail(DiscreteGaussian(1), -3, weights) == 1
    assert tail(DiscreteLaplace(1), 1000, weights) == 0
    assert tail(DiscreteLaplace(5), 10, ((1.0, 1),)) == pytest.approx(exp(-2) / 2, abs=1e-6)


def test_ranks_that_fall_are_pooled():
    assert isotonic(np.array([1.0, 3.0, 2.0, 2.5, 9.0])).tolist() == [1, 2.5, 2.5, 2.5, 9]
    assert isotonic(np.array([3.0, 2.0, 1.0])).tolist() == [2, 2, 2]


EDGES = (10, 20, 30, 41, 51)


def one(across, inner, edges=EDGES, price=None):
    mechanism = Brackets((HALF,), 101, Fraction(1), price or Pure(100))
    return Bracket.read(mechanism, np.array(mechanism.lay_out([10, 30, 50], edges, [across, *inner], MANY)), 0)


def test_ends_are_the_innermost_cuts_that_hold_from_the_outside_in():
    # Rows too many below the edges: -20, -10, 0, 10, 20.
    found = one(-40 + 40, (10, 10, 10, 10))
    assert found.excess.tolist() == [-20, -10, 0, 10, 20]
    assert found.bounds(0.05) == (20, 40)
    assert found.estimate(0.05) == 30


def test_a_cut_that_does_not_hold_hides_those_inside_of_it():
    found = one(0, (-30, 10, 10, 10))
    assert found.excess.tolist() == [0, -30, -20, -10, 0]
    assert found.bounds(0.05) == (-1, 101)


def test_an_end_beyond_the_value_is_found_where_hardly_any_noise_would_explain_its_rank():
    """The value lies far off: rows too many lie below an edge under it, and the quantile cannot be above that edge."""
    mechanism = Brackets((Fraction(1, 4), HALF), 101, Fraction(1), Pure(100))
    numbers = np.array(mechanism.lay_out([-1, 40, -1, -1, 60, -1], [20, 30, 50], [100, 400, 200, 300], 1000))
    assert Bracket.read(mechanism, numbers, 0).bounds(0.05) == (20, 29)
    assert Bracket.read(mechanism, numbers, 0).bounds(5e-7) == (20, 49)  # smaller tails are not computed
    earlier = EarlierBrackets((Fraction(1, 4), HALF), 101, Fraction(1), Pure(100))
    left = [0] * (earlier.room - 3)
    old = np.array([3, -1, 40, -1, -1, 60, -1, 20, 30, 50, *left, 100, 400, 200, 300, *left, 1000])
    assert Bracket.read(earlier, old, 0).bounds(0.05) == (20, 49)


@pytest.mark.parametrize("level", [0.02, 0.05, 0.3])
def test_both_ends_together_have_the_chance_to_miss(level):
    """An edge near its end has nine tenths of it, one far from it the rest: the rows that each takes to pass say so."""
    bracket = one(0, [0] * 4, price=Pure(1))

    def needed(at):
        """So many rows too few below a cut move the lower end there."""
        places = np.arange(5)
        for rows in np.arange(0, 100, 0.02):
            excess = np.where(places < at, -1e6, np.where(places > at, 1e6, -rows))
            if replace(bracket, excess=excess).bounds(level)[0] == EDGES[at]:
                return rows
        raise AssertionError("No number of rows does.")

    bracket = one(0, [0.0] * 4)
    for at, part in (
        (2, 0.9),
        (3, 0.1),
    ):  # the value is 30: the cut at 30 is near the lower end, that at 41 far from it
        rows = needed(at)
        assert tail(bracket.noise, rows - 0.25, bracket.weights[at]) <= part * level * 1.0001
        assert tail(bracket.noise, rows - 0.5, bracket.weights[at]) > part * level


def test_more_confidence_never_narrows_an_interval():
    """Also where the chance to miss is so small that far tests are left out: what they had is not given to others."""
    bracket = one(0, [0.0] * 4, price=Pure(1))
    for rows in np.arange(0, 80, 0.05):
        found = replace(bracket, excess=rows * np.array([-1.2, -1.1, -1, 1, 1.1]))
        ends = [found.bounds(level) for level in (0.3, 0.05, 1e-4, 1.01e-6, 1e-6, 9.9e-7, 1.5e-7, 1e-7, 9e-8)]
        lows, highs = zip(*ends, strict=True)
        assert (list(lows), list(highs)) == (sorted(lows, reverse=True), sorted(highs))


def test_both_prices_know_their_noise():
    weak, sharp = one(0, (10,) * 4, price=Concentrated(Fraction(1, 1000))), one(0, (10,) * 4, price=Concentrated(10))
    assert weak.bounds(0.05) == (-1, 101)
    assert sharp.bounds(0.05) == (20, 40)


def test_tails_that_are_not_computed_tell_nothing():
    assert one(0, (10,) * 4).bounds(1e-8) == (-1, 101)


@pytest.mark.parametrize(("across", "value"), [(16, 22), (-16, 38), (200, 10), (-200, 51)])
def test_the_value_takes_back_the_rows_that_it_is_off_by(across, value):
    assert one(across, (10,) * 4).estimate(1e-9) == value


def test_an_atom_between_two_cuts_is_the_value():
    found = one(-300, (0, 0, 700, 0), edges=(30, 30, 30, 31, 31))
    assert (found.bounds(0.05), found.estimate(0.05)) == ((30, 30), 30)


def test_several_quantiles_share_the_counts():
    mechanism = Brackets((Fraction(1, 4), HALF), 101, Fraction(1), Pure(100))
    numbers = np.array(mechanism.lay_out([-1, 30, -1, -1, 40, -1], [20, 30, 40, 60], [100, 150, 50, 300, 400], 1000))
    quarter, half = (Bracket.read(mechanism, numbers, place) for place in range(2))
    assert quarter.excess.tolist() == [-150, 0, 50, 350]
    assert half.excess.tolist() == [-400, -250, -200, 100]
    assert (quarter.bounds(0.05), half.bounds(0.05)) == ((20, 39), (40, 59))
    assert (quarter.estimate(0.05), half.estimate(0.05)) == (30, 53)
