from __future__ import annotations

import pickle

from adomnia.api.retry import RetryLater
from adomnia.errors import Refusal


def test_it_is_a_refusal_that_says_when_to_come_back():
    later = RetryLater("The server", "is busy", 7, code="overload")
    assert isinstance(later, Refusal)
    assert (later.code, later.seconds, later.fix) == ("overload", 7, "try again in 7 s")


def test_it_is_the_same_after_a_journey_between_processes():
    again = pickle.loads(pickle.dumps(RetryLater("The server", "is busy", 7, code="overload")))
    assert (again.what, again.why, again.seconds, again.code) == ("The server", "is busy", 7, "overload")
