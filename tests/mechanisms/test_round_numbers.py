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
from adomnia.mechanisms.round_numbers import RoundNumbers, Target
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Histogram, Rows
from adomnia.privacy.sensitivity import Sensitivity
from kit.bits import SeededBits
from kit.brackets import drawn as drawn_by_halving
from kit.brackets import halving_distribution
from kit.brackets import secret as secret_of
from kit.quantiles import drawn, exact_distribution, secret
from mechanisms.test_quantiles import MEDIAN, databases, p_value

HALF = Fraction(1, 2)
ROWS = [3, 9, 9, 9, 12, 30, 30, 33]
PAY = Column("pay", Quantity(Fraction(0), Fraction(1000)), Numbers(0, 1000, Fraction(1, 4)))


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
def test_draws_have_the_distribution_of_their_candidates(looks_ahead, monkeypatch):
    """False alarms: 1e-7 each. Values of one candidate each would be found out."""
    monkeypatch.setattr("adomnia.privacy.scans._BUCKET_BITS", looks_ahead)
    rounds = RoundNumbers(-3, Fraction(1, 8), 40)
    for targets in (MEDIAN, (Target(HALF, Fraction(-1)), Target(HALF, Fraction(1)))):
        mechanism = Quantiles(targets, 40, Fraction(1, 4), rounds)
        draws = mechanism.release(secret(mechanism, *[ROWS] * 1000), SeededBits((len(targets), looks_ahead)))
        assert p_value(draws, exact_distribution(mechanism, ROWS)) > 1e-7
        assert p_value(draws, exact_distribution(replace(mechanism, rounds=None), ROWS)) < 1e-7
        if len(targets) == 1:
            alone = mechanism.release(secret(mechanism, *[[]] * 1000), SeededBits("nobody"))
            assert p_value(alone, exact_distribution(mechanism, [])) > 1e-7
            assert (
                p_value(
                    drawn(replace(mechanism, rounds=None), ROWS, 20_000, SeededBits(1)),
                    exact_distribution(mechanism, ROWS),
                )
                < 1e-7
            )


@pytest.mark.usefixtures("many_copies")
@pytest.mark.no_cover
def test_halving_has_the_distribution_of_its_candidates():
    rounds = RoundNumbers(1, HALF, 4)  # 1 is two candidates
    mechanism = Halving((Fraction(1, 4), HALF, Fraction(3, 4)), 4, Fraction(1), Pure(3), rounds)
    rows = [0, 2, 2, 2, 3]
    stated = halving_distribution(mechanism.shares, rows, 4, 0, mechanism.rate, rounds)
    assert p_value(mechanism.release(secret_of(mechanism, rows, 400), SeededBits("halving")), stated) > 1e-7
    draws = drawn_by_halving(mechanism, rows, 4_000, 5)
    assert p_value(draws, stated) > 1e-7
    assert p_value(draws, halving_distribution(mechanism.shares, rows, 4, 0, mechanism.rate)) < 1e-7


@pytest.mark.usefixtures("many_copies")
@pytest.mark.no_cover
def test_no_outcome_is_more_than_exp_epsilon_times_likelier_for_a_neighbour():
    mechanism, worst = Quantiles(MEDIAN, 9, Fraction(1, 4), RoundNumbers(1, Fraction(1, 2), 9)), 0.0
    distributions = {rows: exact_distribution(mechanism, rows) for rows in databases(9, 3)}
    for rows, added in product(databases(9, 2), range(9)):
        more = distributions[tuple(sorted((*rows, added)))]
        losses = [log(more[outcome] / chance) for outcome, chance in distributions[rows].items()]
        worst = max(worst, max(losses) - min(losses))
    epsilon = float(mechanism.event(Sensitivity(l1=1)).epsilon)
    assert epsilon / 2 < worst <= epsilon + 1e-9


def query(*shares, rows=1, confidence=Fraction(19, 20)):
    return Query(Private("people", rows, (PAY,)), (), Histogram(PAY, PAY.domain, shares, confidence))


def test_an_extreme_asks_so_far_from_the_end_that_all_values_past_it_together_are_unlikely():
    (low,), (high,) = (Quantiles.for_query(query(share), Pure(1)).targets for share in (Fraction(0), Fraction(1)))
    assert low.offset == -high.offset == 23
    assert 4001 * np.exp(-23 / 2) < 0.05 < 4001 * np.exp(-22 / 2)
    assert (low.beyond, high.beyond) == (20, -20)


def test_everything_is_in_proportion_to_price_and_rows():
    def far(price, rows):
        return float(Quantiles.for_query(query(Fraction(0), rows=rows), price).targets[0].offset)

    assert far(Pure(1), 1) == 23
    assert far(Pure(Fraction(1, 10)), 1) == pytest.approx(226, abs=1)
    assert far(Pure(1), 10) == far(Pure(Fraction(1, 10)), 1)
    assert far(Concentrated(Fraction(1, 8)), 1) == far(Pure(1), 1)


def test_a_choice_costs_at_most_its_price():
    asked = query(Fraction(1), rows=3)
    assert Quantiles.for_query(asked, Pure(1)).event(asked.sensitivity()).epsilon == 1
    mechanism = Quantiles.for_query(asked, Concentrated(1))
    assert mechanism.shape(asked) == (1,)
    with pytest.raises(TypeError, match="Histogram"):
        Quantiles.for_query(replace(asked, aggregate=Rows()), Pure(1))


@pytest.mark.parametrize("shares", [(HALF,), (Fraction(0), Fraction(1)), ()])
def test_other_ranks_than_one_extreme_are_refused(shares):
    with pytest.raises(ValueError, match="one extreme"):
        Quantiles.for_query(query(*shares), Pure(1))


def test_rows_that_lie_evenly_are_supposed_at_their_ranks():
    mechanism = Quantiles.for_query(query(Fraction(0)), Pure(1))
    assert mechanism.spread_evenly(1000).tolist() == [round(23 / 1000 * (mechanism.values - 1))]
    assert mechanism.spread_evenly(0).tolist() == [mechanism.values]
