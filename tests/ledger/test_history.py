"""Answers of before, page by page: found by index, and after ids that tell nothing of others."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from adomnia.errors import Refusal
from adomnia.ledger import history
from adomnia.ledger.sqlite_records import SqliteRecords
from ledger.references import COST, PLENTY, answered, opened, plan, tamper


@pytest.fixture
def ledger(place):
    with opened(place) as ledger:
        yield ledger


def pages(ledger, limit, analyst="alice"):
    """All pages, as a program would ask for them."""
    found, after = [], None
    while page := ledger.answers(analyst, after, limit):
        found.append([receipt.request_id for receipt in page])
        after = page[-1].request_id
    return found


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 1000])
def test_pages_together_are_everything_once_and_in_order(ledger, limit):
    for number in range(7):
        answered(ledger, name=number, payload=b"%d" % number)
        answered(ledger, "bob", name=f"{number} of bob")
    ledger.reserve("alice", "lost", plan("lost"), COST)
    found = pages(ledger, limit)
    assert [len(page) for page in found[:-1]] == [limit] * (len(found) - 1)
    assert [name for page in found for name in page] == [f"id of {number}" for number in range(7)]
    assert ledger.count_answers("alice") == ledger.count_answers("bob") == 7
    assert ledger.count_answers("carol") == 0


def test_the_last_answers_are_an_analysts_own_and_the_newest_first(ledger):
    for number in range(5):
        answered(ledger, name=number, payload=b"%d" % number)
        answered(ledger, "bob", name=f"{number} of bob")
    ledger.reserve("alice", "lost", plan("lost"), COST)
    latest = ledger.latest_answers("alice", 3)
    assert [receipt.request_id for _, receipt in latest] == ["id of 4", "id of 3", "id of 2"]
    assert ledger.latest_answers("alice", 3, after=latest[1][0]) == latest[:1]
    assert ledger.latest_answers("carol", 3) == []


def test_what_was_paid_for_and_has_no_answer_is_listed_to_its_payer_alone(ledger):
    for name in ("mine", "lost", "last"):
        ledger.reserve("alice", name, plan(name), COST)
    ledger.reserve("bob", "theirs", plan("theirs"), COST)
    answered(ledger, name="kept")
    assert [receipt.request_id for receipt in ledger.unanswered("alice", 2)] == ["last", "lost"]
    assert [receipt.request_id for receipt in ledger.unanswered("bob", 9)] == ["theirs"]
    assert ledger.unanswered("ali", 9) == ledger.unanswered("alice2", 9) == []


def test_what_the_dataset_paid_for_is_listed_by_how_its_ids_begin_answered_or_not(ledger):
    for name in ("dataset:b:2", "dataset:a:1", "dataset:a:", "dataset:b:1", "dataset:c"):
        held = ledger.reserve(None, name, plan(name), COST)
        if name != "dataset:b:1":
            held.commit(b"kept")
    ledger.reserve("alice", "b:3", plan("b:3"), COST)
    assert [receipt.request_id for receipt in ledger.dataset_requests("dataset:b:", 9)] == [
        "dataset:b:2",
        "dataset:b:1",
    ]
    assert [receipt.request_id for receipt in ledger.dataset_requests("dataset:b:", 1)] == ["dataset:b:2"]
    assert ledger.dataset_request("dataset:b:1").analyst is None
    assert ledger.receipt(None, "dataset:b:1") is None
    assert ledger.receipt(None, "dataset:b:2") == ledger.dataset_request("dataset:b:2")
    assert ledger.answer(None, "dataset:b:2").payload == b"kept"
    assert ledger.dataset_request("dataset:b:3") is ledger.receipt(None, "b:3") is None


def test_a_receipt_is_found_by_its_payer_once_there_is_an_answer(ledger):
    receipt = answered(ledger, name="kept")
    ledger.reserve("alice", "lost", plan("lost"), COST)
    assert ledger.receipt("alice", "id of kept") == receipt
    assert ledger.receipt("bob", "id of kept") is None
    assert all(ledger.receipt("alice", name) is None for name in ("lost", "none", "", "a\nb", "alice\nid of kept"))


def test_receipts_tell_when_their_debit_was_written(ledger, monkeypatch):
    monkeypatch.setattr("adomnia.ledger.requests.now", lambda: "2026-11-16T10:00:00+00:00")
    given = answered(ledger, name="kept")
    found = ledger.receipt("alice", "id of kept")
    assert [given.at, found.at, *(each.at for each in ledger.answers("alice"))] == ["2026-11-16T10:00:00+00:00"] * 3


def test_what_comes_while_pages_are_read_is_on_the_last_one(ledger):
    answered(ledger, name="one")
    (first,) = ledger.answers("alice")
    assert ledger.answers("alice", first.request_id) == []
    second = answered(ledger, name="two")
    assert ledger.answers("alice", first.request_id) == [second]


@pytest.mark.parametrize("after", ["nothing", "id of theirs", "lost", "", "a\nb", "bob\nid of theirs", "\ud800", "2"])
def test_a_page_begins_after_an_answer_of_ones_own(ledger, after):
    """Not after a number, nor after somebody else's id: who could guess those would learn what others do."""
    answered(ledger, name="mine")
    answered(ledger, "bob", name="theirs")
    ledger.reserve("alice", "lost", plan("lost"), COST)
    with pytest.raises(Refusal, match="has no answer of yours") as refused:
        ledger.answers("alice", after)
    assert refused.value.code == "unknown_answer"


def test_ids_of_the_first_ledgers_are_known(tmp_path):
    """They stood alone in an entry, without the analyst's name."""
    path = tmp_path / "ledger.db"
    with opened(path) as ledger:
        for name in ("one", "two"):
            answered(ledger, name=name)
        answered(ledger, "bob", name="theirs")
    tamper(path, "UPDATE entries SET body = replace(replace(body, 'alice\\n', ''), 'bob\\n', '')")
    with closing(sqlite3.connect(path)) as connection:
        (receipt,) = history.list_answers(SqliteRecords(connection), "alice", "id of one")
        assert receipt.request_id == "id of two"
        with pytest.raises(Refusal, match="has no answer of yours"):
            history.list_answers(SqliteRecords(connection), "alice", "id of theirs")
        assert history.find_receipt(SqliteRecords(connection), "alice", "id of two") == receipt
        assert history.find_receipt(SqliteRecords(connection), "alice", "id of theirs") is None


@pytest.mark.parametrize("limit", [0, -1])
def test_a_page_has_a_length(ledger, limit):
    with pytest.raises(ValueError, match="limit must be >= 1"):
        ledger.answers("alice", None, limit)


def test_a_page_of_long_questions_has_fewer_of_them(place, monkeypatch):
    monkeypatch.setattr(history, "MOST_BYTES", 10_000)
    with opened(place) as ledger:
        for number, length in enumerate([4000, 4000, 4000, 20_000, 10]):
            ledger.reserve("alice", str(number), plan(number), COST, asked="x" * length).commit(b"noisy")
        assert pages(ledger, 1000) == [["0", "1"], ["2"], ["3"], ["4"]]


def count_steps(connection, *arguments):
    """The steps that SQLite takes for a page, in tens."""
    steps = 0

    def step():
        nonlocal steps
        steps += 1

    connection.set_progress_handler(step, 10)
    assert len(history.list_answers(SqliteRecords(connection), *arguments)) == 5
    connection.set_progress_handler(None, 0)
    return steps


def test_a_page_takes_as_long_in_a_long_ledger_as_in_a_short_one(tmp_path):
    path = tmp_path / "ledger.db"
    with opened(path, *PLENTY) as ledger, closing(sqlite3.connect(path)) as connection:
        for number in range(10):
            answered(ledger, name=number)
        short = count_steps(connection, "alice", "id of 4", 5)
        for number in range(10, 200):
            answered(ledger, name=number)
        assert count_steps(connection, "alice", "id of 4", 5) <= short + 5
        assert count_steps(connection, "alice", "id of 194", 5) <= short + 5
