"""What came of asking: answers that are measured now, or again, with their receipt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.ledger.requests import KeptAnswer, Receipt
    from adomnia.plans.drafts import DraftAnswer
    from adomnia.privacy.filters import Left


@dataclass(frozen=True)
class Outcome:
    """What is answered from what was measured, now or before, its receipt, what the analyst has left since.

    `kept` is where it was just kept.
    """

    drafts: Sequence[DraftAnswer]
    receipt: Receipt
    replayed: bool
    left: Left | None = None
    kept: KeptAnswer | None = None
