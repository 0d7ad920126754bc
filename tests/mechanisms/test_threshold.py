"""The threshold on people: exact to the last key, private by counting through, and wrong variants found out."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from math import ceil, exp

import mpmath
import numpy as np
import pytest

from adomnia.mechanisms import DiscreteGaussian, DiscreteLaplace, Secret
from adomnia.mechanisms.gaussian_tail import tail_from
from adomnia.mechanisms.threshold import Threshold
from adomnia.privacy.events import Approximate, Concentrated, Pure
from adomnia.privacy.losses import covers, delta_of
from adomnia.privacy.sensitivity import Sensitivity
from kit.bits import SeededBits
from kit.distributions import exact_gaussian, exact_laplace, p_value_of_counts

PRICES = [Approximate(1, 1e-6), Approximate(Fraction(1, 10), 1e-9), Concentrated(0.02, 1e-6), Concentrated(1, 1e-9)]
FALSE_ALARM = 1e-6


def keys(number):
    """The sensitivity of numbers of people where a person has at most so many keys."""
    return Sensitivity(l1=number, l2_squared=number, linf=1, monotone=True)


def exact_probability(noise, k):
    if isinstance(noise, DiscreteLaplace):
        return exact_laplace(k, noise.scale)
    return exact_gaussian(k, noise.variance)


def exact_delta(noise, least, reached):
    """1 - P[noise < least - 1]**reached, from the definition: P[noise >= k] summed far beyond any delta."""
    with mpmath.workdps(60):
        deviation = noise.scale * 80 if isinstance(noise, DiscreteLaplace) else 20 * float(noise.variance) ** 0.5
        tail = mpmath.fsum(exact_probability(noise, k) for k in range(least - 1, least + int(deviation) + 40))
        return -mpmath.expm1(reached * mpmath.log1p(-tail))


def named(noise, least, minimum=1):
    """The probability that a key of so many people is named, from the noise's own distribution."""
    reach = noise.interval(1 - 1e-15).half_width
    masses = np.array([noise.probability(k) for k in range(-reach, reach + 1)])

    def probability(people):
        if people < minimum:
            return 0.0
        first = least - (people - minimum + 1)
        return float(masses[max(0, first + reach) :].sum()) if first <= reach else 0.0

    return probability


def hockey_stick(one, other, epsilon):
    """The least delta for that epsilon between two distributions of which keys are named, each key by itself."""
    delta = 0.0
    for outcome in product([False, True], repeat=len(one)):
        first = np.prod([p if kept else 1 - p for p, kept in zip(one, outcome, strict=True)])
        second = np.prod([p if kept else 1 - p for p, kept in zip(other, outcome, strict=True)])
        delta += max(0.0, first - exp(epsilon) * second)
    return delta


def worst_delta(probability, reached, epsilon, most_people):
    """Over every database of so many keys, the person who joins having all of them."""
    worst = 0.0
    for people in product(range(most_people), repeat=reached):
        without = [probability(each) for each in people]
        joined = [probability(each + 1) for each in people]
        worst = max(worst, hockey_stick(without, joined, epsilon), hockey_stick(joined, without, epsilon))
    return worst


@pytest.mark.parametrize("reached", [1, 2, 3, 5, 10, 30, 100])
def test_the_vectors_of_several_groups_hold(reached, vectors):
    """Theirs are for continuous noise, which is named above the threshold; ours for integers."""
    known = vectors["partition_several_groups_eps1_delta1e-6"][str(reached)]
    least = Threshold.calibrated(keys(reached), Approximate(1, 1e-6)).least
    assert known["laplace_threshold"] < least <= ceil(known["laplace_threshold"]) + 1
    rho = Fraction(reached) / (2 * Fraction(known["gauss_sigma_half"]) ** 2)
    gaussian = Threshold.calibrated(keys(reached), Concentrated(rho, 5e-7)).least
    assert known["gauss_threshold_half"] < gaussian <= ceil(known["gauss_threshold_half"]) + 1


@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("reached", [1, 2, 7, 50])
@pytest.mark.no_cover
def test_it_is_the_least_threshold_that_its_delta_pays_for(reached, price):
    threshold = Threshold.calibrated(keys(reached), price)
    event = threshold.event(keys(reached))
    assert type(event) is type(price)
    assert covers(price, event)
    with mpmath.workdps(60):
        exact = exact_delta(threshold.noise, threshold.least, reached)
        claimed = mpmath.mpf(event.delta.numerator) / event.delta.denominator
        assert exact <= claimed <= exact * (1 + mpmath.mpf("1e-20"))
        one_lower = exact_delta(threshold.noise, threshold.least - 1, reached)
        assert one_lower > mpmath.mpf(price.delta.numerator) / price.delta.denominator


def test_the_noise_costs_all_of_its_price():
    sensitivity = keys(4)
    laplace = Threshold.calibrated(sensitivity, Approximate(Fraction(1, 2), 1e-9))
    assert laplace.noise == DiscreteLaplace(Fraction(8))
    assert laplace.event(sensitivity).epsilon == Fraction(1, 2)
    gaussian = Threshold.calibrated(sensitivity, Concentrated(Fraction(1, 8), 1e-9))
    assert gaussian.noise == DiscreteGaussian(Fraction(16))
    assert gaussian.event(sensitivity).rho == Fraction(1, 8)


@pytest.mark.parametrize("minimum", [1, 3])
@pytest.mark.parametrize("reached", [1, 2])
def test_which_keys_are_named_is_private_on_all_small_databases(reached, minimum):
    epsilon, delta = Fraction(1), Fraction(1, 50)
    threshold = Threshold.calibrated(keys(reached), Approximate(epsilon, delta), minimum)
    worst = worst_delta(named(threshold.noise, threshold.least, minimum), reached, epsilon, threshold.people + 8)
    claimed = threshold.event(keys(reached)).delta
    assert worst <= float(claimed) + 1e-12
    assert worst >= float(claimed) - 1e-12  # a person alone in all of their keys loses all of it


@pytest.mark.parametrize("minimum", [1, 3])
@pytest.mark.parametrize("reached", [1, 2])
def test_with_gaussian_noise_too(reached, minimum):
    """What rho becomes at an epsilon, and delta beside it."""
    rho, delta = Fraction(1, 8), Fraction(1, 50)
    threshold = Threshold.calibrated(keys(reached), Concentrated(rho, delta), minimum)
    probability = named(threshold.noise, threshold.least, minimum)
    for epsilon in (Fraction(1, 4), Fraction(1), Fraction(2)):
        worst = worst_delta(probability, reached, epsilon, threshold.people + 8)
        assert worst <= float(delta_of(rho, epsilon) + threshold.event(keys(reached)).delta)


def test_names_with_their_noisy_numbers_are_as_private():
    """All that is released: of each key nothing, or a noisy number from the threshold on."""
    epsilon, delta = 1, Fraction(1, 50)
    threshold = Threshold.calibrated(keys(2), Approximate(epsilon, delta))
    reach = threshold.noise.interval(1 - 1e-12).half_width
    numbers = range(threshold.least, threshold.least + reach + 10)

    def mechanism(people):
        """Of one key: that it is not named, then each number."""
        shown = [threshold.noise.probability(number - people) for number in numbers] if people else [0.0] * len(numbers)
        return np.array([1 - sum(shown), *shown])

    worst = 0.0
    for people in product(range(6), repeat=2):
        without = np.outer(*(mechanism(each) for each in people))
        joined = np.outer(*(mechanism(each + 1) for each in people))
        for one, other in ((without, joined), (joined, without)):
            worst = max(worst, float(np.maximum(0, one - exp(epsilon) * other).sum()))
    assert worst <= float(threshold.event(keys(2)).delta) + 1e-9


def test_wrong_variants_are_found_by_the_same_count():
    epsilon, delta = Fraction(1), Fraction(1, 50)
    one, two = (Threshold.calibrated(keys(reached), Approximate(epsilon, delta)) for reached in (1, 2))
    most = one.people + 8

    def without_the_shift(people):
        """The noisy number against the same threshold, and fewer than three people left out."""
        return named(one.noise, one.least)(people) if people >= 3 else 0.0

    def noisy_number_of_rows(people):
        return named(one.noise, one.least)(2 * people)

    assert worst_delta(without_the_shift, 1, epsilon, most) > 1.5 * float(delta)
    assert worst_delta(noisy_number_of_rows, 1, epsilon, most) > 1.5 * float(delta)
    assert worst_delta(named(one.noise, one.least - 1), 1, epsilon, most) > float(delta)
    assert worst_delta(named(one.noise, one.least), 2, epsilon, most) > 1.5 * float(delta)  # one key paid for, two had
    assert worst_delta(named(two.noise, two.least - 1), 2, epsilon, most) > float(delta)


@pytest.mark.parametrize("price", [Approximate(1, 1e-3), Concentrated(0.1, 1e-3)], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("minimum", [1, 4])
def test_keys_are_named_as_often_as_the_distribution_says(price, minimum, seeded_bits):
    """20,000 draws at two sizes; false alarm 1e-6 each. One person more or less is another distribution."""
    threshold = Threshold.calibrated(keys(2), price, minimum)
    probability = named(threshold.noise, threshold.least, minimum)
    draws = 20_000
    for people in (threshold.people, threshold.people - 3):
        secret = Secret(np.full(draws, people), keys(2), price)
        found = len(threshold.release(secret, seeded_bits).places)
        counts = np.array([found, draws - found])
        for shown, fits in ((people, True), (people + 1, False), (people - 1, False)):
            masses = np.array([probability(shown), 1 - probability(shown)])
            assert (p_value_of_counts(counts, masses) > FALSE_ALARM) is fits


def test_the_places_and_noisy_numbers_belong_together(seeded_bits):
    threshold = Threshold.calibrated(keys(1), Approximate(1, 1e-6))
    exact = np.array([1, 1000, 2, 0, 2000, 3])
    places, people = threshold.release(Secret(exact, keys(1), Approximate(1, 1e-6)), seeded_bits)
    assert places.tolist() == [1, 4]
    assert np.abs(people - exact[places]).max() < 40  # P[|noise| >= 40] is below 1e-17


@pytest.mark.parametrize("price", [Approximate(0.02, 0.5), Concentrated(1e-4, 0.5)], ids=["laplace", "gaussian"])
def test_a_key_below_the_minimum_is_never_named_whatever_its_noise(price, seeded_bits):
    """At so much noise a key of four people is named almost every third time, so one of three would have been too."""
    threshold = Threshold.calibrated(keys(1), price, 4)
    exact = np.repeat([0, 1, 3, 4], 5000)
    places = threshold.release(Secret(exact, keys(1), price), seeded_bits).places
    assert places.min() >= 15_000
    assert len(places) > 1000


def test_no_keys_at_all_name_none(seeded_bits):
    price = Approximate(1, 1e-6)
    threshold = Threshold.calibrated(keys(1), price)
    places, people = threshold.release(Secret(np.array([], dtype=np.int64), keys(1), price), seeded_bits)
    assert places.tolist() == people.tolist() == []


def test_a_secret_stays_shut_where_delta_or_epsilon_were_not_paid():
    price = Approximate(1, 1e-6)
    threshold = Threshold.calibrated(keys(2), price)
    for reserved in (Pure(1), Approximate(1, 1e-9), Approximate(0.9, 1e-6), Concentrated(1, 0)):
        with pytest.raises(ValueError, match=r"^Secret was reserved for"):
            threshold.release(Secret(np.array([5]), keys(2), reserved), SeededBits(0))
    with pytest.raises(ValueError, match=r"^Secret was reserved for"):
        threshold.release(Secret(np.array([5]), keys(3), price), SeededBits(0))


def test_the_event_of_more_keys_than_were_planned_costs_more():
    threshold = Threshold.calibrated(keys(1), Approximate(1, 1e-6))
    assert threshold.event(keys(2)).delta > Fraction(19, 10) * threshold.event(keys(1)).delta


def test_only_numbers_of_people_have_a_threshold():
    for sensitivity in (Sensitivity(l1=3), Sensitivity(l1=2, l2_squared=4, linf=2)):
        with pytest.raises(ValueError, match=r"^Threshold sensitivity must be of numbers of people"):
            Threshold.calibrated(sensitivity, Approximate(1, 1e-6))


def test_a_price_without_delta_or_of_another_kind_is_refused_by_name():
    for price in (Approximate(1, 0), Concentrated(1), Approximate(1, 9e-31), Concentrated(1, 1e-200)):
        with pytest.raises(ValueError, match=r"^Threshold delta must be >= 1e-30"):
            Threshold.calibrated(keys(1), price)
    with pytest.raises(TypeError, match=r"^Threshold is bought with"):
        Threshold.calibrated(keys(1), Pure(1))


@pytest.mark.parametrize("price", [Approximate(1, 1e-30), Concentrated(10, 1e-30)], ids=["laplace", "gaussian"])
def test_the_least_delta_has_a_threshold_for_as_many_keys_as_anybody_may_have(price):
    assert covers(price, Threshold.calibrated(keys(10**9), price).event(keys(10**9)))


def test_a_minimum_asks_for_so_many_people_more():
    one, five = (Threshold.calibrated(keys(1), Approximate(1, 1e-5), minimum) for minimum in (1, 5))
    assert five.people == one.people + 4
    assert five.event(keys(1)) == one.event(keys(1))


def test_parameters_that_name_everybody_are_refused():
    noise = DiscreteLaplace(Fraction(1))
    with pytest.raises(ValueError, match=r"^Threshold least must be >= 2, got 1"):
        Threshold(noise, 1)
    with pytest.raises(ValueError, match=r"^Threshold minimum must be a whole number"):
        Threshold(noise, 5, 0)


def test_a_variance_beyond_what_is_summed_is_refused():
    with pytest.raises(ValueError, match=r"^tail_from variance must be at most"):
        tail_from(Fraction(10**8 + 1), 5)


def test_the_docstring_states_guarantee_conditions_noise_and_proof():
    labels = re.findall(r"^ {4}(Guarantee|Conditions|Noise|Proof) {2,}\S", Threshold.__doc__, flags=re.MULTILINE)
    assert labels == ["Guarantee", "Conditions", "Noise", "Proof"]


def test_a_large_delta_never_goes_below_two():
    assert Threshold.calibrated(keys(1), Approximate(1, 0.9)).least == 2
