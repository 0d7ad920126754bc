"""Budgets, and raising one: by an owner, with the password, for a reason, once."""

from __future__ import annotations

from fractions import Fraction
from html import unescape

import pytest

from adomnia.api.access import login_attempts
from adomnia.api.actions.accounts import read_top_up
from adomnia.console.owner.budgets import TopUpForm, preview_top_up
from adomnia.errors import Refusal
from console.owner.visitors import EVIL, Visitor
from kit import hospital
from kit.house import PASSWORD
from kit.visits import visit_as_owner

MORE = {"account": "analyst:carol", "epsilon": "0.5", "reason": "second year"}


def budget_of(opened, name="carol"):
    with opened.services.dataset.curator() as curator:
        return curator.ledger.account(name).budget


def seen_of(opened, name="carol"):
    budget = budget_of(opened, name)
    return f"{budget.epsilon} {budget.delta}"


def failed_attempts(opened):
    return opened.services.access._database.one("SELECT COUNT(*) FROM attempts")[0]


@pytest.mark.parametrize(("name", "forms"), [("olga", 1), ("audrey", 0)])
def test_owners_have_the_form_and_auditors_have_none(shared_house, name, forms):
    page = Visitor.of(shared_house, name).read("/owner/budgets")
    assert page.count('<form method="post"') == forms
    assert page.count("Raise<") == 4 * forms
    assert "The analyst names the price of each question." in page


def test_the_first_step_shows_before_and_after_and_changes_nothing(own_house):
    reply = Visitor.of(own_house).send("/owner/budgets/top-up", **MORE)
    page = unescape(reply.text)
    assert reply.status_code == 200
    assert "Raise the budget of carol by epsilon 0.5?" in page
    assert "can raise it to 4.33 in 100; until now it was 2.67 in 100" in page
    assert "It is for good." in page
    assert budget_of(own_house).epsilon == 1


def test_with_the_password_the_budget_is_raised_and_the_ledger_has_the_reason(own_house):
    olga = Visitor.of(own_house)
    fields = {**MORE, "delta": "1e-7", "password": PASSWORD, "seen": seen_of(own_house)}
    reply = olga.send("/owner/budgets/top-up", **fields)
    assert (reply.status_code, reply.headers["location"]) == (303, "/owner/budgets?done=raised")
    raised = budget_of(own_house)
    assert (raised.epsilon, raised.delta) == (Fraction(3, 2), Fraction(1, 10**7))
    assert "The budget is raised" in olga.read("/owner/budgets?done=raised")
    assert "plus ε 0.5 and δ 1e-7: second year" in olga.read("/owner/ledger?kind=top-up")
    assert failed_attempts(own_house) == 0


def test_a_form_that_is_sent_twice_adds_once(own_house):
    olga = Visitor.of(own_house)
    fields = {**MORE, "password": PASSWORD, "seen": seen_of(own_house)}
    assert olga.send("/owner/budgets/top-up", **fields).status_code == 303
    again = olga.send("/owner/budgets/top-up", **fields)
    assert again.status_code == 409
    assert "was changed since you looked" in again.text
    assert budget_of(own_house).epsilon == Fraction(3, 2)


def test_a_wrong_password_changes_nothing_and_counts_as_a_failed_sign_in(own_house):
    olga = Visitor.of(own_house)
    fields = {**MORE, "password": "not the password", "seen": seen_of(own_house)}
    reply = olga.send("/owner/budgets/top-up", **fields)
    assert reply.status_code == 401
    assert "The password is not right." in reply.text
    assert "Raise the budget of carol" in reply.text
    assert failed_attempts(own_house) == 1
    for _ in range(login_attempts._MAX_FOR_NAME_AND_ADDRESS - 1):
        olga.send("/owner/budgets/top-up", **fields)
    late = olga.send("/owner/budgets/top-up", **{**fields, "password": PASSWORD})
    assert late.status_code == 429
    assert budget_of(own_house).epsilon == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"reason": ""},
        {"reason": "two\nlines"},
        {"reason": "x" * 1001},
        {"epsilon": "-1"},
        {"epsilon": "0"},
        {"epsilon": "much"},
        {"epsilon": "1e999999999"},
        {"epsilon": "nan"},
        {"delta": "1"},
        {"account": "analyst:nobody"},
        {"account": ""},
    ],
)
@pytest.mark.parametrize("step", [{}, {"password": PASSWORD}])
def test_what_is_no_top_up_is_refused_in_place(shared_house, wrong, step):
    fields = {**MORE, **step, "seen": seen_of(shared_house), **wrong}
    reply = Visitor.of(shared_house).send("/owner/budgets/top-up", **fields)
    assert reply.status_code in {400, 404}
    assert 'role="alert"' in reply.text
    assert "Everybody's budget" in unescape(reply.text)
    assert budget_of(shared_house).epsilon == 1


def test_an_auditor_and_an_analyst_cannot_raise_a_budget(shared_house):
    fields = {**MORE, "password": PASSWORD, "seen": seen_of(shared_house)}
    for name in ("audrey", "carol"):
        assert Visitor.of(shared_house, name).send("/owner/budgets/top-up", **fields).status_code == 403
    assert Visitor.of(shared_house).send("/owner/budgets/top-up", **fields, csrf="").status_code == 403
    assert budget_of(shared_house).epsilon == 1


def test_reasons_are_shown_escaped(own_house):
    olga = Visitor.of(own_house)
    fields = {**MORE, "reason": EVIL}
    assert EVIL not in olga.send("/owner/budgets/top-up", **fields).text
    olga.send("/owner/budgets/top-up", **fields, password=PASSWORD, seen=seen_of(own_house))
    page = olga.see("/owner/ledger").text
    assert EVIL not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.fixture
def visit(tmp_path):
    with hospital.curated(hospital.declare(tmp_path), [hospital.person(1)], []) as opened:
        yield visit_as_owner(opened)


@pytest.mark.parametrize("account", ["dataset", "analyst:alice", "analyst:bob"])
@pytest.mark.parametrize("delta", ["", "1e-8"])
def test_what_is_foreseen_is_what_comes(visit, account, delta):
    form = TopUpForm(account, "2", delta, "more")
    before = preview_top_up(visit, form)
    more = read_top_up(visit, form.read())
    visit.curator.ledger.top_up(more.analyst, more.reason, more.epsilon, more.delta)
    after = preview_top_up(visit, form)
    assert before.after == after.before
    assert before.before != after.before


def test_where_the_dataset_has_less_left_that_is_said(visit):
    assert not preview_top_up(visit, TopUpForm("analyst:carol", "1", "", "more")).caution
    assert "The dataset has less left" in preview_top_up(visit, TopUpForm("analyst:carol", "1e7", "", "more")).caution


@pytest.mark.parametrize("account", ["", "alice", "analyst:", "analyst:dataset", "analyst:analyst:alice", "Dataset"])
def test_an_account_is_named_as_the_page_names_it(visit, account):
    with pytest.raises(Refusal, match="is none of this dataset's"):
        preview_top_up(visit, TopUpForm(account, "1", "", "more"))


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("-1", ""), ("", "-1e-9"), ("", ""), ("one", ""), ("nan", ""), ("", "1")]
)
def test_what_is_no_amount_is_refused(visit, epsilon, delta):
    with pytest.raises(Refusal, match="needs an amount"):
        preview_top_up(visit, TopUpForm("analyst:alice", epsilon, delta, "more"))
