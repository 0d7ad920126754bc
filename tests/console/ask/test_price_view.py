"""What the price panel shows: what a question does to a budget, and the releases that answer it free."""

from __future__ import annotations

import pytest

from adomnia.console.ask.form import AskForm
from adomnia.console.ask.price_view import build_bar, find_free_release, without_free_release
from adomnia.console.ask.pricing import build_price
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.filters import Budget, Filter
from console.ask.visiting import read_text, sign_in, visiting
from kit.publishing import published

COVERED = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
NOT_COVERED = "SELECT AVG(salary) AS pay FROM people"


@pytest.fixture(scope="module")
def publisher(tmp_path_factory):
    with published(tmp_path_factory.mktemp("publisher")) as opened:
        yield opened


def priced(opened, sql, **fields):
    with visiting(opened) as visit:
        return build_price(visit, AskForm(sql).changed(fields))


def test_the_note_of_a_quote_is_read_as_the_session_writes_it(publisher):
    with visiting(publisher) as visit:
        notes = visit.session.price(COVERED, epsilon=0.25).notes
    found = find_free_release(notes)
    assert found is not None
    assert found.name in {"sexes", "nobody"}
    assert float(found.error) > 0
    assert len(without_free_release(notes)) == len(notes) - 1


def test_a_release_is_offered_where_one_answers(publisher):
    view = priced(publisher, COVERED)
    assert view.state == "priced"
    assert view.release is not None
    assert not any("from release" in note for note in view.notes)
    assert priced(publisher, NOT_COVERED).release is None


def test_taken_from_a_release_it_is_free_and_says_so(publisher):
    alice = sign_in(publisher)
    view = priced(publisher, COVERED, from_release="1", amount="0.5")
    assert (view.state, view.seen, view.form.amount) == ("free", "epsilon 0", "0.5")
    before = alice.spent()
    answered = alice.post("/ask", sql=COVERED, amount="0.5", seen=view.seen, from_release="1")
    shown = read_text(answered)
    assert answered.status_code == 200
    assert "free, from a release" in shown
    assert "it was paid for then, and costs nothing now" in shown
    assert alice.spent() == before


def test_what_no_release_answers_is_refused_with_the_way_to_pay(publisher):
    view = priced(publisher, NOT_COVERED, from_release="1")
    assert (view.state, view.refusal.code) == ("refused", "not_covered")
    assert [fix.change for fix in view.refusal.fixes] == ["from_release="]
    assert priced(publisher, NOT_COVERED, from_release="").state == "priced"


def test_a_question_about_a_release_is_free_if_it_is_there(publisher):
    assert priced(publisher, "SELECT COUNT(*) AS n FROM releases.sexes").state == "free"
    missing = priced(publisher, "SELECT COUNT(*) AS n FROM releases.zebra")
    assert (missing.state, missing.refusal.code) == ("refused", "unknown_release")
    assert priced(publisher, "SELECT COUNT(*) AS n FROM releases.mine").refusal.code == "unknown_release"


def test_spent_this_and_left_make_the_whole():
    bar = build_bar(Filter(Budget(epsilon=2)).after(Pure(0.5)), Pure(0.25))
    assert (bar.sign, bar.spent, bar.now, bar.left, bar.whole) == ("ε", "0.5", "0.25", "1.25", "2")
    assert (bar.spent_share, bar.now_share) == (0.25, 0.125)
    assert bar.says == "Spent 0.5, this question 0.25, left after it 1.25, of 2"


def test_what_cannot_be_paid_is_not_drawn():
    bar = build_bar(Filter(Budget(epsilon=1)), Pure(2))
    assert (bar.now, bar.now_share, bar.left) == ("", 0.0, "1")


def test_a_budget_that_is_paid_in_rho_is_drawn_in_rho():
    bar = build_bar(Filter(Budget(epsilon=2, delta=1e-6, approximate=True)), Concentrated(0.01))
    assert (bar.sign, bar.word, bar.now) == ("ρ", "rho", "0.01")
