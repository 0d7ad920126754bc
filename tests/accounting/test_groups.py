from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.accounting.groups import group_privacy
from adomnia.privacy.events import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    Pure,
    ScalarGaussian,
    ScalarLaplace,
)
from adomnia.privacy.losses import loss
from privacy.references import deltas, few, hundred_digits, pure_events, real, some

epsilons = st.fractions(min_value=Fraction(1, 10**6), max_value=2, max_denominator=10**6)
sizes = st.integers(1, 6)
MILLIONTH = Fraction(1, 10**6)


def test_three_people_at_a_half_and_a_millionth():
    group = group_privacy(Approximate(0.5, 1e-6), 3)
    assert group.epsilon == Fraction(3, 2)
    assert float(group.delta) == pytest.approx(5.367e-6, abs=5e-10)


@some
@given(pure_events, sizes)
def test_pure_guarantees_multiply(event, size):
    assert group_privacy(event, size) == Pure(loss(event).epsilon * size)


@some
@given(epsilons, st.integers(1, 9), sizes)
def test_rho_grows_with_the_square(amount, distance, size):
    assert group_privacy(Concentrated(amount), size) == Concentrated(amount * size**2)
    assert group_privacy(ScalarGaussian(amount, distance), size) == group_privacy(
        ScalarGaussian(amount, distance * size), 1
    )
    assert group_privacy(ScalarLaplace(amount, distance), size) == group_privacy(
        ScalarLaplace(amount, distance * size), 1
    )


@some
@given(epsilons, deltas, sizes)
def test_deltas_add_up_along_the_chain_rounded_up(epsilon, delta, size):
    delta = delta / 10**6
    group = group_privacy(Approximate(epsilon, delta), size)
    assert group.epsilon == epsilon * size
    with hundred_digits():
        truth = real(delta) * mpmath.fsum(mpmath.exp(link * real(epsilon)) for link in range(size))
        assert truth <= real(group.delta) <= truth * (1 + mpmath.mpf(10) ** -9)


@few
@given(epsilons, deltas)
def test_replacing_one_person_is_what_units_promise(epsilon, delta):
    assert group_privacy(Pure(epsilon), 2) == Pure(2 * epsilon)
    replaced = group_privacy(Approximate(epsilon, delta / 1000), 2)
    assert replaced.epsilon == 2 * epsilon
    with hundred_digits():
        promised = (1 + mpmath.exp(real(epsilon))) * real(delta) / 1000
        assert promised <= real(replaced.delta) <= promised * (1 + mpmath.mpf(10) ** -9)


@pytest.mark.parametrize(
    "event",
    [
        Pure(1),
        Concentrated(1),
        Concentrated(1, 1e-6),
        Approximate(1, 1e-6),
        Approximate(1, 0),
        Composed([Pure(1), Concentrated(1, 1e-6)]),
    ],
)
def test_a_group_of_one_is_the_event_itself(event):
    assert loss(group_privacy(event, 1)) == loss(event)


def test_approximate_zcdp_is_converted_before_it_is_chained():
    group = group_privacy(Concentrated(0.01, 1e-9), 3)
    assert isinstance(group, Approximate)
    assert group == group_privacy(Approximate(group.epsilon / 3, Fraction(2, 10**9)), 3)
    assert group.delta > Fraction(6, 10**9)


def test_a_rho_next_to_nothing_still_has_an_epsilon():
    assert group_privacy(Concentrated(Fraction(1, 10**30), 0.1), 2).epsilon > 0


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([Pure(0.5), BoundedRange(0.25)], Pure(1.5)),
        ([Pure(0.5), Approximate(0.25, 0)], Pure(1.5)),
        ([Pure(0.5), Concentrated(0.25)], Concentrated(Fraction(3, 2))),
        ([Composed([Pure(0.5)]), ScalarGaussian(2, 1)], Concentrated(Fraction(3, 2))),
    ],
)
def test_a_composition_is_chained_part_by_part(parts, expected):
    assert group_privacy(Composed(parts), 2) == expected


def test_pairs_compose_to_a_pair_and_mixtures_to_approximate_zcdp():
    pair = group_privacy(Approximate(0.5, 1e-6), 2)
    assert group_privacy(Composed([Approximate(0.5, 1e-6), Pure(0.25)]), 2) == Approximate(Fraction(3, 2), pair.delta)
    mixed = group_privacy(Composed([Approximate(0.5, 1e-6), Concentrated(0.25)]), 2)
    assert mixed == Concentrated(Fraction(1, 2) + 1, pair.delta)


@pytest.mark.parametrize(
    ("event", "size"),
    [
        (Approximate(1, 1e-3), 8),
        (Approximate(1, 1e-3), 10**6),
        (Approximate(1, 0.6), 2),
        (Concentrated(0.1, 0.6), 2),
        (Composed([Approximate(0.1, 0.6), Approximate(0.1, 0.6)]), 1),
        (Composed([Concentrated(0.1, 0.6), Concentrated(0.1, 0.6)]), 1),
    ],
)
def test_a_group_about_which_nothing_is_promised_is_refused(event, size):
    with pytest.raises(ValueError, match=f"^group_privacy size must keep delta below 1, got {size}\\.$"):
        group_privacy(event, size)


def test_a_pure_pair_survives_any_group():
    assert group_privacy(Approximate(1, 0), 10**6) == Approximate(10**6, 0)


@pytest.mark.parametrize("size", [0, -1, 1.5, True, None, "2", float("nan")])
def test_group_sizes_are_whole(size):
    with pytest.raises(ValueError, match=r"^group_privacy size must be "):
        group_privacy(Pure(1), size)


def test_only_events_have_groups():
    with pytest.raises(TypeError, match=r"^group_privacy event must be an event, got 0\.5 "):
        group_privacy(0.5, 2)


@few
@given(
    st.lists(st.sampled_from([Pure(0.1), Concentrated(0.1), Approximate(0.1, MILLIONTH)]), min_size=1, max_size=4),
    sizes,
)
def test_larger_groups_are_promised_less(events, size):
    assert loss(group_privacy(Composed(events), size)) <= loss(group_privacy(Composed(events), size + 1))
