"""The choice falls on each candidate with exactly its probability, and what is no choice is refused."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import exp

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.special import bdtr, bdtrc

from adomnia.errors import Failure
from adomnia.noise import choice, level
from adomnia.noise import choice as module
from adomnia.noise.choice import _envelope, _gaps, weighted_choice
from kit.bits import Exhausted, ScriptedBits, SeededBits
from kit.distributions import exponential_distribution, p_value_of_counts, rational

CHOICES = 4000
ONES = 2**64 - 1
DRAWS = 10_000
COUNTS = {
    "none at first": [0, 0, 3, 5, 5, 40],
    "at once": [7],
    "growing": [(3 * k + 1) ** 2 for k in range(60)],
    "beyond 64 bits": [10**40 * (k + 1) ** 3 for k in range(40)],
}


def counts_of(scores, rate, bits, multiplicity=None, choices=CHOICES):
    """How often each candidate is chosen."""
    drawn = [weighted_choice(scores, rate, bits, multiplicity) for _ in range(choices)]
    return np.bincount(drawn, minlength=len(scores))


CASES = {
    "four candidates": ([0, 1, 3, 4], Fraction(1, 2), None),
    "negative scores": ([-7, -3, -3, -5], Fraction(1, 3), None),
    "all equal": ([9] * 7, Fraction(2), None),
    "two, unequal": ([0, 1], Fraction(1, 10), None),
    "multiplicity": ([2, 0, 1], Fraction(1), [1, 10, 3]),
    "large multiplicity": ([0, 12], Fraction(1), [10**5, 1]),
    "tiny rate, wide scores": ([0, 10**6, 2 * 10**6], Fraction(1, 10**6), None),
    "scores near the ends of 64 bits": ([-(2**63), 2**63 - 1, 2**63 - 2**62], Fraction(1, 2**63), None),
    "beyond 64 bits": ([10**30, 10**30 - 10**20, 10**30 + 10**20], Fraction(1, 10**20), None),
    "awkward rate": ([0, 5, 11], Fraction(355, 1130), [3, 2, 1]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.no_cover
def test_candidates_are_chosen_with_their_exact_probabilities(name, seeded_bits):
    listed, rate, copies = CASES[name]
    scores = np.array(listed, dtype=object if max(map(abs, listed)) > 2**63 else np.int64)
    multiplicity = None if copies is None else np.array(copies, dtype=np.int64)
    counts = counts_of(scores, rate, seeded_bits, multiplicity)
    assert p_value_of_counts(counts, exponential_distribution(listed, rate, copies)) >= 1e-6


@pytest.mark.no_cover
def test_a_wrong_rate_is_told_apart(seeded_bits):
    scores, rate = np.array([0, 3, 6, 9, 12]), Fraction(1, 4)
    counts = counts_of(scores, rate, seeded_bits, choices=10_000)
    assert p_value_of_counts(counts, exponential_distribution(scores.tolist(), rate)) >= 1e-6
    for wrong in (Fraction(9, 10), Fraction(11, 10), Fraction(1, 2), Fraction(2)):
        assert p_value_of_counts(counts, exponential_distribution(scores.tolist(), rate * wrong)) < 1e-6


def test_objects_and_machine_integers_draw_the_same_choice():
    scores = np.array([3, -2, 0, 5])
    for seed in range(50):
        as_objects = weighted_choice(scores.astype(object), Fraction(1, 3), SeededBits(seed))
        assert as_objects == weighted_choice(scores, Fraction(1, 3), SeededBits(seed))


@pytest.mark.no_cover
def test_a_candidate_of_multiplicity_m_is_m_candidates(seeded_bits):
    merged = counts_of(np.array([4, 2]), Fraction(1, 2), seeded_bits, np.array([1, 5]))
    apart = counts_of(np.array([4, 2, 2, 2, 2, 2]), Fraction(1, 2), seeded_bits)
    distribution = exponential_distribution([4, 2], Fraction(1, 2), [1, 5])
    assert p_value_of_counts(merged, distribution) >= 1e-6
    assert p_value_of_counts(np.array([apart[0], apart[1:].sum()]), distribution) >= 1e-6


@pytest.mark.parametrize("gap", [10**6, 10**18, 2**64 - 1, 10**40])
@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1), Fraction(10**6)], ids=str)
def test_hopeless_candidates_neither_crash_nor_win(gap, rate, seeded_bits):
    scores = np.array([0, gap, 0], dtype=object) - 2**63
    if gap < 2**64:
        scores = scores.astype(np.int64)
    assert {weighted_choice(scores, rate, seeded_bits) for _ in range(50)} == {1}


@pytest.mark.no_cover
def test_a_hopeless_crowd_wins_as_often_as_its_size_says(seeded_bits):
    # exp(-30) is below every float tolerance, and 10**13 copies of it are not.
    counts = counts_of(np.array([30, 0]), Fraction(1), seeded_bits, np.array([1, 10**13], dtype=np.int64))
    chance = 10**13 * exp(-30) / (1 + 10**13 * exp(-30))
    assert 0.4 < chance < 0.6
    assert min(bdtr(counts[1], CHOICES, chance), bdtrc(counts[1] - 1, CHOICES, chance)) >= 5e-7


@pytest.mark.no_cover
def test_a_million_candidates_follow_their_scores(seeded_bits):
    scores = np.arange(10**6) % 1000
    rate = Fraction(1, 100)
    drawn = np.array([weighted_choice(scores, rate, seeded_bits) for _ in range(100)])
    distribution = exponential_distribution(list(range(1000)), rate)
    cells = np.searchsorted(np.cumsum(distribution), np.arange(1, 8) / 8)
    masses = np.diff([0.0, *np.cumsum(distribution)[cells], 1.0])
    assert p_value_of_counts(np.bincount(np.searchsorted(cells, drawn % 1000), minlength=8), masses) >= 1e-6
    assert p_value_of_counts(np.bincount(drawn // 125_000, minlength=8), np.full(8, 1 / 8)) >= 1e-6
    assert p_value_of_counts(np.bincount(np.searchsorted(cells, drawn % 700), minlength=8), masses) < 1e-6


@pytest.mark.no_cover
def test_a_million_equal_candidates_are_all_possible(seeded_bits):
    drawn = np.array([weighted_choice(np.zeros(10**6, dtype=np.int64), Fraction(1), seeded_bits) for _ in range(100)])
    assert p_value_of_counts(np.bincount(drawn // 100_000, minlength=10), np.full(10, 0.1)) >= 1e-6
    assert len(set(drawn.tolist())) >= 97  # 100 of 1e6 at random: four repeats have chance 1e-10


def test_the_best_of_a_million_is_found_among_hopeless_ones(seeded_bits):
    scores = np.full(10**6, -(10**18))
    scores[123_456] = 0
    assert weighted_choice(scores, Fraction(1), seeded_bits) == 123_456


@pytest.mark.parametrize("score", [0, -5, 2**62])
def test_a_single_candidate_is_chosen(score, seeded_bits):
    assert weighted_choice(np.array([score]), Fraction(1, 3), seeded_bits) == 0


@pytest.mark.parametrize("proposals", [0, ONES])
def test_a_source_that_rejects_for_ever_ends_in_failure(proposals):
    class Stuck:
        def words(self, count):
            return np.full(count, ONES if count == 1 else proposals, dtype=np.uint64)

    with pytest.raises(Failure):
        weighted_choice(np.array([3, 1, 2]), Fraction(1), Stuck())


def test_the_answer_is_a_plain_integer(seeded_bits):
    assert type(weighted_choice(np.array([1, 2]), Fraction(1), seeded_bits)) is int


def test_the_scores_are_not_changed(seeded_bits):
    scores, copies = np.array([5, 1, 3]), np.array([1, 2, 3])
    weighted_choice(scores, Fraction(1), seeded_bits, copies)
    assert scores.tolist() == [5, 1, 3]
    assert copies.tolist() == [1, 2, 3]


def test_no_candidate_is_refused(seeded_bits):
    with pytest.raises(ValueError, match=r"^weighted_choice scores must be .* at least one"):
        weighted_choice(np.array([], dtype=np.int64), Fraction(1), seeded_bits)


@pytest.mark.parametrize("scores", [np.zeros((2, 2), dtype=np.int64), np.array(3)], ids=["table", "number"])
def test_scores_that_are_no_vector_are_refused(scores, seeded_bits):
    with pytest.raises(ValueError, match=r"^weighted_choice scores must be a vector"):
        weighted_choice(scores, Fraction(1), seeded_bits)


@pytest.mark.parametrize("dtype", [np.float64, np.bool_, np.int32, np.uint64, "U3"])
def test_scores_that_are_no_integers_are_refused(dtype, seeded_bits):
    with pytest.raises((TypeError, ValueError), match=r"^weighted_choice scores must be int64"):
        weighted_choice(np.array([1, 0, 1], dtype=dtype), Fraction(1), seeded_bits)


@pytest.mark.parametrize(
    "copies", [np.array([1, 0]), np.array([1, -1]), np.array([1]), np.array([1.0, 2.0]), np.array([[1, 2]])], ids=str
)
def test_multiplicities_that_are_no_sizes_are_refused(copies, seeded_bits):
    with pytest.raises((TypeError, ValueError), match=r"^weighted_choice multiplicity must be"):
        weighted_choice(np.array([1, 2]), Fraction(1), seeded_bits, copies)


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf"), "1", None, True, Decimal("NaN")], ids=repr)
def test_rates_that_are_no_positive_numbers_are_refused_by_name_field_rule_and_value(rate, seeded_bits):
    with pytest.raises(ValueError, match=r"^weighted_choice rate must be .*, got .+\.$"):
        weighted_choice(np.array([1, 2]), rate, seeded_bits)


ENVELOPES = {
    "few": (np.array([0, 1, 3, 4]), Fraction(1, 2), np.array([1, 1, 1, 1])),
    "all of 64 bits": (np.array([-(2**63), 2**63 - 1, 2**62]), Fraction(1, 2**60), np.array([5, 1, 7])),
    "beyond 64 bits": (np.array([10**30, 0, 10**29], dtype=object), Fraction(3, 10**29), np.array([1, 10**15, 2])),
    "many": (np.arange(200) * 37 % 1001, Fraction(1, 97), np.arange(1, 201)),
    "far apart": (np.array([0, 99, 100, 101, 5000]), Fraction(1), np.array([1, 1, 1, 10**12, 10**12])),
}


@pytest.mark.parametrize("name", ENVELOPES)
def test_the_envelope_is_never_below_a_weight_and_never_far_above(name):
    scores, rate, copies = ENVELOPES[name]
    gaps = _gaps(scores)
    envelope, doublings = _envelope(gaps, rate, copies)
    assert envelope.astype(object).sum() < 2**62
    with mpmath.workdps(80):
        for gap, size, above in zip(gaps.tolist(), copies.tolist(), envelope.tolist(), strict=True):
            weight = mpmath.ldexp(size * mpmath.exp(-rational(rate * gap)), doublings)
            assert weight <= above <= weight * (1 + mpmath.mpf(2) ** -38) + 2 or rate * gap > 100


@pytest.mark.parametrize("name", ENVELOPES)
def test_acceptance_turns_exactly_where_the_weight_meets_its_envelope(name):
    """Propose each candidate by hand, then give a uniform number just below its ratio and one just above."""
    scores, rate, copies = ENVELOPES[name]
    gaps = _gaps(scores)
    envelope, doublings = _envelope(gaps, rate, copies)
    ends = np.cumsum(envelope)
    for index in range(0, len(scores), max(1, len(scores) // 8)):
        with mpmath.workdps(120):
            weight = mpmath.ldexp(int(copies[index]) * mpmath.exp(-rational(rate * int(gaps[index]))), doublings)
            turn = int(mpmath.floor(mpmath.ldexp(weight / int(envelope[index]), 256)))
        proposal = int(ends[index]) - 1
        assert turn < 2**100 or chosen_with(scores, rate, copies, proposal, turn - 2**90) == index
        assert turn > 2**256 - 2**100 or chosen_with(scores, rate, copies, proposal, turn + 2**90) is None


def chosen_with(scores, rate, copies, proposal, uniform):
    """The choice for this proposal and these first 256 bits of the uniform number, or None if it is rejected."""
    bits = ScriptedBits([[proposal, 0], *([uniform >> 64 * place & ONES] for place in (3, 2, 1, 0))])
    try:
        chosen = weighted_choice(scores, rate, bits, copies)
    except Exhausted:
        chosen = None
    proposals = sum(size > 1 for size in bits.requests)
    assert chosen is not None or proposals > 1, "256 bits must decide"
    return chosen if proposals == 1 else None


def test_scores_that_mask_or_wrap_are_refused(seeded_bits):
    masked = np.ma.MaskedArray(np.array([5, 1]), mask=[1, 0])
    wrapping = np.empty(2, dtype=object)
    wrapping[:] = [np.int64(2**62), np.int64(-(2**63))]
    for scores in (masked, wrapping):
        with pytest.raises(TypeError, match=r"^weighted_choice scores must be int64 or Python integers, got"):
            weighted_choice(scores, Fraction(1), seeded_bits)


def test_the_work_of_a_choice_follows_from_the_rate_alone(seeded_bits, monkeypatch):
    """The number of tables used to follow the largest gap, which is data, and showed in the time."""
    tables = []
    powers = choice._powers
    monkeypatch.setattr(choice, "_powers", lambda rate: tables.append(rate) or powers(rate))
    for gap in (1, 1023, 1024, 10**6):
        weighted_choice(np.array([0, gap]), Fraction(1, 50), seeded_bits)
    assert len(tables) == 4 * len(set(tables))


def distribution(copies, rate, levels=400):
    weights = np.array([float(copies[min(k, len(copies) - 1)]) * np.exp(-rate * k) for k in range(levels)])
    return weights / weights.sum()


def p_value(draws, probabilities):
    """Of a chi-square test, cells of fewer than ten expected draws put together."""
    seen = np.bincount(np.minimum(draws, len(probabilities) - 1), minlength=len(probabilities))
    expected = probabilities * len(draws)
    small = expected < 10
    observed = np.append(seen[~small], seen[small].sum())
    wanted = np.append(expected[~small], expected[small].sum())
    return stats.chisquare(observed, wanted).pvalue


@pytest.mark.parametrize("copies", COUNTS.values(), ids=COUNTS)
@pytest.mark.parametrize("rate", [Fraction(1, 7), Fraction(2)])
@pytest.mark.no_cover
def test_draws_fit_the_distribution_and_no_other(copies, rate):
    """False alarms: below 1e-7 for each of eight; a rate that is a tenth off is found out."""
    bits = SeededBits((len(copies), rate))
    draws = np.array([level(copies, rate, bits) for _ in range(DRAWS)])
    assert p_value(draws, distribution(copies, float(rate))) > 1e-7
    assert p_value(draws, distribution(copies, 1.1 * float(rate))) < 1e-7


@pytest.mark.no_cover
def test_a_uniform_number_that_leaves_two_levels_open_is_refined(monkeypatch):
    """With two bits at a time nearly every draw is open at first, and the distribution is the same."""
    monkeypatch.setattr(module, "_GUARD_BITS", 2)
    bits = SeededBits("refined")
    draws = np.array([level(COUNTS["growing"], Fraction(1, 7), bits) for _ in range(DRAWS)])
    assert p_value(draws, distribution(COUNTS["growing"], 1 / 7)) > 1e-7


def test_what_stays_open_for_ever_is_a_failure(monkeypatch):
    monkeypatch.setattr(module, "_falling_powers", lambda rate, count, precision: ([0] * count, [1 << 2000] * count))
    with pytest.raises(Failure):
        level([1, 2], Fraction(1), SeededBits("open"))


@pytest.mark.parametrize("copies", [[2, 1], [0, 0]])
def test_counts_that_fall_or_are_none_are_refused(copies):
    with pytest.raises(ValueError, match="never fall"):
        level(copies, Fraction(1), SeededBits("none"))
