"""A disk that is full, a file that may not be written or is something else: no grant, and the owner is told why."""

from __future__ import annotations

import shutil
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.ledger import StoredAnswer, file_store, sqlite, writer
from adomnia.ledger.chain import Anchor
from adomnia.ledger.file_store import FileStore
from kit.faults import faulty
from kit.waiting import HANG_SECONDS, wait_until
from ledger.references import (
    COST,
    answered,
    child,
    entries,
    list_answers,
    opened,
    plan,
    tamper,
    units_of,
    wait_until_recovered,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def faults(tmp_path, monkeypatch):
    """Where faults of SQLite are written; a disk has none at first."""
    monkeypatch.setattr(writer, "_ANSWER_SECONDS", 0.3)
    with faulty(monkeypatch, tmp_path / "faults") as place:
        yield place


def test_a_full_disk_grants_nothing_says_so_and_passes(path, faults, caplog):
    with opened(path) as ledger:
        answered(ledger, payload=b"kept")
        hold = ledger.reserve("alice", "1", plan(1), COST)
        faults.write_text("SQLITE_FULL INSERT\nSQLITE_FULL PRAGMA user_version")
        with pytest.raises(Unavailable, match=r"The ledger has no room left on its disk\. Fix: free some space"):
            ledger.reserve("alice", "2", plan(2), COST)
        assert "The ledger has no room left on its disk: SQLITE_FULL, ledger.sqlite" in caplog.text
        with pytest.raises(Failure) as failure:
            hold.commit(b"noisy" * 10_000)
        assert str(failure.value) == "The request failed. Request id: 1."
        assert ledger.trouble is not None
        assert ledger.spent().epsilon_units == units_of(2)
        assert ledger.reserve("alice", "id of q", plan("q"), COST).payload == b"kept"  # reading needs no room
        faults.unlink()
        wait_until_recovered(ledger)
        answered(ledger, name="afterwards")
        ledger.verify()


def test_an_answer_waits_for_a_disk_that_is_full_for_a_moment(path, faults, monkeypatch):
    monkeypatch.setattr(writer, "_ANSWER_SECONDS", HANG_SECONDS)
    with opened(path) as ledger, ThreadPoolExecutor(1) as threads:
        hold = ledger.reserve("alice", "1", plan(1), COST)
        faults.write_text("SQLITE_FULL INSERT\nSQLITE_FULL PRAGMA user_version")
        kept = threads.submit(hold.commit, b"noisy")
        while ledger.trouble is None:
            time.sleep(0.001)
        faults.unlink()
        assert kept.result(HANG_SECONDS) == hold.receipt
        assert ledger.reserve("alice", "1", plan(1), COST).payload == b"noisy"


def test_a_disk_error_grants_nothing_until_it_is_over_and_the_ledger_is_sound(path):
    process = child("cramped", path)
    said = [line.split(" ", 2) for line in process.communicate(timeout=HANG_SECONDS)[0].splitlines()]
    assert process.returncode == 0
    ends = [kind for kind, *_ in said]
    assert ends[19] == "Unavailable"
    assert "The ledger cannot be read or written" in said[19][2]
    assert ends[:20] == sorted(ends[:20], key=["answered", "Failure", "Unavailable"].index)  # it goes on failing
    assert ends[20:] == ["answered"] * 20
    with opened(path) as ledger:
        ledger.verify()
        kept = {receipt.request_id for receipt in list_answers(ledger)}
        assert {number for kind, number, *_ in said if kind == "answered"} <= kept
        assert ledger.spent().epsilon_units >= units_of(len(kept))
        answered(ledger)


def test_a_database_that_became_read_only_grants_nothing_until_it_can_be_written(path, faults):
    with opened(path) as ledger:
        answered(ledger)
        faults.write_text("SQLITE_READONLY INSERT\nSQLITE_READONLY VACUUM")
        with pytest.raises(Unavailable, match="The ledger may not be written"):
            ledger.reserve("alice", "1", plan(1), COST)
        with pytest.raises(Unavailable, match="The ledger may not be written"):
            ledger.reserve("alice", "id of q", plan("q"), COST)  # for replays too: what they read may not last
        faults.unlink()
        wait_until_recovered(ledger)
        assert ledger.spent().epsilon_units == units_of(1)
        answered(ledger, name="afterwards")


def test_a_locked_database_is_waited_for_and_then_refused(path, monkeypatch):
    for module in (sqlite, file_store):
        monkeypatch.setattr(module, "monotonic", lambda: 600 * time.monotonic())  # 30 seconds are over in 50 ms
    monkeypatch.setattr(writer, "_ANSWER_SECONDS", 0.1)
    with opened(path) as ledger, closing(sqlite3.connect(path, isolation_level=None)) as other:
        hold = ledger.reserve("alice", "1", plan(1), COST)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="The ledger is locked by another program"):
            ledger.reserve("alice", "2", plan(2), COST)
        with pytest.raises(Unavailable, match="The ledger is locked by another program"):
            opened(path)
        with pytest.raises(Failure):
            hold.commit(b"noisy")
        other.execute("ROLLBACK")
        wait_until_recovered(ledger)
        assert ledger.spent().epsilon_units == units_of(1)
        answered(ledger, name="afterwards")


@pytest.mark.parametrize("place", ["", "missing/ledger.db", "file/ledger.db"])
def test_a_place_where_no_file_can_be_is_refused(tmp_path, place, caplog):
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="The ledger cannot be opened or created"):
        opened(tmp_path / place)
    assert "The ledger could not be opened" in caplog.text
    assert str(tmp_path) not in caplog.text


def test_a_damaged_database_is_refused(path):
    with opened(path) as ledger:
        for number in range(30):
            answered(ledger, name=str(number))
    content = bytearray(path.read_bytes())
    content[4096 * 1 : 4096 * 4] = bytes(4096 * 3)
    path.write_bytes(content)
    with pytest.raises((Refusal, Unavailable), match=r"The ledger (is damaged|ends at|was changed|has an entry)"):
        opened(path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = '{}'",
        "DELETE FROM entries",
        "DELETE FROM payloads",
        "UPDATE payloads SET payload = x''",
    ],
)
def test_rows_cannot_be_changed_by_accident(path, statement):
    with opened(path) as ledger:
        answered(ledger)
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError, match="append only"):
        connection.execute(statement)


def test_the_database_itself_holds_one_debit_and_one_answer_a_request(path):
    with opened(path) as ledger:
        answered(ledger)
    for body in entries(path)[1:]:
        with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
            connection.execute("INSERT INTO entries (sequence, body) VALUES (99, ?)", (body,))


def test_a_database_replaced_while_it_is_open_grants_nothing_any_more(path, tmp_path):
    with opened(path) as ledger:
        answered(ledger)
        tamper(path, "DELETE FROM entries WHERE sequence = 3")
        for number in range(2):
            with pytest.raises(Unavailable, match="lost or changed entry 3"):
                ledger.reserve("alice", str(number), plan(number), COST)


def test_an_anchor_that_vanishes_while_the_ledger_is_open_ends_it(path):
    with opened(path) as ledger:
        Anchor(path).path.unlink()
        with pytest.raises(Unavailable, match="has lost its anchor"):
            ledger.reserve("alice", "1", plan(1), COST)
        wait_until(lambda: "has lost its anchor" in str(ledger.trouble))
        with pytest.raises(Unavailable, match="has lost its anchor"):
            ledger.reserve("alice", "2", plan(2), COST)


def test_both_files_copied_back_together_are_a_ledger(path, tmp_path):
    with opened(path) as ledger:
        answered(ledger)
    shutil.copytree(tmp_path, tmp_path / "copy")
    with opened(tmp_path / "copy" / "ledger.db") as ledger:
        assert isinstance(ledger.reserve("alice", "id of q", plan("q"), COST), StoredAnswer)


def test_whoever_saw_an_empty_file_and_creates_it_second_finds_the_ledger_of_the_first(path, monkeypatch):
    with opened(path) as first:
        first.reserve("alice", "r1", plan("q1"), COST)
        before = entries(path)
        monkeypatch.setattr(file_store, "check_format", lambda *_facts: True)
        with closing(FileStore(path)) as second:
            second.create()
        assert entries(path) == before
