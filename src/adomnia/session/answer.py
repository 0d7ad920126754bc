"""An answer: values with their intervals, what they cost, and how to read them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from adomnia.plans.columns import Cell, KeyColumn, ValueColumn, name_ends, read_dates
from adomnia.session import display

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import altair as alt
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from adomnia.asking.purchase import Outcome
    from adomnia.ledger.requests import Receipt
    from adomnia.messages.notes import Note
    from adomnia.plans.drafts import Cap, DraftAnswer
    from adomnia.privacy.events import Event
    from adomnia.privacy.filters import Left
    from adomnia.statistics.contract import Estimate, Floats
    from adomnia.statistics.products import Product


@dataclass(frozen=True)
class Answer:
    """Rows of declared keys and noisy values. `rows` are the cells that HAVING and LIMIT leave, in their order.

    Rows of public tables have no receipt: nothing was paid for them. `caps` say how many rows of a person count in each
    table, and about how many that leaves out; `notes`, what else to know before the numbers are used. Of a method,
    `figure` describes its picture, `model` is what predictions need, and `product` what a release publishes.
    """

    columns: tuple[KeyColumn | ValueColumn, ...]
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
        """What this answer cost, None if nothing; a replayed one says what was paid the first time."""
        return None if self.receipt is None else self.receipt.event

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> list[Cell]:
        """One column, as a list."""
        column = self._column(name)
        if isinstance(column, KeyColumn):
            return [column.values[row] for row in self.rows]
        return _plain(column.estimate.values.ravel()[self.rows], column.estimate)

    def interval(self, name: str, confidence: float | None = None, together: bool = False) -> list[tuple[Any, Any]]:
        """Lower and upper ends around each value of a column; `together`: all of its cells covered at once.

        They are numbers, and dates around dates.
        """
        column = self._column(name)
        if isinstance(column, KeyColumn):
            raise TypeError(f"Answer interval needs a measured column, got the key {name}.")
        lower, upper = self._bounds(column, self.confidence if confidence is None else confidence, together)
        if column.estimate.dates:
            return list(zip(read_dates(lower), read_dates(upper), strict=True))
        return list(zip(lower.tolist(), upper.tolist(), strict=True))

    def records(self) -> list[dict[str, Cell | None]]:
        """The answer as one dictionary a row, with `name_lower` and `name_upper` beside each measured value.

        Both are None where the interval is unbounded; arrays and tables have infinity there.
        """
        table = {name: list(map(_finite, values)) for name, values in self._table().items()}
        return [{name: values[row] for name, values in table.items()} for row in range(len(self))]

    def to_arrow(self, *, together: bool = False) -> pa.Table:
        """The answer as an Arrow table; `together`: with intervals that cover all cells of a column at once."""
        from adomnia.asking.arrow import build_table

        return build_table(self.columns, self.rows, self.confidence, together=together)

    def to_pandas(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self._typed()).head(len(self))

    def to_polars(self) -> pl.DataFrame:
        import polars as pl

        return pl.DataFrame(self._typed()).head(len(self))

    @overload
    def plot(self) -> alt.TopLevelMixin: ...

    @overload
    def plot(self, file: str | Path) -> Path: ...

    def plot(self, file: str | Path | None = None) -> alt.TopLevelMixin | Path:
        """A picture with intervals: a chart of Altair for notebooks, or a file that ends in .svg, .png, .html or .json.

        It needs the extra `plot`. Nothing is paid or loaded for it.
        """
        from adomnia.figures import files
        from adomnia.session.plotting import as_drawable

        return files.build_chart(as_drawable(self)) if file is None else files.write_file(as_drawable(self), file)

    def predict(
        self,
        rows: Iterable[Mapping[str, Any]] | pa.Table | pd.DataFrame | pl.DataFrame,
        confidence: float | None = None,
    ) -> list[dict[str, Any]]:
        """What a model says of public rows: each with the mean that it predicts there, and the ends of its interval.

        It costs nothing: the model was paid for. Rows are dictionaries, or a table of Arrow, pandas or Polars.
        """
        from adomnia.session.predicting import predict_rows

        return predict_rows(self, rows, self.confidence if confidence is None else confidence)

    def __repr__(self) -> str:
        return display.format_text(self)

    def _repr_html_(self) -> str:
        return display.format_html(self)

    def _column(self, name: str) -> KeyColumn | ValueColumn:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"Answer has no column {name}; it has {', '.join(column.name for column in self.columns)}.")

    def _bounds(self, column: ValueColumn, confidence: float, together: bool) -> tuple[Floats, Floats]:
        return column.bounds(self.rows, confidence, together)

    def _typed(self) -> dict[str, list[Cell]]:
        """The columns of the answer; of an answer without rows its first cell, so that types are known."""
        column = self.columns[0]
        cells = len(column.values) if isinstance(column, KeyColumn) else column.estimate.values.size
        return self._table() if len(self) else replace(self, rows=np.arange(min(1, cells), dtype=np.intp))._table()

    def _table(self) -> dict[str, list[Cell]]:
        table: dict[str, list[Cell]] = {}
        names = name_ends(self.columns)
        for column in self.columns:
            table[column.name] = self[column.name]
            if isinstance(column, ValueColumn):
                bounds = self._bounds(column, self.confidence, together=False)
                for name, ends in zip(names[column.name], bounds, strict=True):
                    table[name] = _plain(ends, column.estimate)
        return table


def build_answers(outcome: Outcome) -> list[Answer]:
    """One answer for each question."""
    assert outcome.left is not None  # noqa: S101 - an answer that was kept has it
    paid = outcome.receipt, outcome.replayed, outcome.left
    return [
        Answer(each.columns, each.rows, each.confidence, *paid, each.caps, each.notes, *_extras(each))
        for each in outcome.drafts
    ]


def _extras(draft: DraftAnswer) -> tuple[Mapping[str, Any], Mapping[str, Any], Product | None]:
    return draft.figure, draft.model, draft.product


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
