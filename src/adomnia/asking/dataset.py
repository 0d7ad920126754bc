"""What a question is asked of: a dataset's rows, budgets and releases, and what its analysts were told before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.asking.known_rows import EarlierCounts
    from adomnia.asking.sizes import AnswerSize
    from adomnia.catalog.model import Catalog
    from adomnia.curator.kernel import Kernel
    from adomnia.engines.contract import Engine
    from adomnia.ledger import Ledger
    from adomnia.releases.store import ReleaseStore


def admit_any(_size: AnswerSize) -> None:
    """Admit answers of any size: whoever asks in their own process has all of its memory."""


@dataclass(frozen=True)
class Dataset:
    """A dataset under protection; `admit` is called before anything is paid, and may refuse."""

    kernel: Kernel
    counts: EarlierCounts
    releases: ReleaseStore
    admit: Callable[[AnswerSize], None] = admit_any

    @property
    def catalog(self) -> Catalog:
        """What the owner declared, with what was measured once for all."""
        return self.kernel.catalog

    @property
    def engine(self) -> Engine:
        """Where the data is."""
        return self.kernel.engine

    @property
    def ledger(self) -> Ledger:
        """Where budgets are."""
        return self.kernel.ledger
