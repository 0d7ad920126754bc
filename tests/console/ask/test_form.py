"""What the form of a question holds, and how it becomes a question."""

from __future__ import annotations

from decimal import Decimal
from urllib.parse import parse_qs, urlsplit

import pytest

from adomnia.console.ask.form import AskForm
from adomnia.errors import Refusal

COUNT = "SELECT COUNT(*) FROM people"


def test_what_is_typed_is_asked_exactly():
    asked = AskForm(COUNT, "rho", "0.1", "mine", options={"rows": "1,000"}).asked()
    assert (asked.sql, asked.rho, asked.epsilon, asked.rows, asked.request_id) == (
        COUNT,
        Decimal("0.1"),
        None,
        1000,
        "mine",
    )


def test_where_the_owner_sets_the_price_none_is_named():
    assert AskForm(COUNT, "policy", "0.1").priced().payment() == {}


def test_a_button_changes_fields_and_other_fields_stay():
    form = AskForm.from_fields({"sql": COUNT, "amount": "1", "change": "pay=error&amount=50&rows=", "strange": "x"})
    assert form == AskForm(COUNT, "error", "50")


def test_lines_end_as_they_do_in_refusals():
    assert AskForm.from_fields({"sql": "SELECT\r\n1"}).sql == "SELECT\n1"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"amount": "much"}, "bad_price"),
        ({"amount": "nan"}, "bad_price"),
        ({"pay": "gold"}, "bad_price"),
        ({"rows": "-3"}, "bad_rows"),
        ({"rows": "9" * 17}, "bad_rows"),
        ({"delta": "x"}, "bad_price"),
        ({"effort": "x" * 500}, "bad_field"),
        ({"confidence": "95"}, "bad_field"),
        ({"weights": "n"}, "bad_weight"),
        ({"weights": "n = much"}, "bad_weight"),
        ({"parameters": "least"}, "bad_parameter"),
    ],
)
def test_what_cannot_be_read_is_refused_before_anything_is_asked(fields, code):
    with pytest.raises(Refusal) as caught:
        AskForm(COUNT).changed(fields).asked()
    assert caught.value.code == code


def test_the_address_of_a_form_leads_back_to_it():
    form = AskForm("SELECT '&=\u00e9'", "rho", "0.5", options={"inference": "population", "weights": "a = 1\nb = 2"})
    fields = {name: value for name, (value,) in parse_qs(urlsplit(form.address()).query).items()}
    assert AskForm.from_fields(fields) == form
    assert AskForm().address() == "/ask"


@pytest.mark.parametrize("amount", ["0,25", "1,5", "0,250", "1,250", "0 25", "1_000", "٣", "1e5_0"])
def test_a_comma_in_a_price_is_never_left_out(amount):
    for pay in ("epsilon", "rho"):
        with pytest.raises(Refusal, match="is not a number"):
            AskForm(sql="SELECT 1", pay=pay, amount=amount).asked()


@pytest.mark.parametrize("amount", ["0,25", "1,5", "12,00", "1,0000", "1 000,000"])
def test_separators_stand_between_thousands_alone(amount):
    with pytest.raises(Refusal, match="is not a number"):
        AskForm(sql="SELECT 1", pay="error", amount=amount).asked()
    with pytest.raises(Refusal, match="is not a whole number"):
        AskForm(sql="SELECT 1", options={"rows": amount}).asked()
