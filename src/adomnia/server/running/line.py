"""The line between a worker and its parent: the worker tells how it gets on, and hears when the parent is gone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from adomnia.errors import AdomniaError, Failure, Refusal

if TYPE_CHECKING:
    import socket

__all__ = ["Line", "fault_of", "record_of"]

_PIECE = 65_536


class Line:
    """One end. Messages are lines of JSON."""

    def __init__(self, end: socket.socket) -> None:
        self._end, self._rest = end, b""

    def say(self, **message: object) -> None:
        """A parent that is gone need not hear it: the worker is about to end too."""
        try:
            self._end.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            return

    def heard(self) -> list[dict[str, Any]]:
        """What was said since the last time; on an end that does not block."""
        try:
            while piece := self._end.recv(_PIECE):
                self._rest += piece
        except OSError:  # nothing more for now, or for ever
            pass
        *lines, self._rest = self._rest.split(b"\n")
        return [json.loads(line) for line in lines]

    def await_end(self) -> None:
        """Return when the other end is closed, however that came about."""
        while self._end.recv(_PIECE):
            pass

    def close(self) -> None:
        self._end.close()


def record_of(fault: AdomniaError) -> dict[str, str] | None:
    """A refusal as plain data; of a failure there is nothing to say."""
    if not isinstance(fault, Refusal):
        return None
    return {"what": fault.what, "why": fault.why, "fix": fault.fix, "code": fault.code}


def fault_of(record: dict[str, str] | None) -> AdomniaError:
    """What `record_of` was given."""
    return Failure() if record is None else Refusal(record["what"], record["why"], record["fix"], code=record["code"])
