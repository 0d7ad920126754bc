"""Work that costs nothing is counted: it ends at the limit, or where nobody waits for it; what is paid for does not."""

from __future__ import annotations

from threading import Thread

import pytest

from adomnia.errors import Refusal
from adomnia.work import MOST_STEPS, Abandoned, Work, allow, limit, remember, spend


def test_work_ends_before_the_step_that_is_beyond_its_limit():
    work = Work(10)
    with limit(work):
        spend(10)
        with pytest.raises(Refusal, match="takes more than 10 steps") as refusal:
            spend(1)
    assert refusal.value.code == "too_much_work"
    assert work.steps == 10


def test_all_that_is_asked_in_one_request_is_counted_together():
    work = Work()
    with limit(work):
        with limit():
            spend(3)
        with limit():
            spend(4)
    assert (work.steps, work.most) == (7, MOST_STEPS)


def test_nothing_is_counted_where_nobody_limits_it():
    spend(10 * MOST_STEPS)
    work = Work(1)
    with limit(work), allow():
        spend(10)
    assert work.steps == 0


def test_without_a_limit_work_is_counted_and_goes_on():
    work = Work(None)
    with limit(work):
        spend(10 * MOST_STEPS)
    assert work.steps == 10 * MOST_STEPS


def test_work_that_is_given_up_ends_at_its_next_step_and_counts_it_no_more():
    work = Work(None)
    with limit(work), pytest.raises(Abandoned):
        spend(1)
        work.abandon()
        spend(1)
    assert work.steps == 1


def test_what_is_counted_in_one_thread_is_nothing_to_another():
    work = Work(1)
    with limit(work):
        other = Thread(target=spend, args=(5,))
        other.start()
        other.join()
    assert work.steps == 0


def test_after_a_refusal_nothing_is_counted_any_more():
    work = Work(1)
    with pytest.raises(Refusal), limit(work):
        spend(2)
    spend(5)
    assert work.steps == 0


def test_what_is_remembered_is_computed_once_and_counts_the_same_steps_again():
    computed = []

    @remember(4)
    def compute(steps: int) -> int:
        computed.append(steps)
        spend(steps)
        return 2 * steps

    assert compute(3) == 6  # uncounted
    work = Work(10)
    with limit(work):
        assert [compute(3), compute(3), compute(4)] == [6, 6, 8]
        with pytest.raises(Refusal, match="steps"):
            compute(4)
    assert (work.steps, computed) == (10, [3, 4])
