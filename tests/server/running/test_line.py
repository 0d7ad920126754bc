from __future__ import annotations

import socket
from threading import Thread

import pytest

from adomnia.errors import Failure, Refusal
from adomnia.server.running.line import Line, fault_of, record_of


@pytest.fixture
def ends():
    own, its = socket.socketpair()
    own.setblocking(False)
    with own, its:
        yield own, its


def test_what_is_said_is_heard_once_and_in_order(ends):
    parent, worker = map(Line, ends)
    assert parent.heard() == []
    worker.say(step="people: rank", share=0.5)
    worker.say(ready="hospital")
    assert parent.heard() == [{"step": "people: rank", "share": 0.5}, {"ready": "hospital"}]
    assert parent.heard() == []


def test_half_a_message_waits_for_its_end(ends):
    parent = Line(ends[0])
    ends[1].sendall(b'{"ready": ')
    assert parent.heard() == []
    ends[1].sendall(b'"x"}\n{"re')
    assert parent.heard() == [{"ready": "x"}]


def test_a_worker_hears_when_its_parent_is_gone(ends):
    parent, worker = map(Line, ends)
    thread = Thread(target=worker.await_end, daemon=True)
    thread.start()
    parent.close()
    thread.join(20)
    assert not thread.is_alive()
    worker.say(ready="to nobody")


def test_a_parent_hears_what_a_dead_worker_had_said(ends):
    parent, worker = map(Line, ends)
    worker.say(ready="x")
    worker.close()
    assert parent.heard() == [{"ready": "x"}]
    assert parent.heard() == []


def test_a_refusal_and_a_failure_travel():
    refusal = fault_of(record_of(Refusal("The catalog", "is wrong", "mend it", code="catalog")))
    assert (str(refusal), refusal.code) == ("The catalog is wrong. Fix: mend it.", "catalog")
    assert isinstance(fault_of(record_of(Failure("secret"))), Failure)
