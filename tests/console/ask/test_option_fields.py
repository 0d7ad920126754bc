"""Every row of the table has a field: it holds what was typed, is read by its kind, and is named in a refusal."""

from __future__ import annotations

from fractions import Fraction
from html import unescape

import pytest

from adomnia.asking.batch import Batch
from adomnia.console.ask.form import AskForm
from adomnia.console.ask.option_fields import FIELDS, keep_typed, list_option_fields, read_typed, refuse_option
from adomnia.console.ask.price_view import PriceView
from adomnia.errors import Refusal
from adomnia.options import ASK, PRICE, RELEASE
from adomnia.pricing.questions import Question
from console.ask.visiting import read_text, sign_in

MEDIAN = "SELECT sex, COUNT(*) AS n, MEDIAN(age) AS age FROM people WHERE age >= :least GROUP BY sex"
FILLED = {
    "delta": "1e-9",
    "weights": "age = 3\nn = 1/2",
    "rows": "1,000",
    "effort": "high",
    "interval": "false",
    "inference": "population",
    "parameters": "least = 18\nname = 'O'Brien'",
    "from_release": "true",
    "confidence": "0.9",
    "replay": "false",
    "allow_uninformative": "true",
}


def test_every_option_that_is_asked_has_a_field():
    assert [field.name for field in list_option_fields({})] == list(FIELDS)
    assert not any(field.is_named for field in list_option_fields({}))
    assert {row.kind for row in FIELDS.values()} == {FIELDS[name].kind for name in FILLED}


@pytest.mark.parametrize("name", FILLED)
def test_a_field_holds_what_was_typed(name):
    field = next(each for each in list_option_fields({name: FILLED[name]}) if each.name == name)
    chosen = [each.value for each in field.choices if each.chosen]
    assert field.is_named
    assert {"tick": field.turned, "choice": "".join(chosen)}.get(field.widget, field.value) == FILLED[name]
    assert field.label


def test_each_kind_is_read_as_the_wire_takes_it():
    assert read_typed(FILLED, ASK) == {
        "delta": "1e-9",
        "weights": {"age": "3", "n": "1/2"},
        "rows": 1000,
        "effort": "high",
        "interval": False,
        "inference": "population",
        "parameters": {"least": 18, "name": "O'Brien"},
        "from_release": True,
        "confidence": 0.9,
        "replay": False,
        "allow_uninformative": True,
    }


def test_days_among_the_values_are_sent_as_such():
    assert read_typed({"parameters": "day = 2024-01-31"}, ASK) == {"parameters": {"day": {"date": "2024-01-31"}}}


def test_other_requests_have_fewer():
    assert read_typed(FILLED, ASK).keys() - read_typed(FILLED, PRICE).keys() == {"replay", "allow_uninformative"}
    assert read_typed(FILLED, RELEASE).keys() == read_typed(FILLED, PRICE).keys()


@pytest.mark.parametrize(
    ("name", "typed"), [("effort", "normal"), ("interval", "true"), ("confidence", " 0.95 "), ("weights", " \r\n ")]
)
def test_what_is_usual_is_not_kept(name, typed):
    assert keep_typed(name, typed) == ""


def test_who_types_several_values_may_begin_a_line():
    assert keep_typed("weights", "pay = 3\r\n") == "pay = 3\n"
    assert read_typed({"weights": "pay = 3\n\n"}, ASK) == {"weights": {"pay": "3"}}


@pytest.mark.parametrize("said", ["1", "true", "on"])
def test_a_switch_is_turned_by_any_word_but_false(said):
    assert (keep_typed("from_release", said), keep_typed("from_release", "false")) == ("true", "false")


@pytest.mark.parametrize(
    ("name", "typed", "says"),
    [
        ("weights", "salary", "'salary' in the field Weights of columns does not name an output and its weight"),
        ("weights", "a = 1\na = 2", "'a=2' in the field Weights of columns is given twice"),
        ("weights", "a = x", "The field Weights of columns has something that is not a number"),
        ("parameters", "city", "'city' in the field Values of :names does not name a parameter and its value"),
        ("rows", "-3", "The field Rows in a group is not a whole number"),
        ("rows", "0", "The field Rows in a group is not a whole number of at least 1"),
        ("delta", "x", "The field Delta beside the price is not a number"),
        ("confidence", "95", "The field Confidence is not between 0 and 1"),
    ],
)
def test_a_refusal_names_the_field_and_an_example(name, typed, says):
    with pytest.raises(Refusal) as refused:
        AskForm(MEDIAN, options={name: typed}).asked()
    assert str(refused.value).startswith(f"{says}. Fix: write for example {FIELDS[name].example}")
    assert refused.value.code == refuse_option(FIELDS[name], "").code


def test_what_was_named_comes_back_in_the_fields_of_a_page_that_refuses(shared_house):
    alice = sign_in(shared_house)
    typed = {name: value for name, value in FILLED.items() if name not in {"from_release", "allow_uninformative"}}
    page = alice.post("/ask", sql=MEDIAN, amount="0.5", **{**typed, "rows": "many"})
    assert page.status_code == 400
    shown = unescape(page.text)
    assert "The field Rows in a group is not a whole number" in read_text(page)
    for held in (
        'value="1e-9"',
        ">\nage = 3\nn = 1/2<",
        'value="many"',
        'value="0.9"',
        ">\nleast = 18\nname = 'O'Brien'<",
    ):
        assert held in shown
    for turned in ("effort-high", "interval", "replay", "inference-population"):
        assert shown[shown.index(f'id="{turned}"') :].partition(">")[0].endswith(" checked")
    assert '<details id="choices" open>' in shown


def test_what_is_not_named_stays_out_of_sight(shared_house):
    page = sign_in(shared_house).get("/ask").text
    assert '<details id="choices"><summary>More options' in page


@pytest.mark.parametrize(
    ("changes", "gone"),
    [({"pay": "error"}, "rows"), ({"from_release": "true"}, "from_release"), ({}, "allow_uninformative")],
)
def test_no_option_has_two_fields(changes, gone):
    view = PriceView("empty", AskForm().changed(changes), None, "")
    assert gone not in {field.name for field in view.more}
    assert len(view.more) >= len(FIELDS) - 2


KEPT = {
    "delta": Fraction(1, 10**9),
    "weights": {"a": Fraction(1, 3), "b=c": 2},
    "rows": 500,
    "effort": "high",
    "interval": False,
    "inference": "population",
    "confidence": 0.9,
    "replay": False,
}


@pytest.mark.parametrize("name", KEPT)
def test_a_question_that_was_paid_is_asked_again_with_all_that_was_named(name):
    row = FIELDS[name]
    question = Question("SELECT 1", epsilon=1, **({name: KEPT[name]} if row.is_of_question else {}))
    settings = {"confidence": 0.95, "version": 1, **({} if row.is_of_question else {name: KEPT[name]})}
    paid = Batch.from_text(Batch((question,), **settings).to_text())
    asked = AskForm.from_paid(paid).asked()
    read = asked.payment()[name] if row.is_of_question else getattr(asked, name)
    assert (asked.epsilon, read) == (1, KEPT[name])
