from __future__ import annotations

import io
import json
import socket
import ssl
from contextlib import contextmanager

import pytest

from adomnia.api.running.logs import Logs
from adomnia.api.settings import Settings
from adomnia.serving import stand_in as module
from adomnia.serving.certificates import load_certificate
from adomnia.serving.stand_in import StandIn
from kit.waiting import HANG_SECONDS
from serving.certificates import write_certificate

GET = b"GET /api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n"


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
