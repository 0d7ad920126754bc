"""How much a request may compute before it is paid for: counted in steps, and the same on every machine.

What costs nothing is asked as often as anybody likes, so none of it may take long. Whoever computes says so, in steps
of about ten microseconds, before the work is done; `spend` refuses what is beyond the limit. Nothing is counted where
nobody limits it: above all, a question that is paid for is measured to its end.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from adomnia.errors import AdomniaError, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")

MOST_STEPS = 250_000


class Abandoned(AdomniaError):
    """Nobody waits for the result any more."""


class Work:
    """What one request has computed so far: at most `most` steps, or any number if None."""

    def __init__(self, most: int | None = MOST_STEPS) -> None:
        self.most, self.steps = most, 0
        self._abandoned = False

    def abandon(self) -> None:
        """End the work at its next step; any thread may say so."""
        self._abandoned = True

    @property
    def abandoned(self) -> bool:
        """Whether nobody waits for it any more."""
        return self._abandoned

    def spend(self, steps: int) -> None:
        """Count steps before they are taken; those that are refused are not."""
        if self._abandoned:
            raise Abandoned("The request is given up: nobody waits for it any more.")
        if self.most is not None and self.steps + steps > self.most:
            why = f"takes more than {self.most:,} steps to read, to price and to prove, which costs nothing"
            fix = "ask for fewer or shorter aggregates, in fewer questions at once"
            raise Refusal("The request", why, fix, code="too_much_work")
        self.steps += steps


_CURRENT: ContextVar[Work | None] = ContextVar("work", default=None)


def spend(steps: int) -> None:
    """Count steps of whatever request this thread works on."""
    work = _CURRENT.get()
    if work is not None:
        work.spend(steps)


def current() -> Work | None:
    """The work of whatever request this thread is at, for another thread to watch."""
    return _CURRENT.get()


@contextmanager
def limit(work: Work | None = None) -> Iterator[None]:
    """Count all that is done inside; where somebody counts already, they go on."""
    if work is None and _CURRENT.get() is not None:
        yield
        return
    with _use(Work() if work is None else work):
        yield


@contextmanager
def allow() -> Iterator[None]:
    """Let all that is done inside come to its end, uncounted."""
    with _use(None):
        yield


def remember(most: int) -> Callable[[Callable[_Given, _Result]], Callable[_Given, _Result]]:
    """Keep the last results of a function; one that is found again counts as many steps as when it was computed.

    So what is refused does not depend on what was asked before.
    """

    def decorate(compute: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
        @lru_cache(maxsize=most)
        def compute_counted(*given: _Given.args, **named: _Given.kwargs) -> tuple[_Result, int]:
            work = Work(None) if (found := current()) is None else found
            before = work.steps
            with _use(work):
                return compute(*given, **named), work.steps - before

        @wraps(compute)
        def recall(*given: _Given.args, **named: _Given.kwargs) -> _Result:
            work = current()
            before = 0 if work is None else work.steps
            result, steps = compute_counted(*given, **named)  # type: ignore[arg-type]  # what can be hashed
            if work is not None:
                work.spend(before + steps - work.steps)
            return result

        return recall

    return decorate


@contextmanager
def _use(work: Work | None) -> Iterator[None]:
    before = _CURRENT.set(work)
    try:
        yield
    finally:
        _CURRENT.reset(before)
