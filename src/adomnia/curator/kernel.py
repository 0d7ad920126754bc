"""What the kernel works with: the data behind its engine, the budgets in their ledger, and random bits."""

from collections.abc import Callable
from dataclasses import dataclass

from adomnia.catalog.model import Catalog
from adomnia.engines.contract import Engine
from adomnia.ledger import Ledger
from adomnia.noise import Bits


def at_once(_started: float) -> None:
    """Wait for nothing: whoever asks may see how long an answer took."""


@dataclass(frozen=True)
class Kernel:
    """One dataset, as the kernel sees it.

    `wait` is called with the time at which data began to be read, before the answer is kept or its failure told: a
    server waits there until the edge of a time bucket.
    """

    catalog: Catalog
    engine: Engine
    ledger: Ledger
    bits: Bits
    wait: Callable[[float], None] = at_once
