from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import pytest
import uvicorn
from uvicorn.server import ServerState

from adomnia.serving import http_protocol
from adomnia.serving.http_protocol import BoundedHttpProtocol
from kit.waiting import HANG_SECONDS

ASK = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def app(scope, receive, send):
    """Says how much of the body it got, and the names of headers that begin with x."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    text = b" ".join([str(size).encode(), *(name for name, _ in scope["headers"] if name.startswith(b"x"))])
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(text))]})
    await send({"type": "http.response.body", "body": text})


class Counting(BoundedHttpProtocol):
    """Tells how many bytes it has seen, and whether it has hung up."""

    def __init__(self, seen, **options):
        super().__init__(**options)
        self._seen = seen

    def data_received(self, data):
        self._seen.bytes += len(data)
        super().data_received(data)

    def connection_lost(self, fault):
        self._seen.over = True
        super().connection_lost(fault)


async def spoken(*pieces, pause=0.0, report=None):
    """What a server says to these bytes until it hangs up."""

    def protocol():
        made = Counting(seen, config=config, server_state=state, app_state={}, _loop=loop)
        made.report = report
        return made

    config = uvicorn.Config(app, http=BoundedHttpProtocol, ws="none", lifespan="off", log_config=None)
    config.timeout_keep_alive = 0.2
    config.load()
    loop, state, seen = asyncio.get_running_loop(), ServerState(), SimpleNamespace(bytes=0, over=False)
    server = await loop.create_server(protocol, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    try:
        for piece in pieces:
            if seen.over:
                break
            wanted = seen.bytes + len(piece)
            writer.write(piece)
            while seen.bytes < wanted and not seen.over:
                await asyncio.sleep(0)
            await asyncio.sleep(pause)
        return await reader.read()
    except ConnectionError:
        return b""  # it hung up in the middle of what was said
    finally:
        writer.close()
        server.close()
        while state.connections:
            await asyncio.sleep(0)


def said(*pieces, **options):
    return asyncio.run(asyncio.wait_for(spoken(*pieces, **options), HANG_SECONDS))


def error_of(reply):
    head, _, body = reply.partition(b"\r\n\r\n")
    assert b"content-length: %d" % len(body) in head
    assert set(json.loads(body)["error"]) == {"code", "what", "why", "fix", "position", "request_id"}
    return int(head.split()[1]), json.loads(body)["error"]["code"]


@pytest.mark.parametrize(
    ("sent", "most", "status"),
    [(b"nonsense\r\n\r\n", 9, 400), (b"GET /" + b"a" * 2 * http_protocol.HEAD_BYTES, 9, 431), (b"", 0, 503)],
)
def test_what_is_refused_here_has_an_id_in_head_and_body_and_is_reported(monkeypatch, sent, most, status):
    monkeypatch.setattr(http_protocol, "MOST_CONNECTIONS", most)
    reported = []
    head, _, body = said(sent, report=reported.append).partition(b"\r\n\r\n")
    (summary,) = reported
    assert (summary.route, summary.status, summary.user) == ("unmatched", status, None)
    assert json.loads(body)["error"]["request_id"] == summary.request_id
    assert b"x-request-id: " + summary.request_id.encode() in head


def test_requests_pass():
    reply = said(ASK, ASK)
    assert reply.count(b"HTTP/1.1 200 OK") == 2
    assert b"server:" not in reply


def test_a_body_is_not_part_of_the_head():
    size = 4 * http_protocol.HEAD_BYTES
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size
    assert said(head + b"x" * size).endswith(b"%d" % size)
    assert said(head, b"x" * size).endswith(b"%d" % size)


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * 2 * http_protocol.HEAD_BYTES,
        b"GET /" + b"a" * 2 * http_protocol.HEAD_BYTES,
        b"GET / HTTP/1.1\r\n" + b"X-Many: a\r\n" * http_protocol.HEAD_BYTES,
    ],
)
def test_a_head_that_is_too_large_is_refused(head):
    pieces = [head[start : start + 20_000] for start in range(0, len(head), 20_000)]
    assert error_of(said(*pieces[:2])) == (431, "head_too_large")


def head_of(size, body=b""):
    """A request whose head, down to the empty line, has so many bytes."""
    begin = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nX-Long: " % len(body)
    return begin + b"a" * (size - len(begin) - 4) + b"\r\n\r\n" + body


@pytest.mark.parametrize("body", [b"", b"{}"])
@pytest.mark.parametrize("before", [b"", ASK])
@pytest.mark.parametrize("excess", [1, 20_000])
def test_a_head_that_is_too_large_is_refused_also_if_it_comes_at_once(body, before, excess):
    reply = said(before + head_of(http_protocol.HEAD_BYTES + excess, body) + ASK)
    assert error_of(reply[reply.index(b"HTTP/1.1 431") :]) == (431, "head_too_large")
    assert b"HTTP/1.1 200" not in reply


def test_the_address_is_part_of_the_head():
    half = b"a" * (http_protocol.HEAD_BYTES // 2)
    ask = b"GET /" + half + b" HTTP/1.1\r\nHost: x\r\nX-Long: " + half + b"\r\n\r\n"
    reply = said(ask)
    assert reply.startswith(b"HTTP/1.1 431")
    assert error_of(reply) == (431, "head_too_large")


@pytest.mark.parametrize("body", [b"", b"{}"])
def test_a_head_of_the_largest_size_passes(body):
    ask = head_of(http_protocol.HEAD_BYTES, body)
    assert b"HTTP/1.1 200 OK" in said(ask)
    assert b"HTTP/1.1 200 OK" in said(ask[:20_000], ask[20_000:])


CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nX-Before: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"


def test_what_comes_after_a_body_is_no_header():
    assert said(CHUNKED + b"X-After: 1\r\nAuthorization: Bearer t\r\n\r\n").endswith(b"2 x-before")


@pytest.mark.parametrize("endless", [b"a:b\r\n" * 4000, b"a: " + b"b" * 20_000])
def test_what_comes_after_a_body_has_an_end(endless):
    assert error_of(said(CHUNKED, endless, endless, endless[3:])) == (431, "head_too_large")


def test_a_body_may_come_in_pieces_of_one_byte():
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    pieces = b"1\r\nx\r\n" * 20_000
    assert said(head, pieces[:60_000], pieces[60_000:], b"0\r\n\r\n").endswith(b"20000")


def test_requests_that_follow_each_other_closely_are_counted_apart():
    body = b"x" * http_protocol.HEAD_BYTES
    ask = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    reply = said(ask + ask + ask[:20], ask[20:])
    assert reply.count(b"HTTP/1.1 200 OK") == 3


@pytest.mark.parametrize("noise", [b"\x16\x03\x01\x02\x00\x01\x00", b"HELO mail\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"])
def test_what_is_not_http_is_refused_in_the_shape_of_all_errors(noise):
    assert error_of(said(noise)) == (400, "malformed")


@pytest.mark.parametrize("pieces", [(), (b"GET / HTTP/1.1\r\n",), (b"\r\n", b"\r\n"), (ASK, b"GET / HT")])
def test_whoever_does_not_get_to_the_end_of_a_head_is_cut_off(monkeypatch, pieces):
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", 0.3)
    assert b"HTTP/1.1 200" in said(*pieces) or ASK not in pieces


def test_drops_of_a_head_do_not_put_its_end_off(monkeypatch):
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", 0.3)
    assert said(*(bytes([byte]) for byte in ASK * 4), pause=0.05) == b""


def test_too_many_connections_are_turned_away(monkeypatch):
    monkeypatch.setattr(http_protocol, "MOST_CONNECTIONS", 0)
    reply = said()
    assert error_of(reply) == (503, "overload")
    assert b"retry-after: 1" in reply


def test_one_caller_does_not_have_all_connections(monkeypatch):
    monkeypatch.setattr(http_protocol, "MOST_OF_ONE_CALLER", 0)
    assert error_of(said()) == (503, "overload")
    monkeypatch.setattr(BoundedHttpProtocol, "behind_proxy", True)
    assert b"HTTP/1.1 200 OK" in said(ASK)
