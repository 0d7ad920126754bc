"""Who takes the next connection: the worker that has the fewest, where there is a choice.

All workers listen on one socket. Left alone, whoever wakes up first takes everything that waits; connections live long,
so one worker would then be busy while another is idle.
"""

from __future__ import annotations

import asyncio
import mmap
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from adomnia.server.running.addresses import network_of
from adomnia.server.running.guard import CONNECTIONS, OF_ONE_CALLER

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["Acceptor", "Shares"]

_COUNT = struct.Struct("<I")
_FILE = "connections"
_WAIT_SECONDS = 0.003  # for a worker that has fewer; if it is too busy to come, the connection is taken after all
_HANDSHAKE_SECONDS = 10.0
_SCARCE_SECONDS = 0.1  # after which files may be free again


class Shares:
    """How many connections each worker has, in memory that they share; each writes its own place."""

    def __init__(self, memory: mmap.mmap, places: int, own: int) -> None:
        self._memory, self._own, self._others = memory, own, [place for place in range(places) if place != own]

    @classmethod
    def open(cls, room: Path, places: int, own: int) -> Self:
        size = places * _COUNT.size
        with (room / _FILE).open("a+b") as file:
            file.truncate(size)
            shares = cls(mmap.mmap(file.fileno(), size), places, own)
        shares.tell(0)
        return shares

    def tell(self, count: int) -> None:
        # Not pack_into: it writes zeros first, which another process may see.
        start = self._own * _COUNT.size
        self._memory[start : start + _COUNT.size] = _COUNT.pack(count)

    def is_ours(self) -> bool:
        """Whether no other worker has fewer."""
        return all(self._at(self._own) <= self._at(other) for other in self._others)

    def _at(self, place: int) -> int:
        count: int = _COUNT.unpack_from(self._memory, place * _COUNT.size)[0]
        return count


class Acceptor:
    """Takes connections from the listening socket, one at a time, and gives each a protocol."""

    def __init__(
        self,
        listener: socket.socket,
        shares: Shares,
        protocol: Callable[[], asyncio.Protocol],
        connected: Callable[[], int],
        tls: ssl.SSLContext | None,
    ) -> None:
        self._listener, self._shares, self._protocol, self._connected, self._tls = (
            listener,
            shares,
            protocol,
            connected,
            tls,
        )
        self._loop = asyncio.get_running_loop()
        self._handshakes: dict[asyncio.Task[None], str] = {}  # and from where
        self._pause: asyncio.TimerHandle | None = None
        listener.setblocking(False)
        self._loop.add_reader(listener, self._look)

    def tell(self) -> None:
        """Say how many connections there are now."""
        self._shares.tell(self._connected() + len(self._handshakes))

    def close(self) -> None:
        """Take no more."""
        self._loop.remove_reader(self._listener)
        if self._pause is not None:
            self._pause.cancel()

    async def wait_closed(self) -> None:
        """Connections that were taken are finished by whoever has them."""

    def _look(self) -> None:
        self.tell()
        if self._shares.is_ours():
            self._accept()
        else:
            self._rest(_WAIT_SECONDS)

    def _rest(self, seconds: float) -> None:
        self._loop.remove_reader(self._listener)
        self._pause = self._loop.call_later(seconds, self._return)

    def _return(self) -> None:
        self._pause = None
        self._loop.add_reader(self._listener, self._look)
        self._accept()

    def _accept(self) -> None:
        try:
            connection, peer = self._listener.accept()
        except (BlockingIOError, ConnectionError):
            return  # another worker was quicker, or the caller is gone
        except OSError:
            self._rest(_SCARCE_SECONDS)  # out of files: whoever calls waits in the socket's queue
            return
        network = network_of(peer[0])
        if self._is_full(network):
            connection.close()
            return
        task = self._loop.create_task(self._begin(connection))
        self._handshakes[task] = network
        task.add_done_callback(self._handshakes.pop)
        self.tell()

    def _is_full(self, network: str) -> bool:
        """Whoever never begins a handshake has a connection all the same; without TLS, its protocol counts it."""
        if self._tls is None:
            return False
        of_one = list(self._handshakes.values()).count(network)
        return of_one >= OF_ONE_CALLER or self._connected() + len(self._handshakes) >= CONNECTIONS

    async def _begin(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        timeout = None if self._tls is None else _HANDSHAKE_SECONDS
        with suppress(OSError):  # no handshake, no connection
            await self._loop.connect_accepted_socket(
                self._protocol, connection, ssl=self._tls, ssl_handshake_timeout=timeout
            )
