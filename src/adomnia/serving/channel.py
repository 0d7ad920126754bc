"""The socket between a worker process and its parent: the worker reports its state, and ends when its parent has."""

from __future__ import annotations

import json
import os
from time import sleep
from typing import TYPE_CHECKING, Any

from adomnia.errors import AdomniaError, Failure, Refusal, Unavailable

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

_CHUNK_BYTES = 65_536


class ControlChannel:
    """One end of the socket. Messages are lines of JSON."""

    def __init__(self, end: socket.socket) -> None:
        self._end, self._rest = end, b""

    def send(self, **message: object) -> None:
        """Send a message; if the parent is gone, do nothing, since the worker is about to end too."""
        try:
            self._end.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            return

    def receive(self) -> list[dict[str, Any]]:
        """All messages that have arrived since the last call; the socket must not block."""
        try:
            while chunk := self._end.recv(_CHUNK_BYTES):
                self._rest += chunk
        except OSError:  # nothing more now, or ever
            pass
        *lines, self._rest = self._rest.split(b"\n")
        return [json.loads(line) for line in lines]

    def wait_closed(self) -> None:
        """Return when the other end is closed, for whatever reason."""
        try:
            while self._end.recv(_CHUNK_BYTES):
                pass
        except OSError:  # how a socket says that the other end was closed before it had read everything
            return

    def close(self) -> None:
        self._end.close()


def fault_to_record(fault: AdomniaError) -> dict[str, str] | None:
    """A refusal or trouble as plain data; None for a failure, which has no details."""
    if not isinstance(fault, Refusal | Unavailable):
        return None
    kind = "refusal" if isinstance(fault, Refusal) else "trouble"
    return {"kind": kind, "what": fault.what, "why": fault.why, "fix": fault.fix, "code": fault.code}


def fault_from_record(record: dict[str, str] | None) -> AdomniaError:
    """The error that `fault_to_record` was given."""
    if record is None:
        return Failure()
    kind = Refusal if record["kind"] == "refusal" else Unavailable
    return kind(record["what"], record["why"], record["fix"], code=record["code"])


class ParentWatch:
    """Ends this process when its parent has ended, so that the port is free for the next server.

    What runs is finished. Whatever keeps the process after that is cut short, which its parent would do otherwise.
    """

    finish: Callable[[], None] | None = None  # what lets the process end by itself, once it has begun to serve

    def follow(self, channel: ControlChannel, most_seconds: float) -> None:
        """Wait for the end of the parent, and then for at most so many seconds for that of this process."""
        channel.wait_closed()
        try:
            if self.finish is not None:
                self.finish()
                sleep(most_seconds)
        finally:
            os._exit(0)
