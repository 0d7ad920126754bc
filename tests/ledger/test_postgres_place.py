"""A ledger in PostgreSQL is restored, read by many at once, and lends out turns over all machines."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest

from adomnia.errors import Refusal, Unavailable
from adomnia.ledger import postgres_place
from adomnia.ledger.audit import list_restorations
from adomnia.ledger.failpoints import KILLED
from adomnia.ledger.postgres_place import PostgresLocks, PostgresPlace
from adomnia.ledger.postgres_schema import UNREACHABLE
from adomnia.ledger.records import StoreError
from adomnia.ledger.restore import Restoration, restore
from kit.waiting import HANG_SECONDS
from ledger.references import (
    ANALYSTS,
    BUDGET,
    COST,
    answered,
    child,
    entries,
    opened,
    plan,
    units_of,
    wait_until_recovered,
)
from ledger.test_postgres_store import end_sessions

NOTHING = dict.fromkeys(["dataset", "analyst:alice", "analyst:bob"])
RESTORATION = Restoration(BUDGET, ANALYSTS, NOTHING)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """The server takes its time to end a session whose client is gone."""
    monkeypatch.setattr(postgres_place, "_ENDING_SECONDS", HANG_SECONDS)


@pytest.fixture
def saved(shared, tmp_path):
    """A backup with one answer, and a ledger that went on to a second one."""
    with opened(shared) as ledger:
        answered(ledger, name="kept")
        ledger.backup(tmp_path / "saved.db")
        answered(ledger, name="lost")
    return tmp_path / "saved.db"


def test_a_backup_is_a_file_that_opens_like_any_other(saved):
    with opened(saved) as ledger:
        assert ledger.spent().epsilon_units == units_of(1)
        assert ledger.answer("alice", "id of kept").payload == b"noisy"
        ledger.verify()


@pytest.mark.parametrize("times", [1, 2])
def test_a_backup_is_put_in_place_and_the_old_schema_is_kept_aside(shared, saved, times):
    for _ in range(times):
        head = restore(shared, saved, RESTORATION)
    assert shared.anchor.read() == head
    with opened(shared) as ledger:
        assert ledger.spent().epsilon_units == units_of(1)
        assert ledger.restored() is not None
        with ledger.snapshot() as records:
            assert [number for number, _ in list_restorations(records)] == [4]
        answered(ledger, name="lost")
        ledger.verify()
    aside = replace(shared, schema=f"{shared.schema}_replaced_{times}")
    assert len(entries(aside)) == (5 if times == 1 else 4)


def test_a_backup_of_a_file_is_put_into_an_empty_database(shared, tmp_path):
    with opened(tmp_path / "ledger.db") as ledger:
        answered(ledger)
        ledger.backup(tmp_path / "saved.db")
    restore(shared, tmp_path / "saved.db", RESTORATION)
    with opened(shared) as ledger:
        assert ledger.answer("alice", "id of q").payload == b"noisy"
        ledger.verify()


def test_a_ledger_in_use_is_not_replaced(shared, saved, monkeypatch):
    monkeypatch.setattr(postgres_place, "_ENDING_SECONDS", 0.1)
    with opened(shared), pytest.raises(Refusal, match="is in use"):
        restore(shared, saved, RESTORATION)


def test_a_process_that_was_overlooked_pays_no_more(shared, saved, monkeypatch):
    monkeypatch.setattr(PostgresPlace, "check_unused", lambda _: None)
    with opened(shared) as ledger:
        restore(shared, saved, RESTORATION)
        with pytest.raises(Unavailable, match=r"(lost or changed entry 5|went back to entry 4)"):
            ledger.reserve("alice", "1", plan(1), COST)


def test_a_restoration_that_is_cut_off_is_refused_until_it_is_done_again(shared, saved):
    process = child("put_back", shared, saved, "draft-moved")
    process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == KILLED
    with pytest.raises(Refusal, match="its anchor remembers"):
        opened(shared)
    restore(shared, saved, RESTORATION)
    with opened(shared) as ledger:
        ledger.verify()


def test_a_name_that_would_have_to_be_quoted_is_refused(shared):
    for name in ("Hospital", "a b", "1a", "", "pg_temp", "a" * 64, 'x"; DROP'):
        with pytest.raises(Refusal, match="is no name for the schema of a ledger"):
            replace(shared, schema=name)
    with pytest.raises(Refusal, match="has a password in it"):
        replace(shared, url="postgresql://me:secret@host/ledgers")


def test_many_readers_have_snapshots_of_their_own_and_few_connections_stay(shared):
    with opened(shared) as ledger, ExitStack() as held:
        first = held.enter_context(ledger.snapshot())
        assert first.find_newest()[0] == 1  # from here on it stays as it is
        answered(ledger)
        others = [held.enter_context(ledger.snapshot()) for _ in range(6)]
        assert [records.find_newest()[0] for records in (first, *others)] == [1, *[3] * 6]
    with opened(shared) as ledger:
        with pytest.raises(ZeroDivisionError), ledger.snapshot():
            _ = 1 / 0
        assert ledger.count_answers("alice") == 1


def test_entries_are_read_beyond_a_page(shared, monkeypatch):
    monkeypatch.setattr("adomnia.ledger.postgres_records._PAGE", 2)
    with opened(shared) as ledger:
        for number in range(5):
            answered(ledger, name=number)
        assert len(ledger.answers("alice", limit=5)) == 5
        ledger.verify()
    with opened(shared) as ledger:
        assert ledger.spent().epsilon_units == units_of(5)


def test_turns_end_with_their_session_and_are_taken_in_another(shared):
    opened(shared).close()
    here, there = (PostgresLocks(shared.url, shared.schema) for _ in range(2))
    with closing(here), closing(there):
        order, inside = [], threading.Event()

        def follow():
            inside.set()
            with there.hold(7):
                order.append("there")

        waiting = threading.Thread(target=follow)
        with here.hold(7):
            waiting.start()
            inside.wait(HANG_SECONDS)
            waiting.join(0.1)
            with here.hold(8):
                assert order == []
            end_sessions(shared)
            waiting.join(HANG_SECONDS)
            assert order == ["there"]
        with here.hold(7):
            pass


def test_a_turn_that_never_comes_is_not_waited_for_for_ever(shared, monkeypatch):
    """A host whose process was stopped keeps its session, and with it what it was about to answer."""
    opened(shared).close()
    here, there = (PostgresLocks(shared.url, shared.schema) for _ in range(2))
    with closing(here), closing(there), here.hold(7):
        with monkeypatch.context() as hurried:
            hurried.setattr(postgres_place, "_PATIENCE_SECONDS", 0.2)
            with pytest.raises(Unavailable, match="kept waiting by somebody who does the same elsewhere"):
                there.hold(7).__enter__()
        with there.hold(8):
            pass


def test_whoever_waits_behind_an_error_of_the_turns_is_told_at_once(shared, monkeypatch):
    """One by one, each would wait as long as the first for a server that does not reply."""
    asked = []

    def fail(*_):
        asked.append(1)
        raise StoreError("ConnectionFailed", UNREACHABLE)

    monkeypatch.setattr(postgres_place, "connect", fail)
    monkeypatch.setattr(postgres_place, "_REST_SECONDS", HANG_SECONDS)
    locks = PostgresLocks(shared.url, shared.schema)

    def take(_):
        with pytest.raises(StoreError, match="ConnectionFailed"), locks.hold(1):
            pass

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(take, range(8)))
    assert len(asked) == 2
    locks._rests_until = 0.0
    take(0)
    assert len(asked) == 4


def test_a_turn_whose_reply_was_lost_is_given_up(shared, monkeypatch):
    """The server may have granted it: the session must not live on with it."""
    locks, other = (PostgresLocks(shared.url, shared.schema) for _ in range(2))
    with closing(locks), closing(other):
        wait = postgres_place.connect

        def deaf(*place):
            connection = wait(*place)
            execute = connection.execute

            def lose(*call):
                execute(*call)
                raise StoreError("Lost", UNREACHABLE)

            connection.execute = lose
            return connection

        with monkeypatch.context() as patch:
            patch.setattr(postgres_place, "connect", deaf)
            with pytest.raises(StoreError, match="Lost"), locks.hold(1):
                pass
        with other.hold(1):
            pass


def test_turns_that_cannot_be_had_are_trouble_of_the_ledger(shared, tmp_path):
    nowhere = PostgresLocks(f"postgresql://nobody@/nowhere?host={tmp_path}", shared.schema)
    with pytest.raises(StoreError, match="ConnectionFailed"), nowhere.hold(1):
        pass
    with opened(shared) as ledger:
        names = []
        ledger.report_errors(names.append)
        own, ledger._turns = ledger._turns, nowhere
        with pytest.raises(Unavailable, match="cannot be reached"), ledger.lock("a question"):
            pass
        assert names == ["ConnectionFailed"]
        ledger._turns = own
        wait_until_recovered(ledger)
        with ledger.lock("a question"):
            answered(ledger)
    nowhere.close()
