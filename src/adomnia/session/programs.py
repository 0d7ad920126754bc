"""Runs a function of yours on some rows in a process of its own, for a limited time.

A time limit is not a sandbox: a function can read and write whatever this process can. Proof of what follows for
functions that keep to their rows: docs/proofs/block_programs.md.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import warnings
from contextlib import suppress
from decimal import Decimal
from math import nan
from numbers import Real
from struct import Struct
from typing import TYPE_CHECKING, Any, NoReturn

from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

_NUMBER = Struct("d")
_MILLISECONDS = 1000


def check_platform() -> None:
    """Refuse where a process cannot be copied."""
    if not hasattr(os, "fork"):
        why, fix = "needs a copy of this process for each block, and this system makes none", "ask on Linux or macOS"
        raise Refusal("sample_and_aggregate()", why, fix, code="no_fork")


def run_program(function: Callable[[Any], object], rows: object, time_limit_seconds: float) -> float:
    """The number that a function makes of rows; not a number where it raises, gives another thing or is too slow.

    Each call has a fresh copy of this process, which is killed at the end: what a function remembers of one block, in
    variables or in open files, is gone when it sees another.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of threads, which the copy lacks
        child = os.fork()
    if child == 0:
        _answer(function, rows, writing)
    try:
        os.close(writing)
        return _await_number(reading, time_limit_seconds)
    finally:
        os.close(reading)
        _end(child)


def _answer(function: Callable[[Any], object], rows: object, writing: int) -> NoReturn:
    """What the copy does; it never returns into the code that made it."""
    value = nan
    try:
        os.setpgid(0, 0)  # so that its own children end with it
        gc.freeze()  # what this process holds is not the copy's to close
        value = _read_number(function(rows))
    except BaseException:  # noqa: BLE001, S110 - of a function that fails nothing is told
        pass
    finally:
        with suppress(OSError):
            os.write(writing, _NUMBER.pack(value))
        os._exit(0)


def _read_number(value: object) -> float:
    return float(value) if isinstance(value, Real | Decimal) else nan


def _await_number(reading: int, time_limit_seconds: float) -> float:
    ready = select.poll()
    ready.register(reading, select.POLLIN)
    if not ready.poll(time_limit_seconds * _MILLISECONDS):
        return nan
    told = os.read(reading, _NUMBER.size)
    return float(_NUMBER.unpack(told)[0]) if len(told) == _NUMBER.size else nan


def _end(child: int) -> None:
    """End a copy and whatever it started."""
    with suppress(OSError):  # there is no such group where it ended before it had one
        os.killpg(child, signal.SIGKILL)
    with suppress(OSError):
        os.kill(child, signal.SIGKILL)
    with suppress(OSError):
        os.waitpid(child, 0)
