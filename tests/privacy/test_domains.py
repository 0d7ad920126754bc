from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.privacy.domains import Categories, Numbers
from privacy.references import NOT_FINITE_NUMBERS, NOT_POSITIVE, TOO_EXTREME, some

bounds = st.lists(st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=1000), min_size=2, max_size=2)
steps = st.sampled_from([Fraction(1), Fraction(1, 4), Fraction(1, 10), Fraction(7, 3), Fraction(100)])


@st.composite
def grids(draw):
    lower, upper = sorted(draw(bounds))
    step = draw(steps)
    return Numbers(lower, max(upper, lower + step), step)


@some
@given(bounds.map(sorted).filter(lambda pair: pair[0] < pair[1]))
def test_the_default_step_is_the_power_of_two_just_below_a_millionth_of_the_range(pair):
    lower, upper = pair
    step = Numbers.bounded(lower, upper).step
    assert step <= (upper - lower) / 2**20 < 2 * step
    assert math.log2(step).is_integer()


def test_known_grids():
    assert Numbers.bounded(0, 500_000).step == Fraction(1, 4)
    assert Numbers.bounded(0, 2**20).step == 1
    assert Numbers.bounded(0, 1, 0.25) == Numbers(0, 1, Fraction(1, 4))
    age = Numbers.integers(0, 120)
    assert (age.step, age.grid_lower, age.grid_upper, age.magnitude, age.width, age.middle) == (1, 0, 120, 120, 120, 60)
    inside = Numbers(Fraction(-5, 2), Fraction(7, 2), 1)
    assert (inside.grid_lower, inside.grid_upper, inside.magnitude, inside.width, inside.middle) == (-2, 3, 3, 5, 0)
    assert Numbers.integers(5, 5).width == 0


@some
@given(grids(), st.floats(allow_nan=False) | st.integers(-(10**30), 10**30))
def test_every_value_lands_on_the_grid_inside_the_bounds(domain, value):
    k = domain.grid(value)
    assert domain.grid_lower <= k <= domain.grid_upper
    assert domain.lower <= k * domain.step <= domain.upper
    assert abs(k) <= domain.magnitude


@some
@given(grids(), st.floats(-2e6, 2e6), st.floats(-2e6, 2e6))
def test_the_grid_keeps_the_order_of_values(domain, one, other):
    low, high = sorted([one, other])
    assert domain.grid(low) <= domain.grid(high)


def test_a_grid_integer_stands_for_so_many_steps():
    assert Numbers.bounded(0, 1000, Fraction(1, 4)).value(6) == 1.5


@some
@given(grids(), st.data())
def test_a_value_of_the_grid_comes_back_as_itself(domain, data):
    k = data.draw(st.integers(domain.grid_lower, domain.grid_upper))
    assert domain.grid(domain.value(k)) == k


@some
@given(st.floats(0, 500_000))
def test_rounding_is_to_the_nearest_step(value):
    domain = Numbers.bounded(0, 500_000)
    assert abs(domain.value(domain.grid(value)) - value) <= domain.step / 2


def test_missing_values_contribute_nothing_and_infinite_ones_are_clamped():
    domain = Numbers.integers(-3, 7)
    assert domain.grid(None) is None
    assert domain.grid(math.nan) is None
    assert domain.grid(math.inf) == 7
    assert domain.grid(-math.inf) == -3
    assert domain.grid(-0.0) == domain.grid(5e-324) == 0
    assert [domain.grid(x) for x in (0.5, 1.5, -0.5, 10**400, -(10**400))] == [1, 2, 0, 7, -3]


def test_bounds_that_no_double_holds_are_kept_by_the_second_clamp():
    domain = Numbers.integers(0, 2**63 - 1)
    assert domain.grid(2.0**63) == domain.grid(math.inf) == 2**63 - 1


@pytest.mark.parametrize("field", ["lower", "upper", "step"])
@pytest.mark.parametrize("value", NOT_FINITE_NUMBERS + TOO_EXTREME, ids=lambda value: type(value).__name__)
def test_a_bad_bound_is_refused_by_class_and_field(field, value):
    with pytest.raises(ValueError, match=f"^Numbers {field} must be "):
        Numbers(**({"lower": 0, "upper": 1, "step": 1} | {field: value}))


@pytest.mark.parametrize("step", NOT_POSITIVE)
def test_a_step_is_above_zero(step):
    with pytest.raises(ValueError, match=f"^Numbers step must be > 0, got {step}\\.$"):
        Numbers.bounded(0, 1, step)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 0, 1), r"^Numbers upper must leave a multiple of 1 above 1, got 0\.$"),
        ((0.25, 0.75, 1), r"^Numbers upper must leave a multiple of 1 above 0\.25, got 0\.75\.$"),
        ((0, 2**78 + 1, 1), r"^Numbers step must keep both bounds within 2\*\*78 steps of zero, got 1\.$"),
    ],
)
def test_an_empty_or_endless_grid_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Numbers(*arguments)


@pytest.mark.parametrize("upper", [0, -1])
def test_a_default_step_needs_a_range(upper):
    with pytest.raises(ValueError, match=f"^Numbers upper must be > lower where no step is given, got {upper}\\.$"):
        Numbers.bounded(0, upper)


def test_categories_keep_their_order():
    assert Categories(iter(["b", "a", 3])).values == ("b", "a", 3)
    assert Categories(["a"]) == Categories(("a",))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], r"^Categories values must number between 1 and 1000000, got 0\.$"),
        (range(10**6 + 1), r"^Categories values must number between 1 and 1000000, got 1000001\.$"),
        (["a", "b", "a"], r"^Categories values must be distinct, got 'a' twice\.$"),
        (["a", None], r"^Categories values must not be missing, got None\.$"),
        ([1.0, math.nan], r"^Categories values must not be missing, got nan\.$"),
        ("abc", r"^Categories values must be a list, got 'abc'\.$"),
    ],
)
def test_categories_that_are_no_closed_list_are_refused(values, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Categories(values)


@pytest.mark.no_cover
def test_a_million_categories_are_accepted():
    assert len(Categories(range(10**6)).values) == 10**6
