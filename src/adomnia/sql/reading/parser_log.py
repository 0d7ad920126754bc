"""Keeps what the parser logs about our questions to itself: its warnings quote them, and logs hold no question."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_reading_question = ContextVar("reading_question", default=False)


@contextmanager
def silence_parser() -> Iterator[None]:
    """Drop what the parser logs in this thread. What others parse with it in the same process is logged as before."""
    before = _reading_question.set(True)
    try:
        yield
    finally:
        _reading_question.reset(before)


logging.getLogger("sqlglot").addFilter(lambda _record: not _reading_question.get())
