"""Formulas: finite values, and boxes that hold the exact answer as often as they say."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from adomnia.distributions.ratios import quotient_bounds
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.noise import discrete_laplace
from adomnia.plans.formulas import Formula, count_nodes, is_linear, statistics_of
from adomnia.plans.functions import noisy_values
from adomnia.plans.intervals import estimate_term
from adomnia.sql.lower import lower
from adomnia.statistics.contract import Estimate, Measured
from adomnia.statistics.linear import linear, margin_of
from adomnia.statistics.mean import Mean
from adomnia.statistics.one_round import in_steps
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
    assert noisy_values(source, known(7, 2)) == value
    assert estimate_term(source, known(7, 2)).values == value


def test_a_statistic_alone_is_its_own_estimate():
    estimates = known(7, 2)
    assert estimate_term(A, estimates) is estimates[A]
    assert noisy_values(A, estimates) == 7


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
    lower_end, upper_end = estimate_term(source, known(7, 2, reach=1)).interval(0.95, 1)
    assert (lower_end, upper_end) == box


def test_a_quotient_whose_divisor_may_be_zero_is_a_number_with_an_unbounded_interval():
    for divisor in (0, 1, -1):
        estimate = estimate_term(of("/", A, B), known(7, divisor, reach=1))
        assert np.isfinite(estimate.values)
        assert estimate.interval(0.95, 1) == (-np.inf, np.inf)
    assert noisy_values(of("/", A, B), known(7, 0)) == 0


def test_what_is_computed_from_an_unbounded_interval_is_unbounded_and_never_no_number():
    quotient = of("/", A, B)
    for source in (of("-", quotient, quotient), of("*", quotient, Fraction(0)), of("/", quotient, quotient)):
        assert estimate_term(source, known(7, 0, reach=1)).interval(0.95, 1) == (-np.inf, np.inf)


def test_values_too_large_for_a_double_are_its_largest_and_nothing_is_minus_zero():
    source = of("*", of("*", A, A), of("*", A, A))
    assert noisy_values(source, known(1e300, 1)) == LARGEST
    assert noisy_values(of("-", source, source), known(1e300, 1)) == 0
    assert not np.signbit(noisy_values(of("negative", A), known(0, 1)))


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
        each: Estimate(
            np.array(1.0),
            known(1, 1)[A].interval,
            "",
            whole=not isinstance(each, Mean) and each.query.aggregate != A_SUM,
        )
        for each in statistics_of(source)
    }
    assert estimate_term(source, estimates).whole is whole


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
    assert count_nodes(A) == count_nodes(Fraction(1)) == 1
    assert count_nodes(of("+", of("*", Fraction(2), A), A)) == 5


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -1])
def test_a_confidence_that_is_none_is_an_error(confidence):
    with pytest.raises(ValueError, match="confidence must be above 0 and below 1"):
        estimate_term(of("+", A, B), known(1, 2)).interval(confidence, 1)


def test_each_statistic_is_asked_for_its_part_of_what_is_left_open_and_for_all_cells():
    asked = []
    estimate = Estimate(np.array(1.0), lambda *arguments: asked.append(arguments) or (np.array(0), np.array(1)), "")
    estimate_term(of("+", of("+", A, B), A), {A: estimate, B: estimate}).interval(0.95, 7)
    assert asked == [(pytest.approx(0.975), 7)] * 2
    asked.clear()
    estimate_term(of("+", A, B), {A: estimate, B: estimate}).interval(1 - 2.0**-53, 1)
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
    lower_end, upper_end = estimate_term(source, known(one, other, reach=reach)).interval(0.95, 1)
    assert not np.isnan(lower_end)
    assert not np.isnan(upper_end)
    inside = noisy_values(source, known(one + round(moved[0] * reach), other + round(moved[1] * reach)))
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
def test_an_interval_covers_the_exact_answer_as_often_as_it_says(text, one, other, told):
    source = formula(text)
    a, b = dict.fromkeys(statistics_of(source))
    estimates = {a: drawn(one, 50, "one", told), b: drawn(other, 7, "other", told)}
    lower_end, upper_end = estimate_term(source, estimates).interval(0.95, 1)
    # A ratio of nothing to nothing may be anything, and 3 is asked for here.
    truth = one - 12 * other if "-" in text else one / other if other else 3
    hits = int(((lower_end <= truth) & (truth <= upper_end)).sum())
    if told == 1:
        assert least_coverage(hits, DRAWS) >= 0.95
    elif other == 300 or "-" in text:
        assert least_coverage(hits, DRAWS) < 0.95  # noise that is wider than was told is found out


def measured(exact, scale, size=()):
    """An answer that happens to have no noise, of a known distribution."""
    return Measured(np.full(size, exact), DiscreteLaplace(Fraction(scale)))


def additive(one, other):
    return {A: in_steps(one, Fraction(1, 4), ""), B: in_steps(other, Fraction(1), "")}


def width(source, estimates):
    lower_end, upper_end = estimate_term(source, estimates).interval(0.95, 1)
    return float(upper_end - lower_end)


def test_a_sum_of_two_noisy_numbers_has_the_interval_of_their_noise_together():
    one, other = measured(400, 40), measured(7, 3)
    estimates = additive(one, other)
    source = of("-", of("*", Fraction(2), A), of("/", B, Fraction(3)))
    reach = margin_of(((one, Fraction(1, 2)), (other, Fraction(-1, 3))), 0.95, 1)
    assert width(source, estimates) == pytest.approx(2 * float(reach), abs=1 / 6)  # rounded up to whole sixths
    lower_end, upper_end = estimate_term(of("+", source, Fraction(5)), estimates).interval(0.95, 1)
    assert (lower_end + upper_end) / 2 == pytest.approx(200 - 7 / 3 + 5)
    assert "distribution of their noise" in estimate_term(source, estimates).method


def test_a_product_of_two_noisy_numbers_is_nearly_their_noise_times_each_other():
    one, other = measured(400_000, 400), measured(300_000, 300)
    reach = margin_of(((one, Fraction(300_000, 4)), (other, Fraction(100_000))), 1 - 0.05 * 0.95, 1)
    assert width(of("*", A, B), additive(one, other)) == pytest.approx(2 * float(reach), rel=0.01)


def test_what_cancels_out_has_no_noise_of_its_own():
    estimates = additive(measured(400, 40), measured(7, 3))
    assert width(of("-", of("+", A, B), A), estimates) == width(B, estimates)
    assert width(of("-", of("*", Fraction(3), A), A), estimates) == 2 * width(A, estimates)


def test_a_quotient_of_two_noisy_numbers_has_the_interval_of_fieller():
    one, other = measured(4000, 40), measured(300, 3)
    estimates = additive(one, other)
    found = estimate_term(of("/", of("*", Fraction(-8), A), B), estimates).interval(0.95, 1)
    ends = quotient_bounds(one, other, 0.95, 1)
    assert found == (pytest.approx(-2 * ends[1]), pytest.approx(-2 * ends[0]))
    boxed = {A: replace(estimates[A], parts=()), B: replace(estimates[B], parts=())}
    assert width(of("/", A, B), estimates) < 0.8 * width(of("/", A, B), boxed)


def test_a_quotient_that_shares_its_divisor_with_the_dividend_is_a_ratio_and_a_shift():
    """SUM(x) / COUNT(x) where the sum is put together: the count's noise hardly matters."""
    distances, count = measured(-900, 120), measured(500, 2)
    summed = linear(((distances, Fraction(1)), (count, Fraction(60))), "")
    estimates = {A: summed, B: in_steps(count, Fraction(1), "")}
    found = estimate_term(of("/", A, of("at least 1", B)), estimates).interval(0.95, 1)
    ends = quotient_bounds(distances, count, 1 - 0.05 * 0.95, 1)
    assert found == (pytest.approx(60 + ends[0]), pytest.approx(60 + ends[1]))


def test_a_quotient_by_a_count_that_may_be_zero_keeps_to_the_box():
    one, other = measured([50, 50], 4, (2,)), measured([3, 400], 2, (2,))
    source = of("/", A, of("at least 1", B))
    lower_end, upper_end = estimate_term(source, additive(one, other)).interval(0.95, 1)
    reach = [each.noise.interval(1 - 0.05 * 0.05 / 2).half_width for each in (one, other)]
    assert upper_end[0] == (50 + reach[0]) / 4
    assert lower_end[0] == (50 - reach[0]) / 4 / (3 + reach[1])
    assert upper_end[1] - lower_end[1] < 0.1


def test_pieces_whose_distribution_is_known_are_the_corners_of_a_box():
    estimates = additive(measured(4000, 40), measured(300, 3))
    ratio = of("/", A, B)
    alone = estimate_term(ratio, estimates).interval(0.95, 1)
    assert estimate_term(of("round", ratio, Fraction(9)), estimates).interval(0.95, 1) == tuple(
        pytest.approx(end, abs=1e-8) for end in alone
    )
    unknown = {A: estimates[A], B: replace(estimates[B], parts=())}  # nothing but its interval is known
    assert "each within its interval" in estimate_term(of("*", ratio, A), unknown).method
    assert "each within its interval" in estimate_term(of("/", of("+", A, Fraction(1)), B), unknown).method
    assert "distribution of their noise" in estimate_term(of("*", ratio, A), estimates).method


def test_constants_beyond_what_doubles_can_follow_are_boxed():
    estimates = additive(measured(4000, 40), measured(300, 3))
    huge = Fraction(10) ** 300
    source = of("*", huge, of("*", huge, A))
    assert estimate_term(source, estimates).interval(0.95, 1)[1] == np.inf
    assert width(of("/", of("-", of("*", huge, A), of("*", huge, A)), huge), estimates) >= 0


@pytest.mark.parametrize("told", [1, 2])
def test_a_mean_by_hand_covers_as_often_as_it_says(told):
    """2,000 draws, a false alarm below 1e-6; counts of nobody, of few, and of many."""
    source = of("/", A, of("at least 1", B))
    for one, other in ((0, 0), (40, 1), (90, 9), (5000, 300)):
        estimates = {A: drawn(one, 50, "one", told), B: drawn(other, 7, "other", told)}
        lower_end, upper_end = estimate_term(source, estimates).interval(0.95, 1)
        truth = one / max(other, 1)
        hits = int(((lower_end <= truth) & (truth <= upper_end)).sum())
        if told == 1:
            assert least_coverage(hits, DRAWS) >= 0.95
        elif other == 300:
            assert least_coverage(hits, DRAWS) < 0.95


def test_noise_that_two_statistics_share_is_one_noise_however_each_has_rounded_it():
    """A sum and a count under high effort: both hold the same noisy count, each in units of its own making."""
    parts = measured(10_240, 2048)
    counts = [Measured(parts.values // 1024, DiscreteLaplace(Fraction(2)), (parts, None)) for _ in range(2)]
    summed = linear(((measured(0, 2), Fraction(1)), (counts[0], Fraction(30))), "")
    estimates = {A: summed, B: in_steps(counts[1], Fraction(1), "")}
    reach = margin_of(((measured(0, 2), Fraction(1)), (counts[0], Fraction(60))), 0.95, 1)
    assert width(of("+", A, of("*", Fraction(30), B)), estimates) == pytest.approx(2 * float(reach), abs=2)
    assert width(of("-", A, of("*", Fraction(30), B)), estimates) < 20
