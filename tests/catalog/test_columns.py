"""What a column declares is all that is known of it: the kind, and the grid of a bounded number."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.catalog.columns import read_columns
from adomnia.catalog.document import Document
from adomnia.errors import Refusal
from adomnia.privacy.domains import Numbers
from adomnia.privacy.kinds import Day, Quantity, Text
from catalog.catalogs import changed, reading


def column(tmp_path, declaration):
    return reading(tmp_path, changed('{ type = "boolean" }', declaration)).table("people").column("smoker")


def test_a_number_is_read_by_the_decimal_that_was_written(tmp_path):
    read = column(tmp_path, '{ type = "number", lower = 0.1, upper = 0.7, step = 0.1 }')
    assert read.kind == Quantity(Fraction(1, 10), Fraction(7, 10))
    assert read.domain == Numbers(Fraction(1, 10), Fraction(7, 10), Fraction(1, 10))


def test_an_integer_may_have_a_single_value(tmp_path):
    assert column(tmp_path, '{ type = "integer", lower = 7, upper = 7 }').domain == Numbers.integers(7, 7)


def test_a_single_number_needs_a_step(tmp_path):
    assert column(tmp_path, '{ type = "number", lower = 7, upper = 7, step = 0.5 }').domain.width == 0
    with pytest.raises(Refusal, match="must be > lower where no step is given, got 7"):
        column(tmp_path, '{ type = "number", lower = 7, upper = 7 }')


def test_an_integer_reaches_as_far_as_doubles_are_exact(tmp_path):
    assert column(tmp_path, f'{{ type = "integer", lower = {-(2**53)}, upper = {2**53} }}').domain.magnitude == 2**53


@pytest.mark.parametrize(
    ("declaration", "kind"),
    [
        ('{ type = "integer" }', Quantity(whole=True)),
        ('{ type = "number" }', Quantity()),
        ('{ type = "date" }', Day()),
        ('{ type = "text" }', Text()),
        ('{ type = "category", values = ["", "æ", "a.b"] }', Text(("", "æ", "a.b"))),
    ],
)
def test_nothing_is_known_that_was_not_declared(tmp_path, declaration, kind):
    read = column(tmp_path, declaration)
    assert (read.kind, read.domain) == (kind, None)


def test_a_public_table_without_columns_has_none(tmp_path):
    document = Document(tmp_path, "", {"tables": {"cities": {}}})
    assert read_columns(document, "cities", lambda path, written: ()) == ()


@given(lower=st.integers(-(10**9), 10**9), span=st.integers(1, 10**9))
def test_every_pair_of_bounds_in_order_makes_a_domain_that_has_exactly_them(lower, span):
    content = {"t": {"columns": {"x": {"type": "number", "lower": lower, "upper": lower + span}}}}
    (read,) = read_columns(Document("catalog.toml", "", {"tables": content}), "t", lambda path, written: ())
    assert (read.domain.lower, read.domain.upper) == (lower, lower + span)
    assert (read.kind.lower, read.kind.upper) == (lower, lower + span)
