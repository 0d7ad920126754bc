"""What runs in a session ends in time, whatever the server does; a session that is lost is opened anew."""

from __future__ import annotations

from threading import Event, Thread
from time import sleep
from types import SimpleNamespace

import pyarrow as pa
import pytest

from adomnia.engines.contract import Statement
from adomnia.engines.spark import running
from adomnia.engines.spark.running import SparkStatements, finish
from adomnia.errors import Failure
from kit.waiting import HANG_SECONDS

ONE = Statement("SELECT 1 AS one", ())
TABLE = pa.table({"one": [1]})


class Server:
    """A server whose sessions answer, fail or hang; they remember what they were asked."""

    def __init__(self):
        self.asked, self.opened, self.closed, self.does = [], 0, 0, "answer"
        self.hanging = Event()

    def connect(self):
        if self.does == "refuse":
            raise ConnectionError("secret words")
        self.opened += 1
        return Session(self, self.opened)


class Session:
    def __init__(self, server, number):
        self.server, self.number, self.session, self.lost = server, number, self, False
        self.interrupted = []

    def sql(self, text, args=None):
        self.server.asked.append(text)
        if self.lost or self.server.does == "refuse":
            raise ConnectionError("secret words")
        if self.server.does == "hang":
            self.server.hanging.wait(HANG_SECONDS)
        return SimpleNamespace(toArrow=lambda: TABLE, limit=lambda most: SimpleNamespace(toArrow=lambda: TABLE[:most]))

    def tag(self, tag):
        pass

    untag = tag

    def interrupt(self, tag):
        self.interrupted.append(tag)

    def close(self):
        self.server.closed += 1


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(running, "GRACE_SECONDS", 0.2)
    made = Server()
    yield made
    made.hanging.set()


def test_a_session_that_is_lost_is_opened_anew_and_nothing_is_asked_twice(server):
    made = SparkStatements(server.connect, HANG_SECONDS)
    assert made.fetch(ONE) == TABLE
    made._own.lost = True
    with pytest.raises(Failure) as failed:
        made.fetch(ONE)
    assert failed.value.__cause__ is None
    assert server.asked == [ONE.text, ONE.text]  # the second failed, and stays so
    assert made.is_there(HANG_SECONDS)
    assert (server.opened, server.closed) == (2, 1)
    assert made.fetch(ONE) == TABLE


def test_where_nobody_answers_there_is_no_session_until_somebody_does(server):
    made = SparkStatements(server.connect, HANG_SECONDS)
    server.does = "refuse"
    assert not made.is_there(HANG_SECONDS)
    server.does = "answer"
    assert made.is_there(HANG_SECONDS)
    made.close()
    assert not made.is_there(HANG_SECONDS)


def test_another_thread_may_have_opened_it_meanwhile(server):
    made = SparkStatements(server.connect, HANG_SECONDS)
    lost = made._own
    assert made._renew(lost)
    assert made._renew(lost)
    assert server.opened == 2
    made.close()
    assert not made._renew(made._own)


def test_a_server_that_hangs_is_not_waited_for(server):
    made = SparkStatements(server.connect, 0.1)
    server.does = "hang"
    with pytest.raises(Failure):
        made.fetch(ONE)
    assert made._own.interrupted
    assert not made._asked
    server.does = "refuse"
    assert not made.is_there(0.1)


def test_what_was_paid_for_ends_in_its_session_even_where_that_was_too_slow_to_be_believed(server):
    made, found = SparkStatements(server.connect, HANG_SECONDS), []
    slow, server.does = made._own, "hang"
    thread = Thread(target=lambda: found.append(made.fetch(ONE)))
    thread.start()
    while not server.asked:
        sleep(0.01)
    server.does = "answer"
    assert made._renew(slow)
    assert made.fetch(ONE) == TABLE
    assert (made._own is slow, server.closed) == (False, 0)
    server.hanging.set()
    thread.join(HANG_SECONDS)
    assert found == [TABLE]
    assert (server.closed, made._lost) == (1, [])


def test_a_lost_session_that_still_runs_is_closed_in_the_end(server):
    made = SparkStatements(server.connect, HANG_SECONDS)
    lost = made._own
    made._asked.add(running.Asked(lost))
    assert made._renew(lost)
    assert server.closed == 0
    made.close()
    assert server.closed == 2


def test_a_server_that_opens_sessions_and_answers_in_none_is_not_there(server):
    made = SparkStatements(server.connect, HANG_SECONDS)
    server.does = "hang"
    assert not made.is_there(0.01)
    assert server.opened < 9


def test_closing_does_not_wait_for_ever(server):
    made = SparkStatements(server.connect, None)
    made._asked.add(running.Asked(made._own))
    made.close()
    assert server.closed == 1


def test_rows_that_nobody_waits_for_are_not_computed_to_their_end(server):
    made = SparkStatements(server.connect, None)
    assert made.fetch_brief(ONE, 1, HANG_SECONDS) == TABLE
    server.does = "hang"
    work = SimpleNamespace(abandoned=True)
    with pytest.raises(Failure):
        finish(lambda: made._own.sql("x"), HANG_SECONDS, work=work)


def test_a_failure_carries_no_words_of_spark(server):
    def fail():
        raise ValueError("secret words")

    with pytest.raises(Failure) as failed:
        finish(fail, 5)
    assert failed.value.__cause__ is failed.value.__context__ is None
