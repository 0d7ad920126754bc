from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.privacy.events import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    Pure,
    ScalarGaussian,
    ScalarLaplace,
)
from adomnia.privacy.losses import Loss, covers, loss
from privacy.references import events, few, fractions, real, single_events, some

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
