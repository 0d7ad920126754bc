"""Attacks on the web face: callers without a name, analysts who want more than their share, servers that lie."""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import ssl
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from threading import Event, Thread
from time import sleep
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from pydantic import ValidationError

from adomnia.api import replies
from adomnia.api.access import ACCESS
from adomnia.api.replies import encode_json
from adomnia.api.running.request_facts import find_caller
from adomnia.api.settings import Settings
from adomnia.client.connection import Connection, check_address
from adomnia.client.session import RemoteSession, connect
from adomnia.errors import AdomniaError, Refusal
from adomnia.serving import acceptor as acceptor_module
from adomnia.serving.acceptor import Acceptor, ConnectionCounts
from adomnia.serving.http_protocol import BoundedHttpProtocol
from adomnia.session.curator import STATE
from adomnia.wire.asking import Ask
from kit import house
from kit.waiting import HANG_SECONDS
from serving.certificates import write_certificate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def many_fields() -> bytes:
    return json.dumps({f"{k:x}": 1 for k in range(100_000)}, separators=(",", ":")).encode()


def many_numbers() -> bytes:
    return b'{"name":[' + b"1.5," * 250_000 + b"1]}"


@pytest.mark.parametrize("body", [many_fields(), many_numbers()], ids=["fields", "numbers"])
@pytest.mark.parametrize("path", [f"{house.API}/sign-in", f"{house.DATASET}/query"])
def test_no_body_of_very_many_parts_is_read(shared_house, monkeypatch, path, body):
    """To read one and to say all that is wrong with it takes a second, in which the event loop serves nobody."""
    read: list[bytes] = []
    monkeypatch.setattr("adomnia.api.bodies.read_json", read.append)
    reply = shared_house.ask("alice", "POST", path, content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code in {413, 422}
    assert not read


def test_of_too_many_weights_none_is_looked_at():
    with pytest.raises(ValidationError) as caught:
        Ask.model_validate({"sql": house.COUNT, "weights": {f"{k:x}": "x" for k in range(9_000)}})
    assert caught.value.error_count() <= 1001


class Kept(asyncio.Transport):
    """A connection that keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.written, self.closing = b"", False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def close(self) -> None:
        self.closing = True

    def is_closing(self) -> bool:
        return self.closing

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


def headers_seen(raw: bytes) -> list[tuple[bytes, bytes]]:
    """The headers that an app is given of a request."""
    seen: list[tuple[bytes, bytes]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            continue
        seen.extend(scope["headers"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def run() -> None:
        import uvicorn
        from uvicorn.server import ServerState

        config = uvicorn.Config(app, lifespan="off", ws="none", log_config=None)
        config.load()
        guard = BoundedHttpProtocol(
            config=config, server_state=ServerState(), app_state={}, _loop=asyncio.get_running_loop()
        )
        guard.connection_made(Kept())
        guard.data_received(raw)
        for task in tuple(guard.tasks):
            await asyncio.wait_for(task, HANG_SECONDS)
        guard.connection_lost(None)

    asyncio.run(run())
    return seen


def test_what_stands_behind_a_body_is_no_header():
    raw = (
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 10.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2\r\n{}\r\n0\r\nX-Forwarded-For: 9.9.9.9\r\nAuthorization: Bearer x\r\n\r\n"
    )
    seen = headers_seen(raw)
    assert b"authorization" not in dict(seen)
    settings = Settings(Path("study"), behind_proxy=True)
    assert find_caller({"headers": seen}, settings) == "10.0.0.1"


def test_trailers_without_end_are_not_kept():
    begin = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
    assert len(headers_seen(begin + b"a: b\r\n" * 10_000 + b"\r\n")) < 100


@pytest.mark.parametrize(("rows", "outputs"), [(300_000, 1), (10_000, 30)])
def test_a_large_reply_is_written_in_pieces_that_let_others_run(monkeypatch, rows, outputs):
    """One call of the encoder in C holds up all threads until it ends."""
    pieces: list[int] = []

    def noted(record: object) -> bytes:
        written = encode_json(record)
        pieces.append(len(written))
        return written

    monkeypatch.setattr(replies, "encode_json", noted)
    values = [k / 7 for k in range(rows)]
    columns = [{"name": f"n{k}", "values": values, "lower": values, "upper": values} for k in range(outputs)]
    record = {"rows": rows, "columns": columns}
    assert b"".join(replies.encode_record(record)) == encode_json(record)
    assert max(pieces) < 2**20


def test_a_batch_may_not_ask_for_more_numbers_than_a_question(shared_house):
    keys, outputs = "age, sex, city", ", ".join(f"SUM(age + {k}) AS c{k}" for k in range(90))
    heavy = f"SELECT {keys}, {outputs} FROM people WHERE age > {{}} GROUP BY {keys}"
    bodies = [{"questions": [heavy.format(k) for k in range(count)], "epsilon": 0.5} for count in (1, 100)]
    one, many = [shared_house.ask("alice", "POST", f"{house.DATASET}/price", json=body) for body in bodies]
    assert one.status_code == 200
    assert many.status_code == 400


@pytest.fixture
def long_fractions() -> dict[str, str]:
    draw = Random(1)
    return {f"c{k}": f"{draw.randrange(10**29, 10**30)}/{draw.randrange(10**29, 10**30) | 1}" for k in range(100)}


def test_no_weights_make_the_ledger_unreadable(own_house, long_fractions):
    outputs = ", ".join(f"SUM(age + {k}) AS c{k}" for k in range(100))
    own_house.query("alice", f"SELECT {outputs} FROM people", epsilon=0.01, weights=long_fractions)
    assert own_house.ask("olga", "GET", f"{house.DATASET}/ledger").status_code == 200
    assert own_house.ask("alice", "GET", f"{house.DATASET}/answers").status_code == 200


def test_weights_that_are_refused_are_refused_before_they_are_paid(own_house, long_fractions):
    outputs = ", ".join(f"SUM(age + {k}) AS c{k}" for k in range(100))
    reply = own_house.query("alice", f"SELECT {outputs} FROM people", epsilon=0.01, weights=long_fractions)
    assert reply.status_code in {200, 400, 422}


def test_a_password_that_was_changed_ends_an_open_link(own_house):
    access = own_house.services.access
    access.set_password("alice", house.PASSWORD)
    code = access.create_link("alice")
    access.change_password("alice", house.PASSWORD, "another horse battery staple", "127.0.0.1")
    with pytest.raises(Refusal, match="no longer valid"):
        access.redeem_link(code, "the password of a thief", "10.0.0.9")


def test_the_link_of_a_server_behind_a_proxy_does_not_travel_in_the_open():
    settings = Settings(Path("study"), host="0.0.0.0", names=("data.example.org",), behind_proxy=True)
    assert settings.address.startswith("https://")


def test_nobody_waits_for_a_locked_file_of_users(own_house, monkeypatch):
    """Once a minute who identifies somebody writes down the time, and that is left to another thread."""
    own_house.clock.pass_seconds(120)
    deferred = []
    monkeypatch.setattr(own_house.services.access._database, "_defer", deferred.append)
    with closing(sqlite3.connect(own_house.services.dataset._folder / STATE / ACCESS, isolation_level=None)) as locked:
        locked.execute("BEGIN IMMEDIATE")
        assert own_house.ask("alice", "GET", f"{house.API}/me").status_code == 200
        assert len(deferred) == 1


def test_a_page_that_came_in_the_open_may_not_sign_anybody_in(tmp_path):
    with house.opened(tmp_path, behind_proxy=True) as opened:
        opened.services.access.set_password("alice", house.PASSWORD)
        body = {"name": "alice", "password": house.PASSWORD}
        reply = opened.ask(None, "POST", f"{house.API}/sign-in", json=body, headers={"Origin": "http://127.0.0.1:8000"})
    assert reply.status_code == 403


def test_threads_that_fail_say_no_more_than_the_log():
    """What Python itself prints of a thread's end may quote anything."""
    script = (
        "from pathlib import Path; from threading import Thread\n"
        "from adomnia.api.running.logs import Logs; from adomnia.api.settings import Settings\n"
        "Logs(Settings(Path('study'))).capture_libraries()\n"
        "def fail(): raise ValueError('Zebulon-canary')\n"
        "t = Thread(target=fail); t.start(); t.join()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=HANG_SECONDS, check=False
    )
    assert house.CANARY not in ran.stderr
    assert "Traceback" not in ran.stderr


async def silent_callers(listener: socket.socket, room: Path, tls: ssl.SSLContext, count: int) -> int:
    """How many connections a worker keeps whose callers say nothing, not even the first word of TLS."""
    acceptor = Acceptor(listener, ConnectionCounts.open(room, 1, 0), asyncio.Protocol, lambda: 0, tls)
    lines = [socket.create_connection(listener.getsockname()) for _ in range(count)]
    try:
        for _ in range(10 * count):
            await asyncio.sleep(0.001)
        return len(acceptor._handshakes)
    finally:
        acceptor.close()
        for line in lines:
            line.close()
        waiting = tuple(acceptor._handshakes)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


def test_callers_who_say_nothing_do_not_take_all_files(tmp_path, monkeypatch):
    monkeypatch.setattr(acceptor_module, "MOST_CONNECTIONS", 5)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*write_certificate(tmp_path))
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        assert asyncio.run(silent_callers(listener, tmp_path, tls, 20)) <= 5


def test_a_proxy_may_write_the_port_beside_the_address():
    settings = Settings(Path("study"), behind_proxy=True)
    written = [b"10.0.0.1:5678", b"10.0.0.2:5678", b"[2001:db8::1]:443"]
    found = {find_caller({"headers": [(b"x-forwarded-for", each)]}, settings) for each in written}
    assert len(found) == len(written)


def test_two_hosts_are_one_too_many(shared_house):
    token = f"Bearer {shared_house.tokens['alice']}"
    headers = [("Host", "127.0.0.1"), ("Host", "elsewhere.example"), ("Authorization", token)]
    reply = shared_house.client.request("GET", f"{house.API}/me", headers=headers)
    assert reply.status_code in {400, 403}


def lying(reply: Callable[[httpx.Request], httpx.Response]) -> Connection:
    return Connection(check_address("http://127.0.0.1:8000", insecure=False), "ao_x", 5, httpx.MockTransport(reply))


@pytest.mark.parametrize("position", [[1e999, 1], [1, -1e999]])
def test_a_strange_position_of_an_error_is_a_refusal(position):
    told = {"code": "x", "what": "a", "why": "b", "fix": "c", "position": position}
    with pytest.raises(AdomniaError):
        lying(lambda _: httpx.Response(400, content=json.dumps({"error": told}))).get("/me")


def test_names_of_datasets_that_are_no_texts_are_a_refusal():
    from adomnia.client.session import find_dataset

    with pytest.raises(AdomniaError):
        find_dataset(lying(lambda _: httpx.Response(200, json={"name": "a", "datasets": [{"name": 1}]})), None)


def test_a_reply_may_not_grow_when_it_is_unpacked():
    """A megabyte may stand for a thousand of them."""
    seen: list[httpx.Request] = []

    def reply(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={})

    lying(reply).get("/me")
    assert seen[0].headers["Accept-Encoding"] == "identity"


@contextmanager
def dripping() -> Iterator[tuple[str, Event]]:
    """A server whose reply never ends, byte by byte: its address, and whether its caller has hung up."""
    hung_up = Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            line, _ = listener.accept()
            with line:
                line.recv(65536)
                line.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
                for _ in range(int(10 * HANG_SECONDS)):
                    sleep(0.1)
                    try:
                        line.sendall(b" ")
                    except OSError:
                        hung_up.set()
                        return

        Thread(target=drip, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", hung_up


def test_one_try_takes_no_longer_than_the_timeout(monkeypatch):
    monkeypatch.setattr("adomnia.client.connection.TRIES", 1)
    with dripping() as (address, hung_up):
        with pytest.raises(AdomniaError):
            connect(address, "ao_x", timeout=0.5)
        assert hung_up.wait(HANG_SECONDS)


def test_an_answer_under_any_request_id_is_found_again():
    """`..` is a request id like another; on its way it must not become a step up."""
    asked: list[bytes] = []

    def reply(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.raw_path)
        return httpx.Response(404, json={"error": {"code": "unknown_answer", "what": "a", "why": "b", "fix": "c"}})

    with pytest.raises(Refusal):
        RemoteSession(lying(reply), "h", "alice").answer("..")
    assert asked[0].startswith(b"/api/v1/datasets/h/answers/")
