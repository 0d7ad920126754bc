"""A disk that is full, a file that may not be written or is something else: no grant, and the owner is told why."""

from __future__ import annotations

import shutil
import sqlite3
import time
from contextlib import closing

import pytest

from adomnia.errors import Failure, Refusal
from adomnia.ledger import StoredAnswer, sqlite
from adomnia.ledger.anchor import Anchor
from ledger.references import COST, answered, child, entries, opened, plan, tamper, units_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


def pragma(ledger, text):
    """Ask or set something on the very connection that writes."""
    return ledger._writer.submit(lambda transaction: transaction.connection.execute(f"PRAGMA {text}").fetchall())


def test_a_full_disk_grants_nothing_says_so_and_passes(path, caplog):
    with opened(path) as ledger:
        answered(ledger, payload=b"kept")
        pragma(ledger, "max_page_count = 1")  # no more than there are
        hold, spent = None, units_of(1)
        with pytest.raises(Refusal, match=r"The ledger has no room left on its disk\. Fix: free some space"):
            for number in range(1000):
                hold = ledger.reserve("alice", str(number), plan(number), COST)
                spent += units_of(1)
        assert "OperationalError('database or disk is full')" in caplog.text
        with pytest.raises(Failure) as failure:
            hold.commit(b"noisy" * 10_000)
        assert str(failure.value) == f"The request failed. Request id: {hold.receipt.request_id}."
        assert ledger.spent().epsilon_units == spent
        assert ledger.reserve("alice", "id of q", plan("q"), COST).payload == b"kept"
        pragma(ledger, "max_page_count = 1000000")
        answered(ledger, name="afterwards")
        ledger.verify()


def test_a_disk_error_ends_the_ledger_and_opening_again_finds_it_sound(path):
    process = child("cramped", path)
    said = [line.split(" ", 2) for line in process.communicate(timeout=120)[0].splitlines()]
    assert process.returncode == 0
    ends = [kind for kind, *_ in said]
    assert ends[-1] == "Refusal"
    assert "stopped after an error" in said[-1][2]
    assert ends == sorted(ends, key=["answered", "Failure", "Refusal"].index)  # once it fails it goes on failing
    with opened(path) as ledger:
        ledger.verify()
        kept = {receipt.request_id for receipt in ledger.answers("alice")}
        assert {number for kind, number, *_ in said if kind == "answered"} <= kept
        assert ledger.spent().epsilon_units >= units_of(len(kept))
        answered(ledger)


def test_a_database_that_became_read_only_grants_nothing(path):
    with opened(path) as ledger:
        answered(ledger)
        pragma(ledger, "query_only = ON")
        with pytest.raises(Refusal, match="The ledger may not be written"):
            ledger.reserve("alice", "1", plan(1), COST)
        with pytest.raises(Refusal, match="The ledger may not be written"):
            ledger.reserve("alice", "id of q", plan("q"), COST)  # it has ended, for replays too
    with opened(path) as ledger:
        assert ledger.spent().epsilon_units == units_of(1)


def test_a_locked_database_is_waited_for_and_then_refused(path, monkeypatch):
    monkeypatch.setattr(sqlite, "monotonic", lambda: 600 * time.monotonic())  # 30 seconds are over in 50 ms
    with opened(path) as ledger, closing(sqlite3.connect(path, isolation_level=None)) as other:
        hold = ledger.reserve("alice", "1", plan(1), COST)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Refusal, match="The ledger is locked by another program"):
            ledger.reserve("alice", "2", plan(2), COST)
        with pytest.raises(Refusal, match="The ledger is locked by another program"):
            opened(path)
        with pytest.raises(Failure):
            hold.commit(b"noisy")
        other.execute("ROLLBACK")
        assert ledger.spent().epsilon_units == units_of(1)
        answered(ledger, name="afterwards")


@pytest.mark.parametrize("place", ["", "missing/ledger.db", "file/ledger.db"])
def test_a_place_where_no_file_can_be_is_refused(tmp_path, place, caplog):
    (tmp_path / "file").touch()
    with pytest.raises(Refusal, match="The ledger cannot be opened or created"):
        opened(tmp_path / place)
    assert str(tmp_path) in caplog.text


def test_a_damaged_database_is_refused(path):
    with opened(path) as ledger:
        for number in range(30):
            answered(ledger, name=str(number))
    content = bytearray(path.read_bytes())
    content[4096 * 1 : 4096 * 4] = bytes(4096 * 3)
    path.write_bytes(content)
    with pytest.raises(Refusal, match=r"The ledger (is damaged|ends at|was changed|has an entry)"):
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


def test_a_database_replaced_while_it_is_open_grants_nothing(path, tmp_path):
    with opened(path) as ledger:
        answered(ledger)
        tamper(path, "DELETE FROM entries WHERE sequence = 3")
        with pytest.raises(Refusal, match="lost or changed entry 3"):
            ledger.reserve("alice", "1", plan(1), COST)


def test_an_anchor_that_vanishes_while_the_ledger_is_open_ends_it(path):
    with opened(path) as ledger:
        Anchor(path).path.unlink()
        with pytest.raises(Refusal, match="has lost its anchor"):
            ledger.reserve("alice", "1", plan(1), COST)
        with pytest.raises(Refusal):
            ledger.reserve("alice", "2", plan(2), COST)


def test_both_files_copied_back_together_are_a_ledger(path, tmp_path):
    with opened(path) as ledger:
        answered(ledger)
    shutil.copytree(tmp_path, tmp_path / "copy")
    with opened(tmp_path / "copy" / "ledger.db") as ledger:
        assert isinstance(ledger.reserve("alice", "id of q", plan("q"), COST), StoredAnswer)
