"""Whatever is wrong with the ledger, and whoever meets it: it is told, tried to be ended, and ends with its cause."""

from __future__ import annotations

import random
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from adomnia import postgres
from adomnia.errors import Unavailable
from adomnia.ledger import file_store, postgres_place, postgres_store, store
from adomnia.ledger.postgres_schema import UNREACHABLE, lock_number
from adomnia.ledger.records import StoreError
from kit.faults import FaultyConnection, faulty, may_mount, read_only
from kit.waiting import HANG_SECONDS, wait_until
from ledger.references import COST, PLENTY, answered, entries, list_answers, opened, plan, units_of
from ledger.test_postgres_store import end_sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adomnia.ledger import Ledger
    from adomnia.ledger.postgres_schema import Connection


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "folder"
    made.mkdir()
    return made


@pytest.fixture
def path(folder):
    return folder / "ledger.db"


@pytest.fixture
def faults(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_TOUCH_SECONDS", 0.0)
    monkeypatch.setattr(file_store, "PAYING_FORMAT", replace(file_store.PAYING_FORMAT, busy_seconds=0.0))
    with faulty(monkeypatch, tmp_path / "faults") as place:
        yield place


@contextmanager
def removed(path, *suffixes) -> Iterator[None]:
    for suffix in suffixes:
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    yield


@contextmanager
def moved(path) -> Iterator[None]:
    away = path.with_name("away")
    path.rename(away)
    yield
    away.rename(path)


@contextmanager
def locked(path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield


@contextmanager
def failing(faults, lines) -> Iterator[None]:
    draft = faults.with_suffix(".new")
    draft.write_text(lines)
    draft.rename(faults)
    yield
    faults.unlink()


FAULTS = {
    "no log": lambda path, _: removed(path, "-wal"),
    "no shared memory": lambda path, _: removed(path, "-shm"),
    "neither": lambda path, _: removed(path, "-wal", "-shm"),
    "a database elsewhere": lambda path, _: moved(path),
    "a folder elsewhere": lambda path, _: moved(path.parent),
    "a lock": lambda path, _: locked(path),
    "a full disk": lambda _, faults: failing(faults, "SQLITE_FULL INSERT\nSQLITE_FULL PRAGMA user_version"),
    "a failed read": lambda _, faults: failing(faults, "SQLITE_IOERR_READ SELECT"),
    "a failed fsync": lambda _, faults: failing(faults, "SQLITE_IOERR_FSYNC COMMIT"),
    "a reader that cannot open it": lambda _, faults: failing(faults, "SQLITE_CANTOPEN SELECT sequence, body"),
}
if may_mount():
    FAULTS["a folder that may not be written"] = lambda path, _: read_only(path.parent)
LASTING = [name for name in FAULTS if not name.startswith(("no ", "neither"))]


def read(ledger) -> None:
    """What a session does before it pays."""
    ledger.latest_answers("alice", 10)


def pay(ledger) -> None:
    ledger.reserve("alice", "meanwhile", plan("meanwhile"), COST)


def try_once(ledger, act: Callable[[Ledger], object] = lambda _: None) -> None:
    """What somebody does, if anybody does something, and then what the server tries twice a second."""
    with suppress(Unavailable):
        act(ledger)
        ledger.probe()


def wait_until_over(ledger) -> None:
    """Without anybody who asks or looks."""
    wait_until(lambda: ledger.trouble is None, lambda: ledger.trouble)


def check_exact(ledger, answers) -> None:
    """Nothing was lost and nothing is there twice: each answer, once, and what it cost."""
    ledger.verify()
    assert [receipt.request_id for receipt in list_answers(ledger)] == [f"id of {name}" for name in answers]
    assert {ledger.answer("alice", f"id of {name}").payload for name in answers} == {b"noisy"}
    unanswered = len(ledger.unanswered("alice", 10))
    assert ledger.spent().epsilon_units == units_of(len(answers) + unanswered)
    assert unanswered <= 1  # the one that somebody paid for meanwhile and did not ask again


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("act", [read, pay, lambda _: None], ids=["reading", "paying", "nobody asks"])
def test_every_fault_is_told_counted_and_over_by_itself(path, faults, caplog, fault, act):
    with opened(path, *PLENTY) as ledger:
        answered(ledger, name="before")
        names = []
        ledger.report_errors(names.append)
        with FAULTS[fault](path, faults):
            try_once(ledger, act)
            assert names
        wait_until_over(ledger)
        told = [record.getMessage() for record in caplog.records]
        assert told[0].startswith("The ledger ")
        assert told[-1] == "The ledger has recovered."
        assert len(set(told)) == len(told)  # each reason once, however often it was met
        read(ledger)
        ledger.probe()
        answered(ledger, name="after")
        check_exact(ledger, ["before", "after"])
    with opened(path, *PLENTY) as ledger:
        check_exact(ledger, ["before", "after"])


@pytest.mark.parametrize("fault", LASTING)
def test_while_a_fault_lasts_so_does_the_trouble_and_nobody_waits(path, faults, monkeypatch, fault):
    with opened(path, *PLENTY) as ledger:
        answered(ledger, name="before")
        names = []
        ledger.report_errors(names.append)
        with FAULTS[fault](path, faults):
            try_once(ledger)
            wait_until(lambda: len(names) >= 3)  # tries to recover fail
            assert ledger.trouble is not None
            if fault != "a full disk":  # where one can still read
                monkeypatch.setattr(ledger, "_reader", object())  # which nobody can use
                monkeypatch.setattr(ledger, "_turns", object())
                for act in (read, pay, take_turn, lambda ledger: ledger.left("alice"), lambda ledger: ledger.verify()):
                    with pytest.raises(Unavailable):
                        act(ledger)
                monkeypatch.undo()
        wait_until_over(ledger)
        check_exact(ledger, ["before"])


@pytest.mark.parametrize("fault", ["no log", "no shared memory", "neither"])
def test_two_ledgers_of_one_process_recover_although_they_share_what_was_lost(path, fault):
    with opened(path, *PLENTY) as first, opened(path, *PLENTY) as second:
        answered(first, name="first")
        answered(second, name="second")
        with FAULTS[fault](path, None):
            for ledger in (first, second):
                with pytest.raises(Unavailable, match="had its files removed or replaced"):
                    read(ledger)
        for ledger in (first, second):
            wait_until_over(ledger)
        answered(first, name="third")
        answered(second, name="fourth")
        for ledger in (first, second):
            check_exact(ledger, ["first", "second", "third", "fourth"])


def test_faults_of_all_kinds_one_after_the_other_leave_the_ledger_exact(path, faults):
    """As a server has them: two that pay, of which each tries twice a second whether it could."""
    kinds, answers = random.Random(1).sample(list(FAULTS), len(FAULTS)), ["before"]
    with opened(path, *PLENTY) as ledger, opened(path, *PLENTY) as other:
        answered(other, name="before")
        for kind in kinds:
            with FAULTS[kind](path, faults):
                try_once(ledger, read)
                try_once(other, read)
            wait_until(lambda: all([is_usable(ledger), is_usable(other)]))  # both try
            for each, whose in ((ledger, "its"), (other, "others")):
                answered(each, name=f"{whose}, after {kind}")
                answers.append(f"{whose}, after {kind}")
        check_exact(ledger, answers)
        check_exact(other, answers)


def test_a_lock_that_is_held_for_a_moment_is_no_trouble(path, caplog):
    with opened(path) as ledger, ThreadPoolExecutor(1) as threads:
        with locked(path):
            asked = threads.submit(answered, ledger)
            with pytest.raises(TimeoutError):
                asked.result(0.1)
        asked.result(HANG_SECONDS)
        assert ledger.trouble is None
        assert not caplog.records


def test_a_probe_writes_now_and_then_only_and_changes_nothing(path, faults, monkeypatch):
    with opened(path) as ledger:
        answered(ledger)
        before = entries(path)
        FaultyConnection.done.clear()
        monkeypatch.setattr(store, "_TOUCH_SECONDS", 10.0)
        ledger.probe()
        written = [statement for _, statement in FaultyConnection.done if statement.startswith("PRAGMA user_version =")]
        assert written == []
        late = monotonic() + 11
        monkeypatch.setattr(store, "monotonic", lambda: late)
        for _ in range(3):
            ledger.probe()
        written = [statement for _, statement in FaultyConnection.done if statement.startswith("PRAGMA user_version =")]
        assert len(written) == 1
        assert entries(path) == before


def test_a_ledger_in_memory_can_be_probed():
    with opened(":memory:") as ledger:
        ledger.probe()
        answered(ledger)


def test_a_backup_whose_own_disk_fails_is_no_trouble_of_the_ledger(place, tmp_path):
    with opened(place) as ledger:
        answered(ledger)
        names = []
        ledger.report_errors(names.append)
        with pytest.raises(Unavailable, match="cannot be opened or created"):
            ledger.backup(tmp_path / "no folder" / "copy.db")
        assert (names, ledger.trouble) == ([], None)


def test_errors_of_what_is_done_in_its_turn_are_not_the_ledgers(path):
    with opened(path) as ledger:
        with pytest.raises(OSError, match="secret"), ledger.lock("a question"):
            raise OSError(5, "secret")
        assert ledger.trouble is None


def take_turn(ledger) -> None:
    with ledger.lock("a question"):
        pass


def is_usable(ledger) -> bool:
    try:
        ledger.probe()
    except Unavailable:
        return False
    return ledger.trouble is None


@pytest.fixture
def watched(shared):
    """A ledger in PostgreSQL, and the names of its errors."""
    with opened(shared, *PLENTY) as ledger:
        answered(ledger, name="before")
        names = []
        ledger.report_errors(names.append)
        yield ledger, names


@contextmanager
def owner_of(place) -> Iterator[Connection]:
    """A session of somebody who may do everything."""
    with closing(postgres.connect(place.url, program="test", settings={}, autocommit=True)) as other:
        yield other


@pytest.mark.parametrize("act", [read, take_turn, pay, lambda ledger: ledger.probe()], ids=["r", "t", "p", "look"])
def test_a_server_that_cannot_be_reached_is_trouble_whoever_meets_it(shared, watched, monkeypatch, act):
    ledger, names = watched
    with monkeypatch.context() as away:
        for module in (postgres_store, postgres_place):
            away.setattr(module, "connect", raise_unreachable)
        end_sessions(shared)
        try_once(ledger, act)
        wait_until(lambda: len(names) >= 3)
        with pytest.raises(Unavailable, match="cannot be reached"):
            read(ledger)
    wait_until_over(ledger)
    answered(ledger, name="after")
    check_exact(ledger, ["before", "after"])


def raise_unreachable(*_, **__) -> None:
    raise StoreError("ConnectionFailed", UNREACHABLE)


def test_a_lock_of_somebody_who_does_not_end_is_told_and_ends_with_it(shared, watched, monkeypatch):
    ledger, names = watched
    with owner_of(shared) as other:
        other.execute("SELECT pg_catalog.pg_advisory_lock(%s)", (lock_number(shared.schema),))
        ledger._writer._store._store._connection.execute("SET lock_timeout = '50ms'")
        with pytest.raises(Unavailable, match="is locked by another program"):
            ledger.probe()
        with pytest.raises(Unavailable, match="is locked by another program"):
            read(ledger)  # at once
        assert set(names) == {"LockNotAvailable"}
    wait_until_over(ledger)
    answered(ledger, name="after")
    check_exact(ledger, ["before", "after"])


def test_whoever_opens_a_ledger_slowly_keeps_nobody_from_paying(path, monkeypatch):
    begun, paid, identify = Event(), Event(), file_store.identify_open

    def identify_late(*names):
        begun.set()
        assert paid.wait(HANG_SECONDS)
        return identify(*names)

    with opened(path) as ledger, ThreadPoolExecutor() as pool:
        monkeypatch.setattr(file_store, "identify_open", identify_late)
        other = pool.submit(lambda: opened(path).close())
        try:
            assert begun.wait(HANG_SECONDS)
            assert answered(ledger)
        finally:
            paid.set()
        other.result(HANG_SECONDS)
