"""How far responses scatter: squares that are cut where they would have too much noise."""

from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.parts.models.dispersion import (
    ScatterSum,
    choose_ceiling,
    describe_dispersion,
    find_highest,
    predict_noise,
)
from adomnia.privacy.events import Concentrated, Pure
from adomnia.statistics.contract import Measured
from kit.analyses import frame

ROWS = frame({"y": (0, 20)}, {}, whole=("y",))
PRICES = [Pure(Fraction(1, 10)), Concentrated(Fraction(1, 100))]


def scatter_sum(ceiling):
    return ScatterSum(ROWS.relation, ROWS.numbers["y"].value, Fraction(ceiling))


@pytest.mark.parametrize("price", PRICES)
def test_a_person_moves_the_same_number_of_steps_whatever_the_ceiling_is(price):
    low, high = (scatter_sum(each).measure(price) for each in (Fraction(1, 64), 2**30))
    assert low.query.sensitivity() == high.query.sensitivity()
    assert low.mechanism == high.mechanism
    assert low.mechanism.event(low.query.sensitivity()) == price


def test_no_square_is_above_the_highest_ceiling():
    for largest in (Fraction(1, 3), Fraction(1), Fraction(20), Fraction(500_000)):
        assert largest**2 < find_highest(largest) <= 2 * largest**2


@pytest.mark.parametrize("price", PRICES)
def test_noise_is_small_beside_something_that_moves_coefficients(price):
    noise = predict_noise(ROWS.relation, price)
    few = choose_ceiling(noise, expected=4000, mean=2, score_noise=1)
    assert 0.2 * 4000 < float(few) * noise <= 0.5 * 4000
    beside = choose_ceiling(noise, expected=4000, mean=2, score_noise=300)
    assert 0.1 * 300**2 < float(beside) * noise <= 0.3 * 300**2
    amounts = choose_ceiling(noise, expected=4e6, mean=2000, score_noise=1)
    assert float(amounts) * noise > 0.03 * 4e6 * 2000
    assert choose_ceiling(noise, expected=1e-6, mean=2, score_noise=1e-6) >= 16


def test_a_dispersion_is_what_squares_add_up_to_beside_what_is_expected():
    asked = scatter_sum(16)
    measured = Measured(np.array(1000 * 65536 // 16), asked.measure(Pure(10**6)).mechanism)
    assert asked.estimate(measured, 500.0) == pytest.approx(2, rel=1e-3)
    for nothing in (0.0, -5.0):
        assert 1 <= asked.estimate(measured, nothing) < float("inf")


def test_a_dispersion_below_its_noise_is_not_believed():
    asked = scatter_sum(16)
    measure = asked.measure(Pure(Fraction(1, 10)))
    lost = asked.estimate(Measured(np.array(-(10**6)), measure.mechanism), 400.0)
    assert lost == pytest.approx(16 * predict_noise(ROWS.relation, Pure(Fraction(1, 10))) / 400)


def test_a_dispersion_that_is_lost_is_no_number():
    asked = scatter_sum(16)
    measured = Measured(np.array(10**6), asked.measure(Pure(1)).mechanism)
    assert describe_dispersion(asked.estimate(measured, -1.0)) == "How far the response scatters is lost in the noise."
    assert "at most about 2.5 times" in describe_dispersion(2.5)
