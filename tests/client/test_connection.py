from __future__ import annotations

import gzip
import json
import ssl
import traceback
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address
from threading import Thread

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from adomnia.client.connection import PATIENCE, TRIES, Address, Connection, check_address
from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.wire.problems import problem_record

TOKEN = "ao_1234_secret"
OTHER = "http://127.0.0.1:8000"


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self) -> None:
        self.now, self.waits = 100.0, []

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


class Server:
    """Gives prepared replies, the last one for ever, and keeps what it was sent."""

    def __init__(self, *replies, clock: Clock | None = None, seconds: float = 0.0) -> None:
        self.replies, self.seen, self.clock, self.seconds = list(replies), [], clock, seconds

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        if self.clock is not None:
            self.clock.now += self.seconds
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return reply


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("adomnia.client.connection.sleep", clock.sleep)
    monkeypatch.setattr("adomnia.client.connection.monotonic", lambda: clock.now)
    return clock


def connected(server, url=OTHER):
    return Connection(check_address(url, insecure=True), TOKEN, 70.0, httpx.MockTransport(server))


def told(code="busy", **more):
    return json.dumps(problem_record(Refusal("The server", "is busy", "wait", code=code))).encode()


def refused(server, ask=lambda connection: connection.post("/x", {"request_id": "mine"})) -> Refusal | Unavailable:
    with pytest.raises((Refusal, Unavailable)) as raised:
        ask(connected(server))
    assert "secret" not in "".join(traceback.format_exception(raised.value)) + repr(raised.value)
    assert raised.value.__context__ is None or not isinstance(raised.value.__context__, httpx.HTTPError)
    return raised.value


def test_a_reply_is_what_the_json_says(clock):
    server = Server(httpx.Response(200, content=b'{"a": [1, 2.5, "\xc3\xa4", null]}'))
    connection = connected(server, "http://127.0.0.1:8000/study/")
    assert connection.get("/me", {"place": 1}) == {"a": [1, 2.5, "ä", None]}
    (sent,) = server.seen
    assert str(sent.url) == "http://127.0.0.1:8000/study/api/v1/me?place=1"
    assert sent.headers["Authorization"] == f"Bearer {TOKEN}"
    connection.post("/query", {"sql": "ä"})
    assert json.loads(server.seen[1].content) == {"sql": "ä"}
    assert server.seen[1].headers["Content-Type"] == "application/json"
    assert clock.waits == []
    connection.close()
    with pytest.raises(RuntimeError, match="closed"):
        connection.get("/me")


@pytest.mark.parametrize(
    "fault",
    [
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("slow"),
        httpx.ReadTimeout("slow"),
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("server disconnected"),
        httpx.Response(429, content=told()),
        httpx.Response(503, content=b"<html>"),
    ],
    ids=repr,
)
def test_what_may_pass_is_sent_again_and_is_the_same_request(clock, fault):
    server = Server(fault, fault, fault, httpx.Response(200, content=b"{}"))
    assert connected(server).post("/query", {"sql": "x", "request_id": "mine"}) == {}
    assert clock.waits == pytest.approx([0.3, 1.2, 4.8])
    assert len({request.content for request in server.seen}) == 1


def test_nobody_tries_for_ever(clock):
    server = Server(httpx.ConnectError("refused"))
    refusal = refused(server)
    assert isinstance(refusal, Unavailable)
    assert (len(server.seen), refusal.code) == (TRIES, "unreachable")
    assert "ask again with request_id='mine': nothing is paid twice" in refusal.fix
    assert "cannot be reached" in refusal.why
    assert "request_id" not in refused(Server(httpx.ConnectTimeout("slow")), lambda one: one.get("/me")).fix
    assert "in time" in refused(Server(httpx.ReadTimeout("slow"))).why


def test_what_takes_long_is_not_tried_again(clock):
    server = Server(httpx.ReadTimeout("slow"), clock=clock, seconds=PATIENCE)
    assert refused(server).code == "unreachable"
    assert len(server.seen) == 1


def test_the_server_says_how_long_to_wait(clock):
    later = httpx.Response(503, content=told("overload"), headers={"Retry-After": "7"})
    assert connected(Server(later, later, httpx.Response(200, content=b"[]"))).get("/x") == []
    assert clock.waits == [7, 7]


@pytest.mark.parametrize("wait", ["soon", "-1", "7.5", "", "9" * 400, "٣"])
def test_a_wait_that_is_no_number_is_not_believed(clock, wait):
    later = httpx.Response(429, content=told(), headers=[(b"Retry-After", wait.encode())])
    connected(Server(later, httpx.Response(200, content=b"[]"))).get("/x")
    assert clock.waits == [0.3]


def test_a_wait_beyond_all_patience_ends_at_once(clock):
    server = Server(httpx.Response(429, content=told("too_many_attempts"), headers={"Retry-After": "900"}))
    assert refused(server).code == "too_many_attempts"
    assert (len(server.seen), clock.waits) == (1, [])


def test_trouble_of_the_server_is_waited_for_and_then_told_as_such(clock):
    trouble = Unavailable("The ledger", "has no room left on its disk", "free some space")
    later = httpx.Response(503, content=json.dumps(problem_record(trouble)), headers={"Retry-After": "1"})
    server = Server(later)
    found = refused(server)
    assert (type(found), str(found), found.code) == (Unavailable, str(trouble), "unavailable")
    assert clock.waits == pytest.approx([1, 1.2, 4.8, 19.2])  # longer than the server hopes, and not for ever
    assert len({request.content for request in server.seen}) == 1  # under the same request id


def test_a_failure_after_a_debit_is_not_sent_again(clock):
    server = Server(httpx.Response(424, content=json.dumps(problem_record(Failure("mine")))))
    with pytest.raises(Failure):
        connected(server).post("/x", {"request_id": "mine"})
    assert len(server.seen) == 1


def test_busy_without_words_is_busy(clock):
    assert refused(Server(httpx.Response(503))).code == "busy"


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 409, 413, 422])
def test_a_refusal_of_the_server_is_a_refusal_here(status):
    asked = Refusal("SELECT", "is wrong", "mend it", (2, 3), code="syntax_error")
    found = refused(Server(httpx.Response(status, content=json.dumps(problem_record(asked)))))
    assert (found.code, str(found), found.position) == ("syntax_error", str(asked), (2, 3))


def test_a_failure_of_the_server_is_a_failure_here():
    reply = httpx.Response(424, content=json.dumps(problem_record(Failure("mine"))))
    with pytest.raises(Failure, match="Request id: mine"):
        connected(Server(reply)).get("/x")


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(200, content=b"<html>"),
        httpx.Response(200, content=b"\xff"),
        httpx.Response(200, content=b"[" * 100_000),
        httpx.Response(500, content=b"oops"),
        httpx.Response(404, content=b"no such page"),
        httpx.Response(400, content=b'{"error": "text"}'),
        httpx.Response(400, content=b'{"error": {"code": "x", "what": "", "why": "", "fix": "", "position": 5}}'),
        httpx.Response(200, content=b'{"name": "alice", "name": "bob"}'),
        httpx.Response(302, headers={"Location": "http://127.0.0.1:9/evil"}),
        httpx.Response(200, content=gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"}),
        httpx.Response(
            400, content=b'{"error": {"code": "x", "what": "", "why": "", "fix": "", "position": [1e999, 1]}}'
        ),
    ],
    ids=repr,
)
def test_who_does_not_speak_like_ad_omnia_is_a_stranger(clock, reply):
    server = Server(reply)
    assert refused(server).code == "not_adomnia"
    assert len(server.seen) == 1


def test_a_reply_that_is_too_large_to_be_ours_is_a_stranger_s(clock, monkeypatch):
    monkeypatch.setattr("adomnia.client.connection.LARGEST", 10)
    assert connected(Server(httpx.Response(200, content=b'"12345678"'))).get("/x") == "12345678"
    assert refused(Server(httpx.Response(200, content=b'"123456789"'))).code == "not_adomnia"


def test_a_reply_that_drips_is_not_waited_for(clock):
    def drops():
        for _ in range(1000):
            clock.now += 1
            yield b" "

    server = Server(httpx.Response(200, content=drops()))
    assert "did not answer in time" in refused(server).why
    assert clock.now < 200


def test_an_unknown_route_is_another_version():
    refusal = refused(Server(httpx.Response(404, content=told("unknown_route"))))
    assert (refusal.code, refusal.fix) == ("other_version", "install the version of adomnia that the server runs")


def test_a_certificate_of_somebody_else_ends_it_at_once(clock):
    fault = httpx.ConnectError("handshake")
    fault.__context__ = ssl.SSLCertVerificationError("self-signed")
    server = Server(fault)
    refusal = refused(server)
    assert (refusal.code, len(server.seen)) == ("not_trusted", 1)
    assert "SSL_CERT_FILE" in refusal.fix


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """The certificate of 127.0.0.1 and its key, in one file."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    signed = builder.add_extension(names, critical=False).sign(key, SHA256())
    form = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file = tmp_path_factory.mktemp("certificate") / "own.pem"
    file.write_bytes(signed.public_bytes(Encoding.PEM) + key.private_bytes(*form))
    return file


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"name": "alice"}')

    def log_message(self, *_):
        """Quiet."""


@contextmanager
def listening(certificate=None):
    """A server on this machine, with TLS or without; its port."""
    with HTTPServer(("127.0.0.1", 0), Page) as server:
        server.handle_error = lambda *_: None  # who hangs up in the middle is no news
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def got(port):
    connection = Connection(check_address(f"https://127.0.0.1:{port}", insecure=False), TOKEN, 5.0)
    try:
        return connection.get("/me")
    finally:
        connection.close()


def test_a_certificate_of_ones_own_is_trusted_if_told_so(certificate, monkeypatch, clock):
    with listening(certificate) as port:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        with pytest.raises(Refusal, match="did not prove that it is the one of that name") as raised:
            got(port)
        assert (raised.value.code, clock.waits) == ("not_trusted", [])
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert got(port) == {"name": "alice"}


def test_who_has_no_encryption_is_not_told_the_token(clock):
    with listening() as port, pytest.raises(Refusal, match="does not speak TLS") as raised:
        got(port)
    assert (raised.value.code, clock.waits) == ("not_trusted", [])


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "ümlaut", None, 7, b"bytes"])
def test_what_cannot_be_a_token_is_refused_and_not_shown(token):
    with pytest.raises(Refusal, match="copy it again") as raised:
        Connection(check_address(OTHER, insecure=False), token, 1.0)
    assert raised.value.code == "bad_token"


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_timeout_is_a_number_of_seconds(timeout):
    with pytest.raises(ValueError, match="connect timeout must be a number of seconds"):
        Connection(check_address(OTHER, insecure=False), TOKEN, timeout)


@pytest.mark.parametrize(("url", "used"), [(OTHER, False), ("http://10.9.8.7", True)])
def test_no_proxy_stands_between_a_machine_and_itself(monkeypatch, url, used):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    connection = Connection(check_address(url, insecure=True), TOKEN, 1.0)
    through = connection._client._transport_for_url(httpx.URL(url)) is not connection._client._transport
    assert through == used
    connection.close()


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://127.0.0.1:8000", Address("http://127.0.0.1:8000", loopback=True)),
        ("http://localhost:8000/", Address("http://localhost:8000", loopback=True)),
        ("http://[::1]:8000", Address("http://[::1]:8000", loopback=True)),
        ("https://data.example.org/study/", Address("https://data.example.org/study", loopback=False)),
    ],
)
def test_an_address_is_a_machine_a_port_and_a_path(url, found):
    assert check_address(url, insecure=False) == found


@pytest.mark.parametrize(
    "url",
    [
        *("", "127.0.0.1:8000", "ftp://127.0.0.1", "http://", "http://[::1", None, 5),
        *("http://127.0.0.1:99999999", "http://127.0.0.1:0"),
        *("https://me:secret@example.org", "https://example.org/?token=secret", "https://example.org/#secret"),
    ],
)
def test_anything_else_is_refused_and_not_repeated(url):
    with pytest.raises(Refusal, match=r"write it like http://127.0.0.1:8000") as raised:
        check_address(url, insecure=True)
    assert raised.value.code == "bad_address"
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("url", ["http://example.org", "http://10.0.0.1:8000", "http://localhost.example.org"])
def test_a_token_leaves_the_machine_encrypted_unless_told_otherwise(url):
    with pytest.raises(Refusal, match="pass insecure=True") as raised:
        check_address(url, insecure=False)
    assert raised.value.code == "insecure"
    assert check_address(url, insecure=True) == Address(url, loopback=False)
