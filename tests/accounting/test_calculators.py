from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from math import exp

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.accounting.calculators import (
    SLACK,
    advanced_composition,
    basic_composition,
    compose_datasets,
    numerical_composition,
    optimal_composition,
    parallel_composition,
    tight_advanced_composition,
)
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
from adomnia.privacy.filters import Budget
from privacy.references import NOT_FINITE_NUMBERS, NOT_POSITIVE, TOO_EXTREME, few, hundred_digits, real

MILLIONTH = Fraction(1, 10**6)
E_TO_MINUS_32 = Fraction(exp(-32))
epsilons = st.fractions(min_value=Fraction(1, 1000), max_value=2, max_denominator=10**6)
times = st.integers(1, 40)
slacks = st.integers(1, 12).map(lambda k: Fraction(1, 10**k))
tiny = mpmath.mpf(10) ** -9
unit = mpmath.mpf(10) ** -12


def worst_delta(epsilon, delta, times, total_epsilon):
    """The delta of `times` randomised responses, outcome by outcome."""
    growth, wanted = mpmath.exp(real(epsilon)), mpmath.exp(total_epsilon)
    divergence = (
        mpmath.fsum(
            mpmath.binomial(times, flips) * max(mpmath.mpf(0), growth ** (times - flips) - wanted * growth**flips)
            for flips in range(times + 1)
        )
        / (1 + growth) ** times
    )
    return 1 - (1 - real(delta)) ** times * (1 - divergence)


def test_basic_and_advanced_composition_of_the_notes(vectors):
    for row in vectors["composition"]:
        once, count, delta = row["eps0"], row["k"], row["delta"]
        assert float(basic_composition([Pure(once)] * count).epsilon) == pytest.approx(row["basic"], rel=1e-12)
        assert float(advanced_composition(once, 0, count, delta).epsilon) == pytest.approx(row["drv"], rel=1e-11)
        assert float(tight_advanced_composition(once, 0, count, delta).epsilon) == pytest.approx(
            row["drv_kl_improved"], rel=1e-11
        )
        assert float(optimal_composition(once, 0, count, delta).epsilon) == pytest.approx(row["kov_optimal"], rel=1e-9)


def test_the_optimal_formula_at_its_corners(vectors):
    for row in vectors["kov_formula_check"]:
        total = optimal_composition(row["eps0"], 0, row["k"], row["delta_formula"])
        assert float(total.epsilon) == pytest.approx(row["eps"], rel=1e-9)


def test_ten_thousand_databases_of_a_lifetime(vectors):
    lifetime = vectors["seed001_lifetime"]
    count = lifetime["k"]
    assert float(advanced_composition(lifetime["eps0_from_DRV"], 0, count, E_TO_MINUS_32).epsilon) == pytest.approx(
        1, rel=1e-9
    )
    assert float(advanced_composition(Fraction(1, 801), 0, count, E_TO_MINUS_32).epsilon) == pytest.approx(
        lifetime["book_1_over_801_gives"], rel=1e-9
    )
    assert float(optimal_composition(lifetime["kov_eps0"], 0, count, E_TO_MINUS_32).epsilon) == pytest.approx(
        1, rel=1e-9
    )


def test_noise_of_root_k_does_not_make_a_total_of_one(vectors):
    for row in vectors["seed001_lap_sqrtk"]:
        once = 1 / row["lap_scale"]
        assert float(advanced_composition(once, 0, row["k"], 1e-6).epsilon) == pytest.approx(row["drv_1e6"], rel=1e-9)
        assert float(optimal_composition(once, 0, row["k"], 1e-6).epsilon) == pytest.approx(row["kov_1e6"], rel=1e-9)
        assert optimal_composition(once, 0, row["k"], 1e-6).epsilon > 3


@few
@given(epsilons, st.just(Fraction(0)) | slacks.map(lambda s: s / 10**4), times, slacks)
def test_optimal_is_safe_and_nothing_smaller_is(epsilon, delta, times, slack):
    target = times * delta + slack * Fraction(9, 10)
    claimed = optimal_composition(epsilon, delta, times, target)
    assert claimed.delta == target
    with hundred_digits():
        total = real(claimed.epsilon)
        assert worst_delta(epsilon, delta, times, total) <= real(target)
        if claimed.epsilon > EPSILON_UNIT:
            assert worst_delta(epsilon, delta, times, total * (1 - tiny) - 2 * unit) > real(target)


@few
@given(epsilons, st.just(Fraction(0)) | slacks.map(lambda s: s / 10**4), times, slacks)
def test_advanced_composition_is_rounded_up_from_a_hundred_digits(epsilon, delta, times, slack):
    slack = slack * Fraction(9, 10)
    with hundred_digits():
        one, root = real(epsilon), mpmath.sqrt(2 * times * mpmath.log(1 / real(slack)))
        plain = root * one + times * one * mpmath.expm1(one)
        tight = root * one + times * one * mpmath.tanh(one / 2)
        for claimed, truth in [
            (advanced_composition(epsilon, delta, times, slack), plain),
            (tight_advanced_composition(epsilon, delta, times, slack), tight),
        ]:
            assert truth <= real(claimed.epsilon) <= truth + 2 * unit
            assert claimed.delta == times * delta + slack


@few
@given(epsilons, times, slacks)
def test_each_theorem_is_at_least_as_good_as_the_one_before(epsilon, times, slack):
    slack = slack * Fraction(9, 10)
    best = optimal_composition(epsilon, 0, times, slack).epsilon
    assert best <= basic_composition([Pure(epsilon)] * times).epsilon + EPSILON_UNIT
    assert (
        best
        <= tight_advanced_composition(epsilon, 0, times, slack).epsilon
        <= advanced_composition(epsilon, 0, times, slack).epsilon
    )


def test_optimal_without_slack_is_basic():
    assert optimal_composition(0.1, 0, 10, 0).epsilon - 1 in (0, EPSILON_UNIT)
    assert optimal_composition(0.5, 1e-6, 1, 1e-6).epsilon - Fraction(1, 2) in (0, EPSILON_UNIT)


def test_a_delta_that_allows_anything_leaves_the_smallest_epsilon():
    assert optimal_composition(0.001, 0, 1, 0.9).epsilon == EPSILON_UNIT


def test_a_target_below_what_the_events_use_up_is_refused():
    with pytest.raises(
        ValueError, match=r"^optimal_composition target_delta must be at least what 10 events use up, got 1e-06\.$"
    ):
        optimal_composition(0.1, 1e-6, 10, 1e-6)


def test_basic_adds_and_parallel_takes_the_dearest():
    events = [Pure(0.5), Approximate(0.25, MILLIONTH), BoundedRange(0.125), ScalarLaplace(8, 1)]
    assert basic_composition(events) == basic_composition([Composed(events)]) == Approximate(1, MILLIONTH)
    assert parallel_composition(events) == Approximate(0.5, MILLIONTH)
    assert parallel_composition([Composed([Pure(0.4), Pure(0.3)]), Pure(0.5)]) == Approximate(0.7, 0)


@pytest.mark.parametrize("total", [basic_composition, parallel_composition])
@pytest.mark.parametrize("event", [Concentrated(1), ScalarGaussian(1, 1), Composed([Pure(1), Concentrated(1)])])
def test_what_has_no_epsilon_of_its_own_is_refused_by_name(total, event):
    with pytest.raises(
        ValueError, match=r"events must have an epsilon of their own, got (Concentrated|ScalarGaussian)\("
    ):
        total([Pure(1), event])


@pytest.mark.parametrize("total", [basic_composition, parallel_composition])
def test_no_events_have_no_total(total):
    with pytest.raises(ValueError, match=f"^{total.__name__} events must hold at least one event, got \\(\\)\\.$"):
        total([])


@pytest.mark.parametrize(
    "value", NOT_FINITE_NUMBERS + TOO_EXTREME + NOT_POSITIVE, ids=lambda value: type(value).__name__
)
def test_bad_input_is_refused_by_name(value):
    with pytest.raises(ValueError, match=r"^advanced_composition epsilon must be "):
        advanced_composition(value, 0, 2, 1e-6)
    with pytest.raises(ValueError, match=r"^advanced_composition slack must be "):
        tight_advanced_composition(1, 0, 2, value)
    with pytest.raises(ValueError, match=r"^advanced_composition times must be "):
        advanced_composition(1, 0, value, 1e-6)
    with pytest.raises(ValueError, match=r"^optimal_composition epsilon must be "):
        optimal_composition(value, 0, 2, 1e-6)
    with pytest.raises(ValueError, match=r"^optimal_composition times must be "):
        optimal_composition(1, 0, value, 1e-6)


@pytest.mark.parametrize("value", [*NOT_FINITE_NUMBERS, -1, 1], ids=lambda value: type(value).__name__)
def test_a_bad_delta_is_refused_by_name(value):
    with pytest.raises(ValueError, match=r"^advanced_composition delta must be "):
        advanced_composition(1, value, 2, 1e-6)
    with pytest.raises(ValueError, match=r"^optimal_composition delta must be "):
        optimal_composition(1, value, 2, 1e-6)
    with pytest.raises(ValueError, match=r"^optimal_composition target_delta must be "):
        optimal_composition(1, 0, 2, value)
    with pytest.raises(ValueError, match=r"^numerical_composition delta must be "):
        numerical_composition([Pure(1)], value)


# Privacy-loss distributions.


def test_importing_the_calculators_does_not_import_the_accountant():
    program = "import sys, adomnia.accounting.calculators; sys.exit('dp_accounting' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_missing_accountant_is_named_with_the_extra_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(ImportError, match=r"needs dp-accounting\. Fix: pip install '\.\[accounting\]' in a checkout"):
        numerical_composition([Pure(1)], 1e-6)
    assert optimal_composition(1, 0, 2, 1e-6).epsilon  # the calculators that need no library


def test_fine_grained_laplace_noise_composes_like_continuous_noise(vectors):
    for row in vectors["laplace_kfold_pld"]:
        fine = ScalarLaplace(1000 * Fraction(row["b"]), 1000)
        assert float(numerical_composition([fine] * row["k"], row["delta"]).epsilon) == pytest.approx(
            row["eps"], rel=5e-4
        )


@pytest.mark.parametrize(("epsilon", "times"), [(0.1, 100), (0.01, 1000), (1.5, 3), (1e-5, 50)])
@pytest.mark.parametrize("event", [Pure, BoundedRange, lambda epsilon: ScalarLaplace(1 / Fraction(str(epsilon)), 1)])
def test_the_distribution_of_pure_events_is_the_optimal_composition(epsilon, times, event):
    exact = float(optimal_composition(epsilon, 0, times, 1e-6).epsilon)
    assert exact <= float(numerical_composition([event(epsilon)] * times, 1e-6).epsilon) <= exact * (1 + 1e-5) + 1e-7


def test_the_distribution_of_approximate_events_is_the_optimal_composition():
    exact = float(optimal_composition(0.1, 1e-8, 50, 1e-5).epsilon)
    assert exact <= float(numerical_composition([Approximate(0.1, 1e-8)] * 50, 1e-5).epsilon) <= exact * (1 + 1e-5)


@pytest.mark.parametrize(("variance", "distance"), [(1, 1), (100, 7), (Fraction(1, 4), 1)])
def test_one_discrete_gaussian_is_its_exact_tail(variance, distance):
    epsilon = numerical_composition([ScalarGaussian(variance, distance)], 1e-6).epsilon
    with mpmath.workdps(40):
        weight = [(k, mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * real(Fraction(variance))))) for k in range(-200, 201)]
        distribution = {k: w / mpmath.fsum(w for _, w in weight) for k, w in weight}

        def tail(bound):
            return mpmath.fsum(
                max(0, p - mpmath.exp(bound) * distribution.get(k - distance, 0)) for k, p in distribution.items()
            )

        assert tail(real(epsilon)) <= 1e-6
        assert tail(real(epsilon) * 0.999) > 1e-6


def test_a_mixed_batch_is_composed_whatever_its_nesting():
    flat = [ScalarLaplace(10, 1), Pure(0.1), ScalarGaussian(400, 1), ScalarGaussian(400, 1)]
    nested = [Composed([ScalarGaussian(400, 1), Composed([Pure(0.1)])]), *flat[::2]]
    assert float(numerical_composition(nested, 1e-6).epsilon) == pytest.approx(
        float(numerical_composition(flat, 1e-6).epsilon), rel=1e-9
    )
    assert numerical_composition(flat, 1e-6).epsilon > numerical_composition(flat[:3], 1e-6).epsilon


@pytest.mark.parametrize(
    ("events", "delta", "message"),
    [
        (
            [Concentrated(1)],
            1e-6,
            r"^numerical_composition events must have a loss distribution of their own, got Concentrated\(",
        ),
        ([Composed([Pure(1), Concentrated(1)])], 1e-6, r"got Concentrated\("),
        ([], 1e-6, r"^numerical_composition events must hold at least one event, got \(\)\.$"),
        (
            [Approximate(1, 1e-3)],
            1e-6,
            r"^numerical_composition delta must be above what the events use up, got 1e-06\.$",
        ),
        ([ScalarGaussian(10**11, 1)], 1e-6, r"^numerical_composition variance must be <= 1e10, got 100000000000\.$"),
    ],
)
def test_what_has_no_distribution_is_refused_by_name(events, delta, message):
    with pytest.raises(ValueError, match=message):
        numerical_composition(events, delta)


def losses(*budgets):
    return [loss.total for loss in compose_datasets(budgets)]


def test_one_dataset_costs_what_it_may_spend():
    basic, _, optimal = losses(Budget(1))
    assert (basic.epsilon, basic.delta) == (1, 0)
    assert optimal.epsilon <= 1  # but for the slack
    assert optimal.delta == SLACK


def test_budgets_add_up_and_the_others_take_the_largest_of_them():
    basic, advanced, optimal = losses(Budget(1, 1e-6), Budget(0.5), Budget(0.25, 1e-7))
    assert (basic.epsilon, basic.delta) == (Fraction(7, 4), Fraction(11, 10**7))
    same = losses(*[Budget(1, 1e-6)] * 3)
    assert [advanced, optimal] == same[1:]
    assert advanced.delta == optimal.delta == 3 * Fraction(1, 10**6) + SLACK


def test_many_small_budgets_cost_less_than_their_sum_and_the_optimal_is_the_least():
    basic, advanced, optimal = losses(*[Budget(0.05)] * 100)
    assert optimal.epsilon < advanced.epsilon < basic.epsilon == 5
    few = losses(*[Budget(2)] * 3)
    assert few[2].epsilon <= few[0].epsilon < few[1].epsilon  # where there are few, sums are better than DRV


@pytest.mark.parametrize(
    ("budgets", "bounded"),
    [
        ([Budget(1, 0.5)] * 3, [False, False, False]),  # deltas add up to 1
        ([Budget(1000)] * 3, [True, False, True]),
        ([Budget(10_000, 1e-6)] * 5, [True, False, True]),
        ([Budget(10**6)] * 2, [True, False, False]),
    ],
)
def test_a_theorem_that_says_nothing_is_no_error(budgets, bounded):
    assert [total is not None for total in losses(*budgets)] == bounded


def test_what_is_not_optimal_is_not_called_so():
    """For budgets that differ, the optimum is hard to compute; taking each for the largest is a bound."""
    assert [loss.theorem.endswith("each taken for the largest") for loss in compose_datasets([Budget(1)] * 2)] == [
        False
    ] * 3
    different = compose_datasets([Budget(1), Budget(0.1)])
    assert [loss.theorem.endswith("each taken for the largest") for loss in different] == [False, True, True]


@pytest.mark.parametrize(("epsilon", "delta", "count"), [(0.1, 0, 50), (0.5, 1e-7, 8), (1, 1e-6, 3)])
def test_the_optimal_one_is_what_an_accountant_of_others_finds(epsilon, delta, count):
    budgets = [Budget(epsilon, delta)] * count
    (*_, optimal) = losses(*budgets)
    event = Approximate(epsilon, delta) if delta else Pure(epsilon)
    reference = numerical_composition([event] * count, optimal.delta).epsilon
    assert float(optimal.epsilon) == pytest.approx(float(reference), rel=2e-3)
