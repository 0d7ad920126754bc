"""Numbers are read as they were typed, or refused in one sentence."""

from __future__ import annotations

from decimal import Decimal

import pytest

from adomnia.cli.options import number, rows, share, weights
from adomnia.errors import Refusal


def test_a_number_is_the_decimal_that_was_typed():
    assert number("epsilon", "0.1") == Decimal("0.1")
    assert number("epsilon", None) is None


@pytest.mark.parametrize("written", ["", "half", "1/2", "0,5", "--1"])
def test_what_is_no_number_is_refused(written):
    with pytest.raises(Refusal, match=r"is not a number\. Fix: write --epsilon 0\.5"):
        number("epsilon", written)


def test_a_share_lies_between_nothing_and_all():
    assert share("confidence", "0.95") == 0.95


@pytest.mark.parametrize("written", ["0", "1", "95", "-0.5", "nan", "inf"])
def test_a_share_outside_is_refused(written):
    with pytest.raises(Refusal, match="is not between 0 and 1"):
        share("confidence", written)


def test_weights_are_written_by_the_names_of_outputs():
    assert weights(["pay=3", "a=b=0.5"]) == {"pay": Decimal(3), "a=b": Decimal("0.5")}
    assert weights(None) == {}


@pytest.mark.parametrize("written", ["pay", "=3", "pay="])
def test_a_weight_without_a_name_or_a_number_is_refused(written):
    with pytest.raises(Refusal, match="--weight"):
        weights([written])


def test_rows_are_a_whole_number():
    assert rows("1e3") == 1000
    assert rows(None) is None


@pytest.mark.parametrize("written", ["0", "-3", "2.5", "nan", "inf", "1e999999999", "1e16"])
def test_other_rows_are_refused(written):
    with pytest.raises(Refusal, match="is not a whole number of at least 1"):
        rows(written)
