"""Sums from the middle: what is measured, and how far one row moves it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import NonNull, Rows, Total
from adomnia.statistics.centred import distances_and_values, plain_total

DOMAIN = Numbers(20, 100, 1)
AGE = Column("age", Quantity(Fraction(20), Fraction(100)), DOMAIN)
SUMMED = Query(Private("people", 1, (AGE,)), (), Total(AGE, DOMAIN))


def test_a_row_moves_the_sum_of_distances_by_half_the_width():
    distances, values = distances_and_values(SUMMED, "Mean")
    assert distances.aggregate == Total(AGE, DOMAIN, centre=60)
    assert values.aggregate == NonNull(AGE)
    assert (SUMMED.sensitivity().l1, distances.sensitivity().l1, values.sensitivity().l1) == (100, 40, 1)


@pytest.mark.parametrize("aggregate", [Rows(), Total(AGE, DOMAIN, centre=3)])
def test_only_a_plain_total_can_be_centred(aggregate):
    with pytest.raises((TypeError, ValueError), match="a Total"):
        plain_total(Query(SUMMED.relation, (), aggregate), "Mean")
