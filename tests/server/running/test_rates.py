from __future__ import annotations

import pytest

from adomnia.server.later import Later
from adomnia.server.running.rates import Rates


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def taken(rates, key, most):
    """How many are let through at once."""
    for count in range(most):
        try:
            rates.take(key)
        except Later:
            return count
    return most


def test_a_burst_is_let_through_and_then_the_rate(clock):
    rates = Rates(2.0, 5, clock)
    assert taken(rates, "user:alice", 10) == 5
    clock.now += 1.0
    assert taken(rates, "user:alice", 10) == 2
    clock.now += 1000.0
    assert taken(rates, "user:alice", 10) == 5


def test_everybody_has_a_bucket_of_their_own(clock):
    rates = Rates(1.0, 2, clock)
    assert [taken(rates, key, 5) for key in ("user:a", "user:b", "address:a")] == [2, 2, 2]


def test_later_says_when(clock):
    rates = Rates(0.1, 1, clock)
    rates.take("user:alice")
    with pytest.raises(Later) as later:
        rates.take("user:alice")
    assert (later.value.code, later.value.seconds) == ("too_fast", 10)
    clock.now += 9.9
    with pytest.raises(Later) as later:
        rates.take("user:alice")
    assert later.value.seconds == 1
    clock.now += 0.11
    rates.take("user:alice")


def test_asking_too_fast_does_not_put_the_next_token_off(clock):
    rates = Rates(1.0, 1, clock)
    rates.take("user:alice")
    for _ in range(9):
        clock.now += 0.1
        with pytest.raises(Later):
            rates.take("user:alice")
    clock.now += 0.11
    rates.take("user:alice")


def test_any_number_of_callers_takes_bounded_memory(clock):
    rates = Rates(1.0, 2, clock, most_keys=3)
    for k in range(100):
        rates.take(f"address:{k}")
    assert len(rates._buckets) == 3
    assert taken(rates, "address:99", 5) == 1  # the last ones are remembered
