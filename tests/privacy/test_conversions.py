from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.privacy import conversions
from adomnia.privacy.amounts import EPSILON_UNIT
from adomnia.privacy.conversions import delta_of, epsilon_of, rho_of
from privacy.references import (
    NOT_FINITE_NUMBERS,
    NOT_POSITIVE,
    TOO_EXTREME,
    best_delta,
    best_epsilon,
    few,
    hundred_digits,
    real,
    some,
)

rhos = st.fractions(min_value=Fraction(1, 10**6), max_value=20, max_denominator=10**8)
epsilons = st.fractions(min_value=Fraction(1, 1000), max_value=30, max_denominator=10**6)
deltas = st.integers(1, 60).flatmap(lambda k: st.integers(1, 99).map(lambda n: Fraction(n, 100) / 10 ** (k // 2)))
tiny = mpmath.mpf(10) ** -9


@some
@given(rhos, epsilons)
def test_delta_is_at_least_the_hundred_digit_optimum_and_hardly_more(rho, epsilon):
    with hundred_digits():
        optimum, claimed = best_delta(rho, epsilon), real(delta_of(rho, epsilon))
        smallest = mpmath.exp(-10_000)  # below which nobody tells deltas apart
        assert optimum <= claimed <= max(optimum, smallest) * (1 + tiny)


@some
@given(rhos, deltas)
def test_epsilon_is_at_least_the_hundred_digit_optimum_and_hardly_more(rho, delta):
    with hundred_digits():
        optimum, claimed = best_epsilon(rho, delta), real(epsilon_of(rho, delta))
        assert optimum <= claimed <= optimum * (1 + tiny) + tiny * real(rho)


@few
@given(epsilons, deltas)
def test_rho_is_the_last_whole_unit_that_keeps_the_promise(epsilon, delta):
    rho = rho_of(epsilon, delta)
    assert (rho / EPSILON_UNIT).denominator == 1
    with hundred_digits():
        if rho:
            assert best_delta(rho, epsilon) <= real(delta)
        above = max(rho + EPSILON_UNIT, rho * (1 + Fraction(1, 10**9)))
        assert best_delta(above, epsilon) > real(delta)


@few
@given(rhos, deltas)
def test_the_three_directions_agree(rho, delta):
    epsilon = epsilon_of(rho, delta)
    if epsilon:
        assert delta_of(rho, epsilon) <= delta * (1 + Fraction(1, 10**9))
        back = rho_of(epsilon * (1 + Fraction(1, 10**9)), delta)
        assert rho * (1 - Fraction(1, 10**6)) - EPSILON_UNIT <= back <= rho * (1 + Fraction(1, 10**6))
    else:
        assert delta_of(rho, 0) <= delta * (1 + Fraction(1, 10**9))


@few
@given(rhos, epsilons, st.fractions(min_value=Fraction(1001, 1000), max_value=2))
def test_more_noise_and_more_epsilon_mean_less_delta(rho, epsilon, factor):
    assert delta_of(rho, epsilon) <= delta_of(rho * factor, epsilon)
    assert delta_of(rho, epsilon * factor) <= delta_of(rho, epsilon)


@few
@given(rhos, epsilons, st.fractions(min_value=-5, max_value=5))
def test_any_order_is_safe_and_none_beats_the_one_that_was_found(rho, epsilon, logarithm):
    excess = Fraction(2) ** int(logarithm) * (1 + (logarithm % 1))
    poor = conversions._delta_at(rho, epsilon, excess)
    with hundred_digits():
        assert best_delta(rho, epsilon) <= real(poor)


@some
@given(rhos, epsilons)
def test_the_bound_at_its_order_is_rounded_up_in_the_last_digit_too(rho, epsilon):
    excess = conversions._order_for_epsilon(float(rho), float(epsilon))
    with hundred_digits():
        alpha, order = 1 + real(excess), real(excess)
        entropy = alpha * mpmath.log1p(-1 / alpha) - mpmath.log(order)
        claimed = conversions._delta_at(rho, epsilon, excess)
        assert mpmath.exp(order * (alpha * real(rho) - real(epsilon)) + entropy) <= real(claimed) or claimed == 1
        assert entropy <= real(conversions._entropy_up(excess)) <= entropy + mpmath.mpf(10) ** -40 * alpha


def test_census_guarantees_of_2020(vectors):
    for row in vectors["census2020"]:
        epsilon = float(epsilon_of(row["rho"], row["delta"]))
        assert epsilon == pytest.approx(row["eps_tight"], rel=1e-12)
        assert row["eps_exact_gaussian"] < epsilon < row["eps_standard"]


def test_the_rho_of_published_synthesisers(vectors):
    rho = float(rho_of(1, 1e-9))
    assert rho == pytest.approx(vectors["mst_aim"]["rho_eps1_delta1e9"], abs=1e-12)
    assert rho <= vectors["mst_aim"]["rho_eps1_delta1e9"]


def test_half_a_rho_at_a_millionth():
    assert float(epsilon_of(0.5, 1e-6)) == pytest.approx(5.2215, abs=5e-5)
    assert float(epsilon_of(0.5, 1e-6)) < 5.7565


def test_zcdp_never_claims_more_than_gaussian_noise_really_gives(vectors):
    for row in vectors["gaussian"]:
        rho = Fraction(1) / (2 * Fraction(row["analytic"]) ** 2)
        assert delta_of(rho, row["eps"]) > row["delta"]


def test_a_budget_asks_for_its_rho_once():
    conversions._rho_of.cache_clear()
    assert rho_of(1, 1e-6) == rho_of(Fraction(1), Fraction(1, 10**6))
    assert conversions._rho_of.cache_info().hits == 1


def test_too_little_of_everything_is_no_rho_at_all():
    assert rho_of(1e-6, 1e-30) == 0


@pytest.mark.parametrize(("rho", "epsilon"), [(1e-300, 1e300), (1e300, 1e-300), (1e300, 1e300), (1e-300, 1e-300)])
def test_extreme_values_give_a_bound_and_no_error(rho, epsilon):
    assert 0 < delta_of(rho, epsilon) <= 1


@pytest.mark.parametrize(("rho", "delta"), [(1e-300, 1e-300), (1e300, 1e-300), (1e-300, 0.999999), (1e300, 0.999999)])
def test_extreme_deltas_give_a_bound_and_no_error(rho, delta):
    assert epsilon_of(rho, delta) >= 0


BAD = NOT_FINITE_NUMBERS + TOO_EXTREME + NOT_POSITIVE


@pytest.mark.parametrize("value", [value for value in BAD if not (isinstance(value, (int, float)) and value == 0)])
@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda value: delta_of(value, 1), "delta_of rho"),
        (lambda value: delta_of(1, value), "delta_of epsilon"),
        (lambda value: epsilon_of(value, 0.1), "epsilon_of rho"),
        (lambda value: epsilon_of(1, value), "epsilon_of delta"),
        (lambda value: rho_of(value, 0.1), "rho_of epsilon"),
        (lambda value: rho_of(1, value), "rho_of delta"),
    ],
)
def test_bad_input_is_refused_by_name(call, field, value):
    if value == 0 and field == "delta_of epsilon":
        return
    with pytest.raises(ValueError, match=f"^{field} must be "):
        call(value)


@pytest.mark.parametrize("call", [epsilon_of, rho_of])
def test_no_conversion_without_some_delta(call):
    with pytest.raises(ValueError, match=f"^{call.__name__} delta must be > 0, got 0\\.$"):
        call(1, 0)


def test_an_epsilon_of_zero_is_total_variation():
    with hundred_digits():
        assert best_delta(Fraction(1, 100), Fraction(0)) <= real(delta_of(0.01, 0))
