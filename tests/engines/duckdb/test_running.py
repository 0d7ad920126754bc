from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from threading import enumerate as threads
from time import monotonic, sleep

import pytest

from adomnia.engines.contract import Statement
from adomnia.engines.duckdb.running import Running
from adomnia.engines.limits import Limits
from adomnia.errors import Failure
from adomnia.privacy.aggregates import Rows
from adomnia.privacy.queries import Query
from engines.databases import answer, catalog, loaded, number, people, relation

FARE = number("fare", 0, 100)
TRIPS = people(FARE)
ROWS = [{"person_id": place, "fare": place * 0.7 % 130} for place in range(500)]
SAME = Query(relation(TRIPS), (), Rows())
# All quadruples of rows: hours, if nobody stops it.
FOUR = "people a, people b, people c, people d WHERE a.fare + b.fare = c.fare + d.fare + 0.1"
SLOW = Statement(f"SELECT COUNT(*) AS m0 FROM {FOUR}", ())
LONG_SECONDS = 60  # far beyond every limit here, and still the end of a test that hangs


def watchers():
    return [thread for thread in threads() if thread.name == "adomnia statements"]


def until(true):
    end = monotonic() + LONG_SECONDS
    while not true():
        assert monotonic() < end
        sleep(0.01)


@pytest.fixture
def hurried():
    with loaded(catalog(TRIPS), Limits(seconds=0.3), people=ROWS) as engine:
        yield engine


def test_a_question_that_takes_too_long_fails_and_the_next_one_does_not(hurried):
    start = monotonic()
    with pytest.raises(Failure, match=r"^The request failed\.$") as failed:
        hurried.run(SLOW, (SAME,))
    assert 0.3 <= monotonic() - start < LONG_SECONDS
    assert failed.value.__context__ is None
    assert answer(hurried, SAME) == [500]


def test_rows_of_public_tables_are_read_within_the_time_as_well(hurried):
    with pytest.raises(Failure):
        hurried.read(SLOW, 10)
    assert hurried.read(Statement("SELECT COUNT(*) FROM people", ()), 10) == [(500,)]


def test_rows_of_public_tables_are_read_within_their_memory_as_well(hurried, monkeypatch):
    text = Statement("SELECT range, 'x' || range FROM range(10000)", ())
    assert len(hurried.read(text, 20_000)) == 10_000
    assert len(hurried.read(text, 4097)) == 4097
    monkeypatch.setattr("adomnia.engines.duckdb.engine.PUBLIC_BYTES", 10**5)
    assert len(hurried.read(text, 100)) == 100
    with pytest.raises(Failure):
        hurried.read(text, 20_000)


@pytest.mark.no_cover
def test_one_thread_watches_all_questions_and_stops_only_the_slow_ones():
    seconds = 3  # time enough for quick ones beside slow ones, on a machine that is busy
    with loaded(catalog(TRIPS), Limits(seconds=seconds), people=ROWS) as engine, ThreadPoolExecutor(4) as pool:
        slow = [pool.submit(engine.run, SLOW, (SAME,)) for _ in range(2)]
        quick = [pool.submit(answer, engine, SAME) for _ in range(20)]
        until(lambda: len(engine._running._started) >= 2)
        assert len(watchers()) == 1
        assert [each.result(LONG_SECONDS) for each in quick] == [[500]] * 20
        assert all(isinstance(each.exception(LONG_SECONDS), Failure) for each in slow)
        assert engine._running._started == {}


def test_closing_stops_what_runs_and_whatever_comes_later():
    with loaded(catalog(TRIPS), people=ROWS) as engine, ThreadPoolExecutor(3) as pool:
        slow = [pool.submit(engine.run, SLOW, (SAME,)) for _ in range(3)]
        until(lambda: len(engine._running._started) == 3)
        engine.close()
        assert all(isinstance(each.exception(LONG_SECONDS), Failure) for each in slow)
        with pytest.raises(Failure):
            answer(engine, SAME)


def test_closing_ends_the_thread_that_watches(hurried):
    assert len(watchers()) == 1
    hurried.close()
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
        until(lambda: deaf.interrupts >= 3)
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
            until(lambda: deaf.interrupts >= 3)
            assert not closing.done()
        closing.result(LONG_SECONDS)
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
