"""The columns of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from adomnia.statistics.contract import Estimate

Cell: TypeAlias = str | bool | int | float | date


@dataclass(frozen=True)
class KeyColumn:
    """A column of the answer that is public: declared values of a key, or a column of public tables."""

    name: str
    values: tuple[Cell | None, ...]


@dataclass(frozen=True)
class ValueColumn:
    """A statistic's column of the answer."""

    name: str
    estimate: Estimate
