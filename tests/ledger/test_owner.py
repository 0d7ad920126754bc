"""Budgets change; what was spent does not."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from adomnia.errors import Refusal
from adomnia.ledger import Hold, Ledger
from adomnia.ledger.owner import DeclaredPeople
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.filters import Budget, Spent
from ledger.references import BUDGET, COST, answered, entries, opened, plan, units_of


@pytest.fixture
def path(place):
    return place


def last(path):
    return json.loads(entries(path)[-1])


def test_the_first_opening_records_every_budget(path):
    opened(path, Budget(1, 1e-6, approximate=True), {"alice": Budget(0.5)}).close()
    assert last(path)["kind"] == "open"
    assert last(path)["budgets"] == {
        "dataset": {"epsilon": "1", "delta": "1/1000000", "event_delta": "1/2000000", "approximate": True},
        "analyst:alice": {"epsilon": "1/2", "delta": "0", "event_delta": "0", "approximate": False},
    }


def test_opening_again_with_the_same_budgets_writes_nothing(path):
    for _ in range(3):
        opened(path).close()
    assert len(entries(path)) == 1


@pytest.mark.parametrize("epsilon", [0.5, 2])
def test_a_budget_changed_in_the_catalog_is_recorded_and_resets_nothing(path, epsilon):
    with opened(path) as ledger:
        answered(ledger, event=Pure(0.4))
    with opened(path, Budget(epsilon)) as ledger:
        assert list(last(path)["budgets"]) == ["dataset"]
        assert ledger.spent().epsilon_units == 4 * 10**11
        assert ledger.left().epsilon == Fraction(epsilon) - Fraction(2, 5)
    with opened(path) as ledger:
        assert ledger.left().epsilon == Fraction(3, 5)
    assert len(entries(path)) == 5


def test_a_budget_lowered_below_what_was_spent_admits_nothing(path):
    with opened(path) as ledger:
        answered(ledger, event=Pure(0.4))
    with opened(path, Budget(0.3)) as ledger:
        assert ledger.left().epsilon == 0
        with pytest.raises(Refusal, match="more than is left"):
            ledger.reserve("alice", "1", plan(1), Pure(1e-12))


def test_who_comes_back_to_the_catalog_has_spent_what_they_spent(path):
    with opened(path) as ledger:
        answered(ledger, event=Pure(0.4))
    opened(path, analysts={}).close()
    assert last(path)["budgets"] == {"analyst:alice": None, "analyst:bob": None}
    opened(path, analysts={}).close()
    with opened(path) as ledger:
        assert ledger.spent("alice").epsilon_units == 4 * 10**11
        ledger.verify()


def test_a_running_process_follows_the_catalog_of_the_one_that_opened_last(path):
    with opened(path) as older:
        assert isinstance(older.reserve("alice", "1", plan(1), COST), Hold)
        with opened(path, Budget(0.015), {"bob": Budget(1)}) as newer:
            with pytest.raises(Refusal, match="not in the catalog"):
                older.reserve("alice", "2", plan(2), COST)
            with pytest.raises(Refusal, match="the dataset's budget"):
                older.reserve("bob", "3", plan(3), COST)
            newer.top_up(None, "a second year", epsilon=0.01)
        assert isinstance(older.reserve("bob", "3", plan(3), COST), Hold)


@pytest.mark.parametrize("who", [None, "alice"])
def test_a_top_up_is_an_entry_and_stays_when_the_catalog_changes(path, who):
    with opened(path) as ledger:
        after = ledger.top_up(who, "a second year", epsilon=0.5, delta=1e-6)
        assert after.budget == Budget(1.5, 1e-6)
        assert after == ledger.account(who)
    entry = last(path)
    assert entry["account"] == ("dataset" if who is None else "analyst:alice")
    assert (entry["kind"], entry["reason"]) == ("top-up", "a second year")
    assert (entry["epsilon"], entry["delta"]) == ("1/2", "1/1000000")
    with opened(path, Budget(2), {"alice": Budget(2)}) as ledger:
        assert ledger.account(who).budget.epsilon == Fraction(5, 2)
        ledger.top_up(who, "and a third", epsilon=1)
        assert ledger.account(who).budget.epsilon == Fraction(7, 2)
        ledger.verify()


def test_a_top_up_pays_for_what_was_refused(path):
    with opened(path, Budget(0.005), {"alice": Budget(1)}) as ledger:
        with pytest.raises(Refusal):
            ledger.reserve("alice", "1", plan(1), COST)
        ledger.top_up(None, "too little", epsilon=0.005)
        assert isinstance(ledger.reserve("alice", "1", plan(1), COST), Hold)
        assert ledger.left().epsilon == 0


def test_a_top_up_keeps_the_share_of_delta_that_events_may_use(path):
    with opened(path, Budget(1, 1e-6, approximate=True, event_delta=1e-7), {"alice": Budget(1)}) as ledger:
        assert ledger.top_up(None, "more", delta=1e-6).budget.event_delta == Fraction(2, 10**7)
        assert ledger.top_up("alice", "more", delta=1e-6).budget.event_delta == Fraction(1, 2 * 10**6)


def test_a_top_up_of_delta_opens_the_second_branch(path):
    mixed = Budget(5, 1e-6, approximate=True)
    with opened(path, mixed, {"alice": Budget(5, approximate=True)}) as ledger:
        with pytest.raises(Refusal, match="the budget of alice"):
            ledger.reserve("alice", "1", plan(1), Concentrated(0.01))
        ledger.top_up("alice", "for Gaussian noise", delta=1e-6)
        assert isinstance(ledger.reserve("alice", "1", plan(1), Concentrated(0.01)), Hold)


@pytest.mark.parametrize(
    "amounts",
    [{}, {"epsilon": -1}, {"epsilon": 1, "delta": -1e-9}, {"epsilon": float("nan")}, {"epsilon": True}],
)
def test_a_top_up_adds_and_nothing_else(path, amounts):
    with opened(path) as ledger:
        with pytest.raises(ValueError, match=r"TopUp"):
            ledger.top_up(None, "why", **amounts)
        assert ledger.account().budget == BUDGET


@pytest.mark.parametrize("reason", ["", "a\nb", 7, "x" * 1001])
def test_a_top_up_says_why(path, reason):
    with opened(path) as ledger, pytest.raises(ValueError, match="TopUp reason"):
        ledger.top_up(None, reason, epsilon=1)


def test_top_ups_that_make_no_budget_are_refused_and_not_written(path):
    with opened(path) as ledger:
        ledger.top_up(None, "a lot", delta=0.6)
        with pytest.raises(Refusal, match="The budget together with its top-ups is none"):
            ledger.top_up(None, "too much", delta=0.4)
        assert ledger.account().budget.delta == Fraction(3, 5)
    with pytest.raises(Refusal, match="The budget together with its top-ups is none"):
        opened(path, Budget(1, 0.5))
    assert len(entries(path)) == 2
    with opened(path) as ledger:
        assert ledger.spent() == Spent()


def test_an_analyst_may_have_any_printable_name(path):
    with opened(path, analysts={"Zoë 🦉": Budget(1), "dataset": Budget(1)}) as ledger:
        answered(ledger, "Zoë 🦉")
        answered(ledger, "dataset", name="other")
        assert ledger.spent().epsilon_units == units_of(2)
        assert ledger.spent("dataset").epsilon_units == units_of(1)
        assert len(ledger.answers("Zoë 🦉")) == 1
        ledger.verify()
    with pytest.raises(ValueError, match="Ledger analysts must have printable names"):
        opened(path, analysts={"a\nb": Budget(1)})


def test_a_committed_hold_says_what_its_payer_has_left_and_nothing_to_who_is_gone(place):
    path = place
    with opened(path, Budget(10), {"alice": Budget(2)}) as ledger:
        hold = ledger.reserve("alice", "1", b"one", Pure(0.5))
        late = ledger.reserve("alice", "2", b"two", Pure(0.5))
        assert hold.left is None
        hold.commit(b"answer")
        assert hold.left == ledger.left("alice")
        opened(path, Budget(10), {}).close()
        late.commit(b"answer")
        assert set(late.left) == {0}


PEOPLE = DeclaredPeople(1, "people.id", {"people": "", "visits": "person -> people.id"})


def open_people(path, people, **budgets):
    return Ledger.open(path, BUDGET, budgets, people=people)


def test_whose_rows_a_version_holds_is_recorded_once(path):
    for _ in range(2):
        open_people(path, PEOPLE).close()
    assert len(entries(path)) == 1
    assert last(path)["people"] == {
        "1": {"": "people.id", "people": "", "visits": "person -> people.id"},
    }
    opened(path, BUDGET, {}).close()  # who does not say it changes nothing
    assert len(entries(path)) == 1


@pytest.mark.parametrize(
    ("people", "says"),
    [
        (replace(PEOPLE, unit="visits.id"), "The unit is visits.id, and it was people.id when version 1"),
        (
            replace(PEOPLE, links={"visits": "owner -> people.id"}),
            "table visits is owner -> people.id, and it was person",
        ),
        (replace(PEOPLE, links={"visits": ""}), "table visits is missing, and it was person -> people.id"),
        (
            replace(PEOPLE, links={"people": "boss -> people.id"}),
            "table people is boss -> people.id, and it was missing",
        ),
    ],
)
def test_other_people_under_the_same_version_are_refused(path, people, says):
    open_people(path, PEOPLE).close()
    with pytest.raises(Refusal, match=says) as refused:
        open_people(path, people)
    assert refused.value.code == "people_changed"
    assert len(entries(path)) == 1
    open_people(path, replace(people, version=2)).close()  # of other data nothing was said before
    open_people(path, PEOPLE).close()
    assert len(entries(path)) == 2


def test_a_table_that_is_new_is_recorded_beside_the_others(path):
    open_people(path, PEOPLE).close()
    open_people(path, replace(PEOPLE, links={"items": "visit -> visits.id"})).close()
    assert last(path)["people"] == {"1": {"items": "visit -> visits.id"}}
    with pytest.raises(Refusal, match="table visits"):
        open_people(path, replace(PEOPLE, links={"items": "visit -> visits.id", "visits": "x -> people.id"}))


def test_a_checkpoint_remembers_whose_rows_they_are(path, monkeypatch):
    monkeypatch.setattr("adomnia.ledger.journal._CHECKPOINT_EVERY", 1)
    with open_people(path, PEOPLE, alice=Budget(1)) as ledger:
        answered(ledger, "alice", "one")
        ledger.verify()
    with pytest.raises(Refusal, match="The unit"):
        open_people(path, replace(PEOPLE, unit="row"), alice=Budget(1))
    with open_people(path, PEOPLE, alice=Budget(1)) as ledger:
        ledger.verify()
