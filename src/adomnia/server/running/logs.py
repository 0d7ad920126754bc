"""What the operator reads: one JSON object a line, of allowed fields alone. No SQL, value or token is among them."""

from __future__ import annotations

import json
import logging
import math
import sys
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

from adomnia.server.running.pace import told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adomnia.server.desk import Seen
    from adomnia.server.settings import Settings

__all__ = ["FIELDS", "Logs", "known_method"]

FIELDS = ("event", "method", "route", "status", "user", "milliseconds", "request_id", "fault", "worker", "why")
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"))


def known_method(method: str) -> str:
    """The method of a request; callers may make others up, and those are not repeated."""
    return method if method in METHODS else "other"


class Logs:
    """Lines on standard error: the time, the level, and of everything else what `FIELDS` names."""

    def __init__(
        self,
        settings: Settings,
        out: TextIO | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._bucket, self._limit = settings.bucket, settings.limit
        self._out, self._clock, self._lock = out or sys.stderr, clock, threading.Lock()

    def request(self, seen: Seen) -> None:
        """A request that was answered; of one that reads data the time is told in whole buckets."""
        seconds = told(seen.seconds, self._bucket, self._limit) if seen.reads_data else seen.seconds
        self.write(
            "info",
            event="request",
            method=known_method(seen.method),
            route=seen.route,
            status=seen.status,
            user=seen.user,
            milliseconds=math.ceil(1000 * seconds),
            request_id=seen.request_id,
        )

    def fault(self, route: str, fault: BaseException) -> None:
        """Something that was not foreseen: only what it is called, because its words may quote anything."""
        self.write("error", event="fault", route=route, fault=type(fault).__name__)

    def write(self, level: str, **fields: object) -> None:
        """One line."""
        said = {name: fields[name] for name in FIELDS if fields.get(name) is not None}
        line = json.dumps({"time": self._clock().isoformat(timespec="milliseconds"), "level": level, **said})
        with self._lock:
            self._out.write(f"{line}\n")
            self._out.flush()

    def take_over(self) -> None:
        """Write what libraries log, and what ends a thread, in the same form and nowhere else."""
        threading.excepthook = lambda thrown: self._thrown("thread", thrown.exc_type)
        sys.unraisablehook = lambda thrown: self._thrown("unraisable", thrown.exc_type)
        sys.excepthook = lambda kind, _fault, _trace: self._thrown("process", kind)
        logging.root.handlers[:] = [_Handler(self)]
        logging.root.setLevel(logging.WARNING)
        for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio"):
            logging.getLogger(name).handlers.clear()
            logging.getLogger(name).propagate = True
        # What it warns of are callers who do not speak HTTP: anybody could fill the log.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)

    def _thrown(self, place: str, kind: type[BaseException]) -> None:
        self.write("error", event="fault", route=place, fault=kind.__name__)


class _Handler(logging.Handler):
    """A record of a library by its fixed words; of what is put into them only names of exceptions are kept."""

    def __init__(self, logs: Logs) -> None:
        super().__init__()
        self._logs = logs

    def emit(self, record: logging.LogRecord) -> None:
        fault = record.exc_info[0] if record.exc_info else None
        named = next((name for name in map(_name, _arguments(record)) if name), None)
        words = record.msg if isinstance(record.msg, str) else type(record.msg).__name__
        self._logs.write(
            record.levelname.lower(),
            event=record.name,
            why=words.strip().partition("\n")[0] if _fixed(record) else None,
            fault=fault.__name__ if fault else named,
        )


def _fixed(record: logging.LogRecord) -> bool:
    """Whether the words stand in the source as they are: ours do, and the web server's."""
    return record.name.startswith(("adomnia", "uvicorn"))


def _arguments(record: logging.LogRecord) -> tuple[object, ...]:
    return record.args if isinstance(record.args, tuple) else ()


def _name(argument: object) -> str | None:
    """What an exception is called, given itself or its name."""
    if isinstance(argument, BaseException):
        return type(argument).__name__
    return argument if isinstance(argument, str) and argument in set(_exceptions(BaseException)) else None


def _exceptions(kind: type[BaseException]) -> Iterator[str]:
    yield kind.__name__
    for narrower in type.__subclasses__(kind):
        yield from _exceptions(narrower)
