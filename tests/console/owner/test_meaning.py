from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.console.owner.meaning import explain_amounts


@pytest.mark.parametrize(("epsilon", "says", "whole", "sliced"), [(1, "2.67 in 100", 1, 1), (100, "100 in 100", 99, 0)])
def test_dots_are_as_many_as_the_words_say(epsilon, says, whole, sliced):
    meaning = explain_amounts(Fraction(epsilon), Fraction(0))
    assert (meaning.says, meaning.beside) == (says, "")
    assert len(meaning.dots) == 100
    assert [dot.before for dot in meaning.dots].count(True) == 1
    assert sum(dot.added for dot in meaning.dots) == whole
    assert sum(bool(dot.slice) for dot in meaning.dots) == sliced


def test_a_delta_is_said_beside():
    assert explain_amounts(Fraction(1), Fraction(1, 10**6)).beside == ", but for a chance of 0.000001"
