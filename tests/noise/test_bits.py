"""No randomness is predictable, repeated, or invented when the source is broken."""

from __future__ import annotations

import inspect
import os
import select
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

import adomnia.noise.bits
import adomnia.noise.choice
import adomnia.noise.discrete
from adomnia.errors import Failure
from adomnia.noise.bits import SystemBits
from adomnia.noise.choice import weighted_choice
from adomnia.noise.discrete import LogQuadratic, discrete_gaussian, discrete_laplace, geometric
from kit.bits import BrokenBits
from kit.distributions import fits_the_distribution, p_value_of_counts, tabulated

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARED = SystemBits()


def two_words(_: object = None) -> tuple[int, int]:
    """Two words as one number that never repeats by chance: 128 bits."""
    first, second = SHARED.words(2)
    return int(first), int(second)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 1023, 32_767, 32_768, 32_769, 100_001])
def test_as_many_words_come_as_were_asked_for(count):
    words = SystemBits().words(count)
    assert words.shape == (count,)
    assert words.dtype == np.uint64


@pytest.mark.parametrize("count", [np.int8(100), np.uint8(200), np.int64(5)], ids=repr)
def test_counts_of_few_bits_do_not_wrap(count):
    words = SystemBits().words(count)
    assert len(words) == int(count)
    assert len(np.unique(words)) == int(count)


@pytest.mark.parametrize("count", [-1, -(10**9)])
def test_a_negative_count_is_refused(count):
    with pytest.raises(ValueError, match=r"^SystemBits count must be .*, got -"):
        SystemBits().words(count)


def test_every_bit_of_the_words_is_fair_and_the_bytes_are_uniform():
    words = SystemBits().words(200_000)
    bits = np.unpackbits(words.view(np.uint8)).reshape(-1, 64)
    worst = np.abs(bits.mean(axis=0) - 0.5).max() * 2 * len(words) ** 0.5
    assert worst < 7.5  # 64 bits beyond 7.5 standard deviations: 5e-12
    counts = np.bincount(words.view(np.uint8), minlength=256)
    assert p_value_of_counts(counts, np.full(256, 1 / 256)) >= 1e-9


def test_no_word_repeats_within_or_between_requests():
    bits = SystemBits()
    drawn = np.concatenate([bits.words(size) for size in (100_000, 1, 1, 50_000, 32_768, 7)])
    assert len(np.unique(drawn)) == len(drawn)  # a repeat by chance: 1e-9


def test_two_sources_never_agree():
    assert not np.any(SystemBits().words(1000) == SystemBits().words(1000))


@contextmanager
def forked_child() -> Iterator[int]:
    """A child that draws once, and where to read what it drew; a pool would wait for ever for one that does not."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, repr(two_words()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    try:
        yield reader
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def drawn_by(reader: int) -> str:
    ready, _, _ = select.select([reader], [], [], 60)
    assert ready, "The child has drawn nothing."
    return os.read(reader, 1000).decode()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_children_never_repeat_each_other_or_the_parent():
    SHARED.words(5)  # a source with state has it by now
    seen = [repr(two_words())]
    for _ in range(4):
        with forked_child() as reader:
            seen += [drawn_by(reader), repr(two_words())]
    assert "" not in seen
    assert len(set(seen)) == len(seen)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.no_cover
def test_children_that_were_forked_together_never_repeat():
    two_words()
    with ExitStack() as children:
        readers = [children.enter_context(forked_child()) for _ in range(16)]
        seen = [drawn_by(reader) for reader in readers]
    assert "" not in seen
    assert len(set(seen)) == 16


@pytest.mark.no_cover
def test_new_processes_never_repeat():
    program = "from adomnia.noise.bits import SystemBits; print(SystemBits().words(4))"
    runs = [
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=child_environment()
        )
        for _ in range(3)
    ]
    assert len({run.stdout for run in runs}) == 3


def child_environment() -> dict[str, str]:
    """This interpreter's own import path, so that the child sees the package under test."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def test_eight_threads_draw_at_once_and_no_block_repeats():
    with ThreadPoolExecutor(8) as pool:
        drawn = np.concatenate(list(pool.map(lambda size: SHARED.words(2 * size), range(1, 400))))
    assert len(np.unique(drawn)) == len(drawn)  # 160,000 words; a repeat by chance: 1e-9


def test_noise_drawn_by_eight_threads_at_once_keeps_its_distribution():
    with ThreadPoolExecutor(8) as pool:
        drawn = np.concatenate(list(pool.map(lambda _: discrete_laplace(Fraction(1), (2000,), SHARED), range(64))))
    weights = np.exp(-np.abs(np.arange(-40, 41)))
    assert fits_the_distribution(drawn, tabulated(weights, -40), alpha=1e-9)


def raises(_: int) -> bytes:
    raise OSError("no entropy device")


def is_missing(_: int) -> bytes:
    raise NotImplementedError("no source of the operating system")


def gives_too_few(count: int) -> bytes:
    return os.getrandom(count)[:-1] if count else b""


def gives_nothing(_: int) -> bytes:
    return b""


def is_stuck_at_zero(count: int) -> bytes:
    return bytes(count)


def is_stuck_at_one(count: int) -> bytes:
    return b"\xff" * count


def is_stuck_at_a_byte(count: int) -> bytes:
    return b"\x5a" * count


FAULTS = [raises, is_missing, gives_too_few, gives_nothing, is_stuck_at_zero, is_stuck_at_one, is_stuck_at_a_byte]
DRAWS = {
    "words": lambda bits: bits.words(3),
    "laplace": lambda bits: discrete_laplace(Fraction(3), (4,), bits),
    "gaussian": lambda bits: discrete_gaussian(Fraction(9), (4,), bits),
    "geometric": lambda bits: geometric(Fraction(3), (4,), bits),
    "choice": lambda bits: weighted_choice(np.array([1, 2, 3]), Fraction(1), bits),
    "huge laplace": lambda bits: discrete_laplace(Fraction(10**30), (1,), bits),
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_no_noise_comes_from_a_source_that(fault, monkeypatch):
    monkeypatch.setattr(os, "urandom", fault)
    for draw in DRAWS.values():
        with pytest.raises(Failure) as failure:
            draw(SystemBits())
        assert str(failure.value) == str(Failure())


def test_a_source_that_worked_a_moment_ago_is_not_trusted_to_work_still(monkeypatch):
    bits = SystemBits()
    bits.words(4)
    monkeypatch.setattr(os, "urandom", raises)
    with pytest.raises(Failure):
        for _ in range(1000):
            bits.words(100_000)


@pytest.mark.parametrize("name", DRAWS)
def test_broken_bits_give_no_noise(name):
    with pytest.raises(Failure):
        DRAWS[name](BrokenBits())


def test_nothing_that_draws_takes_a_seed():
    callables = [
        SystemBits,
        LogQuadratic,
        weighted_choice,
        discrete_laplace,
        discrete_gaussian,
        geometric,
    ]
    for item in callables:
        names = set(inspect.signature(item).parameters)
        assert not names & {"seed", "key", "state", "random_state", "rng", "generator", "nonce", "entropy"}, item
    assert not inspect.signature(SystemBits).parameters


def test_noise_never_falls_back_to_bits_of_its_own():
    for draw in (discrete_laplace, discrete_gaussian, geometric, weighted_choice):
        assert inspect.signature(draw).parameters["bits"].default is inspect.Parameter.empty


@pytest.mark.parametrize("module", ["bits", "choice", "discrete"])
def test_no_other_generator_is_imported(module):
    source = inspect.getsource(getattr(adomnia.noise, module))
    for other in ("import random", "np.random", "numpy.random", "import secrets", "from random"):
        assert other not in source


@pytest.mark.parametrize("count", [np.uint8(100), np.int8(100), np.uint16(9_000), np.int32(70_000)], ids=repr)
def test_a_count_of_a_small_integer_type_is_no_reason_to_hand_out_old_memory(count):
    """Such counts wrapped, and most words were left as they were found: two requests agreed on them."""
    first, second = SystemBits().words(count), SystemBits().words(count)
    assert len(first) == int(count)
    assert np.count_nonzero(first == second) == 0  # false alarm: below 70,000 / 2**64


def test_a_cipher_that_writes_less_than_asked_gives_nothing(monkeypatch):
    class Lazy:
        def __init__(self, *_):
            pass

        def encryptor(self):
            return self

        def update_into(self, *_):
            return 0

    monkeypatch.setattr("adomnia.noise.bits.Cipher", Lazy)
    with pytest.raises(Failure):
        SystemBits().words(3)
