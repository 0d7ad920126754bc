"""Halving: the distribution against enumeration, and its cost over all small databases."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import log

import numpy as np
import pytest

from adomnia.mechanisms.halving import Halving, rate_of
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Approximate, Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Histogram, Rows
from adomnia.privacy.sensitivity import Sensitivity
from kit.bits import SeededBits
from kit.brackets import drawn, halving_distribution, secret
from mechanisms.test_quantiles import p_value

THIRDS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
ROWS = [0, 2, 2, 2, 3]
AGE = Column("age", Quantity(Fraction(0), Fraction(4), whole=True), Numbers.integers(0, 4))


@pytest.mark.no_cover
def test_draws_have_the_distribution_of_its_definition():
    """False alarms: 1e-7. Rows divided without sharing ties out would be found out: two fifths of them lie at one."""
    mechanism = Halving(THIRDS, 4, Fraction(1), Pure(4))
    stated = halving_distribution(THIRDS, ROWS, 4, 0, mechanism.rate)
    assert sum(stated.values()) == pytest.approx(1)
    draws = mechanism.release(secret(mechanism, ROWS, 400), SeededBits("halving"))
    assert p_value(draws, stated) > 1e-7
    assert p_value(draws, halving_distribution(THIRDS, ROWS, 4, 0, mechanism.rate * 4)) < 1e-7
    assert p_value(drawn(mechanism, ROWS, 4000, 5), stated) > 1e-7


def databases(values, rows):
    return [each for size in range(rows + 1) for each in combinations_with_replacement(range(values), size)]


@pytest.mark.parametrize("of_a_person", [1, 2])
@pytest.mark.no_cover
def test_no_outcome_is_more_than_exp_epsilon_times_likelier_for_a_neighbour(of_a_person):
    """All databases of up to two rows on three values, and all that one person may add, in any of them."""
    mechanism, worst = Halving(THIRDS, 3, Fraction(of_a_person), Pure(1)), 0.0
    distributions = {
        rows: halving_distribution(THIRDS, rows, 3, 0, mechanism.rate) for rows in databases(3, 2 + of_a_person)
    }
    for rows, added in product(databases(3, 2), databases(3, of_a_person)):
        more = distributions[tuple(sorted(rows + added))]
        worst = max(worst, *(abs(log(more[outcome] / chance)) for outcome, chance in distributions[rows].items()))
    assert 0.4 < worst <= 1 + 1e-9


def test_levels_share_the_price():
    assert rate_of(Pure(1), Fraction(1), 1) == Fraction(1, 2)
    assert Halving(THIRDS, 5, Fraction(3), Pure(1)).rate == Fraction(1, 12)
    rho = Halving(THIRDS, 5, Fraction(1), Concentrated(1)).rate
    assert 2 * (2 * rho) ** 2 / 8 == pytest.approx(1, rel=1e-9)
    assert Halving(THIRDS, 5, Fraction(2), Concentrated(1)).event(Sensitivity(l1=1)).rho == Fraction(1, 4)


def test_many_rows_with_one_value_do_not_move_the_other_shares():
    """Three fifths of the rows are zero: what is left of them on either side still has its place."""
    rows = [0] * 1200 + list(range(1000, 1800))
    mechanism = Halving(tuple(Fraction(tenth, 10) for tenth in range(1, 10)), 4096, Fraction(1), Pure(4))
    chosen = drawn(mechanism, rows, 40, 3)
    assert (chosen[:, :5] == 0).all()
    assert np.abs(chosen[:, 6:] - [1200, 1400, 1600]).mean() < 20


def test_it_is_bought_for_a_histogram():
    asked = Query(Private("people", 2, (AGE,)), (), Histogram(AGE, AGE.domain, THIRDS, Fraction(0)))
    mechanism = Halving.for_query(asked, Pure(1))
    assert (mechanism.shares, mechanism.values, mechanism.rows, mechanism.shape(asked)) == (THIRDS, 5, 2, (3,))
    assert mechanism.spread_evenly(10).tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="Histogram"):
        Halving.for_query(Query(Private("people", 2, (AGE,)), (), Rows()), Pure(1))
    with pytest.raises(TypeError, match=r"^Halving is bought"):
        Halving.for_query(asked, Approximate(1, Fraction(1, 10)))


@pytest.mark.parametrize(
    "shares", [(), (Fraction(0),), (Fraction(1, 2), Fraction(1, 4)), (Fraction(1, 3),), THIRDS * 2]
)
def test_shares_that_do_not_increase_in_public_steps_are_refused(shares):
    with pytest.raises(ValueError, match=r"^Halving shares"):
        Halving(shares, 5, Fraction(1), Pure(1))
