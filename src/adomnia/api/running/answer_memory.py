"""How much memory the answers of a worker take together, counted before they are paid for, from their public size.

A small answer takes next to nothing. A large one takes up to a gigabyte while it is computed and encoded, and the
threads of a worker could work on a dozen of them at once.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import RLock, local
from typing import TYPE_CHECKING

from adomnia.api.retry import RetryLater
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.asking.sizes import AnswerSize

# Measured with 12,000 groups at the price and on the rows that take most: counts take 209 bytes a number (many digits),
# means 194, variances 174, correlations 278 (where they can be told); four variances take 74.
_BYTES_OF_A_NUMBER = 80
_BYTES_OF_ITS_INTERVAL = 225  # while it is encoded, one output at a time
_SMALL_BYTES = 2**21  # what is not counted, so that small answers never wait for large ones
_RETRY_SECONDS = 5


def needed_bytes(size: AnswerSize) -> int:
    """The most memory that an answer takes, from its measurements to the bytes of the reply."""
    # The answer as it was given is kept compressed: half of what it may take at most.
    return _BYTES_OF_A_NUMBER * size.numbers + _BYTES_OF_ITS_INTERVAL * size.largest + size.result_bytes // 2


class Claim:
    """The memory that one answer has been given; it ends with the claim, which whoever holds the answer holds."""

    def __init__(self, memory: AnswerMemory) -> None:
        self._memory, self.size = memory, 0

    def resize(self, size: int) -> None:
        """Change what the answer takes, once that is known: an encoded one takes its bytes."""
        self._memory.move(self, size)

    def __del__(self) -> None:
        self.resize(0)


class AnswerMemory:
    """The memory for the answers of one process."""

    def __init__(self, largest_bytes: int) -> None:
        self._largest_bytes, self.used_bytes = largest_bytes, 0
        # Reentrant: the collector may end a forgotten claim in a thread that is moving another one.
        self._lock, self._thread = RLock(), local()

    @contextmanager
    def job(self) -> Iterator[Claim]:
        """What one thread answers; `admit` gives memory to the claim of its own thread."""
        self._thread.claim = claim = Claim(self)
        try:
            yield claim
        except BaseException:
            claim.resize(0)  # not later: whoever looks at the exception holds the claim too
            raise
        finally:
            self._thread.claim = None

    def admit(self, size: AnswerSize) -> None:
        """Give an answer its memory, or refuse: nothing has been paid for it yet."""
        claim: Claim | None = getattr(self._thread, "claim", None)
        needed = needed_bytes(size)
        if claim is None or needed <= _SMALL_BYTES:
            return
        if needed > self._largest_bytes:
            why = f"needs about {needed // 10**6:,} MB to be answered, and there are {self._largest_bytes // 10**6:,}"
            fix = "ask for fewer groups or aggregates at a time, or have the operator raise --memory"
            raise Refusal("The question", why, fix, code="too_many_cells")
        if not self.move(claim, needed):
            why = "has too many large answers to write at this moment"
            raise RetryLater("The server", why, _RETRY_SECONDS, code="overload")

    def move(self, claim: Claim, size: int) -> bool:
        """Make a claim larger, if there is room, or smaller."""
        with self._lock:
            used_bytes = self.used_bytes + size - claim.size
            if size > claim.size and used_bytes > self._largest_bytes:
                return False
            self.used_bytes, claim.size = used_bytes, size
            return True
