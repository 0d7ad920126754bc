from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.privacy import losses
from adomnia.privacy.amounts import EPSILON_UNIT
from adomnia.privacy.events import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    Pure,
    ScalarGaussian,
    ScalarLaplace,
)
from adomnia.privacy.losses import Loss, covers, delta_of, epsilon_of, loss, rho_of
from privacy.references import (
    NOT_FINITE_NUMBERS,
    NOT_POSITIVE,
    TOO_EXTREME,
    best_delta,
    best_epsilon,
    events,
    few,
    fractions,
    hundred_digits,
    real,
    single_events,
    some,
)

shares = st.fractions(min_value=Fraction(1, 100), max_value=1)


@pytest.mark.parametrize(
    ("event", "epsilon", "rho", "delta"),
    [
        (Pure(0.5), Fraction(1, 2), Fraction(1, 8), 0),
        (BoundedRange(0.5), Fraction(1, 2), Fraction(1, 32), 0),
        (Concentrated(0.5), None, Fraction(1, 2), 0),
        (Concentrated(0.5, 1e-6), None, Fraction(1, 2), Fraction(1, 10**6)),
        (Approximate(0.5, 1e-6), Fraction(1, 2), Fraction(1, 8), Fraction(1, 10**6)),
        (Composed([Approximate(0.5, 1e-6), Pure(0.5)]), Fraction(1), Fraction(1, 4), Fraction(1, 10**6)),
        (Composed([Approximate(0.5, 1e-6), Concentrated(1)]), None, Fraction(9, 8), Fraction(1, 10**6)),
        (Approximate(0.5, 0), Fraction(1, 2), Fraction(1, 8), 0),
        (ScalarLaplace(10, 5), Fraction(1, 2), Fraction(1, 8), 0),
        (ScalarGaussian(8, 2), None, Fraction(1, 4), 0),
        (Composed([Pure(0.5), Pure(1)]), Fraction(3, 2), Fraction(5, 8), 0),
        (Composed([Pure(0.5), Concentrated(1)]), None, Fraction(9, 8), 0),
        (Composed([Composed([Pure(0.5)]), BoundedRange(0.5)]), Fraction(1), Fraction(5, 32), 0),
    ],
)
def test_every_event_has_its_price_in_three_currencies(event, epsilon, rho, delta):
    assert loss(event) == Loss(epsilon, rho, delta)


@some
@given(events, events, events)
def test_composition_is_associative_and_commutative(a, b, c):
    assert loss(Composed([a, Composed([b, c])])) == loss(Composed([Composed([a, b]), c])) == loss(Composed([a, b, c]))
    assert loss(Composed([a, b])) == loss(Composed([b, a])) == loss(a) + loss(b)


@some
@given(events, events)
def test_doing_more_costs_more(done, more):
    assert loss(done) <= loss(Composed([done, more]))
    assert not loss(Composed([done, more])) <= loss(done)


@some
@given(fractions, shares)
def test_a_smaller_price_is_a_smaller_loss(amount, share):
    for kind in (Pure, BoundedRange, Concentrated):
        assert loss(kind(amount * share)) <= loss(kind(amount))
    assert loss(ScalarLaplace(amount, 3)) <= loss(ScalarLaplace(amount * share, 4))
    assert loss(ScalarGaussian(amount, 3)) <= loss(ScalarGaussian(amount * share, 4))


@some
@given(events, events, events)
def test_the_order_of_losses_is_a_partial_order(a, b, c):
    a, b, c = loss(a), loss(b), loss(c)
    assert all(one <= same for one, same in zip((a, b, c), (a, b, c), strict=True))
    assert not (a <= b <= c) or a <= c
    assert not (a <= b <= a) or a == b


@pytest.mark.parametrize(
    ("reserved", "event", "enough"),
    [
        (Pure(1), Pure(1), True),
        (Pure(1), Pure(Fraction(10**12 + 1, 10**12)), False),
        (Pure(1), BoundedRange(1), True),
        (BoundedRange(1), Pure(1), False),
        (Pure(1), Concentrated(Fraction(1, 10**9)), False),  # no pure price buys what is not pure
        (Concentrated(0.5), Pure(1), True),
        (Concentrated(0.5), Pure(1.1), False),
        (Concentrated(0.5), ScalarGaussian(1, 1), True),
        (Concentrated(0.5), Approximate(1, 1e-9), False),
        (Concentrated(0.5, 1e-9), Approximate(1, 1e-9), True),
        (Approximate(1, 1e-9), Concentrated(0.5, 1e-9), False),  # what was counted in epsilon must have one
        (Approximate(1, 1e-9), Approximate(1, 1e-9), True),
        (Approximate(1, 1e-9), Pure(1), True),
        (Approximate(1, 1e-9), Approximate(1, 2e-9), False),
        (Approximate(1, 1e-9), Pure(1.1), False),
        (Composed([Pure(0.5), Pure(0.5)]), Pure(0.5), True),
        (Composed([Pure(0.5), Pure(0.5)]), Pure(1), False),  # two halves reserve less rho than a whole
        (Pure(1), Composed([Pure(0.5), Pure(0.5)]), True),
    ],
)
def test_a_reservation_covers_what_costs_no_more_in_any_currency(reserved, event, enough):
    assert covers(reserved, event) is enough


@some
@given(single_events)
def test_every_event_covers_itself(event):
    assert covers(event, event)


@few
@given(
    st.fractions(min_value=Fraction(1, 100), max_value=5),
    st.fractions(min_value=Fraction(101, 100), max_value=50),
)
def test_the_worst_pure_mechanism_stays_within_its_rho_at_every_order(epsilon, order):
    with mpmath.workdps(50):
        epsilon_, alpha = real(epsilon), real(order)
        yes = 1 / (1 + mpmath.exp(-epsilon_))
        moment = yes**alpha * (1 - yes) ** (1 - alpha) + (1 - yes) ** alpha * yes ** (1 - alpha)
        assert mpmath.log(moment) / (alpha - 1) <= alpha * real(loss(Pure(epsilon)).rho)
        assert mpmath.log(moment) / (alpha - 1) > 0


@few
@given(
    st.fractions(min_value=Fraction(1, 100), max_value=5),
    st.fractions(min_value=Fraction(101, 100), max_value=50),
    st.fractions(min_value=0, max_value=1),
)
def test_a_choice_of_bounded_range_stays_within_its_rho_at_every_order(epsilon, order, position):
    # Two outcomes whose log-ratios lie epsilon apart, anywhere around zero: the extreme case of a bounded range.
    with mpmath.workdps(50):
        gap, alpha, shift = real(epsilon), real(order), real(position)
        high, low = gap * (1 - shift), -gap * shift
        if low == 0 or high == 0:
            return
        other = (1 - mpmath.exp(low)) / (mpmath.exp(high) - mpmath.exp(low))
        one = other * mpmath.exp(high)
        moment = one**alpha * other ** (1 - alpha) + (1 - one) ** alpha * (1 - other) ** (1 - alpha)
        assert mpmath.log(moment) / (alpha - 1) <= alpha * real(loss(BoundedRange(epsilon)).rho)


def test_only_events_have_a_loss():
    with pytest.raises(TypeError, match=r"^loss event must be an event, got 1\.$"):
        loss(1)


@pytest.mark.parametrize(
    ("event", "pure"),
    [(Pure(1), True), (Approximate(1, 0), True), (Approximate(1, 1e-9), False), (Concentrated(1), False)],
    ids=str,
)
def test_only_what_has_an_epsilon_and_no_delta_is_pure(event, pure):
    assert loss(event).pure is pure


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
    poor = losses._delta_at(rho, epsilon, excess)
    with hundred_digits():
        assert best_delta(rho, epsilon) <= real(poor)


@some
@given(rhos, epsilons)
def test_the_bound_at_its_order_is_rounded_up_in_the_last_digit_too(rho, epsilon):
    excess = losses._order_for_epsilon(float(rho), float(epsilon))
    with hundred_digits():
        alpha, order = 1 + real(excess), real(excess)
        entropy = alpha * mpmath.log1p(-1 / alpha) - mpmath.log(order)
        claimed = losses._delta_at(rho, epsilon, excess)
        assert mpmath.exp(order * (alpha * real(rho) - real(epsilon)) + entropy) <= real(claimed) or claimed == 1
        assert entropy <= real(losses._entropy_up(excess)) <= entropy + mpmath.mpf(10) ** -40 * alpha


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
    losses._rho_of.cache_clear()
    assert rho_of(1, 1e-6) == rho_of(Fraction(1), Fraction(1, 10**6))
    assert losses._rho_of.cache_info().hits == 1


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
