"""Numbers are read as they were typed, or refused in one sentence."""

from __future__ import annotations

from decimal import Decimal

import pytest

from adomnia.cli.options import parse_number
from adomnia.errors import Refusal
from adomnia.typed_options import parse_share


def test_a_number_is_the_decimal_that_was_typed():
    assert parse_number("epsilon", "0.1") == Decimal("0.1")
    assert parse_number("epsilon", None) is None


@pytest.mark.parametrize("written", ["", "half", "1/2", "0,5", "--1"])
def test_what_is_no_number_is_refused(written):
    with pytest.raises(Refusal, match=r"is not a number\. Fix: write --epsilon 0\.5"):
        parse_number("epsilon", written)


def test_a_share_lies_between_nothing_and_all():
    assert parse_share("confidence", "0.95") == 0.95


@pytest.mark.parametrize("written", ["0", "1", "95", "-0.5", "nan", "inf"])
def test_a_share_outside_is_refused(written):
    with pytest.raises(Refusal, match="is not between 0 and 1"):
        parse_share("confidence", written)
