"""How much of the ledger an analyst fills: counted with every debit, refused before one."""

from __future__ import annotations

import errno
import json
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from adomnia.api.ledger_index import EntryFilter, LedgerIndex
from adomnia.api.ledger_view import read_chosen, read_entries
from adomnia.errors import Refusal, Unavailable
from adomnia.ledger import Storage, StoredAnswer
from adomnia.ledger.postgres_place import PostgresPlace
from adomnia.ledger.postgres_records import PostgresRecords
from adomnia.ledger.sqlite_records import SqliteRecords
from adomnia.postgres import driver
from kit.waiting import wait_until
from ledger.references import COST, answered, connect, entries, opened, plan, tamper

FULL = OSError(errno.ENOSPC, "No space left on device")


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


@pytest.fixture
def watched(place):
    """A ledger, and the names of its errors."""
    with opened(place) as ledger:
        answered(ledger, name="before")
        names = []
        ledger.report_errors(names.append)
        yield ledger, names


@pytest.mark.parametrize("error", [FULL, sqlite3.OperationalError("disk I/O error"), ValueError("no file at all")])
def test_an_error_of_another_file_is_no_trouble_of_the_ledger(watched, error):
    ledger, names = watched
    with pytest.raises(Exception) as raised, ledger.snapshot() as records:  # noqa: PT011 - it is compared below
        assert records.count_payloads() == 1
        raise error
    assert raised.value is error
    assert (ledger.trouble, names) == (None, [])
    answered(ledger, name="after", payload=b"another")
    with ledger.snapshot() as records:
        assert records.count_payloads() == 2


def fail(*_):
    raise sqlite3.OperationalError("disk I/O error")


def fail_late(*_):
    yield "one row"
    fail()


@pytest.mark.parametrize(("name", "broken"), [("find_newest", fail), ("list_answered", fail_late)])
def test_an_error_of_the_records_is_trouble_whoever_reads_them(watched, place, monkeypatch, name, broken):
    ledger, names = watched
    kept = PostgresRecords if isinstance(place, PostgresPlace) else SqliteRecords
    told = pytest.raises((Unavailable, sqlite3.Error))
    with told as raised, ledger.snapshot() as records, monkeypatch.context() as patch:
        patch.setattr(kept, name, broken)
        list(getattr(records, name)())
    assert (raised.type, len(names)) == (Unavailable, 1)
    wait_until(lambda: ledger.trouble is None)
    answered(ledger, name="after")


def read_in_a_snapshot(read):
    def read_ledger(ledger):
        with ledger.snapshot() as records:
            return read(records)

    return read_ledger


READS = {
    "answers": lambda ledger: ledger.answers("alice"),
    "latest answers": lambda ledger: ledger.latest_answers("alice", 5),
    "unanswered": lambda ledger: ledger.unanswered("alice", 5),
    "requests of the dataset": lambda ledger: ledger.dataset_requests("dataset:", 5),
    "a request of the dataset": lambda ledger: ledger.dataset_request("dataset:release:any"),
    "a receipt": lambda ledger: ledger.receipt("alice", "id of before"),
    "a count": lambda ledger: ledger.count_answers("alice"),
    "verify": lambda ledger: ledger.verify(),
    "probe": lambda ledger: ledger.probe(),
    "the index": read_in_a_snapshot(lambda records: LedgerIndex().find(records, EntryFilter(kind="commit"), 99, None)),
    "entries": read_in_a_snapshot(lambda records: list(read_entries(records))),
    "chosen entries": read_in_a_snapshot(lambda records: list(read_chosen(records, [2]))),
}


class BrokenConnection:
    """A connection that is lost after so many statements, by an error of its own driver."""

    def __init__(self, inner, error, statements):
        self._inner, self._error, self._left = inner, error, statements

    def execute(self, *arguments):
        if self._left == 0:
            raise self._error
        self._left -= 1
        return self._inner.execute(*arguments)

    def __getattr__(self, name):
        return getattr(self._inner, name)


@pytest.mark.parametrize("statements", [0, 1])
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_whatever_is_read_its_errors_are_told_and_recovered_from(watched, place, monkeypatch, read, statements):
    ledger, names = watched
    is_file = not isinstance(place, PostgresPlace)
    kept = SqliteRecords if is_file else PostgresRecords
    error = sqlite3.OperationalError("disk I/O error") if is_file else driver().OperationalError("gone")
    whole, raised, begin = read(ledger), None, kept.__init__

    def lose(records, connection, *rest):
        begin(records, BrokenConnection(connection, error, statements), *rest)

    with monkeypatch.context() as patch:
        patch.setattr(kept, "__init__", lose)
        with suppress(Unavailable):
            raised = True
            read(ledger)
            raised = False
    assert raised or statements > 0  # some have read all by then
    assert bool(names) == raised
    wait_until(lambda: ledger.trouble is None)
    assert read(ledger) == whole


def test_the_disk_of_a_copy_is_not_that_of_the_ledger(watched, tmp_path):
    ledger, names = watched
    with pytest.raises(Unavailable):
        ledger.backup(tmp_path / "no folder" / "copy.sqlite")
    assert (ledger.trouble, names) == (None, [])
