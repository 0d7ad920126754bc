"""The address of a server, and requests to it, repeated where that is safe: they are free, or paid once by their id."""

from __future__ import annotations

import json
import ssl
from dataclasses import dataclass
from ipaddress import ip_address
from math import inf
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import httpx

from adomnia.errors import AdomniaError, Refusal, Unavailable
from adomnia.json_text import read_json
from adomnia.messages.references import Option
from adomnia.messages.texts import write
from adomnia.wire.models import API
from adomnia.wire.problems import error_of

if TYPE_CHECKING:
    from collections.abc import Mapping

TRIES = 5
PATIENCE = 60.0  # seconds after which nothing is tried again
LARGEST = 2**30  # bytes of a reply: several times as many as an answer may have
_CONNECT_SECONDS = 5.0
_PEEK_SECONDS = 5.0
_FIRST_PAUSE = 0.3  # seconds; each next one is four times as long: a server that starts again is waited for
_TOO_FAST, _UNAVAILABLE = 429, 503  # the server has given no answer; under the same request id nothing is paid twice
_NEVER = inf
_SAME_VERSION = "install the version of adomnia that the server runs"
_EXAMPLE = "write it like http://127.0.0.1:8000, or with https:// to another machine"


@dataclass(frozen=True)
class _Response:
    """A whole reply."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Connection:
    """A connection with a server under a token; nothing that is printed or raised shows the token."""

    def __init__(
        self, address: Address, token: str, timeout: float, transport: httpx.BaseTransport | None = None
    ) -> None:
        if not _is_token(token):
            why, fix = "is not a token: one line of letters and digits", "copy it again as it was shown"
            raise Refusal("The token", why, fix, code="bad_token")
        if not 0 < timeout < inf:
            raise ValueError(f"connect timeout must be a number of seconds > 0, got {timeout}.")
        self.address, self._timeout = address, timeout
        self._client = httpx.Client(
            base_url=address.url + API,
            headers={
                "Authorization": f"Bearer {token}",
                "Accept": "application/json",
                "Accept-Encoding": "identity",  # what is packed may be any size unpacked
            },
            timeout=httpx.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
            verify=httpx.create_ssl_context(),
            follow_redirects=False,  # the token would go along
            trust_env=not address.loopback,  # no proxy for what does not leave this machine
            transport=transport,
        )

    def get(self, path: str, parameters: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401 - JSON
        """The JSON that a GET gives."""
        return self._send(self._client.build_request("GET", path, params=dict(parameters or {})), None)

    def peek(self, path: str) -> Any:  # noqa: ANN401 - JSON
        """The JSON that a GET gives at once: one try of a few seconds, for what is shown in passing."""
        if self._client.is_closed:
            raise Unavailable("The connection", "is closed", "connect again", "unreachable")
        outcome, _ = self._try_once(self._client.build_request("GET", path, timeout=_PEEK_SECONDS), None)
        if not isinstance(outcome, _Response):
            raise outcome
        return self._read_json(_check_success(outcome, self, None), None)

    def download(self, path: str) -> bytes:
        """The bytes that a GET gives."""
        return self._receive_whole(self._client.build_request("GET", path), None).content

    def post(self, path: str, body: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """The JSON that a POST gives; the request id in its body makes it safe to repeat."""
        return self._send(self._write("POST", path, body), body.get("request_id"))

    def put(self, path: str, body: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """The JSON that a PUT gives."""
        return self._send(self._write("PUT", path, body), None)

    def delete(self, path: str) -> None:
        """Send a DELETE, to which nothing is said."""
        self._receive_whole(self._client.build_request("DELETE", path), None)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def other_version(self) -> Refusal:
        """The refusal of a server whose replies are of another version."""
        what, why = f"The server at {self.address.url}", f"does not speak the API of this version ({API})"
        return Refusal(what, why, _SAME_VERSION, code="other_version")

    def _write(self, method: str, path: str, body: Mapping[str, Any]) -> httpx.Request:
        content, kind = json.dumps(body, allow_nan=False), {"Content-Type": "application/json"}
        return self._client.build_request(method, path, content=content, headers=kind)

    def _send(self, request: httpx.Request, request_id: str | None) -> Any:  # noqa: ANN401 - JSON
        return self._read_json(self._receive_whole(request, request_id), request_id)

    def _read_json(self, response: _Response, request_id: str | None) -> Any:  # noqa: ANN401 - JSON
        try:
            return read_json(response.content)
        except ValueError:
            raise _refuse_stranger(self, request_id) from None

    def _receive_whole(self, request: httpx.Request, request_id: str | None) -> _Response:
        """The reply of a success, tried until it comes; what else the server says is raised."""
        begin = monotonic()
        tries = 0
        while True:
            tries += 1
            outcome, pause = self._try_once(request, request_id)
            if isinstance(outcome, _Response):
                return _check_success(outcome, self, request_id)
            pause = max(pause, _FIRST_PAUSE * 4 ** (tries - 1))  # trouble may take longer than the server hopes
            if tries == TRIES or monotonic() - begin + pause > PATIENCE:
                raise outcome
            sleep(pause)

    def _try_once(
        self, request: httpx.Request, request_id: str | None
    ) -> tuple[_Response | Refusal | Unavailable, float]:
        """The reply, or the error without one, and how many seconds to wait at least before the next try."""
        fault = None
        try:
            response = self._receive(request)
        except httpx.TransportError as caught:
            fault = caught
        if fault is not None:  # out here: what is raised carries no cause, which would hold the token
            return self._explain_fault(fault, request_id)
        if response is None:
            return _refuse_stranger(self, request_id), _NEVER
        if response.status not in {_TOO_FAST, _UNAVAILABLE}:
            return response, 0.0
        problem = _read_problem(response)
        told = problem if isinstance(problem, Refusal | Unavailable) else self._explain_silence()
        return told, _retry_after(response)

    def _receive(self, request: httpx.Request) -> _Response | None:
        """The reply, if all of it arrives in time; None if it is compressed or too large to be ours."""
        deadline, content = monotonic() + self._timeout, bytearray()
        response = self._client.send(request, stream=True)
        try:
            if response.headers.get("Content-Encoding", "identity") != "identity":
                return None
            for piece in response.iter_bytes():
                content += piece
                if len(content) > LARGEST:
                    return None
                if monotonic() > deadline:
                    raise httpx.ReadTimeout("The reply has no end.", request=request)
        finally:
            response.close()
        return _Response(response.status_code, response.headers, bytes(content))

    def _explain_fault(self, fault: Exception, request_id: str | None) -> tuple[Refusal | Unavailable, float]:
        place = f"The server at {self.address.url}"
        encryption = _find_ssl_error(fault)
        if encryption is not None:
            return Refusal(place, *_explain_ssl_error(encryption), code="not_trusted"), _NEVER
        slow = isinstance(fault, httpx.TimeoutException) and not isinstance(fault, httpx.ConnectTimeout)
        why = "did not answer in time" if slow else "cannot be reached"
        return Unavailable(place, why, "check that it runs, and the address" + _again(request_id), "unreachable"), 0.0

    def _explain_silence(self) -> Unavailable:
        return Unavailable(f"The server at {self.address.url}", "is busy", "ask again later", "busy")


def _is_token(token: object) -> bool:
    return isinstance(token, str) and token.isascii() and token.isprintable() and token != "" and " " not in token


def _find_ssl_error(fault: BaseException | None) -> ssl.SSLError | None:
    while fault is not None and not isinstance(fault, ssl.SSLError):
        fault = fault.__cause__ or fault.__context__
    return fault


def _explain_ssl_error(fault: ssl.SSLError) -> tuple[str, str]:
    if isinstance(fault, ssl.SSLCertVerificationError):
        fix = "check the address; a certificate of your own goes into the file that SSL_CERT_FILE names"
        return "did not prove that it is the one of that name", fix
    return "does not speak TLS as this machine does", "check the address and its port, and whether it has TLS at all"


def _retry_after(response: _Response) -> float:
    written = response.headers.get("Retry-After", "")
    return float(written) if written.isascii() and written.isdigit() and len(written) < 10 else 0.0


def _again(request_id: str | None) -> str:
    if request_id is None:
        return ""
    return write(", then ask again with {own}: nothing is paid twice", own=Option("request_id", request_id))


def _check_success(response: _Response, connection: Connection, request_id: str | None) -> _Response:
    if httpx.codes.is_success(response.status):
        return response
    problem = _read_problem(response)
    if getattr(problem, "code", None) == "unknown_route":
        raise connection.other_version()
    raise problem or _refuse_stranger(connection, request_id)


def _read_problem(response: _Response) -> AdomniaError | None:
    try:
        return error_of(read_json(response.content), later=response.status == _UNAVAILABLE)
    except (ValueError, TypeError, LookupError, ArithmeticError):
        return None


def _refuse_stranger(connection: Connection, request_id: str | None) -> Refusal | Unavailable:
    """The error where somebody else answered: a proxy, perhaps, after the server was paid."""
    what, why = f"The server at {connection.address.url}", "did not answer as Ad Omnia does"
    fix = "check the address, and what stands between you and the server" + _again(request_id)
    if request_id is not None:
        return Unavailable(what, why, fix, "not_adomnia")
    return Refusal(what, why, fix, code="not_adomnia")


@dataclass(frozen=True)
class Address:
    """The base URL of a server, and whether it is on this machine."""

    url: str
    loopback: bool


def check_address(url: str, *, insecure: bool) -> Address:
    """A checked address; what would send a token in the open is refused unless `insecure`."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        raise _bad("is not an address") from None
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise _bad("does not begin with http:// or https:// and the name of a machine")
    if parsed.port is not None and not 0 < parsed.port < 65536:
        raise _bad("has a port that no machine has")
    if parsed.userinfo or parsed.query or parsed.fragment:
        raise _bad("holds more than a machine, a port and a path")
    loopback = is_loopback(parsed.host)
    if parsed.scheme == "http" and not (loopback or insecure):
        why = "is not encrypted, and anybody on the way could read the token and use it"
        fix = "use https://; if the way there is safe by other means, pass insecure=True"
        raise Refusal(f"The address {url}", why, fix, code="insecure")
    return Address(str(parsed).rstrip("/"), loopback)


def _bad(why: str) -> Refusal:
    # The address itself is not repeated: it may hold a password.
    return Refusal("The address of the server", why, _EXAMPLE, code="bad_address")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
