"""Accepts connections so that every worker has about the same number of them.

All workers listen on one socket. Left to the operating system, the worker that wakes up first takes everything that
waits; connections live long, so one worker would then be busy while another is idle.
"""

from __future__ import annotations

import asyncio
import mmap
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from adomnia.api.running.request_facts import network_of
from adomnia.serving.http_protocol import MOST_CONNECTIONS, MOST_OF_ONE_CALLER

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import Callable
    from pathlib import Path

_COUNT = struct.Struct("<I")
_FILE = "connections"
_WAIT_SECONDS = 0.003  # for a worker that has fewer; if it is too busy to come, the connection is taken after all
_HANDSHAKE_SECONDS = 10.0
_OUT_OF_FILES_SECONDS = 0.1  # until the next try


class ConnectionCounts:
    """How many connections each worker has, in shared memory; each worker writes at its own place."""

    def __init__(self, memory: mmap.mmap, places: int, own: int) -> None:
        self._memory, self._own, self._others = memory, own, [place for place in range(places) if place != own]

    @classmethod
    def open(cls, folder: Path, places: int, own: int) -> Self:
        size = places * _COUNT.size
        with (folder / _FILE).open("a+b") as file:
            file.truncate(size)
            counts = cls(mmap.mmap(file.fileno(), size), places, own)
        counts.publish(0)
        return counts

    def publish(self, count: int) -> None:
        """Tell the other workers how many connections this one has."""
        # Not pack_into: it writes zeros first, which another process may see.
        start = self._own * _COUNT.size
        self._memory[start : start + _COUNT.size] = _COUNT.pack(count)

    def has_fewest(self) -> bool:
        """Whether no other worker has fewer connections than this one."""
        return all(self._at(self._own) <= self._at(other) for other in self._others)

    def _at(self, place: int) -> int:
        count: int = _COUNT.unpack_from(self._memory, place * _COUNT.size)[0]
        return count


class Acceptor:
    """Accepts connections from the listening socket, one at a time, and gives each a protocol."""

    def __init__(
        self,
        listener: socket.socket,
        counts: ConnectionCounts,
        protocol: Callable[[], asyncio.Protocol],
        connected: Callable[[], int],
        tls: ssl.SSLContext | None,
    ) -> None:
        self._listener, self._counts, self._protocol, self._connected = listener, counts, protocol, connected
        self.tls = tls  # of the next connections
        self._loop = asyncio.get_running_loop()
        self._handshakes: dict[asyncio.Task[None], str] = {}  # and the network of the caller
        self._pause: asyncio.TimerHandle | None = None
        listener.setblocking(False)
        self._loop.add_reader(listener, self._on_readable)

    def publish(self) -> None:
        """Tell the other workers how many connections there are now."""
        self._counts.publish(self._connected() + len(self._handshakes))

    def close(self) -> None:
        """Accept no more."""
        self._loop.remove_reader(self._listener)
        if self._pause is not None:
            self._pause.cancel()

    async def wait_closed(self) -> None:
        """Return at once: connections that were accepted are finished by their protocols."""

    def _on_readable(self) -> None:
        self.publish()
        if self._counts.has_fewest():
            self._accept()
        else:
            self._pause_for(_WAIT_SECONDS)

    def _pause_for(self, seconds: float) -> None:
        self._loop.remove_reader(self._listener)
        self._pause = self._loop.call_later(seconds, self._resume)

    def _resume(self) -> None:
        self._pause = None
        self._loop.add_reader(self._listener, self._on_readable)
        self._accept()

    def _accept(self) -> None:
        try:
            connection, peer = self._listener.accept()
        except (BlockingIOError, ConnectionError):
            return  # another worker was quicker, or the caller is gone
        except OSError:
            self._pause_for(_OUT_OF_FILES_SECONDS)  # callers wait in the queue of the socket
            return
        network = network_of(peer[0])
        if self._is_full(network):
            connection.close()
            return
        task = self._loop.create_task(self._connect(connection))
        self._handshakes[task] = network
        task.add_done_callback(self._handshakes.pop)
        self.publish()

    def _is_full(self, network: str) -> bool:
        """Whether there are too many handshakes of TLS; without TLS the protocol counts connections by itself."""
        if self.tls is None:
            return False
        of_one = list(self._handshakes.values()).count(network)
        return of_one >= MOST_OF_ONE_CALLER or self._connected() + len(self._handshakes) >= MOST_CONNECTIONS

    async def _connect(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        timeout = None if self.tls is None else _HANDSHAKE_SECONDS
        with suppress(OSError):  # no handshake, no connection
            await self._loop.connect_accepted_socket(
                self._protocol, connection, ssl=self.tls, ssl_handshake_timeout=timeout
            )
