"""Kinds say what may be known of a value without looking."""

from fractions import Fraction

import pytest

from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (Quantity(), "number"),
        (Quantity(whole=True), "integer"),
        (Boolean(), "boolean"),
        (Text(), "text"),
        (Text(("F", "M")), "category"),
        (Day(), "date"),
        (Identity(), "id"),
        (Identity(person=True), "id"),
    ],
)
def test_a_kind_is_called_what_the_catalog_calls_it(kind, word):
    assert str(kind) == word


@pytest.mark.parametrize(
    ("lower", "upper", "bounded"),
    [(0, 1, True), (None, 1, False), (0, None, False), (None, None, False), (0, 0, True)],
)
def test_a_number_is_bounded_on_both_sides_or_not_at_all(lower, upper, bounded):
    ends = [None if end is None else Fraction(end) for end in (lower, upper)]
    assert Quantity(*ends).bounded is bounded
