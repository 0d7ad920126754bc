"""An answer: values with their intervals, what they cost, and how to read them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from adomnia.plans.columns import Cell, KeyColumn, ValueColumn
from adomnia.session import display
from adomnia.session.answer_values import AnswerValues
from adomnia.work import allow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import altair as alt
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from adomnia.asking.purchase import Outcome
    from adomnia.plans.columns import DraftAnswer
    from adomnia.statistics.products import Product


class Answer(AnswerValues):
    """Rows of declared keys and noisy values. `rows` are the cells that HAVING and LIMIT leave, in their order.

    Rows of public tables have no receipt: nothing was paid for them. `caps` say how many rows of a person count in each
    table, and about how many that leaves out; `notes`, what else to know before the numbers are used. Of a method,
    `figure` describes its picture, `model` is what predictions need, and `product` what a release publishes.
    """

    def to_arrow(self, *, simultaneous: bool = False) -> pa.Table:
        """The answer as an Arrow table; `simultaneous`: with intervals that cover all cells of a column at once."""
        from adomnia.asking.arrow import build_table

        return build_table(self.columns, self.rows, self.confidence, simultaneous=simultaneous)

    def to_pandas(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self._typed()).astype(dict.fromkeys(self._list_empty(), float)).head(len(self))

    def to_polars(self) -> pl.DataFrame:
        import polars as pl

        kinds = dict.fromkeys(self._list_empty(), pl.Float64)
        return pl.DataFrame(self._typed(), schema_overrides=kinds).head(len(self))

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

        return predict_rows(self.model, rows, self.confidence if confidence is None else confidence)

    def __repr__(self) -> str:
        return display.format_text(self)

    def _repr_html_(self) -> str:
        return display.format_html(self)

    def _list_empty(self) -> list[str]:
        """The columns of numbers of which no row has one: a data frame could not tell what they are."""
        measured = [column for column in self.columns if isinstance(column, ValueColumn) and not column.estimate.dates]
        return [column.name for column in measured if all(value is None for value in self._typed()[column.name])]

    def _typed(self) -> dict[str, list[Cell]]:
        """The columns of the answer; of an answer without rows its first cell, so that types are known."""
        column = self.columns[0]
        cells = len(column.values) if isinstance(column, KeyColumn) else column.estimate.values.size
        return self._table() if len(self) else replace(self, rows=np.arange(min(1, cells), dtype=np.intp))._table()


def build_answers(outcome: Outcome) -> list[Answer]:
    """One answer for each question."""
    assert outcome.left is not None  # noqa: S101 - an answer that was kept has it
    paid = outcome.receipt, outcome.replayed, outcome.left
    with allow():  # it is paid for, or costs nothing
        return [
            Answer(each.columns, each.rows, each.confidence, *paid, each.caps, each.notes, *_extras(each))
            for each in outcome.drafts
        ]


def _extras(draft: DraftAnswer) -> tuple[Mapping[str, Any], Mapping[str, Any], Product | None]:
    return draft.figure, draft.model, draft.product
