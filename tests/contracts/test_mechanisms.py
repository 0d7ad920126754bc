"""What every mechanism in the registries must keep; joining a registry is how a class is accepted."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import fsum
from pathlib import Path

import mpmath
import numpy as np
import pytest

from adomnia.errors import Failure
from adomnia.mechanisms.registry import MECHANISMS, NOISES, NUMERIC
from adomnia.privacy.events import Approximate, Concentrated, Pure
from adomnia.privacy.losses import covers, loss
from adomnia.privacy.sensitivity import Sensitivity
from kit.bits import BrokenBits, SeededBits
from kit.distributions import fits_the_distribution, p_value_of_counts, tabulated_probability
from kit.mechanisms import EXACT_CHOICES, EXACT_DISTRIBUTIONS, FIXED, MOVES, PRICES, calibrate, margin_of, seal, suits

PROJECT = Path(__file__).parents[2]
SELECTIONS = {name: kind for name, kind in MECHANISMS.items() if hasattr(kind, "probabilities")}
SIMPLE = {**NOISES, **SELECTIONS}  # of one parameter
ONE = Sensitivity(l1=1)
NOISE_AT_A_PRICE = [(name, price) for name, kind in NOISES.items() for price in PRICES[kind.prices[0]]]
PURE = [name for name, kind in NOISES.items() if kind.prices == (Pure,)]
CONCENTRATED = [name for name, kind in NOISES.items() if kind.prices == (Concentrated,)]
every_mechanism = pytest.mark.parametrize("name", MECHANISMS)
every_simple_mechanism = pytest.mark.parametrize("name", SIMPLE)
every_noise = pytest.mark.parametrize("name", NOISES)
every_selection = pytest.mark.parametrize("name", SELECTIONS)
every_noise_at_a_price = pytest.mark.parametrize(("name", "price"), NOISE_AT_A_PRICE, ids=str)


def amount_of(price):
    """The number a price is made of."""
    return price.epsilon if isinstance(price, Pure) else price.rho


def bought(name, sensitivity=ONE, price=None):
    """The mechanism of that name for that price."""
    return calibrate(name, sensitivity, price or prices_of(name)[1])


def prices_of(name):
    return PRICES[MECHANISMS[name].prices[0]]


def sealed(values, mechanism, sensitivity=ONE):
    """A secret with exactly the reserve the mechanism needs."""
    (name,) = (name for name, kind in MECHANISMS.items() if kind is type(mechanism))
    return seal(name, values, sensitivity, mechanism.event(sensitivity))


@every_mechanism
def test_the_docstring_states_guarantee_conditions_noise_and_proof(name):
    text = MECHANISMS[name].__doc__ or ""
    labels = re.findall(r"^ {4}(Guarantee|Conditions|Noise|Proof) {2,}\S", text, flags=re.MULTILINE)
    assert labels == ["Guarantee", "Conditions", "Noise", "Proof"]
    assert ">>>" in text


@every_mechanism
def test_the_proof_it_names_exists(name):
    proofs = re.findall(r"docs/proofs/\w+\.md", MECHANISMS[name].__doc__ or "")
    assert proofs
    for proof in proofs:
        assert len((PROJECT / proof).read_text()) > 400


@every_mechanism
def test_it_costs_at_most_its_price_and_nearly_all_of_it(name):
    moves = [sensitivity for sensitivity, _ in MOVES if suits(name, sensitivity)]
    for sensitivity, price in product(moves, prices_of(name)):
        event = bought(name, sensitivity, price).event(sensitivity)
        assert covers(price, event)
        spent, offered = loss(event), loss(price)
        least = offered.epsilon if isinstance(price, Pure) else offered.rho
        used = spent.epsilon if isinstance(price, Pure) else spent.rho
        assert least * (1 - Fraction(1, 10**9)) <= used <= least


@every_mechanism
def test_a_larger_move_costs_more_or_is_refused(name):
    mechanism = bought(name)
    twice = Sensitivity(l1=2, l2_squared=2, linf=1) if name == "threshold" else Sensitivity(l1=2)
    if name in FIXED:
        with pytest.raises(ValueError, match=r"must be at most 1 rows, got 2"):
            mechanism.event(twice)
        return
    single, double = loss(mechanism.event(ONE)), loss(mechanism.event(twice))
    assert single <= double
    assert not double <= single


@every_mechanism
@pytest.mark.parametrize("price", [Pure(1), Concentrated(1), Approximate(1, 0.1), 1, None, "1"], ids=repr)
def test_a_price_of_another_kind_is_refused_by_name(name, price):
    kind = MECHANISMS[name]
    if isinstance(price, kind.prices):
        return
    with pytest.raises(TypeError, match=f"^{kind.__name__} "):
        calibrate(name, ONE, price)


@every_simple_mechanism
@pytest.mark.parametrize("amount", [0, -1, float("nan"), float("inf"), "1", None, True, Fraction(1, 10**400)], ids=repr)
def test_a_price_or_parameter_that_is_no_positive_number_is_refused_by_name_field_rule_and_value(name, amount):
    kind = MECHANISMS[name]
    shown = re.escape(repr(amount) if isinstance(amount, str) else str(amount))
    with pytest.raises(ValueError, match=rf"^{kind.prices[0].__name__} \w+ must be .*, got {shown}\.$"):
        kind.prices[0](amount)
    with pytest.raises(ValueError, match=rf"^{kind.__name__} \w+ must be .*, got {shown}\.$"):
        kind(amount)


@every_noise
@pytest.mark.parametrize("parameter", [Fraction(1, 10**9), Fraction(10**70)], ids=["tiny", "huge"])
def test_a_parameter_no_sampler_can_draw_is_refused_before_any_secret_is_opened(name, parameter):
    kind = NOISES[name]
    with pytest.raises(ValueError, match=rf"^{kind.__name__} \w+ must be .*, got"):
        kind(parameter)


@every_mechanism
def test_a_secret_opens_for_it_once(name):
    mechanism = bought(name)
    secret = sealed([1, 2, 3], mechanism)
    mechanism.release(secret, SeededBits(name))
    with pytest.raises(ValueError, match=r"^Secret opens once"):
        mechanism.release(secret, SeededBits(name))


@every_mechanism
def test_a_secret_stays_shut_for_less_noise_than_was_paid_for(name):
    _, paid, wanted, _ = prices_of(name)
    secret = seal(name, [1, 2, 3], ONE, paid)
    with pytest.raises(ValueError, match=r"^Secret was reserved for"):
        bought(name, price=wanted).release(secret, SeededBits(name))
    bought(name, price=paid).release(secret, SeededBits(name))  # the attempt did not open it


@every_mechanism
def test_a_calibration_for_a_smaller_move_does_not_open_the_secret(name):
    price = prices_of(name)[1]
    threefold = Sensitivity(l1=3, l2_squared=3, linf=1) if name == "threshold" else Sensitivity(l1=3)
    secret = seal(name, [1, 2, 3], threefold, price)
    why = r"must be at most 1 rows, got 3" if name in FIXED else r"^Secret was reserved for"
    with pytest.raises(ValueError, match=why):
        bought(name, ONE, price).release(secret, SeededBits(name))


@every_mechanism
def test_broken_bits_give_no_answer(name):
    mechanism = bought(name)
    with pytest.raises(Failure):
        mechanism.release(sealed([1, 2, 3], mechanism), BrokenBits())


@every_mechanism
def test_it_is_a_plain_frozen_value(name):
    mechanism = bought(name)
    assert mechanism == bought(name)
    assert hash(mechanism) == hash(bought(name))
    with pytest.raises(AttributeError):
        mechanism.prices = (Concentrated,)


@every_mechanism
def test_it_says_what_it_reads_and_what_buys_it(name):
    kind = MECHANISMS[name]
    assert kind.reads in {"cells", "histogram", "keys"}
    assert set(kind.prices) <= set(PRICES)
    assert (name in NUMERIC) == hasattr(kind, "shape")


def test_every_noise_has_an_exact_distribution_to_be_held_to():
    assert set(EXACT_DISTRIBUTIONS) == set(NOISES)


@every_noise_at_a_price
def test_the_stated_probability_is_the_exact_distribution(name, price):
    noise = bought(name, price=price)
    reach = margin_of(noise)
    with mpmath.workdps(60):
        for k in {0, 1, -1, 2, 5, reach // 3, -(reach // 2), reach}:
            assert noise.probability(k) == pytest.approx(float(EXACT_DISTRIBUTIONS[name](noise, k)), rel=1e-12)


@every_noise_at_a_price
def test_probabilities_add_up_to_one(name, price):
    noise = bought(name, price=price)
    reach = margin_of(noise)
    assert fsum(noise.probability(k) for k in range(-reach, reach + 1)) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize("price", PRICES[Pure], ids=str)
@pytest.mark.parametrize(("sensitivity", "moves"), MOVES, ids=[f"move {number}" for number in range(len(MOVES))])
def test_no_outcome_is_more_than_exp_epsilon_times_likelier_after_a_move(name, price, sensitivity, moves):
    """max_k ln p(k) / p(k - D), summed over the coordinates of the move, in 60 digits."""
    noise = bought(name, sensitivity, price)
    with mpmath.workdps(60):
        epsilon = mpmath.mpf(price.epsilon.numerator) / price.epsilon.denominator
        distribution = {k: mpmath.log(EXACT_DISTRIBUTIONS[name](noise, k)) for k in range(-40, 41)}
        losses = [
            mpmath.fsum(max(distribution[k] - distribution[k - step] for k in range(-30, 31)) for step in move)
            for move in moves
        ]
        assert max(losses) <= epsilon * (1 + mpmath.mpf(10) ** -50)
        assert max(losses) >= epsilon * (1 - mpmath.mpf(10) ** -9)  # and the price is used up


@pytest.mark.parametrize("name", CONCENTRATED)
@pytest.mark.parametrize("price", PRICES[Concentrated], ids=str)
@pytest.mark.parametrize(("sensitivity", "moves"), MOVES, ids=[f"move {number}" for number in range(len(MOVES))])
@pytest.mark.no_cover
def test_no_move_exceeds_rho_at_any_order(name, price, sensitivity, moves):
    """The Renyi divergence of order alpha is at most rho * alpha, in 50 digits, and reaches it at whole orders."""
    noise = bought(name, sensitivity, price)
    with mpmath.workdps(50):
        rho = mpmath.mpf(price.rho.numerator) / price.rho.denominator
        for order in (Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(5), Fraction(32)):
            spent = [mpmath.fsum(divergence(name, noise, abs(step), order) for step in move) for move in moves]
            assert max(spent) <= rho * order.numerator / order.denominator * (1 + mpmath.mpf(10) ** -30)
            assert order.denominator > 1 or max(spent) >= rho * order.numerator * (1 - mpmath.mpf(10) ** -9)


@lru_cache
def divergence(name, noise, step, order):
    """D_order(noise || noise + step) at the working precision."""
    alpha = mpmath.mpf(order.numerator) / order.denominator
    # Weighed by the order, the mass sits around -(order - 1) * step; 14 deviations on either side hold all but 1e-40.
    spread = 14 * (int(noise.interval(0.68).half_width) + 1)
    first, last = -int((order - 1) * step) - spread, spread
    distribution = {k: mpmath.log(EXACT_DISTRIBUTIONS[name](noise, k)) for k in range(first - step, last + 1)}
    terms = (mpmath.exp(alpha * distribution[k] + (1 - alpha) * distribution[k - step]) for k in range(first, last + 1))
    return mpmath.log(mpmath.fsum(terms)) / (alpha - 1)


@pytest.mark.no_cover
@every_noise
@pytest.mark.parametrize("number", [0, 2, 3])
def test_released_noise_fits_the_stated_probability_and_none_three_percent_off(name, number, seeded_bits):
    """False alarms: 1e-6."""
    kind = NOISES[name]
    price = PRICES[kind.prices[0]][number]
    noise = bought(name, price=price)
    draws = noise.release(sealed(np.zeros(10**6, dtype=np.int64), noise), seeded_bits)
    assert fits_the_distribution(draws, tabulated_probability(noise.probability, margin_of(noise)))
    for wrong in (Fraction(97, 100), Fraction(103, 100)):
        other = bought(name, price=price * (wrong if kind.prices == (Pure,) else wrong**2))
        assert not fits_the_distribution(draws, tabulated_probability(other.probability, margin_of(other)))


@every_noise
def test_noise_is_fresh_on_every_coordinate_and_every_release(name, seeded_bits):
    noise = bought(name, Sensitivity(l1=10**12))
    first = noise.release(sealed(np.zeros(100, dtype=np.int64), noise, Sensitivity(l1=10**12)), seeded_bits)
    second = noise.release(sealed(np.zeros(100, dtype=np.int64), noise, Sensitivity(l1=10**12)), seeded_bits)
    assert len({*first.tolist(), *second.tolist()}) == 200


@every_noise
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 4)])
def test_the_shape_is_kept_and_the_answer_is_whole(name, shape, seeded_bits):
    noise = bought(name)
    for values in (np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64).astype(object)):
        answer = noise.release(sealed(values, noise), seeded_bits)
        assert np.shape(answer) == shape
        assert all(isinstance(value, (int, np.int64)) for value in np.asarray(answer).ravel().tolist())


@every_noise
@pytest.mark.parametrize("value", [0, 7, -(10**6), 2**62, -(2**62)])
def test_the_same_bits_move_every_value_by_the_same_noise(name, value):
    noise = bought(name)
    alone = noise.release(sealed(np.zeros(50, dtype=np.int64), noise), SeededBits(1))
    moved = noise.release(sealed(np.full(50, value), noise), SeededBits(1))
    assert (moved - value).tolist() == alone.tolist()


@every_noise
def test_integers_beyond_64_bits_are_moved_by_one_when_a_person_with_one_comes(name):
    """[2**63 - 1] against [2**63 - 1, 1]: wrapped sums would be 2**64 apart."""
    noise = bought(name)
    without = noise.release(sealed(np.array([2**63 - 1], dtype=object), noise), SeededBits(2))
    with_one = noise.release(sealed(np.array([2**63 - 1 + 1], dtype=object), noise), SeededBits(2))
    assert (with_one - without).tolist() == [1]
    assert type(with_one[0]) is int


@every_noise
def test_huge_noise_never_wraps_around(name, seeded_bits):
    wide = Sensitivity(l1=10**24)
    noise = bought(name, wide)
    answer = noise.release(sealed(np.full(1000, 2**62), noise, wide), seeded_bits)
    assert max(abs(value) for value in answer.tolist()) > 10**23


@every_noise
@pytest.mark.parametrize("confidence", [0.5, 0.68, 0.9, 0.95, 0.99, 0.999999])
@pytest.mark.parametrize("cells", [1, 2, 10, 1000])
@pytest.mark.no_cover
def test_the_interval_covers_what_it_says_and_a_narrower_one_does_not(name, confidence, cells):
    for price in PRICES[NOISES[name].prices[0]]:
        noise = bought(name, price=price)
        interval = noise.interval(confidence, cells)
        with mpmath.workdps(40):
            inside = [EXACT_DISTRIBUTIONS[name](noise, k) for k in range(interval.half_width + 1)]
            covered = (2 * mpmath.fsum(inside) - inside[0]) ** cells
            narrower = (2 * mpmath.fsum(inside[:-1]) - inside[0]) ** cells if interval.half_width else mpmath.mpf(0)
        assert interval.coverage == pytest.approx(float(covered), rel=1e-9)
        assert narrower < confidence <= covered * (1 + mpmath.mpf(10) ** -12)


@every_noise
@pytest.mark.parametrize("parameter", ["1/9", "1/2", "2", "7", "3000"])
def test_what_is_known_of_a_noise_is_what_its_definition_says(name, parameter):
    """Its logarithms, its tail and its cumulants; of many integers, what is continuous has about the same ones."""
    noise = NOISES[name](Fraction(parameter))
    reach = margin_of(noise) + 1
    if reach < 300:
        chances = np.array([float(EXACT_DISTRIBUTIONS[name](noise, k)) for k in range(-reach, reach + 1)])
        places = np.arange(-reach, reach + 1, dtype=np.float64)
        assert np.exp(noise.log_probability(places)) == pytest.approx(chances, rel=1e-12)
        for k in (0, 1, 3):
            assert noise.tail(k) == pytest.approx(float(chances[np.abs(places) > k].sum()), rel=1e-9, abs=1e-15)
        variance = float(places**2 @ chances)
        assert noise.cumulants.variance == pytest.approx(variance, rel=1e-12)
        fourth = float(places**4 @ chances) - 3 * variance**2
        assert noise.cumulants.fourth == pytest.approx(fourth, rel=1e-9, abs=1e-12 * (1 + variance**2))
    else:
        assert noise.continuous.cumulants == pytest.approx(noise.cumulants, rel=1e-6)
    assert noise.continuous.deviation**2 == pytest.approx(noise.continuous.cumulants.variance)
    assert noise.continuous.cumulants.variance >= noise.cumulants.variance
    assert noise.family in type(noise).__name__
    assert noise.size.split()[1].replace(",", "")[0].isdigit()


@every_noise
def test_the_interval_of_one_value_holds_as_often_as_it_says(name, seeded_bits):
    """False alarms below 1e-6: five standard deviations."""
    noise = bought(name)
    interval = noise.interval(0.9)
    draws = noise.release(sealed(np.zeros(200_000, dtype=np.int64), noise), seeded_bits)
    share = float(np.mean(np.abs(draws) <= interval.half_width))
    assert abs(share - interval.coverage) < 5 * (interval.coverage * (1 - interval.coverage) / len(draws)) ** 0.5


@every_noise
def test_the_interval_of_all_cells_holds_for_all_of_them_at_once(name, seeded_bits):
    """False alarms below 1e-6: five standard deviations. The interval of one cell would fail."""
    noise = bought(name)
    interval = noise.interval(0.9, cells=50)
    assert interval.coverage >= 0.9
    draws = noise.release(sealed(np.zeros((4000, 50), dtype=np.int64), noise), seeded_bits)
    share = float(np.mean(np.abs(draws).max(axis=1) <= interval.half_width))
    assert abs(share - interval.coverage) < 5 * (interval.coverage * (1 - interval.coverage) / len(draws)) ** 0.5
    assert np.mean(np.abs(draws).max(axis=1) <= noise.interval(0.9).half_width) < 0.5


@every_noise
@pytest.mark.parametrize("confidence", [0, 1, -0.1, 1.5, float("nan")])
def test_a_confidence_that_is_no_probability_is_refused(name, confidence):
    with pytest.raises(ValueError, match=r"^Interval confidence must be .*, got"):
        bought(name).interval(confidence)


@every_noise
@pytest.mark.parametrize("cells", [0, -1])
def test_an_interval_over_no_cells_is_refused(name, cells):
    with pytest.raises(ValueError, match=r"^Interval cells must be .*, got"):
        bought(name).interval(0.9, cells)


SCORES = [[0, 0, 0], [3, 1, -2], [-40, 0, 0], [5, 5, -60]]
DIRECTIONS = {False: (-2, -1, 0, 1, 2), True: (0, 1, 2)}


@every_selection
@pytest.mark.no_cover
def test_the_distribution_of_a_choice_is_the_one_that_is_stated(name, seeded_bits):
    """False alarms: 1e-6."""
    scores = np.array([0, 1, 3, 4, -2])
    choice = bought(name)
    stated = choice.probabilities(scores)
    assert stated.sum() == pytest.approx(1, abs=1e-12)
    chosen = [choice.release(sealed(scores, choice), seeded_bits) for _ in range(10_000)]
    counts = np.bincount(chosen, minlength=len(scores))
    assert p_value_of_counts(counts, stated) >= 1e-6
    assert p_value_of_counts(counts, bought(name, price=PRICES[Pure][0]).probabilities(scores)) < 1e-6
    assert p_value_of_counts(counts, bought(name, price=PRICES[Pure][2]).probabilities(scores)) < 1e-6


@every_selection
@pytest.mark.parametrize("monotone", [False, True])
def test_no_choice_is_more_than_exp_epsilon_times_likelier_after_a_move(name, monotone):
    """All moves of three scores by up to two, one way or both; losses in 60 digits from the exact distribution."""
    sensitivity = Sensitivity(l1=6, l2_squared=12, linf=2, monotone=monotone)
    choice = bought(name, sensitivity, Pure(Fraction(3, 2)))
    worst = 0.0
    for scores in SCORES:
        before = exact_logs(name, choice, scores)
        for move in product(DIRECTIONS[monotone], repeat=3):
            after = exact_logs(name, choice, [score + step for score, step in zip(scores, move, strict=True)])
            changes = [new - old for new, old in zip(after, before, strict=True)]
            worst = max(worst, *map(abs, changes))
            assert max(changes) - min(changes) <= choice.event(sensitivity).epsilon + mpmath.mpf(10) ** -40
    assert 1.5 * (1 - 1e-9) <= worst <= 1.5 + 1e-12  # a candidate with next to no weight reaches epsilon itself


def exact_logs(name, choice, scores):
    """ln P[candidate], in 60 digits."""
    with mpmath.workdps(60):
        return EXACT_CHOICES[name](choice, list(scores))


def test_every_selection_has_an_exact_distribution_to_be_held_to():
    assert set(EXACT_CHOICES) == set(SELECTIONS)


@every_selection
def test_stated_probabilities_are_the_exact_distribution(name):
    choice = bought(name)
    for scores in ([0], [1, 2, 3], [-5, 5, 0], [10**6, 0], [7] * 20):
        stated = choice.probabilities(np.array(scores))
        exact = [float(mpmath.exp(log)) for log in exact_logs(name, choice, scores)]
        assert stated == pytest.approx(exact, rel=1e-9, abs=1e-300)


@every_selection
@pytest.mark.parametrize("shape", [(0,), (2, 2), ()])
def test_a_choice_among_nothing_or_from_a_table_is_refused(name, shape, seeded_bits):
    choice = bought(name)
    with pytest.raises((ValueError, TypeError), match=r"^weighted_choice scores must be"):
        choice.release(sealed(np.zeros(shape, dtype=np.int64), choice), seeded_bits)
