"""Time never goes back, and never stands still."""

from __future__ import annotations

import pytest

from adomnia.api.access.clock import Clock


@pytest.fixture
def clock(time):
    return Clock(lambda: time.wall, lambda: time.monotonic)


def test_time_is_what_the_clock_says(clock, time):
    time.go_on(7)
    assert clock.now(seen=0) == time.wall


def test_time_is_never_before_what_was_seen(clock, time):
    assert clock.now(seen=time.wall + 100) == time.wall + 100


def test_time_goes_on_while_the_clock_is_behind(clock, time):
    start = time.wall
    time.wall -= 5000
    time.go_on(30)
    assert clock.now(seen=0) == start + 30
    assert clock.now(seen=start + 1000) == start + 1000
    time.go_on(30)
    assert clock.now(seen=0) == start + 1030


def test_a_clock_that_is_moved_ahead_is_believed(clock, time):
    time.wall += 5000
    assert clock.now(seen=0) == time.wall
