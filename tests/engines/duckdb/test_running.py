from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from threading import enumerate as threads
from time import monotonic, sleep

import pytest

from adomnia.engines.contract import Statement
from adomnia.engines.duckdb import engine as module
from adomnia.engines.duckdb.engine import Running
from adomnia.engines.limits import Limits
from adomnia.errors import Failure
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows
from engines.databases import answer, catalog, loaded, number, people, relation
from kit.waiting import HANG_SECONDS, wait_until

FARE = number("fare", 0, 100)
TRIPS = people(FARE)
ROWS = [{"person_id": place, "fare": place * 0.7 % 130} for place in range(500)]
SAME = Query(relation(TRIPS), (), Rows())
# All quadruples of rows: hours, if nobody stops it.
FOUR = "people a, people b, people c, people d WHERE a.fare + b.fare = c.fare + d.fare + 0.1"
SLOW = Statement(f"SELECT COUNT(*) AS m0 FROM {FOUR}", ())


def watchers():
    return [thread for thread in threads() if thread.name == "adomnia statements"]


@pytest.fixture
def put_forward(monkeypatch):
    """Let all the time pass that a limited engine gives to what it runs now."""
    ahead = []
    monkeypatch.setattr(module, "monotonic", lambda: monotonic() + sum(ahead))

    def pass_time(engine):
        ahead.append(HANG_SECONDS)
        with engine._running._changed:
            engine._running._changed.notify_all()

    return pass_time


@pytest.fixture
def limited(put_forward):
    with loaded(catalog(TRIPS), Limits(seconds=HANG_SECONDS), people=ROWS) as engine:
        yield engine


def run_late(engine, put_forward, ask, *arguments):
    """The error of a question for which all time passes once it has begun."""
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, *arguments)
        wait_until(lambda: engine._running._started)
        assert not asked.done()
        put_forward(engine)
        return asked.exception(HANG_SECONDS)


def test_a_question_that_takes_too_long_fails_and_the_next_one_does_not(limited, put_forward):
    failed = run_late(limited, put_forward, limited.run, SLOW, (SAME,))
    assert isinstance(failed, Failure)
    assert str(failed) == "The request failed."
    assert failed.__context__ is None
    assert answer(limited, SAME) == [500]


def test_rows_of_public_tables_are_read_within_the_time_as_well(limited, put_forward):
    assert isinstance(run_late(limited, put_forward, limited.read, SLOW, 10), Failure)
    assert limited.read(Statement("SELECT COUNT(*) FROM people", ()), 10) == [(500,)]


def test_rows_of_public_tables_are_read_within_their_memory_as_well(limited, monkeypatch):
    text = Statement("SELECT range, 'x' || range FROM range(10000)", ())
    assert len(limited.read(text, 20_000)) == 10_000
    assert len(limited.read(text, 4097)) == 4097
    monkeypatch.setattr("adomnia.engines.duckdb.engine.PUBLIC_BYTES", 10**5)
    assert len(limited.read(text, 100)) == 100
    with pytest.raises(Failure):
        limited.read(text, 20_000)


@pytest.mark.no_cover
def test_one_thread_watches_all_questions_and_stops_only_the_slow_ones(limited, put_forward):
    with ThreadPoolExecutor(4) as pool:
        slow = [pool.submit(limited.run, SLOW, (SAME,)) for _ in range(2)]
        quick = [pool.submit(answer, limited, SAME) for _ in range(20)]
        wait_until(lambda: len(limited._running._started) >= 2)
        assert len(watchers()) == 1
        assert [each.result(HANG_SECONDS) for each in quick] == [[500]] * 20
        put_forward(limited)
        assert answer(limited, SAME) == [500]
        assert all(isinstance(each.exception(HANG_SECONDS), Failure) for each in slow)
        assert limited._running._started == {}


def test_closing_stops_what_runs_and_whatever_comes_later():
    with loaded(catalog(TRIPS), people=ROWS) as engine, ThreadPoolExecutor(3) as pool:
        slow = [pool.submit(engine.run, SLOW, (SAME,)) for _ in range(3)]
        wait_until(lambda: len(engine._running._started) == 3)
        engine.close()
        assert all(isinstance(each.exception(HANG_SECONDS), Failure) for each in slow)
        with pytest.raises(Failure):
            answer(engine, SAME)


def test_closing_ends_the_thread_that_watches(limited):
    assert len(watchers()) == 1
    limited.close()
    assert watchers() == []


class Deaf:
    """A connection, and a cursor that takes no notice of the first interrupts."""

    def __init__(self):
        self.interrupts, self.open = 0, 0

    def cursor(self):
        self.open += 1
        return self

    def interrupt(self):
        assert self.open
        self.interrupts += 1

    def close(self):
        self.open -= 1


def test_an_interrupt_between_two_steps_of_a_statement_is_repeated():
    deaf = Deaf()
    running = Running(deaf, 0.05)
    with running.cursor():
        wait_until(lambda: deaf.interrupts >= 3)
    heard = deaf.interrupts
    sleep(0.2)
    assert (deaf.interrupts, deaf.open) == (heard, 0)
    running.close()


def test_closing_interrupts_until_the_last_statement_has_ended():
    deaf = Deaf()
    running = Running(deaf, None)
    with ThreadPoolExecutor(1) as pool:
        with running.cursor():
            closing = pool.submit(running.close)
            wait_until(lambda: deaf.interrupts >= 3)
            assert not closing.done()
        closing.result(HANG_SECONDS)
    assert deaf.open == -1  # the cursor, and then the connection


def test_an_engine_without_a_limit_of_time_goes_when_nobody_holds_it():
    with loaded(catalog(TRIPS), people=ROWS) as engine:
        answer(engine, SAME)
        assert watchers() == []
    running = weakref.ref(engine._running)
    gc.disable()
    try:
        del engine
        assert running() is None
    finally:
        gc.enable()
