from __future__ import annotations

import pytest

from kit.effort import count_calls, do_within


def test_what_takes_too_long_is_found_out_and_what_does_not_gives_its_result():
    assert do_within(1, lambda: 7) == 7
    with pytest.raises(AssertionError, match="seconds of a quiet machine"):
        do_within(0.001, lambda: sum(range(10**6)))


def test_calls_are_counted_the_same_every_time():
    def work(number):
        return count_calls(lambda: [len("word") for _ in range(number)])

    assert work(10) == work(10)
    assert work(20) - work(10) == 10
