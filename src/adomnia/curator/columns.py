"""The columns of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from adomnia.statistics.contract import Estimate

Cell: TypeAlias = str | bool | int | float


@dataclass(frozen=True)
class KeyColumn:
    """A grouping column of the answer: one declared value for each cell."""

    name: str
    values: tuple[Cell, ...]


@dataclass(frozen=True)
class ValueColumn:
    """A statistic's column of the answer."""

    name: str
    estimate: Estimate
