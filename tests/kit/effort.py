"""How much work something is, on any machine and beside any other work: counted, or measured by a known piece of it."""

from __future__ import annotations

import gc
import sys
from cProfile import Profile
from time import process_time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")

_PIECE_SECONDS = 0.002  # what the known piece takes on a quiet machine of 2026
_TRIES = 5


def count_calls(work: Callable[[], object]) -> int:
    """How many functions are called, those that are built in among them."""
    gc.collect()
    gc.disable()  # what it ends may call functions, whenever it happens to run
    try:
        with Profile(builtins=True) as profile:
            work()
    finally:
        gc.enable()
    return sum(entry.callcount for entry in profile.getstats())


def do_within(seconds: float, work: Callable[[], _Result]) -> _Result:
    """Do it, and again if it took longer than this on a quiet machine of 2026: one of five tries must not.

    A try is measured in processor time, and by how long the known piece takes just before and after it. Limits are ten
    times what is usual: they tell what takes no time from what grows without bound.
    """
    tracer = sys.gettrace()
    sys.settrace(None)  # coverage may take longer to watch than the work itself
    try:
        taken = []
        for _ in range(_TRIES):
            result, took = _measure(work)
            if took < seconds:
                return result
            taken.append(took)
    finally:
        sys.settrace(tracer)
    raise AssertionError(f"It took {min(taken):.3f} seconds of a quiet machine, not {seconds}.")


def _measure(work: Callable[[], _Result]) -> tuple[_Result, float]:
    before = _time_piece()
    began = process_time()
    result = work()
    took = process_time() - began
    return result, took / max(before, _time_piece()) * _PIECE_SECONDS


def _time_piece() -> float:
    began = process_time()
    words = {str(number): number for number in range(12_000)}
    sum(len(word) * number for word, number in words.items())
    return process_time() - began
