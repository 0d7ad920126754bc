from __future__ import annotations

import signal

import pytest

from adomnia.serving.signals import list_ending_signals


@pytest.mark.parametrize(
    ("handler", "ending"),
    [
        (signal.default_int_handler, [signal.SIGTERM, signal.SIGINT]),
        (signal.SIG_DFL, [signal.SIGTERM, signal.SIGINT]),
        (signal.SIG_IGN, [signal.SIGTERM]),
    ],
)
def test_what_was_ignored_before_the_start_stays_ignored(handler, ending):
    before = signal.signal(signal.SIGINT, handler)
    try:
        assert list_ending_signals() == ending
    finally:
        signal.signal(signal.SIGINT, before)
