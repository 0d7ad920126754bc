"""Large answers share the memory of a worker: what does not fit is refused before it is paid for."""

from __future__ import annotations

import gc
from threading import Thread

import pytest

from adomnia.api.retry import RetryLater
from adomnia.api.running.answer_memory import AnswerMemory, needed_bytes
from adomnia.asking.sizes import AnswerSize
from adomnia.errors import Refusal
from kit.waiting import HANG_SECONDS

LARGE = AnswerSize(10**6, 10**6, 0)
NEEDED = needed_bytes(LARGE)


def test_answers_that_do_not_fit_beside_others_are_to_come_back():
    memory = AnswerMemory(2 * NEEDED + 1)
    with memory.job() as first:
        memory.admit(LARGE)
    with memory.job() as second:
        memory.admit(LARGE)
    assert memory.used_bytes == 2 * NEEDED
    with memory.job(), pytest.raises(RetryLater, match="has too many large answers to write") as refused:
        memory.admit(LARGE)
    assert (refused.value.code, refused.value.seconds) == ("overload", 5)
    first.resize(100)  # it is encoded
    second.resize(0)
    assert memory.used_bytes == 100
    with memory.job():
        memory.admit(LARGE)


def test_an_answer_that_never_fits_is_refused_for_good():
    memory = AnswerMemory(NEEDED - 1)
    with (
        memory.job(),
        pytest.raises(Refusal, match=r"needs about 305 MB to be answered, and there are 304\b") as refused,
    ):
        memory.admit(LARGE)
    assert refused.value.code == "too_many_cells"
    assert not isinstance(refused.value, RetryLater)
    assert memory.used_bytes == 0


def test_small_answers_never_wait_for_large_ones():
    memory = AnswerMemory(NEEDED)
    with memory.job():
        memory.admit(LARGE)
        with memory.job() as small:
            memory.admit(AnswerSize(5000, 5000, 0))
            assert small.size == 0


def test_a_claim_ends_with_what_holds_it_or_with_an_error():
    memory = AnswerMemory(NEEDED)
    with memory.job() as claim:
        memory.admit(LARGE)
    assert memory.used_bytes == NEEDED
    del claim
    gc.collect()
    assert memory.used_bytes == 0
    with pytest.raises(ZeroDivisionError), memory.job() as claim:
        memory.admit(LARGE)
        raise ZeroDivisionError
    assert memory.used_bytes == claim.size == 0


def test_an_answer_that_is_asked_for_twice_is_counted_once():
    memory = AnswerMemory(NEEDED)
    with memory.job() as claim:
        memory.admit(LARGE)
        memory.admit(LARGE)
        assert (memory.used_bytes, claim.size) == (NEEDED, NEEDED)


def test_every_thread_has_a_claim_of_its_own_and_without_one_nothing_is_counted():
    memory = AnswerMemory(NEEDED)
    memory.admit(LARGE)
    with memory.job():
        other = Thread(target=memory.admit, args=(LARGE,))
        other.start()
        other.join(HANG_SECONDS)
    assert memory.used_bytes == 0
