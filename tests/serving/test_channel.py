from __future__ import annotations

import os
import socket
import subprocess
import sys
from threading import Thread

import pytest

from adomnia.errors import Failure, Refusal
from adomnia.serving.channel import ControlChannel, fault_from_record, fault_to_record
from kit.waiting import HANG_SECONDS

# A worker whose main thread never ends by itself.
WORKER = """
import socket, sys, threading
from adomnia.serving.channel import ControlChannel
from adomnia.serving.channel import ParentWatch

def finish():
    print("finished", flush=True)
    if sys.argv[2] == "fails":
        raise OSError

watch, channel = ParentWatch(), ControlChannel(socket.socket(fileno=int(sys.argv[1])))
if sys.argv[2] != "starts":
    watch.finish = finish
threading.Thread(target=watch.follow, args=(channel, float(sys.argv[3])), daemon=True).start()
channel.send(ready="hospital")
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def ends():
    own, its = socket.socketpair()
    own.setblocking(False)
    with own, its:
        yield own, its


def test_what_is_said_is_heard_once_and_in_order(ends):
    parent, worker = map(ControlChannel, ends)
    assert parent.receive() == []
    worker.send(step="people: rank", share=0.5)
    worker.send(ready="hospital")
    assert parent.receive() == [{"step": "people: rank", "share": 0.5}, {"ready": "hospital"}]
    assert parent.receive() == []


def test_half_a_message_waits_for_its_end(ends):
    parent = ControlChannel(ends[0])
    ends[1].sendall(b'{"ready": ')
    assert parent.receive() == []
    ends[1].sendall(b'"x"}\n{"re')
    assert parent.receive() == [{"ready": "x"}]


def test_a_worker_hears_when_its_parent_is_gone(ends):
    parent, worker = map(ControlChannel, ends)
    thread = Thread(target=worker.wait_closed, daemon=True)
    thread.start()
    parent.close()
    thread.join(HANG_SECONDS)
    assert not thread.is_alive()
    worker.send(ready="to nobody")


def test_a_worker_hears_it_also_if_the_parent_had_not_read_what_it_was_told(ends):
    """A parent that is killed between two looks at its workers: the socket is reset then, and not just closed."""
    parent, worker = map(ControlChannel, ends)
    worker.send(ready="not read")
    parent.close()
    worker.wait_closed()


def test_a_parent_hears_what_a_dead_worker_had_said(ends):
    parent, worker = map(ControlChannel, ends)
    worker.send(ready="x")
    worker.close()
    assert parent.receive() == [{"ready": "x"}]
    assert parent.receive() == []


def test_a_refusal_and_a_failure_travel():
    refusal = fault_from_record(fault_to_record(Refusal("The catalog", "is wrong", "mend it", code="catalog")))
    assert (str(refusal), refusal.code) == ("The catalog is wrong. Fix: mend it.", "catalog")
    assert isinstance(fault_from_record(fault_to_record(Failure("secret"))), Failure)


@pytest.fixture
def start():
    """Start a worker; its output, and what ends its parent. It says something that the parent does not read."""
    started = []

    def worker(state, seconds):
        own, its = socket.socketpair()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-c", WORKER, str(its.fileno()), state, str(seconds)]
        with its:
            pipe = subprocess.PIPE
            process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, pass_fds=[its.fileno()], env=environment
            )
        started.append((process, own))
        assert process.stdout.readline() == b"ready\n"
        return process, own.close

    yield worker
    for process, own in started:
        own.close()
        process.kill()
        process.communicate()


@pytest.mark.parametrize("state", ["serves", "fails", "starts"])
def test_whatever_keeps_a_worker_it_ends_after_its_parent(start, state):
    process, end_parent = start(state, 0.01)
    assert process.poll() is None
    end_parent()
    assert process.wait(HANG_SECONDS) == 0
    assert process.stdout.read() == (b"" if state == "starts" else b"finished\n")


def test_what_runs_has_its_time_to_end(start):
    process, end_parent = start("serves", 1_000)
    end_parent()
    assert process.stdout.readline() == b"finished\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.2)
    assert process.poll() is None
