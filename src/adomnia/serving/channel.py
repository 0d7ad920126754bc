"""The socket between a worker process and its parent: the worker reports its state and sees the parent end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from adomnia.errors import AdomniaError, Failure, Refusal, Unavailable

if TYPE_CHECKING:
    import socket

__all__ = ["ControlChannel", "fault_from_record", "fault_to_record"]

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
