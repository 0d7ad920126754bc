from __future__ import annotations

import io
import json
import os
import signal
import socket
import ssl
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest

from adomnia.api.running.logs import Logs
from adomnia.api.running.worker_states import Stage, read_restarts
from adomnia.api.settings import Settings
from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.serving import supervisor as module
from adomnia.serving.certificates import load_certificate
from adomnia.serving.supervisor import CUT_SHORT, ENDED, StandIn, StartCallbacks, Supervisor
from kit.waiting import HANG_SECONDS, wait_until
from serving.certificates import write_certificate

# What stands in for a worker: `say` writes to the channel, and then it lives until it is told to end.
START = """
import json, os, signal, socket, sys, time
place, channel = sys.argv[3], socket.socket(fileno=int(sys.argv[5]))
def say(**message): channel.sendall(json.dumps(message).encode() + b"\\n")
"""
LIVE = START + 'say(step="people: rank", share=0.5)\nsay(ready="study")\ntime.sleep(1000)'

DEAF = START + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + LIVE.removeprefix(START)
GET = b"GET /api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.fixture
def worker(monkeypatch):
    def stand_in(source):
        monkeypatch.setattr(module, "WORKER", ("-S", "-c", source))

    stand_in(LIVE)
    return stand_in


@pytest.fixture
def log():
    return io.StringIO()


@pytest.fixture
def supervisor(tmp_path, log):
    settings = Settings(tmp_path, workers=2, limit=1.0)
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background ignores it
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield Supervisor(settings, listener, tmp_path, Logs(settings, log))
    for each, handler in before.items():
        signal.signal(each, handler)


class Ears:
    """Hears what is told, and sends signals to this process once it is ready and something holds, one by one."""

    def __init__(self, *signals, once=lambda: True):
        self.steps, self.names, self._signals, self._once = [], [], signals, once

    def run(self, supervisor):
        self._heard = supervisor._signals
        return supervisor.run(StartCallbacks(lambda step, share: self.steps.append((step, share)), self._ready))

    def _ready(self, name):
        self.names.append(name)
        Thread(target=self._send, daemon=True).start()

    def _send(self):
        wait_until(self._once)
        for number, each in enumerate(self._signals, 1):
            os.kill(os.getpid(), each)
            wait_until(lambda number=number: len(self._heard) == number)


def events(log):
    return [json.loads(line) for line in log.getvalue().splitlines()]


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_it_tells_how_the_start_gets_on_and_ends_by_a_signal(supervisor, log, sig):
    ears = Ears(sig)
    assert ears.run(supervisor) == ENDED
    assert ears.steps[0] == ("people: rank", 0.5)
    assert ears.names == ["study"]
    pids = [event["worker"] for event in events(log) if event["event"] == "worker started"]
    assert len(pids) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


@pytest.mark.usefixtures("worker")
def test_a_server_in_the_background_of_a_script_goes_on_after_its_ctrl_c(supervisor):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ears = Ears(signal.SIGTERM, once=lambda: os.kill(os.getpid(), signal.SIGINT) is None)
    assert ears.run(supervisor) == ENDED
    assert supervisor._signals == [signal.SIGTERM]


def test_the_second_signal_does_not_wait(supervisor, worker, monkeypatch):
    monkeypatch.setattr(module, "_GRACE_SECONDS", 10 * HANG_SECONDS)
    worker(DEAF)
    assert Ears(signal.SIGTERM, signal.SIGTERM).run(supervisor) == CUT_SHORT


def test_a_worker_that_takes_too_long_is_ended(supervisor, worker, monkeypatch):
    monkeypatch.setattr(module, "_GRACE_SECONDS", 0.1)
    worker(DEAF)
    assert Ears(signal.SIGTERM).run(supervisor) == ENDED


def test_a_worker_that_dies_is_started_again_at_its_place(supervisor, worker, log, tmp_path):
    # The one at place 1 dies the first time.
    mark = tmp_path / "died"
    first = f'place == "1" and not os.path.exists({str(mark)!r})'
    dying = f'if {first}:\n    open({str(mark)!r}, "w").close()\n'
    dying += '    open(sys.argv[2] + f"/counter_{os.getpid()}.db", "w").close()\n    os._exit(7)\n'
    worker(LIVE.replace("say(step", dying + "say(step"))
    ears = Ears(signal.SIGTERM, once=lambda: "worker died" in log.getvalue())
    assert ears.run(supervisor) == ENDED
    assert [event["status"] for event in events(log) if event["event"] == "worker died"] == [7]
    assert ears.names == ["study"]
    assert read_restarts(tmp_path) == 1
    assert [path.name for path in tmp_path.glob("counter_*.db")] == ["counter_dead.db"]


SERVES = """
import struct
def sign(ahead=0):
    with open(os.path.join(sys.argv[2], "workers"), "r+b") as states:
        states.seek(24 * int(place))
        states.write(struct.pack("<QQQ", round(1000 * (time.monotonic() + ahead)), 2, 0))
"""


def test_a_worker_without_a_sign_of_life_is_replaced_and_others_are_not(supervisor, worker, log, monkeypatch):
    monkeypatch.setattr(module, "HUNG_SECONDS", 0.2)
    # The first one at place 1 gives one sign of life and hangs; others have given theirs for as long as this takes.
    hangs = 'first = not os.path.exists(sys.argv[2] + "/hung")\nif place == "1" and first:\n'
    hangs += '    open(sys.argv[2] + "/hung", "w").close()\n    sign()\n    time.sleep(1000)\n'
    worker(START + SERVES + 'say(ready="study")\n' + hangs + "sign(ahead=1000)\ntime.sleep(1000)")

    def is_replaced():
        return log.getvalue().count("worker started") == 3 and supervisor._states.read(1).is_serving()

    ears = Ears(signal.SIGTERM, once=is_replaced)
    assert ears.run(supervisor) == ENDED
    told = [(event["event"], event.get("status")) for event in events(log)]
    assert told.count(("worker hung", None)) == 1
    assert told.count(("worker died", -9)) == 1
    assert told.count(("worker started", None)) == 3


def test_after_a_pause_of_its_own_it_gives_workers_time(supervisor, monkeypatch):
    killed = []
    process = SimpleNamespace(pid=1, poll=lambda: None, kill=lambda: killed.append(1), wait=lambda: None)
    supervisor._workers = [SimpleNamespace(place=0, process=process)]
    supervisor._states.write(0, Stage.SERVING)
    for moment, wanted in ((100.0, 0), (100.5, 0), (109.9, 0), (110.5, 0), (120.6, 0)):
        monkeypatch.setattr(module, "monotonic", lambda moment=moment: moment + 10**6)
        supervisor._kill_hung()
        assert len(killed) == wanted  # each turn comes after a pause but the second, which comes too early
    for step in range(12):
        monkeypatch.setattr(module, "monotonic", lambda step=step: 10**6 + 120.6 + 0.9 * (step + 1))
        supervisor._kill_hung()
    assert killed


def test_where_no_worker_serves_any_more_the_parent_answers(supervisor, worker, tmp_path):
    # All are ready, and end for good before anybody sees them serve; those that follow never serve.
    first = 'import pathlib\nmark, end = pathlib.Path(sys.argv[2], "done" + place), pathlib.Path(sys.argv[2], "end")\n'
    first += 'if mark.exists(): time.sleep(1000)\nmark.touch()\nsay(ready="study")\n'
    worker(START + first + "while not end.exists(): time.sleep(0.01)\n")
    replies, address = [], supervisor._listener.getsockname()

    def call():
        while not replies:
            with socket.create_connection(address, timeout=HANG_SECONDS) as line:
                line.sendall(b"GET / HTTP/1.1\r\n\r\n")
                replies.append(line.recv(12))
        os.kill(os.getpid(), signal.SIGTERM)

    def ready(_name):
        (tmp_path / "end").touch()
        Thread(target=call, daemon=True).start()

    assert supervisor.run(StartCallbacks(lambda *_: None, ready)) == ENDED
    assert replies == [b"HTTP/1.1 503"]


def test_workers_that_die_all_the_time_stop_the_server(supervisor, worker, log, monkeypatch):
    monkeypatch.setattr(module, "DEATH_SECONDS", HANG_SECONDS)  # a busy machine may take a minute to start them
    worker("raise SystemExit(3)")
    with pytest.raises(Refusal, match="died more than 10 times within a minute") as refused:
        Ears().run(supervisor)
    assert refused.value.code == "workers"
    died = [event for event in events(log) if event["event"] == "worker died"]
    assert len(died) in {11, 12}


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        ({"kind": "refusal", "what": "The catalog", "why": "is wrong", "fix": "mend it", "code": "x"}, Refusal),
        ({"kind": "trouble", "what": "The ledger", "why": "is full", "fix": "free space", "code": "x"}, Unavailable),
        (None, Failure),
    ],
)
def test_what_the_first_workers_cannot_open_is_refused(supervisor, worker, record, fault):
    worker(START + f"say(refused={record!r})\ntime.sleep(1000)")
    with pytest.raises(fault):
        Ears().run(supervisor)


def test_what_a_later_worker_cannot_open_is_no_reason_to_stop(supervisor, worker, tmp_path):
    said = 'while not os.path.exists(sys.argv[2] + "/ready"): time.sleep(0.01)\nsay(refused=None)\n'
    said += 'say(step="s", share=1)\nopen(sys.argv[2] + "/said" + place, "w").close()\ntime.sleep(1000)'
    worker(LIVE.replace("time.sleep(1000)", said))

    turns = set()

    def have_been_heard():
        (tmp_path / "ready").touch()
        if all((tmp_path / f"said{place}").exists() for place in range(2)):
            turns.add(supervisor._turned)
        return len(turns) > 2  # the turn that was under way, and a whole one

    ears = Ears(signal.SIGTERM, once=have_been_heard)
    assert ears.run(supervisor) == ENDED
    assert ("s", 1) not in ears.steps


@contextmanager
def standing_in(settings, out=None, tls=None):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        made = StandIn(listener, Logs(settings, out or io.StringIO()))
        made.tls = tls
        made.start()
        try:
            yield made, listener.getsockname()
        finally:
            made.stop()


def reply_on(line) -> tuple[int, bytes, dict]:
    received = b""
    while piece := line.recv(65_536):
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head[9:12]), head, json.loads(body)


@pytest.mark.parametrize("sent", [GET, b"POST /x HTTP/1.1\r\nContent-Length: 300000\r\n\r\n" + b"x" * 300_000])
def test_whatever_is_asked_it_says_that_nobody_can_answer_now(tmp_path, sent):
    with standing_in(Settings(tmp_path)) as (made, address):
        made.answer(True)
        with socket.create_connection(address, timeout=HANG_SECONDS) as line:
            line.sendall(sent)
            status, head, body = reply_on(line)
    assert status == 503
    assert b"retry-after: 1" in head
    assert (body["error"]["code"], body["error"]["why"]) == ("unavailable", "has no worker that can answer now")


def test_a_browser_gets_a_page_that_says_so(tmp_path):
    with standing_in(Settings(tmp_path)) as (made, address):
        made.answer(True)
        with socket.create_connection(address, timeout=HANG_SECONDS) as line:
            line.sendall(b"GET /ask HTTP/1.1\r\nAccept: text/html,*/*\r\n\r\n")
            received = b"".join(iter(lambda: line.recv(65_536), b""))
    head, _, body = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503")
    assert b"content-type: text/html" in head
    assert f"content-length: {len(body)}".encode() in head
    assert b"<p>The server has no worker that can answer now. Fix: try again in 1 s.</p>" in body


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_every_reply_has_an_id_that_the_log_has_too(tmp_path, accept):
    out = io.StringIO()
    with standing_in(Settings(tmp_path), out) as (made, address):
        made.answer(True)
        with socket.create_connection(address, timeout=HANG_SECONDS) as line:
            line.sendall(f"GET /ask HTTP/1.1\r\nAccept: {accept}\r\n\r\n".encode())
            head, _, body = b"".join(iter(lambda: line.recv(65_536), b"")).decode().partition("\r\n\r\n")
    logged = json.loads(out.getvalue())
    assert (logged["event"], logged["route"], logged["status"]) == ("request", "unmatched", 503)
    assert f"x-request-id: {logged['request_id']}" in head
    assert accept == "text/html" or json.loads(body)["error"]["request_id"] == logged["request_id"]


def test_over_tls_too(tmp_path):
    certificate, key = write_certificate(tmp_path)
    with standing_in(Settings(tmp_path), tls=load_certificate(certificate, key)) as (made, address):
        made.answer(True)
        context = ssl.create_default_context(cafile=certificate)
        context.check_hostname = False
        with socket.create_connection(address, timeout=HANG_SECONDS) as plain, context.wrap_socket(plain) as line:
            line.sendall(GET)
            assert reply_on(line)[0] == 503


def test_while_it_is_not_wanted_connections_are_left_to_workers(tmp_path):
    with standing_in(Settings(tmp_path)) as (made, address):
        with socket.create_connection(address, timeout=0.3) as line:
            line.sendall(GET)
            with pytest.raises(TimeoutError):
                line.recv(1)
            made.answer(True)
            line.settimeout(30)
            assert reply_on(line)[0] == 503
        made.answer(False)


def test_callers_who_say_nothing_keep_nobody_else_waiting_for_long(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_CALLER_SECONDS", 0.2)
    monkeypatch.setattr(module, "_MOST_AT_ONCE", 2)
    with standing_in(Settings(tmp_path)) as (made, address):
        silent = [socket.create_connection(address, timeout=HANG_SECONDS) for _ in range(3)]
        with socket.create_connection(address, timeout=HANG_SECONDS):
            pass  # one that hangs up at once
        with socket.create_connection(address, timeout=HANG_SECONDS) as line:
            line.sendall(GET)
            made.answer(True)
            assert reply_on(line)[0] == 503
        for each in silent:
            each.close()
