"""Formulas: finite values, and boxes that hold the exact answer as often as they say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.noise import discrete_laplace
from adomnia.sql.formulas import Formula, estimated, is_linear, noisy, operations, statistics_of
from adomnia.sql.lower import lower
from adomnia.statistics.contract import Estimate, Measured
from adomnia.statistics.mean import Mean
from adomnia.statistics.scaled import in_steps
from kit.bits import SeededBits
from sql.hospital import HOSPITAL

DRAWS = 2000
LARGEST = np.finfo(np.float64).max


def formula(text):
    return lower(f"SELECT {text} AS x FROM people", HOSPITAL).outputs[0].source


A, B = (output.source for output in lower("SELECT SUM(salary) AS a, SUM(age) AS b FROM people", HOSPITAL).outputs)
A_SUM = A.query.aggregate  # of a number with quarters, so it is not whole


def known(*values, reach=0.0):
    """Estimates of two sums, that far around their values."""

    def estimate(value):
        value = np.asarray(value, dtype=float)
        return Estimate(value, lambda confidence, cells: (value - reach, value + reach), "", whole=True)

    return dict(zip((A, B), map(estimate, values), strict=True))


def of(function, *terms):
    return Formula(function, terms)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        (of("+", A, B), 9),
        (of("-", A, B), 5),
        (of("*", A, B), 14),
        (of("/", A, B), 3.5),
        (of("negative", A), -7),
        (of("-", of("*", Fraction(1, 2), A), Fraction(3)), 0.5),
        (of("round", of("/", A, Fraction(3)), Fraction(2)), 2.33),
        (of("round", of("/", A, B), Fraction(0)), 4),
        (of("round", of("negative", of("/", A, B)), Fraction(0)), -4),
        (of("at least 1", of("-", B, A)), 1),
    ],
)
def test_a_formula_is_computed_on_noisy_values(source, value):
    assert noisy(source, known(7, 2)) == value
    assert estimated(source, known(7, 2)).values == value


def test_a_statistic_alone_is_its_own_estimate():
    estimates = known(7, 2)
    assert estimated(A, estimates) is estimates[A]
    assert noisy(A, estimates) == 7


@pytest.mark.parametrize(
    ("source", "box"),
    [
        (of("+", A, B), (7, 11)),
        (of("-", A, B), (3, 7)),
        (of("*", A, B), (6, 24)),
        (of("*", of("negative", A), B), (-24, -6)),
        (of("/", A, B), (2, 8)),
        (of("/", A, of("negative", B)), (-8, -2)),
        (of("negative", A), (-8, -6)),
        (of("round", of("/", A, Fraction(4)), Fraction(0)), (2, 2)),
        (of("at least 1", of("-", B, Fraction(4))), (1, 1)),
        (of("/", A, of("at least 1", of("-", B, Fraction(3)))), (6, 8)),
    ],
)
def test_a_box_goes_from_the_least_to_the_greatest_value(source, box):
    lower_end, upper_end = estimated(source, known(7, 2, reach=1)).interval(0.95, 1)
    assert (lower_end, upper_end) == box


def test_a_quotient_whose_divisor_may_be_zero_is_a_number_with_an_unbounded_interval():
    for divisor in (0, 1, -1):
        estimate = estimated(of("/", A, B), known(7, divisor, reach=1))
        assert np.isfinite(estimate.values)
        assert estimate.interval(0.95, 1) == (-np.inf, np.inf)
    assert noisy(of("/", A, B), known(7, 0)) == 0


def test_what_is_computed_from_an_unbounded_interval_is_unbounded_and_never_no_number():
    quotient = of("/", A, B)
    for source in (of("-", quotient, quotient), of("*", quotient, Fraction(0)), of("/", quotient, quotient)):
        assert estimated(source, known(7, 0, reach=1)).interval(0.95, 1) == (-np.inf, np.inf)


def test_values_too_large_for_a_double_are_its_largest_and_nothing_is_minus_zero():
    source = of("*", of("*", A, A), of("*", A, A))
    assert noisy(source, known(1e300, 1)) == LARGEST
    assert noisy(of("-", source, source), known(1e300, 1)) == 0
    assert not np.signbit(noisy(of("negative", A), known(0, 1)))


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("COUNT(*) - 2 * COUNT(age)", True),
        ("-SUM(age)", True),
        ("0.5 * COUNT(*)", False),
        ("COUNT(*) / 2", False),
        ("COUNT(*) + SUM(salary)", False),
        ("ROUND(AVG(age))", True),
        ("ROUND(AVG(age), 1)", False),
    ],
)
def test_a_formula_of_integers_is_one_unless_it_divides(text, whole):
    source = formula(text)
    estimates = {
        each: Estimate(np.array(1.0), None, "", whole=not isinstance(each, Mean) and each.query.aggregate != A_SUM)
        for each in statistics_of(source)
    }
    assert estimated(source, estimates).whole is whole


@pytest.mark.parametrize(
    ("text", "linear"),
    [
        ("COUNT(*)", True),
        ("COUNT(*) - 2 * COUNT(age) / 3 + 1", True),
        ("-(COUNT(*) * 2)", True),
        ("COUNT(*) * COUNT(age)", False),
        ("COUNT(*) / COUNT(age)", False),
        ("1 / COUNT(age)", False),
        ("ROUND(AVG(age), 1)", False),
        ("2 * (COUNT(*) * COUNT(age))", False),
    ],
)
def test_only_sums_and_multiples_have_a_width_that_is_known_before(text, linear):
    assert is_linear(formula(text)) is linear


def test_operations_are_counted():
    assert operations(A) == operations(Fraction(1)) == 1
    assert operations(of("+", of("*", Fraction(2), A), A)) == 5


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -1])
def test_a_confidence_that_is_none_is_an_error(confidence):
    with pytest.raises(ValueError, match="confidence must be above 0 and below 1"):
        estimated(of("+", A, B), known(1, 2)).interval(confidence, 1)


def test_each_statistic_is_asked_for_its_part_of_what_is_left_open_and_for_all_cells():
    asked = []
    estimate = Estimate(np.array(1.0), lambda *arguments: asked.append(arguments) or (np.array(0), np.array(1)), "")
    estimated(of("+", of("+", A, B), A), {A: estimate, B: estimate}).interval(0.95, 7)
    assert asked == [(pytest.approx(0.975), 7)] * 2
    asked.clear()
    estimated(of("+", A, B), {A: estimate, B: estimate}).interval(1 - 2.0**-53, 1)
    assert all(confidence < 1 for confidence, _ in asked)


numbers = st.integers(-100, 100)
exact_formulas = st.recursive(
    st.one_of(st.sampled_from([A, B]), st.integers(-20, 20).map(lambda quarters: Fraction(quarters, 4))),
    lambda inner: st.one_of(
        st.builds(of, st.sampled_from("+-*"), inner, inner), st.builds(of, st.sampled_from(["negative"]), inner)
    ),
    max_leaves=4,
)
formulas = st.one_of(
    st.builds(of, st.sampled_from("+-*/"), exact_formulas, exact_formulas),
    st.builds(of, st.just("at least 1"), exact_formulas),
    st.builds(of, st.just("round"), exact_formulas, st.integers(0, 15).map(Fraction)),
).filter(lambda term: any(True for _ in statistics_of(term)))


@given(formulas, numbers, numbers, numbers.map(abs), st.tuples(*[st.floats(-1, 1)] * 2))
def test_a_box_holds_what_the_formula_is_wherever_its_statistics_are(source, one, other, reach, moved):
    lower_end, upper_end = estimated(source, known(one, other, reach=reach)).interval(0.95, 1)
    assert not np.isnan(lower_end)
    assert not np.isnan(upper_end)
    inside = noisy(source, known(one + round(moved[0] * reach), other + round(moved[1] * reach)))
    assert np.isfinite(inside)
    assert lower_end <= inside <= upper_end


def least_coverage(hits, tries):
    """What the coverage is at most, but for a chance of 1e-6 (Clopper and Pearson)."""
    return 1.0 if hits == tries else float(beta.ppf(1 - 1e-6, hits + 1, tries - hits))


def drawn(exact, scale, seed, told=1):
    """So many noisy answers, told to be that many times less noisy than they are."""
    noise = DiscreteLaplace(Fraction(scale))
    values = exact + discrete_laplace(noise.scale * told, (DRAWS,), SeededBits(seed))
    return in_steps(Measured(values, noise), Fraction(1), "")


@pytest.mark.parametrize("text", ["SUM(salary) / SUM(age)", "SUM(salary) - 12 * SUM(age)"])
@pytest.mark.parametrize(("one", "other"), [(5000, 300), (40, 9), (0, 0)])
@pytest.mark.parametrize("told", [1, 4])
def test_a_box_covers_the_exact_answer_as_often_as_it_says(text, one, other, told):
    source = formula(text)
    a, b = dict.fromkeys(statistics_of(source))
    estimates = {a: drawn(one, 50, "one", told), b: drawn(other, 7, "other", told)}
    lower_end, upper_end = estimated(source, estimates).interval(0.95, 1)
    # A ratio of nothing to nothing may be anything, and 3 is asked for here.
    truth = one - 12 * other if "-" in text else one / other if other else 3
    hits = int(((lower_end <= truth) & (truth <= upper_end)).sum())
    if told == 1:
        assert least_coverage(hits, DRAWS) >= 0.95
    elif other == 300 or "-" in text:
        assert least_coverage(hits, DRAWS) < 0.95  # noise that is wider than was told is found out
