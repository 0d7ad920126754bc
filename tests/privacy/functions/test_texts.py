"""What is known of a text that is one of a few follows through what is computed with it."""

from __future__ import annotations

from fractions import Fraction

from adomnia.privacy.functions.registry import FUNCTIONS
from adomnia.privacy.kinds import Day, Quantity, Text


def test_a_place_in_a_text_is_bounded_by_its_length():
    position = FUNCTIONS["position"].result
    assert position(Text(("Oslo", "Vienna")), Text()) == Quantity(Fraction(0), Fraction(6), whole=True)
    assert position(Text(("",)), Text()) == Quantity(Fraction(0), Fraction(1), whole=True)
    assert position(Text(), Text()) == Quantity(Fraction(0), Fraction(1024), whole=True)
    assert position(Text(), Day()) is None


def test_only_texts_are_replaced_in_texts():
    assert FUNCTIONS["replace"].result(Text(("Oslo",)), Text(), Text()) == Text()
    assert FUNCTIONS["replace"].result(Text(), Text(), Day()) is None
    assert FUNCTIONS["replace"].result(Day(), Text(), Text()) is None


def test_the_length_of_one_of_a_few_texts_is_bounded():
    length = FUNCTIONS["length"].result
    assert length(Text(("Oslo", "Rome", "Vienna"))) == Quantity(Fraction(4), Fraction(6), whole=True)
    assert length(Text()) == Quantity(Fraction(0), None, whole=True)
    assert length(Day()) is None
