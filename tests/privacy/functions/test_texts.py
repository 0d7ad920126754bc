"""What is known of a text that is one of a few follows through what is computed with it."""

from __future__ import annotations

from fractions import Fraction

from adomnia.privacy.functions.registry import FUNCTIONS
from adomnia.privacy.kinds import Day, Quantity, Text


def test_the_length_of_one_of_a_few_texts_is_bounded():
    length = FUNCTIONS["length"].result
    assert length(Text(("Oslo", "Rome", "Vienna"))) == Quantity(Fraction(4), Fraction(6), whole=True)
    assert length(Text()) == Quantity(Fraction(0), None, whole=True)
    assert length(Day()) is None
