"""Who pays what: once for each question, both budgets together, and never again for the same answer."""

from __future__ import annotations

import json

import pytest

from adomnia.errors import Failure, Refusal
from adomnia.ledger import Hold, StoredAnswer
from adomnia.ledger.requests import NewerAnswer, UnpaidAnswer
from adomnia.privacy.events import Approximate, BoundedRange, Composed, Concentrated, Pure
from adomnia.privacy.filters import Budget, Spent
from ledger.references import ANALYSTS, COST, answered, entries, opened, plan, tamper, units_of


@pytest.fixture
def ledger(place):
    with opened(place) as ledger:
        yield ledger


def test_a_reserve_debits_both_budgets_before_anything_is_answered(ledger):
    hold = ledger.reserve("alice", "1", plan("q"), COST)
    assert isinstance(hold, Hold)
    assert hold.event == COST
    for analyst in (None, "alice"):
        assert ledger.spent(analyst) == Spent(units_of(1), 5 * 10**7, 0, True)
    assert ledger.spent("bob") == Spent()


def test_the_receipt_is_that_of_the_debit(ledger, place):
    hold = ledger.reserve("alice", "1", plan("q"), COST)
    receipt = hold.commit(b"noisy")
    assert receipt == hold.receipt
    assert (receipt.analyst, receipt.request_id, receipt.plan, receipt.event) == ("alice", "1", plan("q"), COST)
    commit = json.loads(entries(place)[-1])
    assert commit["previous"] == receipt.hash
    assert "at" not in commit  # how long a question ran is nobody's business


def test_a_retry_of_a_committed_request_returns_the_stored_answer_free(ledger):
    receipt = answered(ledger, payload=b"noisy")
    for _ in range(3):
        assert ledger.reserve("alice", "id of q", plan("q"), COST) == StoredAnswer(b"noisy", receipt)
    assert ledger.spent().epsilon_units == units_of(1)


def test_the_same_plan_under_a_new_id_is_replayed_free_with_the_first_receipt(ledger):
    receipt = answered(ledger, payload=b"noisy")
    assert ledger.reserve("alice", "another id", plan("q"), COST) == StoredAnswer(b"noisy", receipt)
    assert ledger.spent("alice").epsilon_units == units_of(1)


def test_a_hold_without_a_commit_fails_for_ever(place):
    path = place
    with opened(path) as ledger:
        ledger.reserve("alice", "lost", plan("q"), COST)
    for _ in range(3):
        with opened(path) as ledger, pytest.raises(Failure) as failure:
            ledger.reserve("alice", "lost", plan("q"), COST)
        assert str(failure.value) == "The request failed. Request id: lost."
    with opened(path) as ledger:
        assert ledger.spent().epsilon_units == units_of(1)


def test_a_new_id_pays_again_after_a_failure(ledger):
    ledger.reserve("alice", "lost", plan("q"), COST)
    assert isinstance(ledger.reserve("alice", "new", plan("q"), COST), Hold)
    assert ledger.spent().epsilon_units == units_of(2)


@pytest.mark.parametrize("committed", [True, False])
def test_a_request_id_of_another_question_is_refused(ledger, committed):
    hold = ledger.reserve("alice", "mine", plan("q"), COST)
    if committed:
        hold.commit(b"noisy")
    with pytest.raises(Refusal) as refusal:
        ledger.reserve("alice", "mine", plan("other"), COST)
    assert refusal.value.code == "request_id_used"
    assert str(refusal.value).startswith("Request id mine was used for another question. Fix: send a new one")
    assert ledger.spent().epsilon_units == units_of(1)


@pytest.mark.parametrize("committed", [True, False])
def test_everybody_has_request_ids_of_their_own(ledger, committed):
    hold = ledger.reserve("alice", "mine", plan("q"), COST)
    if committed:
        hold.commit(b"of alice")
    ledger.reserve("bob", "mine", plan("other"), COST).commit(b"of bob")
    assert ledger.reserve("bob", "mine", plan("other"), COST).payload == b"of bob"
    assert ledger.spent().epsilon_units == units_of(2)
    ledger.verify()


def test_another_analyst_pays_the_personal_budget_alone_for_an_answer_that_exists(ledger):
    first = answered(ledger, "alice", payload=b"noisy")
    replay = ledger.reserve("bob", "of bob", plan("q"), COST)
    assert replay.payload == b"noisy"
    assert (replay.receipt.analyst, replay.receipt.request_id, replay.receipt.event) == ("bob", "of bob", COST)
    assert replay.receipt.hash != first.hash
    assert ledger.spent("bob").epsilon_units == units_of(1)
    assert ledger.spent().epsilon_units == units_of(1)
    assert ledger.reserve("bob", "later", plan("q"), COST) == replay  # from now on it is free
    assert ledger.spent("bob").epsilon_units == units_of(1)


def test_a_shared_answer_costs_what_was_measured_and_never_more_than_was_offered(ledger):
    answered(ledger, "alice", event=Pure(0.02))
    assert ledger.reserve("bob", "1", plan("q"), Pure(0.5)).receipt.event == Pure(0.02)
    assert ledger.spent("bob").epsilon_units == units_of(2)
    answered(ledger, "alice", name="dear", event=Pure(0.5))
    assert isinstance(ledger.reserve("bob", "2", plan("dear"), COST), Hold)
    assert ledger.spent().epsilon_units == units_of(2 + 50 + 1)


def test_personal_only_takes_a_shared_answer_and_refuses_to_measure(ledger):
    with pytest.raises(Refusal, match="has no answer yet that could be shared"):
        ledger.reserve("bob", "1", plan("q"), COST, personal_only=True)
    answered(ledger, "alice")
    assert isinstance(ledger.reserve("bob", "1", plan("q"), COST, personal_only=True), StoredAnswer)
    assert ledger.spent().epsilon_units == units_of(1)


def test_a_shared_answer_is_refused_when_the_personal_budget_is_gone(place):
    budgets = {"alice": Budget(epsilon=1), "bob": Budget(epsilon=0.005)}
    with opened(place, analysts=budgets) as ledger:
        answered(ledger, "alice")
        with pytest.raises(Refusal, match="from the budget of bob is more than is left"):
            ledger.reserve("bob", "1", plan("q"), COST)
        assert ledger.spent("bob") == Spent()


def test_of_two_answers_to_one_plan_the_first_is_replayed(ledger):
    first = ledger.reserve("alice", "1", plan("q"), COST)
    second = ledger.reserve("alice", "2", plan("q"), COST)
    second.commit(b"second to be asked, first to be answered")
    first.commit(b"late")
    assert ledger.reserve("alice", "3", plan("q"), COST).payload == b"second to be asked, first to be answered"
    assert ledger.reserve("alice", "1", plan("q"), COST).payload == b"late"
    assert ledger.reserve("bob", "4", plan("q"), COST).payload == b"second to be asked, first to be answered"


@pytest.mark.parametrize(
    ("dataset", "personal", "who"),
    [(0.5, 2, "the dataset's budget"), (2, 0.5, "the budget of alice")],
)
def test_a_refusal_names_the_budget_what_is_left_and_what_would_do(place, dataset, personal, who):
    with opened(place, Budget(epsilon=dataset), {"alice": Budget(epsilon=personal)}) as ledger:
        answered(ledger, event=Pure(0.2))
        with pytest.raises(Refusal) as refusal:
            ledger.reserve("alice", "2", plan(2), Pure(0.4))
        assert f"A spend of epsilon 0.4 (rho 0.08) from {who} is more than is left (epsilon 0.3" in str(refusal.value)
        assert "Fix: spend at most epsilon 0.3." in str(refusal.value)
        assert ledger.spent() == ledger.spent("alice") == Spent(2 * 10**11, 2 * 10**10)
        assert isinstance(ledger.reserve("alice", "2", plan(2), Pure(0.3)), Hold)  # a refused id was never used


def test_one_refusal_leaves_the_other_budget_alone(place):
    with opened(place, Budget(epsilon=2), {"alice": Budget(epsilon=1)}) as ledger:
        for number in range(3):
            with pytest.raises(Refusal):
                ledger.reserve("alice", str(number), plan(number), Pure(1.5))
        assert ledger.spent() == Spent()


def test_a_hundred_accounts_share_one_dataset(place):
    crowd = {f"analyst{number}": Budget(epsilon=1) for number in range(100)}
    with opened(place, Budget(epsilon=0.05), crowd) as ledger:
        granted = 0
        for analyst in crowd:
            try:
                ledger.reserve(analyst, analyst, plan(analyst), COST)
                granted += 1
            except Refusal:
                pass
        assert granted == 5


@pytest.mark.parametrize(
    "event",
    [BoundedRange(0.3), Concentrated(0.1, 1e-9), Approximate(0.1, 1e-9), Composed([Pure(0.1), Concentrated(0.01)])],
)
def test_every_kind_of_event_is_paid_and_kept(place, event):
    budget = Budget(epsilon=5, delta=1e-6, approximate=True)
    with opened(place, budget, {"alice": budget}) as ledger:
        answered(ledger, event=event)
        assert ledger.answers("alice")[0].event == event
        assert ledger.spent() == ledger.spent("alice") != Spent()
        ledger.verify()


def test_an_event_that_is_not_pure_needs_both_budgets_to_take_it(place):
    mixed = Budget(epsilon=5, delta=1e-6, approximate=True)
    alice = Budget(epsilon=5)
    refused = pytest.raises(Refusal, match="from the budget of alice is not pure")
    with opened(place, mixed, {"alice": alice}) as ledger, refused:
        ledger.reserve("alice", "1", plan("q"), Concentrated(0.1))


def test_answers_lists_what_was_paid_and_got_oldest_first(ledger):
    receipts = [answered(ledger, name=name, payload=name.encode()) for name in ("one", "two")]
    answered(ledger, "bob", name="of bob")
    ledger.reserve("alice", "lost", plan("lost"), COST)
    assert ledger.answers("alice") == receipts
    assert [receipt.request_id for receipt in ledger.answers("bob")] == ["id of of bob"]


def test_an_answer_is_found_by_its_request_id_or_its_plan_by_whoever_paid_for_it(ledger):
    receipt = answered(ledger, payload=b"noisy")
    kept = StoredAnswer(b"noisy", receipt)
    assert ledger.answer("alice", "id of q") == ledger.find_answer("alice", "new", plan("q")) == kept
    assert ledger.find_answer("alice", "id of q", plan("q")) == kept
    assert ledger.answer("alice", "another") is ledger.find_answer("alice", "new", plan("another")) is None
    assert ledger.answer("bob", "id of q") is ledger.find_answer("bob", "id of q", plan("q")) is None
    assert ledger.answer("alice", "no\nid") is None
    with pytest.raises(Refusal, match="was used for another question"):
        ledger.find_answer("alice", "id of q", plan("another"))
    ledger.reserve("alice", "lost", plan("lost"), COST)
    assert ledger.find_answer("alice", "new", plan("lost")) is None
    for ask in (lambda: ledger.answer("alice", "lost"), lambda: ledger.find_answer("alice", "lost", plan("lost"))):
        with pytest.raises(Failure, match=r"Request id: lost\."):
            ask()


@pytest.mark.parametrize("source", ["", "alice\nid of q"])
def test_another_analysts_answer_can_be_checked_before_it_is_paid_for(ledger, place, source):
    receipt, before = answered(ledger, payload=b"noisy"), entries(place)
    for _ in range(2):
        unpaid = ledger.reserve("bob", "mine", plan("q"), COST, source=source, check_first=True)
        assert unpaid == UnpaidAnswer(b"noisy", receipt)
        assert entries(place) == before
    paid = ledger.reserve("bob", "mine", plan("q"), COST, source=receipt.key)
    assert paid.payload == b"noisy"
    assert [ledger.spent(name).epsilon_units for name in ("bob", None)] == [units_of(1), units_of(1)]
    assert ledger.reserve("bob", "again", plan("q"), COST, check_first=True) == paid
    assert isinstance(ledger.reserve("bob", "new", plan("new"), COST, check_first=True), Hold)


def test_an_answer_comes_with_what_its_payer_has_left(ledger):
    answered(ledger, payload=b"noisy")
    answered(ledger, name="more")
    own = [
        ledger.reserve("alice", "again", plan("q"), COST),
        ledger.answer("alice", "id of q"),
        ledger.find_answer("alice", "again", plan("q")),
    ]
    assert {each.left for each in own} == {ledger.left("alice")}
    before = ledger.left("bob")
    shared = ledger.reserve("bob", "1", plan("q"), COST)
    assert shared.left == ledger.left("bob") != before


def test_what_was_asked_is_kept_beside_the_debit(ledger):
    hold = ledger.reserve("alice", "1", plan("q"), COST, asked='{"text": "caf\\u00e9"}')
    assert hold.commit(b"noisy").asked == ledger.answers("alice")[0].asked == '{"text": "caf\\u00e9"}'
    assert ledger.reserve("bob", "1", plan("q"), COST, asked="mine").receipt.asked == "mine"
    with pytest.raises(ValueError, match="asked must be ASCII"):
        ledger.reserve("alice", "2", plan("r"), COST, asked="café")


@pytest.mark.parametrize("analyst", ["carol", "", "dataset", "ALICE", "\ud800"])
def test_somebody_who_is_not_in_the_catalog_gets_nothing(ledger, analyst):
    for ask in (
        lambda: ledger.reserve(analyst, "1", plan("q"), COST),
        lambda: ledger.spent(analyst),
        lambda: ledger.left(analyst),
        lambda: ledger.answers(analyst),
        lambda: ledger.answer(analyst, "1"),
        lambda: ledger.top_up(analyst, "a gift", epsilon=1),
    ):
        with pytest.raises(Refusal, match="is not in the catalog"):
            ask()


@pytest.mark.parametrize("request_id", ["", "a\nb", "a\0b", "\ud800", "x" * 201])
def test_a_request_id_that_cannot_be_kept_is_refused(ledger, request_id):
    with pytest.raises(Refusal, match="is not 1 to 200 printable characters"):
        ledger.reserve("alice", request_id, plan("q"), COST)


@pytest.mark.parametrize("request_id", ["ü🦉", "'; DROP TABLE entries; --", '{"$": "}', "%s", "x" * 200])
def test_a_request_id_may_be_any_text(ledger, request_id):
    ledger.reserve("alice", request_id, plan("q"), COST).commit(b"noisy")
    assert ledger.reserve("alice", request_id, plan("q"), COST).payload == b"noisy"
    assert ledger.reserve("alice", "z", plan("q"), COST).receipt.request_id == request_id


@pytest.mark.parametrize(
    ("request_id", "name", "event", "error"),
    [
        (7, b"p", COST, TypeError),
        (None, b"p", COST, TypeError),
        ("1", "p", COST, ValueError),
        ("1", b"", COST, ValueError),
        ("1", b"p" * 201, COST, ValueError),
        ("1", b"p", 0.5, TypeError),
        ("1", b"p", None, TypeError),
    ],
)
def test_a_programmers_mistake_fails_its_own_caller_and_spends_nothing(ledger, request_id, name, event, error):
    with pytest.raises(error):
        ledger.reserve("alice", request_id, name, event)
    assert ledger.spent() == Spent()


def test_a_hold_commits_once(ledger):
    hold = ledger.reserve("alice", "1", plan("q"), COST)
    hold.commit(b"first")
    with pytest.raises(ValueError, match="Hold 1 commits once"):
        hold.commit(b"second")
    assert ledger.reserve("alice", "1", plan("q"), COST).payload == b"first"


@pytest.mark.parametrize("payload", ["text", None, bytearray(b"x")])
def test_an_answer_is_bytes(ledger, payload):
    hold = ledger.reserve("alice", "1", plan("q"), COST)
    with pytest.raises(ValueError, match="Hold payload must be"):
        hold.commit(payload)
    hold.commit(b"")
    assert ledger.reserve("alice", "1", plan("q"), COST).payload == b""


def test_equal_answers_are_stored_once_and_belong_to_both(ledger):
    for name in ("one", "two"):
        answered(ledger, name=name, payload=b"same")
    assert [ledger.answer("alice", f"id of {name}").payload for name in ("one", "two")] == [b"same", b"same"]


@pytest.mark.parametrize(
    "change",
    ["UPDATE payloads SET payload = x'00'", "UPDATE payloads SET payload = 'text'", "DELETE FROM payloads"],
)
def test_a_stored_answer_that_was_changed_is_never_given_out(ledger, place, caplog, change):
    answered(ledger)
    tamper(place, change)
    for analyst, request_id in (("alice", "id of q"), ("alice", "new"), ("bob", "new")):
        with pytest.raises(Failure, match=f"The request failed. Request id: {request_id}."):
            ledger.reserve(analyst, request_id, plan("q"), COST)
    assert ledger.spent("bob") == Spent()
    assert "The stored answer to request id of q is missing or was changed" in caplog.text


def test_a_person_gone_from_the_catalog_may_not_even_replay(place):
    with opened(place) as ledger:
        answered(ledger, "alice")
    with opened(place, analysts={"bob": ANALYSTS["bob"]}) as ledger:
        with pytest.raises(Refusal, match="Analyst alice is not in the catalog"):
            ledger.reserve("alice", "id of q", plan("q"), COST)
        assert isinstance(ledger.reserve("bob", "1", plan("q"), COST), StoredAnswer)


# ------------------------------------------------------------------------------------------------ the dataset itself


def test_what_the_dataset_asks_for_itself_is_paid_by_it_alone(ledger):
    hold = ledger.reserve(None, "dataset:profile", plan("q"), COST)
    receipt = hold.commit(b"noisy")
    assert receipt.analyst is None
    assert ledger.spent().epsilon_units == units_of(1)
    assert {ledger.spent(analyst).epsilon_units for analyst in ANALYSTS} == {0}
    assert ledger.reserve(None, "dataset:again", plan("q"), COST) == StoredAnswer(b"noisy", receipt)
    assert ledger.spent().epsilon_units == units_of(1)
    ledger.verify()


def test_what_the_dataset_asks_for_itself_is_refused_where_its_budget_ends(place):
    with opened(place, Budget(0.05)) as ledger:
        with pytest.raises(Refusal, match="from the dataset's budget"):
            ledger.reserve(None, "dataset:profile", plan("q"), Pure(0.06))
        assert ledger.spent() == Spent()


@pytest.mark.parametrize(("analyst", "request_id"), [("alice", "dataset:profile"), (None, "profile")])
def test_request_facts_of_the_dataset_are_its_own(ledger, analyst, request_id):
    with pytest.raises(Refusal, match="its own begin with dataset:, and only they do"):
        ledger.reserve(analyst, request_id, plan("q"), COST)


def test_an_answer_that_the_dataset_and_an_analyst_share_adds_up(ledger):
    """No plan of an analyst is one of the dataset; if it were, whoever comes second would pay for themselves."""
    answered(ledger, payload=b"noisy")
    assert ledger.reserve(None, "dataset:profile", plan("q"), COST).payload == b"noisy"
    assert ledger.spent().epsilon_units == units_of(2)
    ledger.verify()


def test_an_analyst_called_none_is_not_the_dataset(place):
    with opened(place, analysts={"None": Budget(1)}) as ledger:
        ledger.reserve("None", "1", plan("q"), COST)
        assert ledger.spent("None").epsilon_units == units_of(1)
        ledger.verify()


def test_a_question_that_was_judged_before_a_newer_answer_is_not_paid(place):
    with opened(place) as ledger, opened(place) as other:
        answered(ledger, name="first")
        ((seen, _),) = ledger.latest_answers("alice", 5)
        answered(other, "bob", name="another's")
        assert isinstance(ledger.reserve("alice", "2", plan("second"), COST, seen=seen), Hold)
        answered(other, name="third")  # which this process has not read yet
        spent = other.spent("alice")
        for request, about in (("3", "fourth"), ("id of first", "first")):
            with pytest.raises(NewerAnswer):
                ledger.reserve("alice", request, plan(about), COST, seen=seen)
        assert ledger.spent("alice") == spent
        ((newest, _),) = ledger.latest_answers("alice", 5, after=seen)
        assert isinstance(ledger.reserve("alice", "3", plan("fourth"), COST, seen=newest), Hold)


def test_an_answer_tells_where_it_is_kept_and_where_the_one_before_it_is(place):
    with opened(place) as ledger:
        kept = []
        for number in range(2):
            hold = ledger.reserve("alice", str(number), plan(str(number)), COST)
            hold.commit(b"answer")
            kept.append(hold.kept)
        assert [(each.before, each.number) for each in kept] == [(0, kept[0].number), (kept[0].number, kept[1].number)]
        assert [number for number, _ in ledger.latest_answers("alice", 5)] == [kept[1].number, kept[0].number]
    with opened(place) as ledger:  # what was answered before it was opened may be far back: nobody says that it is not
        assert isinstance(ledger.reserve("alice", "2", plan("2"), COST, seen=kept[1].number), Hold)
