"""The price panel in all of its states; nothing of it is ever paid."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from adomnia.api.actions import drafts
from adomnia.console.ask.form import AskForm
from adomnia.console.ask.pricing import build_price, refuse_creation, view_problem
from adomnia.errors import Refusal
from adomnia.messages.fixes import PAY
from adomnia.messages.references import Button, Option, Pay
from adomnia.messages.texts import Fix, write
from adomnia.work import Work, limit
from console.ask.visiting import read_text, sign_in, visiting
from kit import hospital, house
from kit.effort import do_within

COUNT = "SELECT COUNT(*) AS n FROM people"
MEANS = "SELECT sex, COUNT(*) AS n, AVG(salary) AS pay FROM people GROUP BY sex"
POLICY = hospital.CATALOG.replace(
    "[analysts.carol]\nepsilon = 1\n",
    '[analysts.carol]\nepsilon = 1\npolicy = "equal_split"\nquestions = 4\n\n'
    "[analysts.dora]\nepsilon = 1\nceiling = 0.5\n",
)
CREATE = "CREATE TABLE releases.x AS SELECT * FROM marginals((SELECT sex FROM people), ways => 1)"


def priced(opened, sql=COUNT, name="alice", **fields):
    with visiting(opened, name) as visit:
        return build_price(visit, AskForm(sql).changed(fields))


def changed(change: str) -> dict[str, str]:
    return {name: value for name, (value,) in parse_qs(change, keep_blank_values=True).items()}


def test_an_empty_form_has_a_slider_and_no_button(shared_house):
    view = priced(shared_house, "  ")
    assert (view.state, view.may_ask, view.refusal) == ("empty", False, None)
    assert view.funnel is not None
    assert view.bar.now == ""


@pytest.mark.parametrize("amount", ["1e9999999", "1e-9999999", "1e9999", "9" * 5000, "1/0", "1e400/7"])
@pytest.mark.parametrize("sql", ["", COUNT])
def test_an_amount_of_endless_digits_is_never_written_out(shared_house, sql, amount):
    view = do_within(2, lambda: priced(shared_house, sql, amount=amount))
    assert view.funnel is None


def test_a_question_has_its_price_its_errors_and_what_is_left(shared_house):
    view = priced(shared_house, MEANS, amount="0.25")
    assert (view.state, view.price, view.word, view.button) == ("priced", "0.25", "epsilon", "Pay 0.25 and ask")
    assert [line.name for line in view.errors] == ["n", "pay", "pay"]
    assert [line.where for line in view.errors] == ["in any group", "in a group of 1,000", "in a group of 100"]
    assert (view.bar.now, view.may_ask) == ("0.25", True)
    assert view.coming is not None
    assert view.coming.rows == "3 rows, one for each group"
    assert view.coming.sizes is not None
    assert [line.rows for line in view.coming.sizes.lines] == [100, 250, 1000, 3000]
    assert view.coming.counted == "n"


def test_the_funnel_says_the_error_of_the_quote_where_the_knob_is(shared_house):
    view = priced(shared_house, MEANS, amount="0.25")
    assert view.funnel is not None
    assert f"± {view.funnel.error}" == view.errors[1].error
    assert view.funnel.says == f"Price 0.25: pay within {view.funnel.error} in a group of 1,000"


@pytest.mark.parametrize("sql", ["SELECT * FROM cities", "SHOW TABLES", "DESCRIBE people", f"EXPLAIN {COUNT}"])
def test_what_is_public_is_free(shared_house, sql):
    view = priced(shared_house, sql)
    assert (view.state, view.may_ask, view.button) == ("free", True, "Ask, free")


def test_a_refused_question_has_no_button(shared_house):
    view = priced(shared_house, "SELECT AVG(salery) FROM people")
    assert (view.state, view.may_ask, view.refusal.code) == ("refused", False, "unknown_column")


@pytest.mark.parametrize("amount", ["", "x", "0", "-1", "1e-300", "9" * 39])
def test_a_price_that_is_none_is_refused_with_one_that_is(shared_house, amount):
    view = priced(shared_house, amount=amount)
    assert view.state == "refused"
    assert changed(view.refusal.fixes[0].change) == {"pay": "epsilon", "amount": "0.25"}


def test_more_than_is_left_can_be_asked_for_less(shared_house):
    view = priced(shared_house, name="carol", amount="3")
    assert (view.state, view.is_too_dear, view.may_ask) == ("priced", True, False)
    assert changed(view.too_dear.change) == {"amount": "1"}


def test_an_error_has_a_price_and_the_way_back(shared_house):
    view = priced(shared_house, pay="error", amount="30")
    assert view.errors[0].error == "± 30"
    assert 0.09 < float(view.price) < 0.11
    assert changed(view.instead)["pay"] == "epsilon"
    back = changed(priced(shared_house, amount="0.1").instead)
    assert back == {"pay": "error", "amount": "30", "rows": ""}


def test_only_who_may_pay_in_rho_is_offered_it(shared_house):
    assert priced(shared_house, name="alice").other == ""
    offered = changed(priced(shared_house, name="bob", amount="0.25").other)
    assert offered == {"pay": "rho", "amount": "0.031"}
    view = priced(shared_house, name="bob", **offered)
    assert (view.sign, view.word, view.price) == ("ρ", "rho", "0.031")


def test_what_would_say_nothing_is_told_with_a_price_that_says_something(shared_house):
    view = priced(shared_house, MEANS, amount="0.001", rows="50")
    assert "almost nothing" in view.vacuous[0]
    assert "epsilon=" not in view.vacuous[0]
    better = priced(shared_house, MEANS, rows="50", **changed(view.vacuous_fixes[0].change))
    assert better.vacuous == ()


def test_a_policy_sets_the_price_whatever_the_form_names(tmp_path):
    with house.opened(tmp_path, POLICY) as opened:
        view = priced(opened, name="carol", amount="0.7")
        assert (view.price, view.form.pay, view.funnel) == ("0.25", "policy", None)
        assert view.policy == "Each question costs epsilon 0.25, and 4 are left."
        dora = priced(opened, name="dora", amount="0.7")
        assert dora.refusal.code == "ceiling"
        assert changed(dora.refusal.fixes[0].change) == {"amount": "0.5"}
        assert dora.funnel.most == "0.5"


def test_a_question_that_was_paid_before_is_free_however_it_is_spelled(own_house):
    assert priced(own_house, amount="0.125").paid_as == ""
    paid = own_house.query("alice").json()["receipt"]["request_id"]
    again = priced(own_house, "select count(*) as m\nfrom people", amount="0.125")
    assert (again.paid_as, again.button, again.bar.now) == (paid, "See it again, free", "")
    assert priced(own_house, amount="0.126").paid_as == ""
    assert priced(own_house, name="bob", amount="0.125").paid_as == ""


def test_nothing_left_is_said_and_old_answers_stay_free(own_house):
    own_house.query("carol", epsilon=1)
    view = priced(own_house, name="carol")
    assert (view.is_spent, view.may_ask, view.funnel) == (True, False, None)
    assert priced(own_house, name="carol", amount="1").may_ask


def steps_to_price(house, medians):
    """Steps that a question takes to be priced by itself, and on the page; and what the page shows."""
    many = ", ".join(f"MEDIAN(age + {k}) AS m{k}" for k in range(medians))
    sql, alone, page = f"SELECT {many} FROM people", Work(), Work()
    with visiting(house) as visit, limit(alone):
        visit.session.price(sql, epsilon=0.25)
    with limit(page):
        view = priced(house, sql)
    assert (view.state, view.may_ask, view.funnel.band, view.coming) == ("priced", True, "", None)
    return alone.steps, page.steps


def test_a_question_that_is_slow_to_price_is_priced_at_no_other_price(shared_house):
    alone, page = steps_to_price(shared_house, 59)
    assert 12_000 < alone < page < 2 * alone


def test_a_question_that_is_very_slow_to_price_is_priced_once_and_no_more(shared_house, monkeypatch):
    monkeypatch.setattr(drafts, "_REPEATABLE", 15_000)
    alone, page = steps_to_price(shared_house, 59)
    assert page == alone > 15_000


def test_a_refusal_that_came_when_it_was_asked_has_ways_out(shared_house):
    fix = write(
        "{pay}, or {take}",
        pay=Pay("epsilon", "2"),
        take=Button("take it all the same", Option("allow_uninformative", True)),
    )
    fix = Fix(fix, PAY, currency="epsilon", amount="2")
    refusal = Refusal("pay", "says nothing", fix, code="vacuous")
    with visiting(shared_house) as visit:
        told = view_problem(visit, AskForm(MEANS), refusal)
    assert [changed(fix.change) for fix in told.fixes] == [
        {"pay": "epsilon", "amount": "2"},
        {"allow_uninformative": "1"},
    ]
    assert told.fix == "pay epsilon 2, or take it all the same"


def test_what_others_have_priced_changes_neither_the_work_nor_what_there_is_time_for(shared_house):
    steps = []
    for name in ("alice", "bob", "bob"):
        with limit(work := Work()):
            priced(shared_house, "SELECT city, AVG(salary) AS pay, COUNT(*) AS n FROM people GROUP BY city", name)
        steps.append(work.steps)
    assert steps[0] == steps[1] > steps[2]


def test_a_release_is_made_on_the_page_of_its_method(shared_house):
    alice = sign_in(shared_house)
    before = alice.spent()
    for path in ("/ask/price", "/ask"):
        assert "fill in the form of its method" in read_text(alice.post(path, sql=CREATE, amount="0.5"))
    assert alice.spent() == before


def test_questions_are_let_through():
    refuse_creation("SELECT COUNT(*) FROM people")
    with pytest.raises(Refusal):
        refuse_creation(f"/* a */ {CREATE}")
