"""How much of the machine the engine may take, and what is said of a machine that has too little room for an index.

What a question needs depends on the data, so its limits are public. No cause is named, whose words may quote a row.
"""

import re
from dataclasses import dataclass
from threading import TIMEOUT_MAX

from adomnia.errors import Unavailable

PUBLIC_SECONDS = 20.0  # for a statement about public tables alone, which nobody pays for
PUBLIC_BYTES = 2**28  # for what is read of its answer, beside the engine's own memory
NO_MEMORY = "no_memory"  # the code of an index that does not fit

_SIZE = re.compile(r"\d+(\.\d+)? ?[KMGT]i?B")


@dataclass(frozen=True)
class Limits:
    """Threads for all questions together, memory for all of them, and seconds for each statement.

    Without a number of threads there are as many as the machine has cores; without seconds nothing is interrupted.
    """

    threads: int | None = None
    memory: str = "1200MB"
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.threads is not None and self.threads < 1:
            raise ValueError(f"Limits threads must be >= 1, got {self.threads}.")
        if not _SIZE.fullmatch(self.memory):
            raise ValueError(f"Limits memory must be a size such as 1200MB, got {self.memory}.")
        if self.seconds is not None and not 0 < self.seconds <= TIMEOUT_MAX:
            raise ValueError(f"Limits seconds must be > 0 and finite, got {self.seconds}.")


USUAL = Limits()


def disk_trouble() -> Unavailable:
    """The disk is full, or closed to this process."""
    fix = "free space there, or let this process write it"
    return Unavailable("The index", "cannot be written to the disk of its folder", fix)


def memory_trouble() -> Unavailable:
    """What is being built needs more than memory and disk have."""
    fix = "give it more: `--memory` of the server, `limits` of adomnia.open, or room in the folder where it spills"
    return Unavailable("The index", "fits neither into memory nor into the room on disk", fix, NO_MEMORY)
