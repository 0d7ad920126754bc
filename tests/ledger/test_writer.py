"""One thread writes for all: groups form, order holds, and trouble reaches everybody it concerns."""

from __future__ import annotations

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import adomnia.ledger.writer
from adomnia.errors import Refusal, Unavailable
from adomnia.ledger.writer import Writer
from kit.waiting import HANG_SECONDS, wait_until


class Store:
    """A stand-in for the journal: runs works, remembers the groups, can be held up, break, and recover."""

    def __init__(self) -> None:
        self.groups, self.closed, self.error = [], threading.Event(), None
        self.recoveries, self.maintenance, self.beside = [], None, None
        self.gate = threading.Event()
        self.gate.set()

    def run(self, works):
        self.groups.append(len(works))
        self.gate.wait()
        if self.error is not None:
            raise self.error
        return [work(None) for work in works]

    def maintain(self):
        if self.maintenance is not None:
            raise self.maintenance

    def recover(self, doubtful):
        self.recoveries.append(doubtful)
        if self.error is not None:
            raise self.error
        self.maintenance = None

    def close(self):
        self.closed.set()

    def __enter__(self):
        self.writer = Writer(self, self.look)
        return self

    def look(self):
        if self.beside is not None:
            raise self.beside

    def wait_until_recovered(self):
        wait_until(lambda: self.writer.trouble is None)

    def __exit__(self, *_):
        self.gate.set()
        self.writer.stop()
        assert self.closed.is_set()

    def crowd(self, threads, count, urgent=False):
        """Hold the writer up with the first works, and have the others wait behind them."""
        is_free, groups, works = self.gate.is_set(), len(self.groups), self._count_works()
        self.gate.clear()
        waiting = [threads.submit(self.writer.submit, lambda _, n=n: n, urgent) for n in range(count)]
        # A writer that is not held up yet would take those that wait, and make room for others.
        while self._count_works() < works + count or (is_free and len(self.groups) == groups):
            time.sleep(0.001)
        return waiting

    def _count_works(self):
        return len(self.writer._waiting) + sum(self.groups)


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
        with pytest.raises(Unavailable, match="has too many requests waiting"):
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
    store.wait_until_recovered()
    assert store.writer.submit(lambda _: 1) == 1
    assert set(store.recoveries) == {False}  # nothing was written, so there is no doubt


def io_error() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode, error.sqlite_errorname = sqlite3.SQLITE_IOERR_FSYNC, "SQLITE_IOERR_FSYNC"
    return error


def test_after_an_error_that_leaves_doubt_nothing_is_run_until_the_store_has_recovered(store, caplog):
    names = []
    store.writer.on_error = names.append
    with ThreadPoolExecutor(8) as threads:
        store.error = io_error()
        waiting = store.crowd(threads, 8)
        store.gate.set()
        errors = [future.exception() for future in waiting]
    groups = len(store.groups)
    assert all(isinstance(error, Unavailable) for error in errors)
    assert {error.why for error in errors} == {"cannot be read or written"}
    with pytest.raises(Unavailable, match="cannot be read or written"):
        store.writer.submit(lambda _: 1)
    while len(store.recoveries) < 2:
        time.sleep(0.001)
    assert len(store.groups) == groups  # the store was not asked for anything meanwhile
    store.error = None
    store.wait_until_recovered()
    assert store.writer.submit(lambda _: 1) == 1
    assert set(store.recoveries) == {True}
    assert set(names) == {"SQLITE_IOERR_FSYNC"}
    told = "The ledger cannot be read or written: SQLITE_IOERR_FSYNC, ledger.sqlite"
    assert caplog.text.count(told) == 1  # not at every try
    assert "The ledger has recovered" in caplog.text


@pytest.mark.parametrize(("code", "says", "tries"), [("BUSY", "is locked", 1), ("FULL", "has no room", 2)])
def test_a_full_disk_does_not_keep_others_from_trying_and_a_lock_does(store, code, says, tries):
    store.error = sqlite3.OperationalError("injected")
    store.error.sqlite_errorcode = getattr(sqlite3, f"SQLITE_{code}")
    for _ in range(2):
        with pytest.raises(Unavailable, match=says):
            store.writer.submit(lambda _: 1)
    assert len(store.groups) == tries
    store.error = None
    store.wait_until_recovered()
    assert set(store.recoveries) == {False}


def test_an_answer_waits_a_while_for_a_ledger_in_trouble(store, monkeypatch):
    with ThreadPoolExecutor(3) as threads:
        for trouble in (busy, io_error):
            store.error = trouble()
            with pytest.raises(Unavailable):
                store.writer.submit(lambda _: 1)
            answer = threads.submit(store.writer.submit, lambda _: 7, True)
            tries = len(store.recoveries)
            while len(store.recoveries) < tries + 2:
                time.sleep(0.001)
            assert not answer.done()
            store.error = None
            assert answer.result(HANG_SECONDS) == 7
            store.wait_until_recovered()
        monkeypatch.setattr(adomnia.ledger.writer, "_ANSWER_SECONDS", 0.0)
        store.error = io_error()
        with pytest.raises(Unavailable):
            store.writer.submit(lambda _: 1)
        with pytest.raises(Unavailable):
            store.writer.submit(lambda _: 7, urgent=True)
        store.error = None


def test_an_answer_that_the_store_never_takes_is_given_up_and_others_go_on(store):
    def refuse(_):
        raise busy()

    with pytest.raises(Unavailable):
        store.writer.submit(refuse, urgent=True)
    assert len(store.groups) == adomnia.ledger.writer._MOST_TRIES
    store.wait_until_recovered()
    assert store.writer.submit(lambda _: 7) == 7


def test_those_who_wait_when_trouble_comes_are_told_once_it_does_not_pass(store, monkeypatch):
    with ThreadPoolExecutor(8) as threads:
        monkeypatch.setattr(adomnia.ledger.writer, "_GROUP_SIZE", 1)
        waiting = store.crowd(threads, 8)
        store.error = io_error()
        store.gate.set()
        assert all(isinstance(future.exception(HANG_SECONDS), Unavailable) for future in waiting)
    assert sum(store.groups) == 1
    store.error = None


def test_those_who_wait_behind_a_lock_are_told_at_once(store, monkeypatch):
    with ThreadPoolExecutor(8) as threads:
        monkeypatch.setattr(adomnia.ledger.writer, "_GROUP_SIZE", 1)
        monkeypatch.setattr(adomnia.ledger.writer, "_FIRST_PAUSE", HANG_SECONDS)  # nobody tries to recover
        waiting = store.crowd(threads, 8)
        store.error = busy()
        store.gate.set()
        assert all(isinstance(future.exception(HANG_SECONDS), Unavailable) for future in waiting)
    assert (sum(store.groups), store.recoveries) == (1, [])


def test_trouble_after_a_transaction_is_nobodys_but_has_to_be_recovered_from(store):
    store.maintenance, store.error = io_error(), None
    assert store.writer.submit(lambda _: 1) == 1
    wait_until(lambda: store.recoveries)  # its caller was told of the work before anybody knew of the trouble
    store.wait_until_recovered()
    assert store.recoveries == [True]
    assert store.writer.submit(lambda _: 2) == 2


def test_an_error_that_is_not_the_files_is_told_and_forgotten(store):
    store.error = ValueError("secret")
    with pytest.raises(Unavailable, match="met an error that only its log names"):
        store.writer.submit(lambda _: 1)
    store.error = None
    assert store.writer.submit(lambda _: 1) == 1
    assert store.recoveries == []


def test_an_error_beside_the_writer_is_trouble_like_its_own_and_leaves_no_doubt(store, caplog):
    names = []
    store.writer.on_error = names.append
    with pytest.raises(Unavailable, match="cannot be read or written"), store.writer.watch():
        raise io_error()
    store.wait_until_recovered()
    assert names == ["SQLITE_IOERR_FSYNC"]
    assert set(store.recoveries) == {False}
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]


def test_what_is_not_an_error_of_the_store_is_passed_on_as_it_is(store):
    for error in (Refusal("a", "no b", "c"), ValueError("secret")):
        with pytest.raises(type(error)) as raised, store.writer.watch():
            raise error
        assert raised.value is error
        assert store.writer.trouble is None


def test_it_has_recovered_only_once_what_is_beside_it_can_be_done_too(store):
    store.beside = io_error()
    with pytest.raises(Unavailable), store.writer.watch():
        raise io_error()
    wait_until(lambda: len(store.recoveries) >= 3)
    assert store.recoveries[:2] == [False, True]  # where it lasts, everything is opened anew
    for act in (lambda: store.writer.submit(lambda _: 1), lambda: store.writer.watch().__enter__()):
        with pytest.raises(Unavailable, match="cannot be read or written"):
            act()
    assert store.groups == []
    store.beside = None
    store.wait_until_recovered()
    assert store.writer.submit(lambda _: 1) == 1


def test_nobody_waits_for_a_store_that_has_not_ended_for_long(store, monkeypatch):
    with ThreadPoolExecutor(2) as threads:
        first = store.crowd(threads, 1)
        late = time.monotonic() + adomnia.ledger.writer._STUCK_SECONDS + 1
        monkeypatch.setattr(adomnia.ledger.writer, "monotonic", lambda: late)
        for act in (lambda: store.writer.submit(lambda _: 1), lambda: store.writer.watch().__enter__()):
            with pytest.raises(Unavailable, match="waits for its disk, its database or a lock"):
                act()
        store.gate.set()
        assert first[0].result(HANG_SECONDS) == 0
    assert store.writer.submit(lambda _: 1) == 1


def test_stopping_in_the_middle_of_trouble_ends_all_waiting(store):
    store.error = io_error()
    with pytest.raises(Unavailable):
        store.writer.submit(lambda _: 1)
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(store.writer.submit, lambda _: 7, True)
        while not store.writer._waiting:
            time.sleep(0.001)
        store.writer.stop()
        assert isinstance(answer.exception(HANG_SECONDS), Unavailable)


def test_a_refusal_of_the_whole_group_is_passed_on_in_its_own_words_and_ends_the_ledger(store):
    store.error = Refusal("The ledger", "was changed", "restore it")
    with pytest.raises(Unavailable, match=r"The ledger was changed\. Fix: restore it\.") as trouble:
        store.writer.submit(lambda _: 1)
    assert trouble.value is not store.error
    store.error = None
    assert store.closed.wait(HANG_SECONDS)
    for urgent in (False, True):
        with pytest.raises(Unavailable, match=r"The ledger was changed"):
            store.writer.submit(lambda _: 1, urgent)
    with store.writer.watch():
        pass  # its owner may look at what has become of it


def test_stopping_finishes_what_was_waiting(store):
    with ThreadPoolExecutor(8) as threads:
        waiting = store.crowd(threads, 8)
        stopping = threads.submit(store.writer.stop)
        store.gate.set()
        stopping.result()
        assert sorted(future.result() for future in waiting) == list(range(8))


def test_stopping_from_the_writing_thread_itself_does_not_wait_for_itself(store):
    store.writer.submit(lambda _: store.writer.stop())
    assert store.closed.wait(HANG_SECONDS)


def test_a_child_process_gets_nothing_from_its_parents_writer_and_does_not_stop_it(store, monkeypatch):
    with monkeypatch.context() as fork:
        fork.setattr("os.getpid", lambda: -1)
        with pytest.raises(RuntimeError, match="must be opened again after a fork"):
            store.writer.submit(lambda _: 1)
        with pytest.raises(RuntimeError, match="must be opened again after a fork"), store.writer.watch():
            pass
        store.writer.stop()
    assert store.writer.submit(lambda _: 1) == 1
