"""Each in a process of its own, which it ends."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from kit.waiting import HANG_SECONDS

# A worker whose main thread never ends by itself.
WORKER = """
import socket, sys, threading
from adomnia.serving.channel import ControlChannel
from adomnia.serving.parent_watch import ParentWatch

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
