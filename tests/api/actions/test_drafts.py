"""Questions that are planned and not paid: their errors at other prices, and whether they were paid before."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from adomnia.api.actions.drafts import find_paid, is_about_nobody, is_quick, makes_release, may_price_again, plan_draft
from adomnia.console.ask.form import AskForm
from adomnia.console.ask.pricing import build_price
from adomnia.errors import Failure
from adomnia.ledger.store import Ledger
from adomnia.pricing.bills import ErrorName
from adomnia.pricing.questions import Question
from adomnia.work import MOST_STEPS, limit, spend
from console.ask.visiting import visiting
from kit import hospital, house

BY_SEX = "SELECT sex, AVG(salary) AS pay FROM people GROUP BY sex"
POLICY = hospital.CATALOG.replace(
    "bob]\nepsilon = 100_000", 'bob]\npolicy = "equal_split"\nquestions = 10\nepsilon = 10'
)


@pytest.fixture(scope="module")
def policies(tmp_path_factory):
    with house.opened(tmp_path_factory.mktemp("policies"), POLICY) as opened:
        yield opened


@pytest.mark.parametrize("amount", [Fraction(1, 10), Fraction(2)])
@pytest.mark.parametrize("rows", [100, 3000])
def test_errors_at_other_prices_are_those_that_programs_are_told_who_ask_for_the_price(shared_house, amount, rows):
    with visiting(shared_house) as alice:
        draft = plan_draft(alice, Question(BY_SEX, epsilon=Fraction(1)))
        told = alice.session.price(BY_SEX, epsilon=amount, rows=rows)
        assert draft.expect_at("epsilon", amount, rows, ErrorName("pay", "pay")) == told.outputs
        told = alice.session.price(BY_SEX, epsilon=1, rows=rows)
        assert draft.expect_in(rows, None) == told.outputs


def test_the_slider_begins_with_the_error_at_the_least_price(shared_house):
    with visiting(shared_house) as alice:
        funnel = build_price(alice, AskForm(BY_SEX)).funnel
        told = alice.session.price(BY_SEX, epsilon=Fraction(funnel.least))
        assert json.loads(funnel.points)[0] == [0.0, told.outputs[0].error]


def test_a_price_that_is_refused_has_no_errors(shared_house):
    with visiting(shared_house) as alice:
        draft = plan_draft(alice, Question(BY_SEX, epsilon=Fraction(1)))
        assert draft.expect_at("rho", Fraction(-1), None, ErrorName("pay", "pay")) == ()


def test_where_a_policy_sets_the_price_its_errors_are_told(policies):
    with visiting(policies, "bob") as bob:
        draft, quote = plan_draft(bob, Question(BY_SEX)), bob.session.price(BY_SEX)
        assert draft.expect_in(250, quote.price) == bob.session.price(BY_SEX, rows=250).outputs


def test_an_equal_question_that_was_paid_for_is_found_however_it_is_spelled(own_house):
    with visiting(own_house) as alice:
        paid = alice.session.sql(house.COUNT, epsilon=0.125)
        spelled = plan_draft(alice, Question("select count( * ) AS n  FROM people", epsilon=Fraction(1, 8)))
        assert find_paid(alice, spelled).request_id == paid.receipt.request_id
        dearer = plan_draft(alice, Question(house.COUNT, epsilon=Fraction(1, 4)))
        assert find_paid(alice, dearer) is None
    with visiting(own_house, "bob") as bob:
        assert find_paid(bob, plan_draft(bob, Question(house.COUNT, epsilon=Fraction(1, 8)))) is None


def test_one_that_was_paid_under_a_policy_is_found_whatever_the_next_price_is(policies):
    with visiting(policies, "bob") as bob:
        paid = bob.session.sql(house.COUNT)
        assert find_paid(bob, plan_draft(bob, Question(house.COUNT))).request_id == paid.receipt.request_id


def test_what_failed_and_who_is_no_analyst_have_paid_for_nothing(own_house, monkeypatch):
    with visiting(own_house) as alice:
        draft = plan_draft(alice, Question(house.COUNT, epsilon=Fraction(1, 8)))
        stranger = replace(alice, visitor=replace(alice.visitor, name="stranger"))
        assert find_paid(stranger, draft) is None

        def fail(*_):
            raise Failure("lost")

        monkeypatch.setattr(Ledger, "find_answer", fail)
        assert find_paid(alice, draft) is None


def test_what_took_long_is_not_priced_again():
    assert is_quick()  # where nobody counts
    assert may_price_again()
    with limit():
        spend(12_000)
        assert (is_quick(), may_price_again()) == (True, True)
        spend(1)
        assert (is_quick(), may_price_again()) == (False, True)
        spend(MOST_STEPS // 4)
        assert (is_quick(), may_price_again()) == (False, False)


@pytest.mark.parametrize(
    ("text", "nobody", "release"),
    [
        ("SHOW TABLES", True, False),
        (f"EXPLAIN {house.COUNT}", True, False),
        (house.COUNT, False, False),
        ("CREATE TABLE releases.x AS SELECT * FROM marginals(people, ways => 1)", False, True),
    ],
)
def test_what_is_public_and_what_makes_a_release_is_told_from_the_text(text, nobody, release):
    assert (is_about_nobody(text), makes_release(text)) == (nobody, release)
