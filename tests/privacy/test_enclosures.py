from __future__ import annotations

import decimal
from fractions import Fraction

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adomnia.privacy.enclosures import exp_bounds, exp_down, exp_up, ln_down, ln_up, sqrt_down, sqrt_up
from privacy.references import few, hundred_digits, rational, real, some

precisions = st.integers(5, 80)
exponents = st.one_of(
    st.fractions(min_value=-200, max_value=200, max_denominator=10**12),
    st.integers(-300, 300).map(Fraction),
    st.integers(1, 10**40).map(lambda n: Fraction(-1, n)),
    st.integers(1, 10**40).map(lambda n: Fraction(1, n)),
)
positives = st.one_of(
    st.fractions(min_value=Fraction(1, 10**12), max_value=10**12),
    st.integers(1, 10**60).map(lambda n: Fraction(n + 1, n)),
    st.integers(2, 10**60).map(lambda n: Fraction(n - 1, n)),
)


@some
@given(x=exponents, bits=st.integers(0, 600))
@example(x=Fraction(0), bits=63)
@example(x=Fraction(-63), bits=63)
@example(x=Fraction(-1, 10**40), bits=63)
def test_integer_bounds_enclose_the_exponential(x, bits):
    low, high = exp_bounds(x, bits)
    with mpmath.workdps(400):
        truth = mpmath.exp(real(x)) * mpmath.mpf(2) ** bits
        assert low <= truth <= high
    assert 0 <= high - low <= 2


@some
@given(bits=st.integers(0, 100), beyond=st.fractions(min_value=0, max_value=10**9))
def test_far_below_one_unit_the_bounds_are_zero_and_one(bits, beyond):
    assert exp_bounds(-bits - 1 - beyond, bits) == (0, 1)


def test_the_exponential_of_zero_is_known_exactly():
    assert exp_bounds(Fraction(0), 10) == (1024, 1024)
    assert exp_up(Fraction(0)) == exp_down(Fraction(0)) == 1


@some
@given(x=exponents, digits=precisions)
def test_exp_is_enclosed_tightly(x, digits):
    with mpmath.workdps(200):
        truth = rational(mpmath.exp(real(x)))
    low, high = exp_down(x, digits), exp_up(x, digits)
    assert low <= truth <= high
    assert high - low <= 6 * truth / 10 ** (digits - 1)


@some
@given(x=positives, digits=precisions)
@example(x=Fraction(1), digits=50)
def test_ln_is_enclosed_tightly(x, digits):
    with mpmath.workdps(200):
        truth = mpmath.log(real(x))
    low, high = ln_down(x, digits), ln_up(x, digits)
    with mpmath.workdps(200):
        assert real(low) <= truth <= real(high)
    assert high - low <= Fraction(4 * 60, 10 ** (digits - 1))


@some
@given(x=positives, digits=precisions)
def test_sqrt_is_enclosed_by_neighbouring_decimals(x, digits):
    low, high = sqrt_down(x, digits), sqrt_up(x, digits)
    assert low**2 <= x <= high**2
    assert high - low <= high / 10 ** (digits - 1)


@some
@given(st.integers(0, 10**21).map(lambda n: Fraction(n, 10**12)))
def test_a_root_that_is_a_short_decimal_is_exact(root):
    assert sqrt_up(root**2) == sqrt_down(root**2) == root


@some
@given(st.lists(exponents, min_size=2, max_size=2).map(sorted), st.integers(3, 20))
def test_exp_bounds_never_cross_when_the_argument_grows(arguments, digits):
    smaller, larger = arguments
    assert exp_up(smaller, digits) <= exp_up(larger, digits)
    assert exp_down(smaller, digits) <= exp_down(larger, digits)


@some
@given(st.lists(positives, min_size=2, max_size=2).map(sorted), st.integers(3, 20))
@example([Fraction(10**40 - 1, 10**40), Fraction(1)], 5)
@example([Fraction(1), Fraction(10**40 + 1, 10**40)], 5)
@example([Fraction(4) - Fraction(1, 10**40), Fraction(4)], 5)
def test_ln_and_sqrt_bounds_never_cross_when_the_argument_grows(arguments, digits):
    smaller, larger = arguments
    for bound in (ln_up, ln_down, sqrt_up, sqrt_down):
        assert bound(smaller, digits) <= bound(larger, digits)


@pytest.mark.parametrize("bound", [lambda x: exp_bounds(x, 64), exp_up], ids=["exp_bounds", "exp_up"])
def test_the_first_exponent_that_is_too_large_is_refused(bound):
    assert bound(Fraction(10_000))
    with pytest.raises(ValueError, match=r"x must be <= 10000, got 10001"):
        bound(Fraction(10_001))


@few
@given(st.fractions(min_value=10_000, max_value=10**12))
def test_absurd_exponents_are_bounded_on_the_safe_side_or_refused(x):
    assert exp_down(-x - 1) == 0
    assert 0 < exp_up(-x - 1) == exp_up(Fraction(-10_000))
    assert exp_down(x + 1) == exp_down(Fraction(10_000))
    with pytest.raises(ValueError, match=r"^exp_up x must be <= 10000, got "):
        exp_up(x + 1)
    with pytest.raises(ValueError, match=r"^exp_bounds x must be <= 10000, got "):
        exp_bounds(x + 1, 8)


@pytest.mark.parametrize("bound", [ln_up, ln_down])
@pytest.mark.parametrize("x", [0, -1])
def test_the_logarithm_of_nothing_is_refused(bound, x):
    with pytest.raises(ValueError, match=f"^{bound.__name__} x must be > 0, got {x}\\.$"):
        bound(Fraction(x))


@pytest.mark.parametrize("bound", [sqrt_up, sqrt_down])
def test_the_root_of_a_negative_number_is_refused(bound):
    assert bound(Fraction(0)) == 0
    with pytest.raises(ValueError, match=f"^{bound.__name__} x must be >= 0, got -1\\.$"):
        bound(Fraction(-1))


def test_a_careless_global_decimal_context_changes_nothing():
    before = exp_bounds(Fraction(-7, 3), 90), exp_up(Fraction(7, 3)), ln_down(Fraction(7, 3)), sqrt_up(Fraction(2))
    with decimal.localcontext(prec=1, rounding=decimal.ROUND_DOWN, Emax=2, Emin=-2):
        after = exp_bounds(Fraction(-7, 3), 90), exp_up(Fraction(7, 3)), ln_down(Fraction(7, 3)), sqrt_up(Fraction(2))
    assert before == after


def test_fifty_digits_are_the_default():
    with hundred_digits():
        assert abs(real(exp_up(Fraction(1))) - mpmath.e) < mpmath.mpf(10) ** -48
