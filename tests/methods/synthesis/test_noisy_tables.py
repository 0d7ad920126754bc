"""What is left of a price: by what each measure does cost, to the last part."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.methods.synthesis.noisy_tables import Remainder
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Measure
from kit.analyses import frame
from kit.searches import examples

QUERY = Query(frame(levels={"a": ("x", "y")}, rows_per_person=3).relation, (), Rows())


def test_a_measure_costs_what_its_mechanism_says():
    remainder = Remainder(Concentrated(1)).pay([Measure(QUERY, Concentrated(Fraction(1, 4)))])
    assert remainder.left == Fraction(3, 4)
    assert remainder.share_spent == 0.25


def test_what_is_kept_for_later_is_not_left():
    assert Remainder(Pure(2), kept=Fraction(1, 2)).left == Fraction(3, 2)


@given(
    st.sampled_from([Pure, Concentrated]),
    st.fractions(Fraction(1, 1000), 100, max_denominator=10**9),
    st.lists(st.fractions(Fraction(1, 1000), 2, max_denominator=10**6), max_size=8),
)
@settings(max_examples=examples(40))
def test_offers_never_add_up_to_more_than_the_price(kind, amount, parts):
    remainder = Remainder(kind(amount))
    for part in parts:
        if not remainder.is_spent:
            remainder = remainder.pay([Measure(QUERY, remainder.offer(part * amount))])
    assert 0 <= remainder.left <= amount


def test_more_than_is_left_is_refused():
    with pytest.raises(ValueError, match="must cover all measures"):
        Remainder(Pure(1)).pay([Measure(QUERY, Pure(Fraction(3, 5)))] * 2)


def test_an_epsilon_pays_for_pure_events_alone():
    gaussian = Measure(QUERY, Concentrated(Fraction(1, 100)))
    with pytest.raises(ValueError, match="pure events"):
        Remainder(Pure(1)).pay([gaussian])
