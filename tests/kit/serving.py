"""A real server in processes of its own, and callers: one request at a time, or many as they would arrive by chance."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adomnia.api.access import Role, open_access
from adomnia.session.curator import LEDGER
from kit.commands import COMMAND
from kit.faults import SITE, VARIABLE
from kit.waiting import HANG_SECONDS, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

API = "/api/v1"
HOST = "127.0.0.1"
CUT = 0  # the status of a request whose connection ended before its reply
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Serving:
    """`adomnia serve` and the processes that it started."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path
    ready_seconds: float

    @property
    def family(self) -> list[int]:
        """The process and its descendants, the ones that answer among them."""
        return descendants(self.process.pid)

    @property
    def workers(self) -> list[int]:
        """The processes that answer, once they have opened the ledger."""
        return [pid for pid in self.family[1:] if has_open(pid, LEDGER)]

    def all_workers(self, number: int = 2) -> list[int]:
        """The same, once there are so many: the first one that is ready answers already."""
        wait_until(lambda: self._must_run() and len(self.workers) >= number, self.log.read_text)
        return self.workers

    def _must_run(self) -> bool:
        assert self.process.poll() is None, f"The server ended: {self.log.read_text()[-2000:]}"
        return True

    def cpu_seconds(self) -> float:
        """What all of them have used so far, those that ended among them."""
        return sum(cpu_seconds(pid) for pid in self.family)

    def kill(self) -> None:
        """As a power cut would, all of them at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=HANG_SECONDS)

    def stop(self) -> int:
        """As a service manager would; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=HANG_SECONDS)
        finally:
            self.kill()


def start(folder: Path, *options: object, faults: Path | None = None) -> Serving:
    """Start a server on a free port and wait until it answers; `faults` is where the faults of its disk are written."""
    port, log = free_port(), folder.parent / f"{folder.name}-{time.monotonic_ns()}.log"
    paths = filter(None, [*([] if faults is None else [str(SITE)]), *sys.path])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    if faults is not None:
        environment[VARIABLE] = str(faults)
    command = [*COMMAND, "serve", str(folder), "--port", str(port), *map(str, options)]
    began = time.monotonic()
    with log.open("wb") as file:
        # A session of its own: one signal to its group reaches the whole family, and nobody else.
        process = subprocess.Popen(command, stdout=file, stderr=file, env=environment, start_new_session=True)
    serving = Serving(process, port, log, 0.0)
    try:
        wait_until(lambda: serving._must_run() and is_answering(port), log.read_text)
    except AssertionError:
        serving.kill()
        raise
    serving.ready_seconds = time.monotonic() - began
    return serving


@contextmanager
def served(folder: Path, *options: object) -> Iterator[Serving]:
    """A server for as long as the block runs."""
    serving = start(folder, *options)
    try:
        yield serving
    finally:
        serving.kill()


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def is_answering(port: int) -> bool:
    """Whether health says ok."""
    try:
        with socket.create_connection((HOST, port), timeout=HANG_SECONDS) as line:
            line.sendall(b"GET %s/health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n" % API.encode())
            return line.recv(64).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def descendants(pid: int) -> list[int]:
    """A process and everything it started, as far as that still runs."""
    found = [pid]
    for each in found:
        found.extend(children(each))
    return found


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task")
    try:
        return [int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()]
    except OSError:
        return []


def has_open(pid: int, name: str) -> bool:
    """Whether a process has a file of this name open."""
    try:
        return any(link.readlink().name == name for link in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:  # it ended, or closed a file meanwhile
        return False


def cpu_seconds(pid: int) -> float:
    """User and system time of a process and of its children that ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS


def tokens(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """A user and a token for each name of the catalog."""
    access = open_access(folder)
    try:
        for name in names:
            access.add_user(name, Role.ANALYST)
        return {name: access.create_token(name, "test", 1)[0] for name in names}
    finally:
        access.close()


def with_analysts(folder: Path, names: Sequence[str], epsilon: object, each: object) -> None:
    """Replace the analysts and budgets of a catalog: so much for everybody together, and so much for each."""
    catalog = folder / "catalog.toml"
    before, _, rest = catalog.read_text().partition("[budget]")
    rest = rest[rest.index("[tables.") :]
    analysts = "".join(f'[analysts.{name}]\nepsilon = {each}\npolicy = "on_demand"\n' for name in names)
    catalog.write_text(f"{before}[budget]\nepsilon = {epsilon}\n\n{analysts}\n{rest}")


@dataclass(frozen=True)
class Request:
    """What one analyst sends."""

    analyst: str
    raw: bytes


@dataclass(frozen=True)
class Reply:
    """What came back, the head in lower case; status CUT if nothing did. `seconds` counts from when it was due."""

    status: int
    body: bytes = b""
    head: bytes = b""
    seconds: float = 0.0

    @property
    def content(self) -> Any:
        return json.loads(self.body)


def request(path: str, token: str, body: object = None, *, analyst: str = "") -> Request:
    """A request as bytes: POST with a body, GET without one."""
    content = b"" if body is None else json.dumps(body).encode()
    lines = [
        f"{'GET' if body is None else 'POST'} {API}{path} HTTP/1.1",
        f"Host: {HOST}",
        f"Authorization: Bearer {token}",
        *([] if body is None else ["Content-Type: application/json", f"Content-Length: {len(content)}"]),
    ]
    return Request(analyst, "\r\n".join(lines).encode() + b"\r\n\r\n" + content)


class KeptConnection(asyncio.Protocol):
    """One connection that is kept open, and one request at a time on it."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._reply: asyncio.Future[Reply] | None = None
        self.open = True

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def connection_lost(self, _: Exception | None) -> None:
        self.open = False
        self._settle(Reply(CUT))

    def data_received(self, data: bytes) -> None:
        self._received += data
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._received[:end]).lower()
        length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        if len(self._received) < end + 4 + length:
            return
        body = bytes(self._received[end + 4 : end + 4 + length])
        del self._received[: end + 4 + length]
        if b"connection: close" in head:
            self.open = False
        self._settle(Reply(int(head[9:12]), body, head))

    async def send(self, raw: bytes) -> Reply:
        self._reply = asyncio.get_running_loop().create_future()
        if self._transport is None or not self.open:
            return Reply(CUT)
        self._transport.write(raw)
        return await self._reply

    def close(self) -> None:
        self.open = False
        if self._transport is not None:
            self._transport.close()

    def _settle(self, reply: Reply) -> None:
        if self._reply is not None and not self._reply.done():
            self._reply.set_result(reply)


@dataclass
class Callers:
    """Analysts with connections of their own, more of them while several of their requests are under way."""

    port: int
    answered: int = 0
    _idle: dict[str, list[KeptConnection]] = field(default_factory=lambda: defaultdict(list))
    _connections: set[KeptConnection] = field(default_factory=set)

    async def send(self, asked: Request, due: float | None = None) -> Reply:
        """The reply to one request, and how long after it was due."""
        began = time.perf_counter() if due is None else due
        idle = self._idle[asked.analyst]
        while idle and not idle[-1].open:
            self._hang_up(idle.pop())
        try:
            connection = idle.pop() if idle else await self._connect()
            found = await connection.send(asked.raw)
        except OSError:
            return Reply(CUT, seconds=time.perf_counter() - began)
        if connection.open:
            idle.append(connection)
        else:
            self._hang_up(connection)
        self.answered += found.status == 200
        return replace(found, seconds=time.perf_counter() - began)

    async def _connect(self) -> KeptConnection:
        connection = (await asyncio.get_running_loop().create_connection(KeptConnection, HOST, self.port))[1]
        self._connections.add(connection)
        return connection

    def _hang_up(self, connection: KeptConnection) -> None:
        connection.close()
        self._connections.discard(connection)

    async def arrive(self, asked: Sequence[Request], rate: float, seed: int) -> list[Reply]:
        """Send them when they would arrive by chance, so many a second, whatever has become of those before."""
        gaps, due, sent = random.Random(seed), time.perf_counter(), []
        for each in asked:
            due += gaps.expovariate(rate)
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            sent.append(asyncio.ensure_future(self.send(each, due)))
        return list(await asyncio.gather(*sent))

    async def press(self, asked: Sequence[Request], at_once: int) -> list[Reply]:
        """Send them as fast as replies come, so many at a time."""
        replies: dict[int, Reply] = {}
        waiting = iter(enumerate(asked))

        async def work() -> None:
            for place, each in waiting:
                replies[place] = await self.send(each)

        await asyncio.gather(*(work() for _ in range(at_once)))
        return [replies[place] for place in range(len(asked))]

    async def close(self) -> None:
        """Hang up, also where a reply is still awaited."""
        for connection in tuple(self._connections):
            self._hang_up(connection)
        await asyncio.sleep(0)  # sockets are closed by the event loop, on its next turn


def calling(port: int, work: Callable[[Callers], Any]) -> Any:
    """Run what awaits the replies of callers."""

    async def run() -> Any:
        callers = Callers(port)
        try:
            return await work(callers)
        finally:
            await callers.close()

    return asyncio.run(run())
