"""One thread writes for all: groups form, order holds, and trouble reaches everybody it concerns."""

from __future__ import annotations

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import adomnia.ledger.writer
from adomnia.errors import Refusal
from adomnia.ledger.writer import Writer


class Store:
    """A stand-in for the journal: runs works, remembers the groups, can be held up and can break."""

    def __init__(self) -> None:
        self.groups, self.sent, self.closed, self.error = [], 0, threading.Event(), None
        self.gate = threading.Event()
        self.gate.set()

    def run(self, works):
        self.groups.append(len(works))
        self.gate.wait()
        if self.error is not None:
            raise self.error
        return [work(None) for work in works]

    def __enter__(self):
        self.writer = Writer(self.run, self.closed.set)
        return self

    def __exit__(self, *_):
        self.gate.set()
        self.writer.stop()
        assert self.closed.is_set()

    def crowd(self, threads, count, urgent=False):
        """Hold the writer up with one work, and have others wait behind it."""
        self.gate.clear()
        waiting = [threads.submit(self.writer.submit, lambda _, n=n: n, urgent) for n in range(count)]
        self.sent += count
        while len(self.writer._waiting) + sum(self.groups) < self.sent:
            time.sleep(0.001)
        return waiting


@pytest.fixture
def store():
    with Store() as store:
        yield store


def busy() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY | 1 << 8  # an extended code
    return error


def test_every_caller_gets_the_outcome_of_its_own_work(store):
    with ThreadPoolExecutor(16) as threads:
        squares = list(threads.map(lambda n: store.writer.submit(lambda _: n * n), range(500)))
    assert squares == [n * n for n in range(500)]


def test_those_who_wait_together_are_written_together(store):
    with ThreadPoolExecutor(20) as threads:
        waiting = store.crowd(threads, 20)
        store.gate.set()
        assert sorted(future.result() for future in waiting) == list(range(20))
    assert len(store.groups) <= 3
    assert max(store.groups) >= 10


def test_a_group_has_a_largest_size(store, monkeypatch):
    monkeypatch.setattr(adomnia.ledger.writer, "_GROUP_SIZE", 4)
    with ThreadPoolExecutor(20) as threads:
        waiting = store.crowd(threads, 20)
        store.gate.set()
        assert sorted(future.result() for future in waiting) == list(range(20))
    assert max(store.groups) == 4


def test_an_error_that_is_an_outcome_is_raised_in_its_callers_thread(store):
    with pytest.raises(Refusal, match="a no b"):
        store.writer.submit(lambda _: Refusal("a", "no b", "c"))
    assert store.writer.submit(lambda _: 1) == 1


def test_a_full_queue_refuses_at_once_but_always_takes_an_answer(store, monkeypatch):
    monkeypatch.setattr(adomnia.ledger.writer, "_MAX_WAITING", 3)
    with ThreadPoolExecutor(10) as threads:
        waiting = store.crowd(threads, 3, urgent=True)
        waiting += store.crowd(threads, 3, urgent=True)
        with pytest.raises(Refusal, match="has too many requests waiting"):
            store.writer.submit(lambda _: 1)
        store.gate.set()
        assert sorted(future.result() for future in waiting) == [0, 0, 1, 1, 2, 2]


def test_a_transaction_that_fails_fails_all_its_callers_each_with_an_error_of_its_own(store):
    with ThreadPoolExecutor(8) as threads:
        waiting = store.crowd(threads, 8)
        store.error = busy()
        store.gate.set()
        errors = [future.exception() for future in waiting]
    assert {str(error) for error in errors} == {
        "The ledger is locked by another program. Fix: wait for that program or end it, then ask again."
    }
    assert len({id(error) for error in errors}) == 8
    store.error = None
    assert store.writer.submit(lambda _: 1) == 1  # nothing was written, so it may go on


def test_after_an_error_that_may_have_written_something_nothing_is_granted_any_more(store, caplog):
    with ThreadPoolExecutor(8) as threads:
        store.error = sqlite3.OperationalError("disk I/O error")
        waiting = store.crowd(threads, 8)
        store.gate.set()
        errors = [future.exception() for future in waiting]
    store.error = None
    assert all("stopped after an error that only its log names" in str(error) for error in errors)
    assert store.closed.wait(10)
    with pytest.raises(Refusal, match="stopped after an error"):
        store.writer.submit(lambda _: 1)
    assert "disk I/O error" in caplog.text
    assert all("disk I/O error" not in str(error) for error in errors)


def test_a_refusal_of_the_whole_group_is_passed_on_in_its_own_words(store):
    store.error = Refusal("The ledger", "was changed", "restore it")
    with pytest.raises(Refusal, match=r"The ledger was changed\. Fix: restore it\.") as refusal:
        store.writer.submit(lambda _: 1)
    assert refusal.value is not store.error


def test_stopping_finishes_what_was_waiting(store):
    with ThreadPoolExecutor(8) as threads:
        waiting = store.crowd(threads, 8)
        stopping = threads.submit(store.writer.stop)
        store.gate.set()
        stopping.result()
        assert sorted(future.result() for future in waiting) == list(range(8))


def test_stopping_from_the_writing_thread_itself_does_not_wait_for_itself(store):
    store.writer.submit(lambda _: store.writer.stop())
    assert store.closed.wait(10)


def test_a_child_process_gets_nothing_from_its_parents_writer_and_does_not_stop_it(store, monkeypatch):
    with monkeypatch.context() as fork:
        fork.setattr("os.getpid", lambda: -1)
        with pytest.raises(RuntimeError, match="must be opened again after a fork"):
            store.writer.submit(lambda _: 1)
        store.writer.stop()
    assert store.writer.submit(lambda _: 1) == 1
