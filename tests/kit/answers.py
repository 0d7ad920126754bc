"""Answers made of plain numbers: what was released, and intervals that are as wide as a test wants them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia.ledger.requests import Receipt
from adomnia.plans.columns import KeyColumn, ValueColumn
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Left
from adomnia.session.answer import Answer
from adomnia.statistics.contract import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

RECEIPT = Receipt("alice", "r-1", b"plan", Pure(Fraction(1, 4)), "c0ffee" * 10)
LEFT = Left(*([Fraction(1)] * len(Left._fields)))


def key(name: str, *values: Any, fact: bool = False) -> KeyColumn:
    return KeyColumn(name, values, fact)


def measured(name: str, *ends: tuple[float, float, float], **facts: Any) -> ValueColumn:
    """A column of values between their ends; twice as wide, to both sides, where all cells are held at once."""
    values, lower, upper = (np.array([each[place] for each in ends], dtype=np.float64) for place in (1, 0, 2))

    def interval(_confidence: float, cells: int) -> Any:
        factor = 1.0 if cells == 1 else 2.0
        return values - factor * (values - lower), values + factor * (upper - values)

    return ValueColumn(name, Estimate(values, interval, facts.pop("method", "noisy count"), **facts))


def make_answer(*columns: KeyColumn | ValueColumn, receipt: Receipt | None = RECEIPT, **facts: Any) -> Answer:
    rows: Sequence[Any] = (
        columns[0].values if isinstance(columns[0], KeyColumn) else columns[0].estimate.values  # type: ignore[assignment]
    )
    told = {"confidence": 0.95, "replayed": False, "left": LEFT} | facts
    return Answer(columns, np.arange(len(rows), dtype=np.intp), receipt=receipt, **told)
