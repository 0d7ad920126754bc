from __future__ import annotations

from fractions import Fraction
from math import exp, inf, log, tanh

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.accounting.meaning import (
    advantage,
    concentrated_advantage,
    concentrated_detection,
    detection,
    explain_guarantee,
    gaussian_advantage,
    gaussian_detection,
    odds_factor,
    posterior,
)
from adomnia.privacy.events import Approximate, Composed, Concentrated, Pure, ScalarGaussian
from privacy.references import NOT_FINITE_NUMBERS, NOT_POSITIVE, TOO_EXTREME, some

SIX_DIGITS = 6e-6  # relative: what the vectors print
epsilons = st.floats(0.001, 10)
rates = st.floats(0.0001, 0.9999)
small_deltas = st.just(0.0) | st.floats(1e-12, 0.1)


def test_the_table_of_meanings(vectors):
    for text, row in vectors["epsilon_meaning"].items():
        epsilon = float(text)
        rho = Fraction(row["gauss_mu(1e-6)"]) ** 2 / 2
        expected = {
            "e^eps": odds_factor(epsilon),
            "advantage_tv": advantage(epsilon, 0),
            "post_from_.5": posterior(0.5, epsilon),
            "post_from_.01": posterior(0.01, epsilon),
            "post_from_.001": posterior(0.001, epsilon),
            "TPR_at_FPR_1pct": detection(0.01, epsilon, 0),
            "TPR_at_FPR_5pct": detection(0.05, epsilon, 0),
            "TPR_at_FPR_0.1pct": detection(0.001, epsilon, 0),
            "gauss_TPR_at_1pct": gaussian_detection(0.01, rho),
            "gauss_advantage": gaussian_advantage(rho),
        }
        assert expected == pytest.approx({name: row[name] for name in expected}, rel=SIX_DIGITS)


def test_an_advantage_with_delta(vectors):
    assert advantage(2, 0.05) == pytest.approx(vectors["advantage_eps2_delta0.05"], rel=SIX_DIGITS)


def test_the_admissible_probabilities_of_an_outcome(vectors):
    for text, (shrunk, grown, lower, upper) in vectors["fig1_seed002"].items():
        low, high = 1 - detection(0.75, float(text)), detection(0.25, float(text))
        assert low == pytest.approx(max(shrunk, lower), rel=1e-12)
        assert high == pytest.approx(min(grown, upper), rel=1e-12)


@some
@given(epsilons, small_deltas)
def test_the_advantage_is_the_best_gap_of_any_test(epsilon, delta):
    gaps = [detection(rate / 100, epsilon, delta) - rate / 100 for rate in range(101)]
    best = advantage(epsilon, delta)
    assert max(gaps) <= best + 1e-12
    corner = (1 - delta) / (1 + exp(epsilon))
    assert detection(corner, epsilon, delta) - corner == pytest.approx(best, rel=1e-9)


@some
@given(rates, epsilons)
def test_the_posterior_multiplies_the_odds(prior, epsilon):
    after = posterior(prior, epsilon)
    assert log(after / (1 - after)) - log(prior / (1 - prior)) == pytest.approx(epsilon, rel=1e-3, abs=1e-9)


@some
@given(st.floats(0.001, 5))
def test_without_delta_the_advantage_is_a_hyperbolic_tangent(epsilon):
    assert advantage(epsilon) == pytest.approx(tanh(epsilon / 2), rel=1e-12)


@some
@given(rates, st.floats(0.0001, 5), small_deltas)
def test_what_holds_for_all_of_zcdp_holds_for_gaussian_noise_and_randomised_response(rate, rho, delta):
    bound = concentrated_detection(rate, rho)
    assert gaussian_detection(rate, rho) <= bound + 1e-12
    assert detection(rate, (2 * rho) ** 0.5) <= bound + 1e-12
    assert rate <= bound <= concentrated_detection(rate, rho, delta) + 1e-12 <= 1 + 1e-12
    assert max(gaussian_advantage(rho), advantage((2 * rho) ** 0.5)) <= concentrated_advantage(rho) + 1e-12
    assert concentrated_advantage(rho) <= concentrated_advantage(rho, delta) <= 1


def test_the_gaussian_form_is_no_bound_for_other_mechanisms_of_the_same_rho():
    rho = 0.005  # randomised response at epsilon 0.1
    assert advantage(0.1) > gaussian_advantage(rho)


def test_certainty_stays_certain_and_nothing_stays_nothing():
    assert posterior(0, 3) == 0
    assert posterior(1, 3) == 1
    assert gaussian_detection(0, 1) == concentrated_detection(0, 1) == detection(0, 1) == 0
    assert gaussian_detection(1, 1) == concentrated_detection(1, 1) == detection(1, 1) == 1
    assert concentrated_detection(0.95, 1, 0.1) == 1
    assert concentrated_detection(0.5, 100) == pytest.approx(1)


def test_absurd_epsilons_mean_nothing_is_hidden():
    assert odds_factor(1000) == inf
    assert posterior(0.001, 10_000) == detection(1e-300, 10_000) == advantage(10_000) == 1


def test_the_sentence_is_the_one_people_read():
    assert explain_guarantee(1, 0.01) == explain_guarantee(Pure(1), 0.01)
    assert explain_guarantee(1, 0.01).startswith(
        "If someone thinks the chance that you are in the data is 1 in 100, everything released can raise it to "
        "2.67 in 100 at most. "
    )
    assert "not what can be learned about you" in explain_guarantee(1, 0.01)


def test_where_delta_is_left_the_sentence_speaks_of_tests():
    pair = explain_guarantee(Approximate(1, 0.001), 0.01)
    assert (
        "any test that names 1 in 100 of the people who are not in the data names at most 2.82 in 100 of those who are"
        in pair
    )
    assert pair.count("2.77 in 100") == 1
    gaussian = explain_guarantee(Concentrated(0.028), 0.5)
    assert f"names at most {100 * concentrated_detection(0.01, 0.028):.3g} in 100 of those who are" in gaussian
    assert explain_guarantee(ScalarGaussian(1, 1), 0.5) == explain_guarantee(Composed([Concentrated(0.5)]), 0.5)


@pytest.mark.parametrize(
    "value", NOT_FINITE_NUMBERS + TOO_EXTREME + NOT_POSITIVE, ids=lambda value: type(value).__name__
)
@pytest.mark.parametrize(
    ("call", "field"),
    [
        (odds_factor, "odds_factor epsilon"),
        (lambda value: posterior(0.5, value), "posterior epsilon"),
        (lambda value: detection(0.5, value), "detection epsilon"),
        (advantage, "advantage epsilon"),
        (lambda value: gaussian_detection(0.5, value), "gaussian_detection rho"),
        (gaussian_advantage, "gaussian_advantage rho"),
        (lambda value: concentrated_detection(0.5, value), "concentrated_detection rho"),
        (concentrated_advantage, "concentrated_advantage rho"),
        (lambda value: explain_guarantee(value, 0.5), "Pure epsilon"),
    ],
)
def test_bad_amounts_are_refused_by_name(call, field, value):
    with pytest.raises(ValueError, match=f"^{field} must be "):
        call(value)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), None, True, "1"])
@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda value: posterior(value, 1), "posterior prior"),
        (lambda value: detection(value, 1), "detection false_positive_rate"),
        (lambda value: gaussian_detection(value, 1), "gaussian_detection false_positive_rate"),
        (lambda value: concentrated_detection(value, 1), "concentrated_detection false_positive_rate"),
        (lambda value: explain_guarantee(1, value), "explain_guarantee prior"),
    ],
)
def test_bad_probabilities_are_refused_by_name(call, field, value):
    with pytest.raises(ValueError, match=f"^{field} must be "):
        call(value)
