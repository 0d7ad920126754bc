"""What people type is read by the kind of its option, or refused in one sentence."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from adomnia.errors import Refusal
from adomnia.options import ASK, EXPLAIN, PRICE
from adomnia.pricing.questions import check_names
from adomnia.typed_options import list_typed, read_options


def read(**typed):
    return read_options({flag.replace("_", "-"): written for flag, written in typed.items()}, ASK)


def test_what_is_not_typed_is_not_named():
    assert read(epsilon=None, weight=None, no_interval=False) == {}


def test_each_kind_is_read_as_what_it_is():
    assert read(epsilon="0.1", error="50", rows="1e3", confidence="0.9", effort="high", fresh=True) == {
        "epsilon": Decimal("0.1"),
        "error": 50.0,
        "rows": 1000,
        "confidence": 0.9,
        "effort": "high",
        "replay": False,
    }


def test_options_of_other_requests_are_left_out():
    typed = {"epsilon": "1", "fresh": True, "simultaneous": True}
    assert read_options(typed, EXPLAIN) == {"epsilon": Decimal(1)}
    assert read_options(typed, PRICE) == {"epsilon": Decimal(1), "simultaneous": True}


def test_an_answer_that_is_shown_is_not_asked_for_other_intervals():
    assert {row.name for row in list_typed(PRICE)} - {row.name for row in list_typed(ASK)} == {"simultaneous"}


def test_weights_are_written_by_the_names_of_outputs():
    assert read(weight=["pay=3", "a=b=0.5"])["weights"] == {"pay": Decimal(3), "a=b": Decimal("0.5")}


@pytest.mark.parametrize("written", [["pay"], ["=3"], ["pay="], ["pay=3", "pay=5"]])
def test_a_weight_without_a_name_or_a_number_of_its_own_is_refused(written):
    with pytest.raises(Refusal, match="--weight"):
        read(weight=written)


@pytest.mark.parametrize("written", ["0", "-3", "2.5", "nan", "inf", "1e999999999", "1e16"])
def test_other_rows_are_refused(written):
    with pytest.raises(Refusal, match="is not a whole number of at least 1"):
        read(rows=written)


def test_parameters_are_read_as_what_they_look_like():
    written = ["a=-1.5", "b=TRUE", "c=null", "d=2024-01-31", "e=x=y", "f='7'", "g=", "h=2024-13-01", "i=١"]  # noqa: RUF001
    values = [Decimal("-1.5"), True, None, date(2024, 1, 31), "x=y", "7", "", "2024-13-01", "١"]  # noqa: RUF001
    assert read(parameter=written)["parameters"] == dict(zip("abcdefghi", values, strict=True))


@pytest.mark.parametrize("written", [["city"], ["=Oslo"], ["a b=1"], ["a=1", "a=2"]])
def test_a_parameter_without_a_name_of_its_own_is_refused(written):
    with pytest.raises(Refusal, match="--parameter"):
        read(parameter=written)


@pytest.mark.parametrize(("former", "now"), [("anyway", "allow_uninformative=True"), ("together", "simultaneous=True")])
def test_a_former_name_is_refused_with_the_name_of_now(former, now):
    check_names([now.partition("=")[0]])
    with pytest.raises(Refusal, match=f"{former}= has another name. Fix: write {now}."):
        check_names([former])
