"""Errors of the ledger's own records are its trouble; those that its readers meet elsewhere are not."""

from __future__ import annotations

import errno
import sqlite3
from contextlib import suppress

import pytest

from adomnia.api.ledger_index import EntryFilter, LedgerIndex
from adomnia.api.ledger_view import read_chosen, read_entries
from adomnia.errors import Unavailable
from adomnia.ledger.postgres_place import PostgresPlace
from adomnia.ledger.postgres_records import PostgresRecords
from adomnia.ledger.sqlite_records import SqliteRecords
from adomnia.postgres import driver
from kit.waiting import wait_until
from ledger.references import answered, opened

FULL = OSError(errno.ENOSPC, "No space left on device")


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
