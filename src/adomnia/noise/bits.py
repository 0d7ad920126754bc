"""Random bits: the only place that asks for randomness."""

import os
from operator import index
from typing import Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from adomnia.errors import Failure

_KEY_BYTES = 32
_BLOCK_WORDS = 2  # update_into wants room for one AES block beyond the data
_PIECE_WORDS = 1 << 15
_ZEROS = bytes(8 * _PIECE_WORDS)


class Bits(Protocol):
    """A source of independent uniform 64-bit words."""

    def words(self, count: int) -> NDArray[np.uint64]: ...


class SystemBits:
    """AES-256 in counter mode under a fresh key of the operating system for every request.

    Nothing is kept between requests, so there is no state for a fork, a second thread or a cloned machine to
    repeat; and nothing can be passed in, so nobody can choose the noise. Any fault of the source is a Failure.
    """

    __slots__ = ()

    def words(self, count: int) -> NDArray[np.uint64]:
        wanted = index(count)  # a NumPy integer of 8 or 16 bits would wrap in the sums below
        if wanted < 0:
            raise ValueError(f"SystemBits count must be at least 0, got {count}.")
        out = np.empty(wanted + _BLOCK_WORDS, dtype=np.uint64)
        stream = Cipher(algorithms.AES(_fresh_key()), modes.CTR(bytes(16))).encryptor()
        target, zeros, written = out.view(np.uint8).data, memoryview(_ZEROS), 0
        for start in range(0, wanted, _PIECE_WORDS):
            written += stream.update_into(zeros[: 8 * min(_PIECE_WORDS, wanted - start)], target[8 * start :])
        if written != 8 * wanted:  # what is left would be old memory, not noise
            raise Failure()
        return out[:wanted]


def _fresh_key() -> bytes:
    try:
        drawn = os.urandom(2 * _KEY_BYTES)
    except (OSError, NotImplementedError) as fault:
        raise Failure() from fault
    key, check = drawn[:_KEY_BYTES], drawn[_KEY_BYTES:]
    # Equal halves have probability 2**-256: a source that repeats itself is stuck, and stuck noise is no noise.
    if len(check) != _KEY_BYTES or key == check:
        raise Failure()
    return key
