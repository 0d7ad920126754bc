"""What each way is expected to be off by, against what it is off by."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import inf

import numpy as np
import pytest

from adomnia.methods.parts.robust.expected_errors import WAYS, QuantileFacts, compare, say
from adomnia.privacy.events import Concentrated, Pure
from kit.analyses import frame
from kit.describing import build, table_of

FRAME = frame({"x": (0, 100)})
COLUMN = FRAME.numbers["x"]
MEDIAN = (Fraction(1, 2),)
MANY = tuple(Fraction(place, 100) for place in range(3, 100, 3))


USUAL = QuantileFacts(MEDIAN, width=100.0, rows=1000, spread=50.0, rows_per_person=1, price=Pure(1))


def facts(**others):
    return replace(USUAL, **others)


def test_one_quantile_is_best_chosen_and_many_are_best_counted():
    assert next(iter(compare(facts(), told=False))) == "exponential"
    assert next(iter(compare(facts(shares=MANY), told=False))) != "exponential"


def test_the_smooth_way_is_compared_only_where_a_release_told_the_spread():
    assert "smooth" not in compare(facts(), told=False)
    assert "smooth" in compare(facts(), told=True)
    assert "smooth" not in compare(facts(shares=MANY), told=True)


def test_a_choice_among_few_rows_is_expected_to_be_far_off():
    few, many = (WAYS["exponential"](facts(rows=rows, spread=0.01)).error for rows in (10, 10_000))
    assert few > 20
    assert many < 0.001


@pytest.mark.parametrize("way", sorted(WAYS))
@pytest.mark.parametrize("dear", [Pure(2), Concentrated(2)])
def test_a_higher_price_more_rows_and_fewer_rows_a_person_are_never_expected_to_be_worse(way, dear):
    cheap = Pure(1) if isinstance(dear, Pure) else Concentrated(1)
    before = WAYS[way](facts(price=cheap)).error
    assert WAYS[way](facts(price=dear)).error <= before
    assert WAYS[way](facts(price=cheap, rows=10_000)).error <= before
    assert WAYS[way](facts(price=cheap, rows_per_person=3)).error >= before


@pytest.mark.parametrize("kind", [Pure, Concentrated])
def test_the_dearest_and_the_cheapest_price_have_an_expected_error_too(kind):
    """An exponential of the price that is not cut overflows, and before that makes the dearer answer the worse one."""
    prices = [kind(Fraction(10) ** power) for power in range(-100, 101, 4)] + [kind(20), kind(3000)]
    assert all(0 <= way(facts(price=price)).error < inf for way in WAYS.values() for price in prices)
    smooth = [WAYS["smooth"](facts(price=kind(epsilon))).error for epsilon in (1, 2, 4, 8, 20, 3000)]
    assert all(first > second for first, second in pairwise(smooth))


def off_by(way, price, rows, repeats=60):
    """How far medians of evenly spread values are off, on average."""
    asked = build("location", FRAME, column=COLUMN, method=way, sample_size=rows, inference="data").specialize_for(
        price
    )
    found = []
    for seed in range(repeats):
        values = np.random.default_rng(seed).uniform(0, 100, rows)
        table = table_of(asked, price, {"x": values}, seed)
        found.append(abs(table.estimates["estimate"].values[0] - np.median(values)))
    return float(np.mean(found))


@pytest.mark.parametrize("way", ["exponential", "histogram", "tree"])
@pytest.mark.parametrize("price", [Pure(1), Concentrated(Fraction(1, 2))], ids=["epsilon", "rho"])
def test_what_is_expected_is_within_a_factor_of_three_of_what_happens(way, price):
    """By seeds: a mean of 60 errors is within a third of its expectation."""
    expected = WAYS[way](facts(rows=2000, price=price)).error
    assert 1 / 3 < off_by(way, price, 2000) / expected < 3


PINNED = [
    (MEDIAN, "auto", 1000, Pure(1), ("brackets", 64)),
    (MANY, "auto", 1000, Pure(1), ("histogram", 128)),
    (MANY, "auto", 10**6, Concentrated(1), ("brackets", 64)),
    (MANY, "tree", 1000, Pure(1), ("tree", 64)),
    (MANY, "tree", 10**6, Pure(1), ("tree", 512)),
    (MANY, "histogram", 1000, Concentrated(Fraction(1, 10)), ("histogram", 64)),
    (MANY, "histogram", 10**5, Pure(2), ("histogram", 512)),
]


@pytest.mark.parametrize(("probs", "way", "rows", "price", "suited"), PINNED)
def test_ways_and_bins_stay_as_they_are_because_stored_answers_are_read_by_them(probs, way, rows, price, suited):
    """A ledger keeps noisy counts, and not the bins: with others they are read as another answer, or as none.

    Who changes an expectation changes rules, and adds a version to adomnia.pricing.rules.
    """
    asked = build("location", FRAME, column=COLUMN, probs=probs, method=way, sample_size=rows, inference="data")
    found = asked.specialize_for(price)
    assert (found.way, found.bins) == suited


def test_the_comparison_is_told_best_first():
    told = say(compare(facts(), told=False))
    assert told.startswith("exponential 0.1,")
    assert say(compare(facts(width=1e9, spread=5e8), told=False)).startswith("exponential 1.00e+06")
