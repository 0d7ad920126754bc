"""What an answer holds: its columns, with intervals around what was measured, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, overload

import numpy as np

from adomnia.plans.columns import Cell, KeyColumn, MeasuredCells, ValueColumn, name_ends, read_dates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from adomnia.ledger.requests import Receipt
    from adomnia.messages.texts import Note
    from adomnia.plans.columns import Cap
    from adomnia.privacy.events import Event
    from adomnia.privacy.filters import Left
    from adomnia.statistics.contract import Estimate, Floats
    from adomnia.statistics.products import Product

_ORIENTS = ("list", "records")


@dataclass(frozen=True)
class AnswerValues:
    """The columns of an answer, the cells of them that are its rows, and all that is said about them."""

    typed_columns: tuple[KeyColumn | ValueColumn, ...]
    rows: NDArray[np.intp]
    confidence: float
    receipt: Receipt | None
    replayed: bool
    left: Left
    caps: tuple[Cap, ...] = ()
    notes: tuple[Note, ...] = ()
    figure: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    product: Product | None = field(default=None, repr=False, compare=False)

    @property
    def cost(self) -> Event | None:
        """What this answer cost, None if nothing; a replayed one says what was paid the first time.

        >>> session.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=0.1).cost is None
        False
        """
        return None if self.receipt is None else self.receipt.event

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def columns(self) -> list[str]:
        """The names of the columns, without those of intervals.

        >>> session.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=0.1).columns
        ['sex', 'n']
        """
        return [column.name for column in self.typed_columns]

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are.

        >>> session.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=0.1).shape
        (3, 2)
        """
        return len(self), len(self.typed_columns)

    def __iter__(self) -> Iterator[dict[str, Cell | None]]:
        """The rows one by one, as `records` lists them."""
        return iter(self.records())

    @overload
    def __getitem__(self, place: str) -> list[Cell]: ...

    @overload
    def __getitem__(self, place: SupportsIndex) -> dict[str, Cell | None]: ...

    @overload
    def __getitem__(self, place: slice) -> Self: ...

    def __getitem__(self, place: str | SupportsIndex | slice) -> list[Cell] | dict[str, Cell | None] | Self:
        """A column by its name, as a list; a row by its place, as a dictionary; or an answer with some of the rows."""
        if isinstance(place, slice):
            return replace(self, rows=self.rows[place])
        return self._list_cells(place) if isinstance(place, str) else self.records()[place]

    def head(self, n: int = 5) -> Self:
        """The first rows as an answer of their own, with the same columns, intervals and receipt.

        >>> len(session.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=0.1).head(2))
        2
        """
        return self[:n]

    def _list_cells(self, name: str) -> list[Cell]:
        """One column; None where nothing was measured that tells more than was known before."""
        column = self._column(name)
        if isinstance(column, KeyColumn):
            return [column.values[row] for row in self.rows]
        return _plain(self.read(column).values, column.estimate)

    def read(self, column: ValueColumn, simultaneous: bool = False) -> MeasuredCells:
        """What a measured column says in the rows of the answer: no number where its interval is all that is possible.

        The intervals are those of each cell by itself, or of all cells at once, at the confidence level of the answer.
        """
        return column.read(self.rows, self._bounds(column, self.confidence, simultaneous))

    def interval(self, name: str, confidence: float | None = None, simultaneous: bool = False) -> list[tuple[Any, Any]]:
        """Lower and upper ends around each value of a column; `simultaneous`: all of its cells covered at once.

        They are numbers, and dates around dates.

        >>> low, high = session.sql("SELECT COUNT(*) AS n FROM people", epsilon=0.1).interval("n", 0.99)[0]
        >>> low < high
        True
        """
        column = self._column(name)
        if isinstance(column, KeyColumn):
            raise TypeError(f"Answer interval needs a measured column, got the key {name}.")
        lower, upper = self._bounds(column, self.confidence if confidence is None else confidence, simultaneous)
        if column.estimate.dates:
            return list(zip(read_dates(lower), read_dates(upper), strict=True))
        return list(zip(lower.tolist(), upper.tolist(), strict=True))

    def records(self) -> list[dict[str, Cell | None]]:
        """The answer as one dictionary a row, with `name_lower` and `name_upper` beside each measured value.

        Both are None where the interval is unbounded; arrays and tables have infinity there.

        >>> row = session.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=0.1).records()[0]
        >>> list(row)
        ['sex', 'n', 'n_lower', 'n_upper']
        """
        table = {name: list(map(_finite, values)) for name, values in self._table().items()}
        return [{name: values[row] for name, values in table.items()} for row in range(len(self))]

    def to_dict(self, orient: str = "list") -> dict[str, list[Cell]] | list[dict[str, Cell | None]]:
        """The answer as a list for each column, the ends of intervals too; "records" has a dictionary for each row.

        >>> session.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=0.1).to_dict()["sex"]
        ['F', 'M', 'X']
        """
        if orient not in _ORIENTS:
            raise ValueError(f"Answer to_dict orient must be one of {', '.join(_ORIENTS)}, got {orient!r}.")
        return self._table() if orient == "list" else self.records()

    def _column(self, name: str) -> KeyColumn | ValueColumn:
        for column in self.typed_columns:
            if column.name == name:
                return column
        raise KeyError(f"Answer has no column {name}; it has {', '.join(self.columns)}.")

    def _bounds(self, column: ValueColumn, confidence: float, simultaneous: bool) -> tuple[Floats, Floats]:
        return column.bounds(self.rows, confidence, simultaneous)

    def _table(self) -> dict[str, list[Cell]]:
        table: dict[str, list[Cell]] = {}
        names = name_ends(self.typed_columns)
        for column in self.typed_columns:
            if isinstance(column, KeyColumn):
                table[column.name] = self._list_cells(column.name)
                continue
            found = self.read(column)
            parts = zip((column.name, *names[column.name]), (found.values, found.lower, found.upper), strict=True)
            table |= {name: _plain(numbers, column.estimate) for name, numbers in parts}
        return table


def _plain(values: Floats, estimate: Estimate) -> list[Any]:
    if estimate.dates:
        return read_dates(values)
    # From 2^53 on a double may have been rounded, and from 2^63 on no column of integers could hold it.
    null = np.isnan(values)
    exact = estimate.whole and bool((abs(values[~null]) < 2**53).all())
    plain = np.where(null, 0, values).astype(np.int64).tolist() if exact else values.tolist()
    return [None if none else value for value, none in zip(plain, null, strict=True)] if null.any() else plain


def _finite(value: Cell) -> Cell | None:
    return None if isinstance(value, float) and not isfinite(value) else value
