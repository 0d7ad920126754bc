"""Round numbers: how many candidates each value is, by counting multiples one by one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import floor, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.mechanisms import round_numbers
from adomnia.mechanisms.halving import Halving
from adomnia.mechanisms.quantiles import Quantiles
from adomnia.mechanisms.ranks import Target
from adomnia.mechanisms.round_numbers import RoundNumbers
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Pure
from adomnia.privacy.sensitivity import Sensitivity
from kit.bits import SeededBits
from kit.brackets import drawn as drawn_by_halving
from kit.brackets import halving_law
from kit.brackets import secret as secret_of
from kit.quantiles import drawn, exact_law, secret
from mechanisms.test_quantiles import MEDIAN, databases, p_value

HALF = Fraction(1, 2)
ROWS = [3, 9, 9, 9, 12, 30, 30, 33]


@pytest.fixture
def many_copies(monkeypatch):
    """A small grid has units too, and their multiples are several candidates: 5, 1 and 3 where it has eighths."""
    monkeypatch.setattr(round_numbers, "_FEWEST", 2)
    monkeypatch.setattr(round_numbers, "_COPIES", HALF)


def counted(rounds):
    """Of each value: one, and the copies for every unit that it is a multiple of."""
    copies = [1] * rounds.values
    for power, many in product(range(-9, 10), (1, 5)):
        unit = Fraction(10) ** power * many
        if unit * round_numbers._FEWEST > rounds.step * rounds.values:
            continue
        for multiple in range(int(rounds.first * rounds.step / unit) - 2, int(rounds.first * rounds.step / unit) + 400):
            place = floor(multiple * unit / rounds.step + HALF) - rounds.first
            if 0 <= place < rounds.values and unit >= rounds.step:
                copies[place] += int(round_numbers._COPIES * unit / rounds.step)
    return copies


@given(
    st.integers(-300, 300),
    st.sampled_from([Fraction(1, 8), Fraction(1, 64), Fraction(1, 10), Fraction(3, 7), Fraction(1), Fraction(2**9)]),
    st.integers(1, 300),
)
def test_candidates_are_counted_and_found(first, step, values):
    rounds = RoundNumbers(first, step, values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(round_numbers, "_FEWEST", 2)
        patch.setattr(round_numbers, "_COPIES", HALF)
        copies = counted(rounds)
        before = np.concatenate([[0], np.cumsum(copies)])
        assert rounds.before(np.arange(values + 1)).tolist() == before.tolist()
        assert rounds.total == before[-1]
        held = np.repeat(np.arange(values), copies).tolist()
        assert [rounds.find(candidate, 0, values) for candidate in range(len(held))] == held


def test_far_from_zero_and_with_the_most_values_numbers_stay_within_64_bits():
    rounds = RoundNumbers(2**78 - 2**40, Fraction(1, 3), 2**40)
    assert 2**40 <= rounds.total < 2**45
    ends = rounds.before(np.array([0, 2**20, 2**40 - 1, 2**40]))
    assert ends[0] == 0
    assert (np.diff(ends) >= [2**20, 2**39, 1]).all()


def test_grids_of_few_values_have_no_round_numbers():
    assert RoundNumbers.of(Numbers.integers(0, 4)) is None
    assert RoundNumbers.of(Numbers.bounded(0, 36)) is not None


def test_a_column_of_half_hours_has_them_as_likely_as_the_gaps_between_them():
    domain = Numbers.bounded(0, 36)
    rounds = RoundNumbers.of(domain)
    half = int(HALF / domain.step)
    gap = int(np.diff(rounds.before(np.array([half + 1, 2 * half])))[0])
    (single,) = np.diff(rounds.before(np.array([half, half + 1])))
    assert gap / 100 < single < gap


@pytest.mark.usefixtures("many_copies")
@pytest.mark.parametrize("looks_ahead", [10, 2])
@pytest.mark.no_cover
def test_draws_have_the_law_of_their_candidates(looks_ahead, monkeypatch):
    """False alarms: 1e-7 each. Values of one candidate each would be found out."""
    monkeypatch.setattr("adomnia.privacy.scans._BUCKET_BITS", looks_ahead)
    rounds = RoundNumbers(-3, Fraction(1, 8), 40)
    for targets in (MEDIAN, (Target(HALF, Fraction(-1)), Target(HALF, Fraction(1)))):
        law = Quantiles(targets, 40, Fraction(1, 4), rounds)
        draws = law.release(secret(law, *[ROWS] * 1000), SeededBits((len(targets), looks_ahead)))
        assert p_value(draws, exact_law(law, ROWS)) > 1e-7
        assert p_value(draws, exact_law(replace(law, rounds=None), ROWS)) < 1e-7
        if len(targets) == 1:
            alone = law.release(secret(law, *[[]] * 1000), SeededBits("nobody"))
            assert p_value(alone, exact_law(law, [])) > 1e-7
            assert p_value(drawn(replace(law, rounds=None), ROWS, 20_000, SeededBits(1)), exact_law(law, ROWS)) < 1e-7


@pytest.mark.usefixtures("many_copies")
@pytest.mark.no_cover
def test_halving_has_the_law_of_its_candidates():
    rounds = RoundNumbers(1, HALF, 4)  # 1 is two candidates
    law = Halving((Fraction(1, 4), HALF, Fraction(3, 4)), 4, Fraction(1), Pure(3), rounds)
    rows = [0, 2, 2, 2, 3]
    stated = halving_law(law.shares, rows, 4, 0, law.rate, rounds)
    assert p_value(law.release(secret_of(law, rows, 400), SeededBits("halving")), stated) > 1e-7
    draws = drawn_by_halving(law, rows, 4_000, 5)
    assert p_value(draws, stated) > 1e-7
    assert p_value(draws, halving_law(law.shares, rows, 4, 0, law.rate)) < 1e-7


@pytest.mark.usefixtures("many_copies")
@pytest.mark.no_cover
def test_no_outcome_is_more_than_exp_epsilon_times_likelier_for_a_neighbour():
    law, worst = Quantiles(MEDIAN, 9, Fraction(1, 4), RoundNumbers(1, Fraction(1, 2), 9)), 0.0
    laws = {rows: exact_law(law, rows) for rows in databases(9, 3)}
    for rows, added in product(databases(9, 2), range(9)):
        more = laws[tuple(sorted((*rows, added)))]
        losses = [log(more[outcome] / chance) for outcome, chance in laws[rows].items()]
        worst = max(worst, max(losses) - min(losses))
    epsilon = float(law.event(Sensitivity(l1=1)).epsilon)
    assert epsilon / 2 < worst <= epsilon + 1e-9
