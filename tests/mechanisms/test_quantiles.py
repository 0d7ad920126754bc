"""Quantiles: their distribution against enumeration, their cost over small databases, what is read of a histogram."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp, isclose, log

import numpy as np
import pytest
from scipy import stats

from adomnia.errors import Failure
from adomnia.mechanisms.draws import Draw
from adomnia.mechanisms.histograms import SecretHistogram
from adomnia.mechanisms.quantiles import MOST_VALUES, Quantiles
from adomnia.mechanisms.round_numbers import MOST_BEYOND, Target, scores
from adomnia.privacy.events import BoundedRange, Concentrated, Pure
from adomnia.privacy.sensitivity import Sensitivity
from kit.bits import SeededBits
from kit.quantiles import ONE, drawn, exact_distribution, secret

HALF, ZERO = Fraction(1, 2), Fraction(0)
MEDIAN = (Target(HALF, ZERO),)
ROWS = [1, 2, 2, 3, 7, 8, 8, 9]
TARGETS = {
    "median": MEDIAN,
    "around": (Target(HALF, Fraction(-1), -3), Target(HALF, Fraction(1), 3)),
    "two shares": (Target(Fraction(1, 4), Fraction(-1, 3)), Target(Fraction(9, 10), ZERO, 2)),
    "extremes": (Target(ZERO, Fraction(3), 2), Target(Fraction(1), Fraction(-1))),
    "three": (Target(ZERO, Fraction(1), 1), Target(Fraction(333, 1000), ZERO), Target(Fraction(1, 2), ZERO)),
}
every_target = pytest.mark.parametrize("targets", TARGETS.values(), ids=TARGETS)


def p_value(draws, mechanism):
    """Of a chi-square test, neighbouring outcomes put together until ten draws are expected of them."""
    outcomes, counts = np.unique(draws, axis=0, return_counts=True)
    seen = dict(zip(map(tuple, outcomes.tolist()), counts.tolist(), strict=True))
    assert seen.keys() <= mechanism.keys()
    observed, wanted = [0.0], [0.0]
    for outcome, chance in mechanism.items():
        if wanted[-1] >= 10:
            observed.append(0.0)
            wanted.append(0.0)
        observed[-1] += seen.get(outcome, 0)
        wanted[-1] += chance * len(draws)
    return stats.chisquare(observed, np.array(wanted) / sum(wanted) * sum(observed)).pvalue


def test_one_target_is_the_plain_exponential_mechanism():
    """On the grid 0..10 at epsilon 1: the probabilities of 3 and 2 by hand."""
    mechanism = exact_distribution(Quantiles(MEDIAN, 11, HALF), ROWS)
    distances = [4, 3, 1, 0, 0, 0, 0, 0, 1, 3, 4]
    plain = [exp(-distance) for distance in distances]
    assert all(isclose(mechanism[value,], weight / sum(plain)) for value, weight in enumerate(plain))
    assert mechanism[3,] == pytest.approx(0.170301, abs=1e-6)
    assert mechanism[2,] == pytest.approx(0.0626501, abs=1e-7)


@every_target
@pytest.mark.parametrize(("bucket_bits", "looks_first"), [(10, True), (2, True), (2, False)])
@pytest.mark.no_cover
def test_draws_have_the_distribution_however_the_histogram_is_read(targets, bucket_bits, looks_first, monkeypatch):
    """False alarms: below 1e-7 for each of fifteen; twice the rate is found out."""
    monkeypatch.setattr("adomnia.privacy.scans._BUCKET_BITS", bucket_bits)
    if not looks_first:
        monkeypatch.setattr(Draw, "near", lambda _: [])
    mechanism, bits = Quantiles(targets, 11, HALF), SeededBits((len(targets), bucket_bits, looks_first))
    draws = mechanism.release(secret(mechanism, *[ROWS] * 500), bits)
    assert p_value(draws, exact_distribution(mechanism, ROWS)) > 1e-7
    assert p_value(draws, exact_distribution(replace(mechanism, rate=mechanism.rate * 2), ROWS)) < 1e-7


@every_target
def test_the_distribution_in_doubles_is_the_enumerated_one(targets):
    mechanism = Quantiles(targets, 11, HALF)
    assert p_value(drawn(mechanism, ROWS, 100_000, SeededBits("doubles")), exact_distribution(mechanism, ROWS)) > 1e-7


def databases(values, rows):
    return [each for size in range(rows + 1) for each in combinations_with_replacement(range(values), size)]


@every_target
@pytest.mark.parametrize("of_a_person", [1, 2])
@pytest.mark.no_cover
def test_no_outcome_is_more_than_exp_epsilon_times_likelier_for_a_neighbour(targets, of_a_person):
    """All databases of up to three rows on four values, and all that one person may add; the bound is nearly met."""
    mechanism, worst = Quantiles(targets, 4, Fraction(1, 4)), 0.0
    distributions = {rows: exact_distribution(mechanism, rows) for rows in databases(4, 3 + of_a_person)}
    for rows, added in product(databases(4, 3), databases(4, of_a_person)):
        more = distributions[tuple(sorted(rows + added))]
        losses = [log(more[outcome] / chance) for outcome, chance in distributions[rows].items()]
        worst = max(worst, max(losses) - min(losses))
    epsilon = float(mechanism.event(Sensitivity(l1=of_a_person)).epsilon)
    assert epsilon / 2 < worst <= epsilon + 1e-9


def test_a_row_less_than_its_whole_move_is_seen_in_the_distribution():
    """Were a row's move taken for a half where it is nine tenths, the same search would find out."""
    mechanism = Quantiles((Target(Fraction(9, 10), ZERO),), 4, Fraction(1, 4))
    wrong = replace(mechanism, rate=mechanism.rate * Fraction(9, 5))
    distributions = {rows: exact_distribution(wrong, rows) for rows in databases(4, 4)}
    worst = 0.0
    for rows, added in product(databases(4, 3), range(4)):
        more = distributions[tuple(sorted((*rows, added)))]
        losses = [log(more[outcome] / chance) for outcome, chance in distributions[rows].items()]
        worst = max(worst, max(losses) - min(losses))
    assert worst > float(mechanism.event(ONE).epsilon) + 0.05


@pytest.mark.parametrize(
    ("shares", "whole"), [([HALF], 8192), ([Fraction(1, 4), Fraction(9, 10)], 8190), ([Fraction(999, 1000)], 7992)]
)
def test_a_row_moves_no_score_by_more_than_its_parts(shares, whole):
    found, parts = scores(shares)
    assert found == whole
    for share, part in zip(shares, parts, strict=True):
        move = max(share, 1 - share) * share.denominator * part
        assert 0.9 * found < move <= found


def test_many_shares_that_have_no_common_measure_are_scored_nearly_alike():
    shares = [Fraction(place, 1000) for place in range(1, 1000)]
    whole, parts = scores(shares)
    moves = [max(share, 1 - share) * share.denominator * part for share, part in zip(shares, parts, strict=True)]
    assert whole <= 8192
    assert max(moves) <= whole
    assert min(moves) > 0.85 * whole


def test_cells_are_drawn_by_themselves_and_few_buckets_are_read():
    rows = [np.arange(0, 2**20, 977), np.arange(5, 2**20, 1303), []]
    mechanism = Quantiles((Target(HALF, ZERO),), 2**20, Fraction(1))
    reads = []
    chosen = mechanism.release(secret(mechanism, *rows, reads=reads), SeededBits("cells"))
    assert chosen.shape == (3, 1)
    assert all(abs(value - 2**19) < 977 * 30 for value in chosen[:2, 0].tolist())
    assert reads[0] is None
    assert 1 <= len(reads[1]) < 100
    assert len(reads) == 2


def test_what_a_draw_comes_upon_unread_is_read_then(monkeypatch):
    monkeypatch.setattr("adomnia.privacy.scans._BUCKET_BITS", 2)
    monkeypatch.setattr(Draw, "near", lambda _: [])
    mechanism, reads = Quantiles(MEDIAN, 11, HALF), []
    assert mechanism.release(secret(mechanism, ROWS, reads=reads), SeededBits("unread")).shape == (1, 1)
    assert reads[0] is None
    assert all(reads[1:])
    assert len(reads) > 1


def test_the_price_is_what_the_event_costs():
    moved = Sensitivity(l1=3)
    assert Quantiles(MEDIAN, 5, Quantiles.rate_for(moved, Pure(HALF))).event(moved) == BoundedRange(HALF)
    rho = Quantiles(MEDIAN, 5, Quantiles.rate_for(moved, Concentrated(HALF))).event(moved).epsilon ** 2 / 8
    assert HALF - Fraction(1, 10**20) < rho <= HALF


def test_a_histogram_opens_once_and_only_for_what_was_paid():
    mechanism = Quantiles(MEDIAN, 11, HALF)
    paid = secret(mechanism, ROWS)
    mechanism.release(paid, SeededBits("once"))
    with pytest.raises(ValueError, match="opens once"):
        mechanism.release(paid, SeededBits("twice"))
    reads = []
    unpaid = secret(replace(mechanism, rate=HALF / 2), ROWS, reads=reads)
    with pytest.raises(ValueError, match="does not cover"):
        mechanism.release(unpaid, SeededBits("unpaid"))
    assert reads == []
    assert isinstance(paid, SecretHistogram)


def test_a_draw_that_is_never_accepted_is_a_failure(monkeypatch):
    monkeypatch.setattr(Draw, "_propose", lambda *_: None)
    with pytest.raises(Failure):
        mechanism = Quantiles(MEDIAN, 11, HALF)
        mechanism.release(secret(mechanism, ROWS), SeededBits("never"))


def test_the_most_values_beyond_the_largest_grid_are_drawn_from():
    mechanism = Quantiles((Target(ZERO, Fraction(50), MOST_BEYOND),), MOST_VALUES, HALF)
    few, many = mechanism.release(secret(mechanism, [7], [9] * 200), SeededBits("beyond")).tolist()
    assert (few, many) == ([MOST_VALUES], [9])


@pytest.mark.parametrize(
    ("targets", "values", "rate", "rule"),
    [
        ((), 5, HALF, "shares"),
        ((Target(Fraction(1, 1001), ZERO),), 5, HALF, "shares"),
        ((Target(Fraction(3, 2), ZERO),), 5, HALF, "shares"),
        (MEDIAN, 0, HALF, "values"),
        (MEDIAN, MOST_VALUES + 1, HALF, "values"),
        ((Target(HALF, ZERO, MOST_BEYOND + 1),), 5, HALF, "values"),
        (MEDIAN, 5, ZERO, "rate"),
        (MEDIAN, 5, Fraction(1, 10**20), "64 bits"),
        (MEDIAN, 5, Fraction(10**9), "64 bits"),
        ((Target(HALF, Fraction(2**50)),), 5, HALF, "64 bits"),
    ],
)
def test_what_cannot_be_drawn_is_refused(targets, values, rate, rule):
    with pytest.raises(ValueError, match=rule):
        Quantiles(targets, values, rate)
