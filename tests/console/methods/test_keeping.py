"""Forms of methods that make releases: published, kept for oneself, or refused at the field that is wrong."""

from __future__ import annotations

import re

import pytest

from adomnia.console.methods.keeping import Keeping, locate_keeping, read_keeping
from adomnia.errors import Refusal
from adomnia.methods.registry import METHODS
from console.ask.visiting import read_text, sign_in
from console.methods.test_pages import problems_of, read_form
from kit import house
from kit.publishing import CATALOG

PATH = "/methods/marginals"
POLICY = CATALOG.replace(
    "[analysts.alice]\npublish = true\nepsilon = 100_000",
    '[analysts.alice]\npublish = true\nepsilon = 4\npolicy = "equal_split"\nquestions = 4',
)


@pytest.fixture
def opened(tmp_path):
    with house.opened(tmp_path, CATALOG) as made:
        yield made


def fill(asker, price=True, **fields):
    """The form as a browser would send it once its price was shown."""
    form = read_form(asker.get(PATH).text) | fields
    form.pop("csrf")
    if price:
        form = read_form(asker.post(f"{PATH}/price", **form).text)
        form.pop("csrf")
    return form


def pay_button(page) -> str:
    return re.search(r'<button class="btn main full" id="pay"[^>]*>[^<]*', page.text)[0]


def test_methods_of_other_chapters_keep_nothing():
    assert read_keeping(METHODS["lm"], {"keep": "publish", "release-name": "x"}) is None
    assert read_keeping(METHODS["marginals"], {"keep": "zebra"}) == Keeping()
    assert read_keeping(METHODS["marginals"], {"keep": "private", "release-name": " x "}) == Keeping("private", "x")


def test_what_is_published_is_priced_for_the_dataset_and_paid_by_it_alone(opened):
    alice = sign_in(opened)
    form = fill(alice, keep="publish", **{"release-name": "ages"})
    shown = alice.post(f"{PATH}/price", **form)
    assert "Pay 0.25 and publish" in pay_button(shown)
    assert "The dataset's budget" in read_text(shown)
    assert "The dataset alone pays for a release" in read_text(shown)
    personal, whole = alice.spent()
    made = alice.post(PATH, **form)
    assert (made.status_code, made.headers["location"]) == (303, "/releases/ages")
    assert alice.spent()[0] == personal
    assert alice.spent()[1] != whole
    after = alice.spent()
    assert alice.post(PATH, **form).headers["location"] == "/releases/ages"  # sent twice, paid once
    assert alice.spent() == after
    assert sign_in(opened, "bob").get("/releases/ages").status_code == 200


def test_what_is_kept_for_oneself_is_paid_by_oneself_and_by_nobody_else_read(opened):
    bob = sign_in(opened, "bob")
    form = fill(bob, keep="private", **{"release-name": "mine"})
    personal, _ = bob.spent()
    assert bob.post(PATH, **form).headers["location"] == "/releases/mine"
    assert bob.spent()[0] != personal
    assert bob.get("/releases/mine").status_code == 200
    assert sign_in(opened).get("/releases/mine").status_code == 404


def test_publishing_is_offered_to_those_who_may(opened, tmp_path):
    assert 'value="publish"' in sign_in(opened).get(PATH).text
    shown = sign_in(opened, "bob").get(PATH)
    assert 'value="publish"' not in shown.text
    assert "publish = true" in read_text(shown)
    assert 'name="keep"' not in sign_in(opened).get("/methods/lm").text


def test_where_a_policy_sets_prices_nothing_is_published(tmp_path):
    with house.opened(tmp_path, POLICY) as made:
        assert 'value="publish"' not in sign_in(made).get(PATH).text


def test_who_may_not_publish_is_refused_whatever_they_send(opened):
    bob = sign_in(opened, "bob")
    form = fill(bob, price=False, keep="publish", **{"release-name": "ages"})
    before = bob.spent()
    refused = bob.post(PATH, **form)
    assert refused.status_code == 403
    assert "may not be published by bob" in problems_of(refused.text)["keep"]
    assert "private=True" not in problems_of(refused.text)["keep"]
    assert bob.spent() == before


@pytest.mark.parametrize(("name", "says"), [("", "has no name"), ("1x", "cannot be called that"), ("a b", "cannot be")])
def test_a_wrong_name_is_told_at_its_field_and_not_paid(opened, name, says):
    alice = sign_in(opened)
    form = fill(alice, price=False, keep="publish", **{"release-name": name})
    shown = alice.post(f"{PATH}/price", **form)
    assert says in problems_of(shown.text)["release-name"]
    assert "disabled" in pay_button(shown)
    before = alice.spent()
    refused = alice.post(PATH, **form)
    assert refused.status_code == 400
    assert list(problems_of(refused.text)) == ["release-name"]
    assert alice.spent() == before


def test_a_name_that_is_taken_is_told_before_it_is_paid(opened):
    alice = sign_in(opened)
    alice.post(PATH, **fill(alice, keep="publish", **{"release-name": "ages"}))
    form = fill(alice, price=False, keep="publish", amount="0.5", seen="", **{"release-name": "AGES"})
    shown = alice.post(f"{PATH}/price", **form)
    assert "is there already" in problems_of(shown.text)["release-name"]
    before = alice.spent()
    refused = alice.post(PATH, **form)
    assert "stands for another question" in problems_of(refused.text)["release-name"]
    assert alice.spent() == before


def test_more_than_the_page_said_is_not_paid(opened):
    alice = sign_in(opened)
    form = fill(alice, keep="publish", **{"release-name": "ages"}) | {"amount": "2"}
    before = alice.spent()
    refused = alice.post(PATH, **form)
    assert refused.status_code >= 400
    assert "the page said epsilon 0.25" in read_text(refused)
    assert alice.spent() == before


def test_what_one_has_paid_for_is_not_published_unseen(opened):
    alice = sign_in(opened)
    alice.post(PATH, **fill(alice, keep="private", **{"release-name": "mine"}))
    form = fill(alice, keep="publish", **{"release-name": "ages"})
    assert form["seen"] == "epsilon 0.25"
    before = alice.spent()
    refused = alice.post(PATH, **(form | {"seen": "epsilon 0"}))
    assert "the page said epsilon 0" in read_text(refused)
    assert alice.spent() == before


def test_refusals_of_other_things_stay_where_they_are():
    budget = Refusal("It", "is too dear", "pay less", code="budget")
    assert locate_keeping(budget) is budget
    assert locate_keeping(Refusal("It", "is taken", "x", code="release_taken")).field == "release-name"
