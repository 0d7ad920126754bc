"""The log: one JSON object a line, with allowed fields only. SQL, values and tokens never get in."""

from __future__ import annotations

import errno
import json
import logging
import math
import re
import sqlite3
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

from adomnia.api.running.request_facts import CURRENT_REQUEST
from adomnia.api.running.time_buckets import round_to_edge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adomnia.api.running.request_facts import RequestSummary
    from adomnia.api.settings import Settings

FIELDS = ("event", "method", "route", "status", "user", "milliseconds", "request_id", "fault", "file", "worker", "why")
FILES = frozenset(
    (
        *(f"access.sqlite{end}" for end in ("", ".anchor")),
        *(f"ledger.sqlite{end}" for end in ("", "-wal", "-shm", ".anchor", ".anchor.new", ".lock")),
    )
)
"""The files that may be named; any other name might be somebody's."""
HIDDEN = "(not logged)"
"""Stands in a message for an argument that might be anything."""
_PLACEHOLDER = re.compile(r"%(?:\(\w*\))?[-#0 +]*[\d*]*(?:\.[\d*]*)?[diouxXeEfFgGcrsa%]")
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"))


def known_method(method: str) -> str:
    """The method of a request, or "other" for one that a caller made up: that is not repeated."""
    return method if method in METHODS else "other"


class Logs:
    """Writes lines to standard error: the time, the level, and the fields that `FIELDS` names."""

    def __init__(
        self,
        settings: Settings,
        out: TextIO | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._bucket, self._limit = settings.bucket, settings.limit
        self._out, self._clock, self._lock = out or sys.stderr, clock, threading.Lock()

    def log_request(self, summary: RequestSummary) -> None:
        """Log a request that was answered; if it reads data, its time is rounded to the edge of a time bucket."""
        seconds = round_to_edge(summary.seconds, self._bucket, self._limit) if summary.reads_data else summary.seconds
        self.write(
            "info",
            event="request",
            method=known_method(summary.method),
            route=summary.route,
            status=summary.status,
            user=summary.user,
            milliseconds=math.ceil(1000 * seconds),
            request_id=summary.request_id,
        )

    def log_fault(self, route: str, fault: BaseException, why: str | None = None) -> None:
        """Log an unexpected exception by its class only, because its message may quote anything.

        `why` is for words that are known to quote nothing.
        """
        self.write("error", event="fault", route=route, fault=type(fault).__name__, why=why)

    def write(self, level: str, **fields: object) -> None:
        """Write one line; if it is about a request, with the id of that."""
        fields = {"request_id": CURRENT_REQUEST.get(), **fields}
        kept = {name: fields[name] for name in FIELDS if fields.get(name) is not None}
        line = json.dumps({"time": self._clock().isoformat(timespec="milliseconds"), "level": level, **kept})
        with self._lock, suppress(OSError):  # a log on a full disk keeps nobody from answering
            self._out.write(f"{line}\n")
            self._out.flush()

    def capture_libraries(self) -> None:
        """Write what libraries log, and uncaught exceptions, in the same form and nowhere else."""
        threading.excepthook = lambda raised: self._log_uncaught("thread", raised.exc_type)
        sys.unraisablehook = lambda raised: self._log_uncaught("unraisable", raised.exc_type)
        sys.excepthook = lambda kind, _fault, _trace: self._log_uncaught("process", kind)
        logging.root.handlers[:] = [_Handler(self)]
        logging.root.setLevel(logging.WARNING)
        for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio"):
            logging.getLogger(name).handlers.clear()
            logging.getLogger(name).propagate = True
        # It warns of callers who do not speak HTTP, with which anybody could fill the log.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)

    def _log_uncaught(self, place: str, kind: type[BaseException]) -> None:
        self.write("error", event="fault", route=place, fault=kind.__name__)


class _Handler(logging.Handler):
    """Writes the records of libraries: their messages, with no arguments but names of errors and of our own files."""

    def __init__(self, logs: Logs) -> None:
        super().__init__()
        self._logs = logs

    def emit(self, record: logging.LogRecord) -> None:
        fault = record.exc_info[0] if record.exc_info else None
        errors = [_error_name(argument) for argument in _arguments(record)]
        files = [_file_name(argument) for argument in _arguments(record)]
        self._logs.write(
            record.levelname.lower(),
            event=record.name,
            why=_format_message(record) if _has_fixed_message(record) else None,
            fault=fault.__name__ if fault else next(filter(None, errors), None),
            file=next(filter(None, files), None),
        )


def _has_fixed_message(record: logging.LogRecord) -> bool:
    """Whether the message is a constant of the source code: ours are, and those of uvicorn."""
    return record.name.startswith(("adomnia", "uvicorn"))


def _format_message(record: logging.LogRecord) -> str:
    """The first line of the message, with the arguments that may be told."""
    words = record.msg if isinstance(record.msg, str) else type(record.msg).__name__
    if record.args:
        told = iter([_error_name(argument) or _file_name(argument) for argument in _arguments(record)])
        words = _PLACEHOLDER.sub(lambda found: "%" if found[0] == "%%" else next(told, None) or HIDDEN, words)
    return words.strip().partition("\n")[0]


def _arguments(record: logging.LogRecord) -> tuple[object, ...]:
    return record.args if isinstance(record.args, tuple) else ()


def _file_name(argument: object) -> str | None:
    """The name of a file, if it is one that may be named."""
    return argument if isinstance(argument, str) and argument in FILES else None


def _error_name(argument: object) -> str | None:
    """The class of an exception, given the exception or its name, or the name of an error of SQLite or the system."""
    if isinstance(argument, BaseException):
        return type(argument).__name__
    if not isinstance(argument, str):
        return None
    known = argument in errno.errorcode.values() or (argument.startswith("SQLITE_") and hasattr(sqlite3, argument))
    return argument if known or argument in set(_exception_names(BaseException)) else None


def _exception_names(kind: type[BaseException]) -> Iterator[str]:
    yield kind.__name__
    for narrower in type.__subclasses__(kind):
        yield from _exception_names(narrower)
