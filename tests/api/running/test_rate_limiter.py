from __future__ import annotations

import pytest

from adomnia.api.retry import RetryLater
from adomnia.api.running.rate_limiter import RateLimiter, SharedRateLimiter


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


class Buckets:
    """What hosts share, as one of them sees it: so many tokens, and what was asked for."""

    def __init__(self, tokens: int) -> None:
        self.tokens, self.asked = tokens, []

    def take_tokens(self, key, number, rate, burst) -> bool:
        self.asked.append((key, number))
        enough = number <= self.tokens
        self.tokens -= number * enough
        return enough


def test_hosts_share_one_bucket_and_ask_for_several_tokens_at_once():
    buckets, now = Buckets(100), [0.0]
    hosts = [SharedRateLimiter(buckets, rate=50, burst=100, clock=lambda: now[0]) for _ in range(2)]
    for k in range(100):
        hosts[k % 2].take("user:alice")
    for host in hosts:
        with pytest.raises(RetryLater) as refused:
            host.take("user:alice")
        assert (refused.value.seconds, refused.value.code) == (1, "too_fast")
    assert [number for _, number in buckets.asked] == [5] * 20 + [5, 1] * 2


def test_whoever_was_refused_is_refused_without_asking_again_until_there_can_be_a_token():
    buckets, now = Buckets(0), [0.0]
    host = SharedRateLimiter(buckets, rate=50, burst=100, clock=lambda: now[0])
    for _ in range(10):
        with pytest.raises(RetryLater):
            host.take("address:192.0.2.1")
    assert len(buckets.asked) == 2
    now[0], buckets.tokens = 0.02, 1
    host.take("address:192.0.2.1")


def test_the_last_tokens_are_given_one_by_one():
    buckets = Buckets(2)
    host = SharedRateLimiter(buckets, rate=50, burst=100)
    host.take("user:alice")
    host.take("user:alice")
    assert [number for _, number in buckets.asked] == [5, 1, 5, 1]


def test_tokens_that_were_not_used_lapse_when_the_bucket_is_full_again():
    buckets, now = Buckets(100), [0.0]
    host = SharedRateLimiter(buckets, rate=50, burst=100, clock=lambda: now[0])
    host.take("user:alice")
    now[0] = 1.9
    host.take("user:alice")
    assert len(buckets.asked) == 1
    now[0] = 2.0
    host.take("user:alice")
    assert len(buckets.asked) == 2


def test_names_and_addresses_are_hashed_before_they_are_stored():
    buckets = Buckets(100)
    SharedRateLimiter(buckets, rate=50, burst=100).take("address:192.0.2.1")
    ((key, _),) = buckets.asked
    assert len(key) == 32
    assert b"192" not in key
