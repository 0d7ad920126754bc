"""Answers in place of workers while none of them serves: 503, and when to come back, instead of silence."""

from __future__ import annotations

import select
import socket
from contextlib import suppress
from threading import BoundedSemaphore, Event, Thread
from typing import TYPE_CHECKING

from adomnia.api.services import RequestSummary
from adomnia.serving.raw_replies import RawReply

if TYPE_CHECKING:
    import ssl

    from adomnia.api.running.logs import Logs

__all__ = ["StandIn"]

_SAYS = ("The server", "has no worker that can answer now", "try again in 1 s")
_MOST_AT_ONCE = 16  # more wait in the queue of the socket
_CALLER_SECONDS = 2.0
_WAIT_SECONDS = 0.1
_HEAD_BYTES, _MOST_READS = 65_536, 64


class StandIn:
    """A thread of the parent that accepts connections from the listening socket, only while it is asked to."""

    def __init__(self, listener: socket.socket, logs: Logs) -> None:
        self._listener, self._logs = listener, logs
        self.tls: ssl.SSLContext | None = None  # of the next connections
        self._wanted, self._ended = Event(), Event()
        self._room = BoundedSemaphore(_MOST_AT_ONCE)
        self._thread = Thread(target=self._accept, name="adomnia-stand-in", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def answer(self, wanted: bool) -> None:
        """Answer from now on, or leave everything to the workers."""
        if wanted:
            self._wanted.set()
        else:
            self._wanted.clear()

    def stop(self) -> None:
        self._ended.set()
        self._wanted.set()
        if self._thread.is_alive():
            self._thread.join()

    def _accept(self) -> None:
        while self._wanted.wait() and not self._ended.is_set():
            ready, _, _ = select.select([self._listener], [], [], _WAIT_SECONDS)
            if not (ready and self._wanted.is_set() and self._room.acquire(timeout=_WAIT_SECONDS)):
                continue
            try:
                connection, _ = self._listener.accept()
            except OSError:  # a worker was quicker, or the caller is gone
                self._room.release()
                continue
            Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with suppress(OSError), connection:
                connection.settimeout(_CALLER_SECONDS)
                if (tls := self.tls) is None:
                    self._reply(connection)
                else:
                    with tls.wrap_socket(connection, server_side=True) as encrypted:
                        self._reply(encrypted)
        finally:
            self._room.release()

    def _reply(self, connection: socket.socket) -> None:
        """Read the head of a request, whatever it asks, and reply; the rest is read too, or the reply may be lost."""
        head = b""
        while b"\r\n\r\n" not in head and len(head) < _HEAD_BYTES:
            piece = connection.recv(_HEAD_BYTES)
            if not piece:
                return
            head += piece
        reply = RawReply(503, "unavailable", *_SAYS)
        self._logs.log_request(RequestSummary.unrouted(reply.status, reply.request_id))
        is_page = b"text/html" in head.partition(b"\r\n\r\n")[0].lower()
        connection.sendall(reply.to_page() if is_page else reply.to_json())
        connection.shutdown(socket.SHUT_WR)
        for _ in range(_MOST_READS):
            if not connection.recv(_HEAD_BYTES):
                return
