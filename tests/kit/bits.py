"""Sources of bits that only tests may have: seeded, scripted, constant and broken ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from adomnia.errors import Failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class SeededBits:
    """The same words for the same seed: a keystream keyed by a hash of the seed."""

    def __init__(self, seed: object) -> None:
        key = sha256(repr(seed).encode()).digest()
        self._stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next `count` words."""
        return np.frombuffer(self._stream.update(bytes(8 * count)), dtype=np.uint64)


class BrokenBits:
    """A source whose fault was noticed."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """Never any."""
        raise Failure


class Exhausted(Exception):
    """A sampler asked for more than the script holds: what it was given so far did not decide."""


@dataclass
class ScriptedBits:
    """One line of the script answers one request; a short line is filled up with its last word. Then Exhausted."""

    script: Sequence[Sequence[int]]
    requests: list[int] = field(default_factory=list)

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next line of the script."""
        self.requests.append(count)
        if len(self.requests) > len(self.script):
            raise Exhausted
        line = list(self.script[len(self.requests) - 1])[:count]
        return np.array(line + line[-1:] * (count - len(line)), dtype=np.uint64)
