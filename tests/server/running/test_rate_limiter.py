from __future__ import annotations

import pytest

from adomnia.server.retry import RetryLater
from adomnia.server.running.rate_limiter import RateLimiter


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def taken(limiter, key, most):
    """How many are let through at once."""
    for count in range(most):
        try:
            limiter.take(key)
        except RetryLater:
            return count
    return most


def test_a_burst_is_let_through_and_then_the_rate(clock):
    limiter = RateLimiter(2.0, 5, clock)
    assert taken(limiter, "user:alice", 10) == 5
    clock.now += 1.0
    assert taken(limiter, "user:alice", 10) == 2
    clock.now += 1000.0
    assert taken(limiter, "user:alice", 10) == 5


def test_everybody_has_a_bucket_of_their_own(clock):
    limiter = RateLimiter(1.0, 2, clock)
    assert [taken(limiter, key, 5) for key in ("user:a", "user:b", "address:a")] == [2, 2, 2]


def test_later_says_when(clock):
    limiter = RateLimiter(0.1, 1, clock)
    limiter.take("user:alice")
    with pytest.raises(RetryLater) as later:
        limiter.take("user:alice")
    assert (later.value.code, later.value.seconds) == ("too_fast", 10)
    clock.now += 9.9
    with pytest.raises(RetryLater) as later:
        limiter.take("user:alice")
    assert later.value.seconds == 1
    clock.now += 0.11
    limiter.take("user:alice")


def test_asking_too_fast_does_not_put_the_next_token_off(clock):
    limiter = RateLimiter(1.0, 1, clock)
    limiter.take("user:alice")
    for _ in range(9):
        clock.now += 0.1
        with pytest.raises(RetryLater):
            limiter.take("user:alice")
    clock.now += 0.11
    limiter.take("user:alice")


def test_any_number_of_callers_takes_bounded_memory(clock):
    limiter = RateLimiter(1.0, 2, clock, most_keys=3)
    for k in range(100):
        limiter.take(f"address:{k}")
    assert len(limiter._buckets) == 3
    assert taken(limiter, "address:99", 5) == 1  # the last ones are remembered
