"""Before anybody pays, everything that the ledger shows is on the disk; after doubt, because it was written again."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing, nullcontext

import pytest

from adomnia.errors import Refusal, Unavailable
from adomnia.ledger import file_store, sqlite
from adomnia.ledger.file_store import DurableFile, FileStore
from adomnia.ledger.schema import LEDGER_FORMAT
from kit.faults import FaultyConnection, faulty
from kit.waiting import wait_until
from ledger.references import COST, PLENTY, answered, opened, plan, units_of, wait_until_recovered

PAYS, REWRITES, EMPTIES = "BEGIN IMMEDIATE", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def faults(tmp_path, monkeypatch):
    with faulty(monkeypatch, tmp_path / "faults") as place:
        yield place


@pytest.fixture
def impatient(monkeypatch):
    for module in (sqlite, file_store):
        monkeypatch.setattr(module, "monotonic", lambda: 600 * time.monotonic())


def log_bytes(path) -> int:
    return path.with_name(f"{path.name}-wal").stat().st_size


@pytest.mark.parametrize("fault", ["SQLITE_IOERR_FSYNC", "+SQLITE_IOERR_FSYNC", "SQLITE_IOERR_WRITE"])
def test_after_a_failed_fsync_everything_is_written_again_on_a_fresh_connection_before_it_pays(path, faults, fault):
    with opened(path) as ledger:
        answered(ledger)
        faults.write_text(f"{fault} COMMIT")
        with pytest.raises(Unavailable, match="cannot be read or written"):
            ledger.reserve("alice", "1", plan(1), COST)
        faults.unlink()
        before = {connection for connection, _ in FaultyConnection.done}
        FaultyConnection.done.clear()
        wait_until_recovered(ledger)
        fresh = [statement for connection, statement in FaultyConnection.done if connection not in before]
        known = [statement for statement in fresh if statement in {PAYS, REWRITES, EMPTIES}]
        assert known[-3:] == [REWRITES, EMPTIES, PAYS]
        assert PAYS not in known[:-1]
        assert log_bytes(path) < 20_000  # what the probe wrote
        answered(ledger, name="afterwards")
        # If the transaction was whole after all it stands, as it would after a power cut: a debit without an answer.
        assert ledger.spent().epsilon_units == units_of(3 if fault.startswith("+") else 2)
        ledger.verify()


@pytest.mark.parametrize("fault", [f"SQLITE_IOERR_FSYNC {EMPTIES}", f"SQLITE_IOERR_WRITE {REWRITES}"])
def test_it_does_not_pay_before_the_disk_has_taken_everything(path, faults, fault):
    with opened(path) as ledger:
        faults.write_text(f"SQLITE_IOERR_FSYNC COMMIT\n{fault}")
        with pytest.raises(Unavailable):
            ledger.reserve("alice", "1", plan(1), COST)
        faults.write_text(fault)
        FaultyConnection.done.clear()
        while sum(statement == fault.split(" ", 1)[1] for _, statement in FaultyConnection.done) < 3:
            time.sleep(0.005)
        assert PAYS not in {statement for _, statement in FaultyConnection.done}
        with pytest.raises(Unavailable):
            ledger.reserve("alice", "1", plan(1), COST)
        faults.unlink()
        wait_until_recovered(ledger)
        answered(ledger)


def test_a_reader_who_keeps_the_log_keeps_it_from_paying(path, faults, impatient):
    with opened(path) as ledger:
        answered(ledger)
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT COUNT(*) FROM entries").fetchall()
            faults.write_text("SQLITE_IOERR_FSYNC COMMIT")
            with pytest.raises(Unavailable):
                ledger.reserve("alice", "1", plan(1), COST)
            faults.unlink()
            wait_until(lambda: ledger.trouble is None or ledger.trouble.why == "is locked by another program")
            assert ledger.trouble is not None
            with pytest.raises(Unavailable):
                ledger.reserve("alice", "1", plan(1), COST)
        wait_until_recovered(ledger)
        answered(ledger, name="afterwards")


def test_others_pay_while_a_reader_keeps_one_from_recovering(path, faults):
    """The one in doubt tries again and again, and holds the anchor for each try alone."""
    with opened(path, *PLENTY) as ledger, opened(path, *PLENTY) as other:
        answered(ledger)
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT COUNT(*) FROM entries").fetchall()
            faults.write_text("SQLITE_IOERR_FSYNC COMMIT")
            with pytest.raises(Unavailable):
                ledger.reserve("alice", "1", plan(1), COST)
            faults.unlink()
            FaultyConnection.done.clear()
            while EMPTIES not in {statement for _, statement in FaultyConnection.done}:
                time.sleep(0.005)
            answered(other, name="meanwhile")  # who would be refused if the anchor were held for good
            assert ledger.trouble is not None
        wait_until_recovered(ledger)
        assert ledger.spent().epsilon_units >= units_of(2)


def test_an_entry_that_was_lost_is_noticed_before_it_pays(path, faults):
    """A disk that forgot what it had confirmed: the chain does not reach what this process knows."""
    with opened(path) as ledger:
        answered(ledger)
        faults.write_text("SQLITE_IOERR_FSYNC COMMIT")
        with pytest.raises(Unavailable):
            ledger.reserve("alice", "1", plan(1), COST)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("DROP TRIGGER entries_stay")
            other.execute("DELETE FROM entries WHERE sequence = 3")
        faults.unlink()
        wait_until(lambda: "ends at entry 2, but its anchor remembers entry 3" in str(ledger.trouble))
        with pytest.raises(Unavailable, match="ends at entry 2, but its anchor remembers entry 3"):
            ledger.reserve("alice", "2", plan(2), COST)


def test_whoever_pays_first_empties_the_log_and_others_leave_it(path, faults):
    with opened(path) as first:
        assert EMPTIES in {statement for _, statement in FaultyConnection.done}
        answered(first)
        FaultyConnection.done.clear()
        with opened(path) as second:
            assert EMPTIES not in {statement for _, statement in FaultyConnection.done}
            answered(second, name="second")
    FaultyConnection.done.clear()
    with opened(path):
        assert EMPTIES in {statement for _, statement in FaultyConnection.done}


def test_a_ledger_is_not_opened_whose_log_no_disk_takes(path, faults):
    opened(path).close()
    faults.write_text(f"SQLITE_IOERR_FSYNC {EMPTIES}")
    with pytest.raises(Unavailable, match="cannot be read or written"):
        opened(path)
    faults.unlink()
    with opened(path) as ledger:  # the one that failed has left no lock
        answered(ledger)


def test_a_log_that_does_not_reach_the_anchor_is_not_copied_by_who_opens_the_ledger(path, faults):
    """An older log at the place of the newer one: its pages would go over those of entries that were granted."""
    with opened(path) as ledger:
        answered(ledger)
        older = path.with_name(f"{path.name}-wal").read_bytes()
        answered(ledger, name="newer")
    before = path.read_bytes()
    path.with_name(f"{path.name}-wal").write_bytes(older)
    FaultyConnection.done.clear()
    with pytest.raises(Refusal, match="ends at entry 3, but its anchor remembers entry 5"):
        opened(path)
    assert EMPTIES not in {statement for _, statement in FaultyConnection.done}
    assert path.read_bytes() == before
    path.with_name(f"{path.name}-wal").unlink()
    with opened(path) as ledger:
        assert ledger.spent().epsilon_units == units_of(2)


def test_two_do_not_open_it_at_the_same_moment(path, impatient):
    opened(path).close()
    with path.with_name(f"{path.name}.lock").open("r+b") as lock:
        assert file_store._try_lock(lock.fileno(), file_store.fcntl.F_WRLCK, file_store._OPENING)
        with pytest.raises(Unavailable, match="is locked by another program"):
            opened(path)


def test_a_long_log_is_copied_into_the_database_and_errors_of_that_are_noticed(path, faults, monkeypatch):
    with opened(path, *PLENTY) as ledger:
        faults.write_text("SQLITE_IOERR_FSYNC PRAGMA wal_checkpoint(PASSIVE)")
        names = []
        ledger.report_errors(names.append)
        for number in range(60):
            try:
                answered(ledger, name=str(number))
            except Unavailable:
                break
        assert names == ["SQLITE_IOERR_FSYNC"]
        faults.unlink()
        wait_until_recovered(ledger)
        ledger.verify()


def test_sqlite_copies_no_log_by_itself_because_it_would_not_tell_of_errors(path):
    file = DurableFile(path, LEDGER_FORMAT, nullcontext)
    assert file.connection.execute("PRAGMA wal_autocheckpoint").fetchone() == (0,)
    file.close()


def test_a_log_is_copied_after_many_bytes_too(path, faults, monkeypatch):
    monkeypatch.setattr(file_store, "_LOG_BYTES", 100_000)
    with opened(path) as ledger:
        answered(ledger, payload=b"x" * 200_000)
        while "PRAGMA wal_checkpoint(PASSIVE)" not in {statement for _, statement in FaultyConnection.done}:
            time.sleep(0.001)


def test_a_log_that_is_missing_is_not_long(path, monkeypatch):
    monkeypatch.setattr(file_store, "_LOG_TRANSACTIONS", 1)
    file = DurableFile(path, LEDGER_FORMAT, nullcontext)
    log = path.with_name(f"{path.name}-wal")
    assert file.is_log_long() == log.exists()
    log.unlink(missing_ok=True)
    assert not file.is_log_long()
    file.close()


def test_a_ledger_in_memory_has_no_disk_to_wait_for():
    with opened(":memory:") as ledger:
        answered(ledger)
        ledger._writer._store.recover(doubtful=True)
        assert ledger.spent().epsilon_units == units_of(1)


def test_closing_twice_is_closing_once(path):
    file = DurableFile(path, LEDGER_FORMAT, nullcontext)
    file.close()
    file.close()


def test_an_open_that_fails_closes_its_lock(path, monkeypatch):
    monkeypatch.setattr(file_store, "connect", lambda *_: (_ for _ in ()).throw(Refusal("a", "b", "c")))
    with pytest.raises(Refusal):
        FileStore(path)
    monkeypatch.undo()
    opened(path).close()
