"""The ranks that are asked for: the law they are taken from, and how far that carries on real shapes of data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from adomnia.mechanisms import ranks
from adomnia.mechanisms.quantiles import Quantiles
from adomnia.privacy.aggregates import Histogram
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private

PAY = Column("pay", Quantity(Fraction(0), Fraction(1000)), Numbers(0, 1000, Fraction(1, 4)))
HALF = Fraction(1, 2)


def query(*shares, rows=1, confidence=Fraction(19, 20)):
    return Query(Private("people", rows, (PAY,)), (), Histogram(PAY, PAY.domain, shares, confidence))


@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("left_open", [0.025, 0.3])
def test_a_rank_is_passed_as_seldom_as_is_asked(count, left_open):
    """By numerical integration over the gamma law of the level."""
    t = ranks._aside(count, left_open)
    density = stats.gamma(count + 1).pdf
    passed, _ = integrate.quad(lambda k: density(k) * (1 - t / k) / 2, t, np.inf)
    assert passed == pytest.approx(left_open, rel=1e-6)


def test_a_quantile_asks_around_itself():
    below, above, left, right = Quantiles.for_query(query(HALF, Fraction(9, 10)), Pure(1)).targets
    assert below.offset == -above.offset < 0
    assert left.offset == -right.offset < below.offset  # nine tenths move nearly twice as far as a half
    assert (below.beyond, above.beyond) == (-5, 5)


def test_an_extreme_asks_so_far_from_the_end_that_all_values_past_it_together_are_unlikely():
    (low,), (high,) = (Quantiles.for_query(query(share), Pure(1)).targets for share in (Fraction(0), Fraction(1)))
    assert low.offset == -high.offset == 23
    assert 4001 * np.exp(-23 / 2) < 0.05 < 4001 * np.exp(-22 / 2)
    assert (low.beyond, high.beyond) == (20, -20)


def test_everything_is_in_proportion_to_price_and_rows():
    def far(price, rows):
        return float(Quantiles.for_query(query(HALF, rows=rows), price).targets[1].offset) - 0.5

    assert far(Pure(1), 1) == pytest.approx(4.2, abs=0.1)
    assert far(Pure(2), 1) == pytest.approx(far(Pure(1), 1) / 2)
    assert far(Pure(1), 3) == pytest.approx(far(Pure(1), 1) * 3)
    assert far(Concentrated(Fraction(1, 8)), 1) == pytest.approx(far(Pure(1), 1))


def test_a_choice_costs_at_most_its_price():
    asked = query(HALF, rows=3)
    assert Quantiles.for_query(asked, Pure(1)).event(asked.sensitivity()).epsilon == 1
    assert isinstance(Quantiles.for_query(asked, Concentrated(1)), Quantiles)


def test_rows_that_lie_evenly_are_supposed_at_their_ranks():
    law = Quantiles.for_query(query(HALF), Pure(1))
    low, high = law.spread_evenly(1000).tolist()
    assert low + high == law.values - 1
    assert (high - low) / law.values == pytest.approx(2 * float(law.targets[1].offset) / 1000, abs=1e-3)
    assert law.spread_evenly(0).tolist() == [-1, law.values]
