"""What a release publishes: estimates of tables that agree with each other, rows of nobody, and what is known of both.

All of it follows from what was measured, so that it is public. Places are those of values in the order of a column.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adomnia.mechanisms.contract import Tails
    from adomnia.privacy.keys import Label

Places: TypeAlias = NDArray[np.integer]
Sort: TypeAlias = Literal["text", "boolean", "integer", "number", "date"]


@dataclass(frozen=True)
class Attribute:
    """A column of a release: its values in their order, the missing one last as None.

    Where values are bins of numbers or of days, `edges` are their ends, one more than there are bins; a bin holds its
    lower end. Days are counted from the first of the calendar. `step` is what values inside of bins are multiples of,
    where that is declared.
    """

    tag: ClassVar[str] = "Attribute"
    name: str
    levels: tuple[Label | None, ...]
    sort: Sort = "text"
    edges: tuple[float, ...] = ()
    step: float | None = None

    def __len__(self) -> int:
        return len(self.levels)


class LinearRelease(Protocol):
    """Noisy measurements from which counts follow by addition alone: without bias, with errors that are known."""

    def covers(self, columns: Sequence[int]) -> bool:
        """Whether counts by the values of all these columns together follow from it."""
        ...

    def count(self, columns: Sequence[int], groups: Places, number: int) -> tuple[NDArray[np.float64], ...]:
        """How many rows are in each of so many groups of cells, and the variances of the noise in that.

        `groups` has an axis for each of these columns, and for each cell the place of its group, or -1.
        """
        ...


class WeightedRelease(LinearRelease, Protocol):
    """A linear release that adds up weights of cells too, which sums and means are made of."""

    def add(
        self, columns: Sequence[int], groups: Places, number: int, weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], ...]:
        """The weights of all rows in each of so many groups of cells, and the variances of the noise in that.

        `weights` has the shape of `groups`: what a row in each cell counts for.
        """
        ...


@dataclass(frozen=True)
class Product:
    """What is published: what counts follow from, and rows, one line each with the place of a value in every column.

    A release has estimates, rows, or both; where it has both, rows answer and estimates say how far off. `tables` are
    whole numbers that are not negative and agree with each other, by the places of their columns. `tails` says of which
    noise estimates are sums. `about` says how it
    was made, in plain data. `step` is what estimated counts are multiples of, 0 if they are any numbers: intervals are
    longer by half of it, because noise in whole steps that lies on an end is missed as a whole.
    """

    tag: ClassVar[str] = "Product"
    attributes: tuple[Attribute, ...]
    estimates: LinearRelease | None = None
    tails: Tails = "gaussian"
    rows: Places | None = None
    tables: Mapping[tuple[int, ...], Places] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    step: float = 0.0
