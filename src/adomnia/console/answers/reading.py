"""How somebody reads an answer: from which row on, with which intervals. All of that is in the address, and free."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import numpy as np

from adomnia.api.bodies import malformed_request
from adomnia.plans.columns import ValueColumn

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from adomnia.session.answer import Answer
    from adomnia.statistics.contract import Bounds, Estimate

ROWS_A_PAGE = 100
OFFERED = (0.9, 0.95, 0.99)  # confidences for which there is a link, and a figure
_MOST_DIGITS = 12
_FARTHEST = 10**9


@dataclass(frozen=True)
class AnswerReading:
    """Which rows of an answer are shown, and which intervals.

    `place` is that of a batch. `again`: it was asked once more, and was free; `checked`: the receipt is looked at.
    """

    start: int = 1
    simultaneous: bool = False
    confidence: float | None = None
    place: int = 0
    again: bool = False
    checked: bool = False

    @property
    def has_figure(self) -> bool:
        """Whether a figure is drawn of it: each takes a while, so that there are not as many as confidences."""
        return self.confidence is None or self.confidence in OFFERED

    def of_figure(self) -> AnswerReading:
        """What a figure depends on: not the row that the table begins with."""
        return replace(self, start=1, again=False, checked=False)

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> AnswerReading:
        """What an address says; a Refusal where it says nothing that can be shown."""
        flags = {name: _read_flag(query, name) for name in ("simultaneous", "again", "checked")}
        start = max(1, _read_whole(query, "from", 1))
        return cls(start, confidence=_read_confidence(query), place=_read_whole(query, "place", 0), **flags)

    def address(self, request_id: str, part: str = "", **changes: Any) -> str:  # noqa: ANN401 - of any field
        """Where an answer, or a part of it, is found when it is read so."""
        path = f"/answers/{quote(request_id, safe='')}{part}"
        named = replace(self, **changes)._named()
        return f"{path}?{urlencode(named)}" if named else path

    def file_address(self, request_id: str, part: str, **more: str) -> str:
        """Where a file of the answer is found: one of all rows."""
        named = replace(self, start=1, again=False, checked=False)._named() | more
        path = f"/answers/{quote(request_id, safe='')}{part}"
        return f"{path}?{urlencode(named)}" if named else path

    def _named(self) -> dict[str, str]:
        """What is not as usual."""
        usual = AnswerReading()
        named = {
            "from": f"{self.start}" if self.start != usual.start else "",
            "simultaneous": "1" if self.simultaneous else "",
            "confidence": f"{self.confidence:.12g}" if self.confidence is not None else "",
            "place": f"{self.place}" if self.place else "",
            "again": "1" if self.again else "",
            "checked": "1" if self.checked else "",
        }
        return {name: value for name, value in named.items() if value}


def hold_together(answer: Answer) -> Answer:
    """The answer with intervals that hold all cells of a column at once, in the place of one at a time."""
    columns = tuple(
        replace(column, estimate=_together(column.estimate)) if isinstance(column, ValueColumn) else column
        for column in answer.typed_columns
    )
    return replace(answer, typed_columns=columns)


def _together(estimate: Estimate) -> Estimate:
    def interval(confidence: float, _cells: int) -> Bounds:
        return estimate.interval(confidence, int(np.size(estimate.values)))

    return replace(estimate, interval=interval)


def _read_flag(query: Mapping[str, str], name: str) -> bool:
    return query.get(name, "") not in {"", "0", "false"}


def _read_whole(query: Mapping[str, str], name: str, usual: int) -> int:
    written = query.get(name, "")
    if not written:
        return usual
    if not (written.isascii() and written.isdigit() and len(written) <= _MOST_DIGITS):
        raise malformed_request(f"The field {name}", "is not a whole number")
    return min(int(written), _FARTHEST)


def _read_confidence(query: Mapping[str, str]) -> float | None:
    written = query.get("confidence", "")
    if not written:
        return None
    try:
        confidence = float(written)
    except ValueError:
        confidence = 0.0
    if not 0 < confidence < 1:
        raise malformed_request("The field confidence", "is not a number between 0 and 1")
    return confidence
