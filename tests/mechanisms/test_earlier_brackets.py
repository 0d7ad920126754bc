"""Brackets of earlier versions: their layout and their noise are known, and nothing is measured by them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.errors import Failure
from adomnia.mechanisms.earlier_brackets import EarlierBrackets
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Histogram, Rows
from adomnia.privacy.sensitivity import Sensitivity
from kit.bits import SeededBits
from kit.brackets import secret

HALF = Fraction(1, 2)
AGE = Column("age", Quantity(Fraction(0), Fraction(4), whole=True), Numbers.integers(0, 4))


@pytest.mark.parametrize(("shares", "width"), [((HALF,), 15), ((Fraction(1, 4), HALF), 40)], ids=["one", "two"])
def test_a_stored_answer_has_the_shape_of_then(shares, width):
    asked = Query(Private("people", 2, (AGE,)), (), Histogram(AGE, AGE.domain, shares, Fraction(19, 20)))
    mechanism = EarlierBrackets.for_query(asked, Pure(1))
    assert mechanism.shape(asked) == mechanism.spread_evenly(10).shape == (width,)
    assert mechanism.event(Sensitivity(l1=2)) == Pure(1)
    with pytest.raises(TypeError, match="Histogram"):
        EarlierBrackets.for_query(Query(Private("people", 2, (AGE,)), (), Rows()), Pure(1))


def test_its_counts_had_fixed_parts_of_the_price():
    one, none = EarlierBrackets((HALF,), 5, Fraction(1), Pure(1)), np.zeros(15)
    assert one.counting_of(none).scale == Fraction(100, 73)
    assert one.own_scale_of(none) is None
    several = EarlierBrackets((Fraction(1, 4), HALF), 5, Fraction(1), Concentrated(1))
    assert several.usual_counting == DiscreteGaussian(Fraction(100, 2 * 57))


def test_nothing_is_measured_by_it():
    mechanism = EarlierBrackets((HALF,), 5, Fraction(1), Pure(1))
    with pytest.raises(Failure, match="never measured"):
        mechanism.release(secret(mechanism, [1, 2]), SeededBits("none"))
