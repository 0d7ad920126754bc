"""Why questions were refused since the server started: how often for which reason, and what to do about the first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.explaining.refusal_reasons import REASONS, RefusalReason

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_BARS = 8


@dataclass(frozen=True)
class RefusalBar:
    """A reason, how often it was told, the codes it was told with, and the length of its bar."""

    says: str
    count: int
    codes: str
    share: float


@dataclass(frozen=True)
class RefusalReport:
    """All refusals: the most frequent reasons as bars, how many are beyond them, and advice about the first."""

    total: int
    bars: tuple[RefusalBar, ...]
    beyond: int
    advice: RefusalReason | None


def report_refusals(by_code: Mapping[str, int]) -> RefusalReport:
    """Put codes of one reason together, the most frequent reason first."""
    counts: Counter[RefusalReason] = Counter()
    codes: dict[RefusalReason, list[str]] = {}
    for code, count in by_code.items():
        counts[REASONS[code]] += count
        codes.setdefault(REASONS[code], []).append(code)
    listed = counts.most_common(_MOST_BARS)
    bars = tuple(
        RefusalBar(reason.says, count, ", ".join(codes[reason]), count / listed[0][1]) for reason, count in listed
    )
    beyond = counts.total() - sum(bar.count for bar in bars)
    return RefusalReport(counts.total(), bars, beyond, listed[0][0] if listed else None)
