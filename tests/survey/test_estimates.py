"""Estimates from reports: known answers, intervals that hold as often as they say, and the errors of a seed."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp, log, sqrt

import numpy as np
import pytest

from adomnia.errors import Refusal
from adomnia.survey.estimates import Estimates, Support
from adomnia.survey.kary import KaryResponse
from adomnia.survey.planning import plan
from adomnia.survey.registry import DESIGNS
from adomnia.survey.unrelated import UnrelatedQuestion
from adomnia.survey.warner import Warner
from kit.bits import SeededBits

JUNE = UnrelatedQuestion(Fraction(1, 2), Fraction(1, 12))


def test_warner_gives_the_known_answers(vectors):
    for known in vectors["rr_seed002"]:
        truth = Fraction(known["p"]).limit_denominator(100)
        design, n, m = Warner(truth), known["n"], known["m"]
        reported = m * truth + (n - m) * (1 - truth)
        assert float(design.epsilon) == pytest.approx(known["eps"])
        assert float(m - reported) == pytest.approx(known["E_delta"])
        assert float(m - reported) == pytest.approx((1 - float(truth)) * (2 * m - n))
        assert n * float(truth * (1 - truth)) == pytest.approx(known["V_delta"])
        variance = design.support_of(0).variance_in_data(m, n)
        assert float(variance) == pytest.approx(known["var_unbiased"])
        assert sqrt(variance) == pytest.approx(known["sd_unbiased"])
        grown = exp(float(design.epsilon))
        assert sqrt(variance) == pytest.approx(sqrt(n) * exp(float(design.epsilon) / 2) / (grown - 1))
        assert 2 / float(design.epsilon) ** 2 == pytest.approx(known["lap_var"])


def test_the_mean_and_variance_of_reports_are_those_of_a_simulation(vectors):
    known = vectors["rr_mc_check"]
    mean, variance = -200 / 3, 2000 / 9
    assert abs(known["mean"] - mean) < 5 * sqrt(variance / known["reps"])
    assert abs(known["var"] - variance) < 5 * variance * sqrt(2 / known["reps"])
    printed = 4 * 400 * (2 / 9) + 1000 * (2 / 9)  # without the covariance
    assert abs(known["var"] - printed) > 50 * variance * sqrt(2 / known["reps"])


def test_the_june_design_gives_the_known_answers(vectors):
    known = vectors["rr_june"]
    yes = JUNE.support_of(0)
    assert float(yes.kept) == pytest.approx(known["p_yes_user"])
    assert float(yes.raised) == pytest.approx(known["p_yes_nonuser"])
    assert JUNE.worst_ratio == 13
    assert float(JUNE.epsilon) == pytest.approx(known["eps"])
    assert float(JUNE.epsilon) == pytest.approx(log(13))
    share = Fraction(1, 5)
    assert float(yes.raised + share * yes.contrast) == pytest.approx(known["yes_rate_if_pi_0_2"])
    assert float(yes.variance_in_population(share, 1000)) / 1000**2 == pytest.approx(known["var_pihat_n1000_pi_0_2"])
    thirty_days = UnrelatedQuestion(Fraction(1, 2), Fraction(30, 365))
    assert float(thirty_days.epsilon) == pytest.approx(known["eps_birthday_30_of_365"])


def test_k_ary_estimates_are_the_textbook_ones():
    design = KaryResponse(4, Fraction(3))
    counts = {(0,): 50, (1,): 30, (2,): 15, (3,): 5}
    expected = [Fraction(count - 100 * Fraction(1, 6)) / Fraction(1, 3) for count in (50, 30, 15, 5)]
    assert list(design.estimate(counts).counts) == expected
    assert sum(design.estimate(counts).shares) == 1


def probabilities_of(count: int, people: int, support: Support) -> np.ndarray:
    """How many reports support an answer that `count` people gave: by convolution, without the code it judges."""
    return np.convolve(binomial(count, float(support.kept)), binomial(people - count, float(support.raised)))


def binomial(number: int, probability: float) -> np.ndarray:
    from scipy.stats import binom

    return binom.pmf(np.arange(number + 1), number, probability)


def covered(support: Support, people: int, share: float, inference: str) -> float:
    """The exact probability that an interval holds the truth, which both of its ends move past but once."""
    count = round(share * people)
    truth = count / people if inference == "data" else share
    masses = (
        probabilities_of(count, people, support)
        if inference == "data"
        else binomial(people, float(support.raised) + share * float(support.contrast))
    )

    def interval(supported: int) -> tuple[float, float]:
        [found] = Estimates(people, (supported,), (support,)).intervals(0.95, inference)
        return found

    def first(holds) -> int:
        low, high = 0, people + 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(interval(middle)) else (middle + 1, high)
        return low

    least, beyond = first(lambda ends: ends[1] >= truth - 1e-12), first(lambda ends: ends[0] > truth + 1e-12)
    return float(masses[least:beyond].sum())


@pytest.mark.parametrize("inference", ["data", "population"])
@pytest.mark.parametrize("people", [100, 1000, 10_000])
@pytest.mark.parametrize("categories", [2, 5, 50])
def test_intervals_of_a_rare_answer_hold_as_often_as_they_say(categories, people, inference):
    """At 0.1%, and where an answer is common; exact, not simulated."""
    support = plan(categories, people, epsilon=3).design.support_of(0)
    for share in (0.001, 0.3):
        assert 0.92 <= covered(support, people, share, inference) <= 0.985


@pytest.mark.parametrize(("people", "most"), [(100, 0.45), (1000, 0.15), (10_000, 0.05)])
def test_intervals_are_not_vacuous(people, most):
    for categories in (2, 5, 50):
        support = plan(categories, people, epsilon=3).design.support_of(0)
        supported = round(people * float(support.raised + Fraction(1, 1000) * support.contrast))
        for inference in ("data", "population"):
            [(low, high)] = Estimates(people, (supported,), (support,)).intervals(inference=inference)
            assert low <= 0.001 <= high < most


def test_intervals_that_ignored_the_noise_would_hold_too_seldom():
    """A wrong variant is found out: the interval of a plain share, around the same estimate."""
    people, share = 10_000, 0.3
    support = Warner.for_epsilon(2, 1).support_of(0)
    masses = probabilities_of(3000, people, support)
    estimates = [float(support.count(supported, people)) / people for supported in range(people + 1)]
    half = 1.96 * sqrt(share * (1 - share) / people)
    held = sum(mass for mass, estimate in zip(masses, estimates, strict=True) if abs(estimate - share) <= half)
    assert held < 0.7


def test_no_interval_is_ever_empty_or_outside_of_what_can_be():
    for kind in DESIGNS.values():
        support = kind.for_epsilon(2, 2).support_of(0)
        for supported in range(41):
            for inference in ("data", "population"):
                [(low, high)] = Estimates(40, (supported,), (support,)).intervals(inference=inference)
                assert 0 <= low < high <= 1


def test_exact_and_normal_tails_agree_where_they_meet():
    """At a variance just below and just above where the normal distribution takes over."""
    support = Warner.for_epsilon(2, 1).support_of(0)
    narrow, wide = 2034, 2036
    ends = []
    for people in (narrow, wide):
        supported = round(people * float(support.raised + Fraction(3, 10) * support.contrast))
        ends.append(Estimates(people, (supported,), (support,)).intervals()[0])
    assert ends[0] == pytest.approx(ends[1], abs=2e-3)


def test_intervals_together_are_wider_unless_both_say_the_same():
    reports = {(0,): 60, (1,): 25, (2,): 15}
    found = KaryResponse(3, Fraction(5)).estimate(reports)
    for (low, high), (lower, higher) in zip(found.intervals(), found.intervals(simultaneous=True), strict=True):
        assert lower <= low
        assert high <= higher
        assert (low, high) != (lower, higher)
    both = Warner(Fraction(3, 4)).estimate({(0,): 60, (1,): 40})
    assert both.intervals() == both.intervals(simultaneous=True)
    (low, high), (other_low, other_high) = both.intervals()
    assert (1 - high, 1 - low) == pytest.approx((other_low, other_high))


def test_intervals_together_hold_at_once():
    """Of 40 surveys fewer than 29 hold with probability 3e-7, if each holds with 95%."""
    design = plan(5, 400, epsilon=2).design
    truth, bits = [300, 60, 30, 9, 1], SeededBits("together")
    answers = [answer for answer, count in enumerate(truth) for _ in range(count)]
    held = 0
    for _ in range(40):
        found = design.estimate(Counter(design.randomize(answer, bits) for answer in answers))
        held += all(
            low <= count / 400 <= high
            for (low, high), count in zip(found.intervals(simultaneous=True), truth, strict=True)
        )
    assert held >= 29


def test_projection_is_the_nearest_point_of_the_simplex():
    found = KaryResponse(3, Fraction(3, 2)).estimate({(0,): 90, (1,): 5, (2,): 5})
    projected = found.project()
    assert sum(projected) == pytest.approx(1)
    assert min(projected) >= 0
    raw = np.array(found.shares, float)
    grid = [(a, b, 1 - a - b) for a in np.linspace(0, 1, 41) for b in np.linspace(0, 1 - a, 41)]
    nearest = min(np.square(raw - np.array(each)).sum() for each in grid)
    assert np.square(raw - np.array(projected)).sum() <= nearest + 1e-12


def test_variances_follow_the_shares_and_whom_they_are_about():
    found = JUNE.estimate({(0,): 140, (1,): 860})
    assert found.variances("population")[0] > found.variances("data")[0] > 0
    below = JUNE.estimate({(0,): 0, (1,): 1000})
    assert below.shares[0] < 0
    assert below.variances()[0] == JUNE.support_of(0).variance_in_data(0, 1000) / 1000**2


def test_an_estimate_from_nothing_and_words_that_are_none_are_refused():
    with pytest.raises(Refusal, match="at least one report"):
        JUNE.estimate({})
    found = JUNE.estimate({(0,): 1})
    with pytest.raises(ValueError, match="inference"):
        found.intervals(inference="everybody")
    with pytest.raises(ValueError, match="inference"):
        found.variances("everybody")
    with pytest.raises(ValueError, match="confidence"):
        found.intervals(1.0)
    with pytest.raises(ValueError, match="cannot have made"):
        JUNE.estimate({(0,): -1})
