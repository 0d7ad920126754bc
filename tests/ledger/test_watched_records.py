"""Errors of the ledger's own records are its trouble; those that its readers meet elsewhere are not."""

from __future__ import annotations

import errno
import sqlite3

import pytest

from adomnia.errors import Unavailable
from adomnia.ledger.postgres_place import PostgresPlace
from adomnia.ledger.postgres_records import PostgresRecords
from adomnia.ledger.sqlite_records import SqliteRecords
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


def test_the_disk_of_a_copy_is_not_that_of_the_ledger(watched, tmp_path):
    ledger, names = watched
    with pytest.raises(Unavailable):
        ledger.backup(tmp_path / "no folder" / "copy.sqlite")
    assert (ledger.trouble, names) == (None, [])
