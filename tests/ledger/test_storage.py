"""How much of the ledger an analyst fills: counted with every debit, refused before one."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from adomnia.errors import Refusal
from adomnia.ledger import Storage, StoredAnswer
from ledger.references import COST, connect, entries, opened, plan, tamper


@pytest.fixture
def path(place):
    return place


def reserve(ledger, name, storage, analyst="alice"):
    return ledger.reserve(analyst, f"id of {name}", plan(name), COST, storage=storage)


def counted(path):
    with closing(connect(path)) as connection:
        return dict(connection.execute("SELECT analyst, bytes FROM storage"))


def test_questions_fill_a_quota_up_to_its_last_byte_and_not_beyond(path):
    with opened(path) as ledger:
        reserve(ledger, 1, Storage(600, 1000)).commit(b"noisy")
        reserve(ledger, 2, Storage(400, 1000))
        reserve(ledger, 3, Storage(1000, 1000), "bob")
        before, spent = entries(path), ledger.spent("alice")
        with pytest.raises(Refusal, match="needs 1 bytes of the ledger, and alice has 0 left of 1,000") as refused:
            reserve(ledger, 4, Storage(1, 1000))
        assert refused.value.code == "storage"
        assert "raise storage under" in refused.value.fix
        assert (entries(path), ledger.spent("alice")) == (before, spent)  # refused before any debit
        reserve(ledger, 4, Storage(1, 2000))  # the owner raised it
    assert counted(path) == {"alice": 1001, "bob": 1000}


def test_a_quota_below_what_is_filled_has_nothing_left(path):
    with opened(path) as ledger:
        reserve(ledger, 1, Storage(600, 1000))
        with pytest.raises(Refusal, match="alice has 0 left of 500"):
            reserve(ledger, 2, Storage(1, 500))


def test_what_costs_nothing_fills_nothing(path):
    with opened(path) as ledger:
        reserve(ledger, 1, Storage(600, 1000)).commit(b"noisy")
        for name in ("again", "and again"):
            again = ledger.reserve("alice", name, plan(1), COST, storage=Storage(600, 1000))
            assert isinstance(again, StoredAnswer)
        assert counted(path) == {"alice": 600}


def test_an_answer_of_somebody_else_fills_the_quota_of_who_takes_it_over(path):
    with opened(path) as ledger:
        reserve(ledger, 1, Storage(600, 1000)).commit(b"noisy")
        assert isinstance(reserve(ledger, 1, Storage(600, 600), "bob"), StoredAnswer)
        reserve(ledger, 2, Storage(1, 1000)).commit(b"noisy")
        with pytest.raises(Refusal, match="bob has 0 left"):
            reserve(ledger, 2, Storage(1, 600), "bob")
    assert counted(path) == {"alice": 601, "bob": 600}


def test_what_the_budget_does_not_pay_for_is_not_counted(path):
    with opened(path) as ledger:
        with pytest.raises(Refusal, match="budget of alice"):
            ledger.reserve("alice", "1", plan(1), type(COST)(2), storage=Storage(600, 1000))
        assert counted(path) == {}


def test_the_count_is_kept_and_a_ledger_without_one_begins_at_nothing(path):
    with opened(path) as ledger:
        reserve(ledger, 1, Storage(600, 1000))
    with opened(path) as ledger, pytest.raises(Refusal, match="alice has 400 left"):
        reserve(ledger, 2, Storage(401, 1000))
    if not isinstance(path, Path):
        return  # in PostgreSQL there always was a count
    tamper(path, "DROP TABLE storage")
    with opened(path) as ledger:
        reserve(ledger, 2, Storage(401, 1000))
        assert ledger.verify().sequence == len(entries(path))
    assert counted(path) == {"alice": 401}


def test_without_a_quota_nothing_is_counted(path):
    with opened(path) as ledger:
        ledger.reserve("alice", "1", plan(1), COST)
        ledger.reserve(None, "dataset:1", plan(2), COST, storage=Storage(10**9, 1))
    assert counted(path) == {}
    assert "storage" not in json.loads(entries(path)[-1])
