"""The ranks that extremes are told by."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from adomnia.mechanisms.quantiles import Quantiles
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Histogram, Rows

PAY = Column("pay", Quantity(Fraction(0), Fraction(1000)), Numbers(0, 1000, Fraction(1, 4)))
HALF = Fraction(1, 2)


def query(*shares, rows=1, confidence=Fraction(19, 20)):
    return Query(Private("people", rows, (PAY,)), (), Histogram(PAY, PAY.domain, shares, confidence))


def test_an_extreme_asks_so_far_from_the_end_that_all_values_past_it_together_are_unlikely():
    (low,), (high,) = (Quantiles.for_query(query(share), Pure(1)).targets for share in (Fraction(0), Fraction(1)))
    assert low.offset == -high.offset == 23
    assert 4001 * np.exp(-23 / 2) < 0.05 < 4001 * np.exp(-22 / 2)
    assert (low.beyond, high.beyond) == (20, -20)


def test_everything_is_in_proportion_to_price_and_rows():
    def far(price, rows):
        return float(Quantiles.for_query(query(Fraction(0), rows=rows), price).targets[0].offset)

    assert far(Pure(1), 1) == 23
    assert far(Pure(Fraction(1, 10)), 1) == pytest.approx(226, abs=1)
    assert far(Pure(1), 10) == far(Pure(Fraction(1, 10)), 1)
    assert far(Concentrated(Fraction(1, 8)), 1) == far(Pure(1), 1)


def test_a_choice_costs_at_most_its_price():
    asked = query(Fraction(1), rows=3)
    assert Quantiles.for_query(asked, Pure(1)).event(asked.sensitivity()).epsilon == 1
    law = Quantiles.for_query(asked, Concentrated(1))
    assert law.shape(asked) == (1,)
    with pytest.raises(TypeError, match="Histogram"):
        Quantiles.for_query(replace(asked, aggregate=Rows()), Pure(1))


@pytest.mark.parametrize("shares", [(HALF,), (Fraction(0), Fraction(1)), ()])
def test_other_ranks_than_one_extreme_are_refused(shares):
    with pytest.raises(ValueError, match="one extreme"):
        Quantiles.for_query(query(*shares), Pure(1))


def test_rows_that_lie_evenly_are_supposed_at_their_ranks():
    law = Quantiles.for_query(query(Fraction(0)), Pure(1))
    assert law.spread_evenly(1000).tolist() == [round(23 / 1000 * (law.values - 1))]
    assert law.spread_evenly(0).tolist() == [law.values]
