"""An answer: values with their intervals, what they cost, and how to read them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from adomnia.plans.columns import Cell, KeyColumn, ValueColumn
from adomnia.session import display
from adomnia.session.answer_values import AnswerValues
from adomnia.session.hints import refuse_of_answer

if TYPE_CHECKING:
    from pathlib import Path

    import altair as alt
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Answer(AnswerValues):
    """Rows of declared keys and noisy values. `rows` are the cells that HAVING and LIMIT leave, in their order.

    Rows of public tables have no receipt: nothing was paid for them. `caps` say how many rows of a person count in each
    table, and about how many that leaves out; `notes`, what else to know before the numbers are used. Of a method,
    `figure` describes its picture, `model` is what predictions need, and `product` what a release publishes.
    """

    def to_arrow(self, *, simultaneous: bool = False) -> pa.Table:
        """The answer as an Arrow table; `simultaneous`: with intervals that cover all cells of a column at once.

        >>> session.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=0.1).to_arrow().column_names
        ['sex', 'n', 'n_lower', 'n_upper']
        """
        from adomnia.asking.arrow import build_table

        return build_table(self.typed_columns, self.rows, lambda column: self.read(column, simultaneous))

    def to_pandas(self) -> pd.DataFrame:
        """The answer as a table of pandas, with the ends of intervals beside each measured value.

        >>> session.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=0.1).to_pandas().shape
        (3, 4)
        """
        import pandas as pd

        table = self._typed()
        return pd.DataFrame(table).astype(dict.fromkeys(self._list_empty(table), float)).head(len(self))

    def to_polars(self) -> pl.DataFrame:
        """The answer as a table of Polars, with the ends of intervals beside each measured value.

        >>> session.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=0.1).to_polars().columns
        ['sex', 'n', 'n_lower', 'n_upper']
        """
        import polars as pl

        table = self._typed()
        kinds = dict.fromkeys(self._list_empty(table), pl.Float64)
        return pl.DataFrame(table, schema_overrides=kinds).head(len(self))

    @overload
    def plot(self) -> alt.TopLevelMixin: ...

    @overload
    def plot(self, file: str | Path) -> Path: ...

    def plot(self, file: str | Path | None = None) -> alt.TopLevelMixin | Path:
        """A picture with intervals: a chart of Altair for notebooks, or a file that ends in .svg, .png, .html or .json.

        It needs the extra `plot`. Nothing is paid or loaded for it.

        >>> chart = session.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=0.1).plot()
        >>> chart.to_dict()["layer"] != []
        True
        """
        from adomnia.figures import files
        from adomnia.session.plotting import as_drawable

        return files.build_chart(as_drawable(self)) if file is None else files.write_file(as_drawable(self), file)

    def predict(self, rows: Any, confidence: float | None = None) -> Any:  # noqa: ANN401 - a table as it was given
        """What a model says of public rows: each with the mean that it predicts there, and the ends of its interval.

        It costs nothing: the model was paid for. A table of pandas, Polars or Arrow gives one of the same kind with
        three columns more, a list of dictionaries gives such a list.

        >>> model = session.table("people").lm("salary ~ age", epsilon=1)
        >>> [list(row) for row in model.predict([{"age": 40}])]
        [['age', 'prediction', 'prediction_lower', 'prediction_upper']]
        """
        from adomnia.session.predicting import predict_rows

        return predict_rows(self.model, rows, self.confidence if confidence is None else confidence)

    if not TYPE_CHECKING:  # for which every name would be an attribute

        def __getattr__(self, name: str) -> object:
            columns = self.__dict__.get("typed_columns", ())
            raise refuse_of_answer(name, [column.name for column in columns], dir(type(self)))

    def __repr__(self) -> str:
        return display.format_text(self)

    def _repr_html_(self) -> str:
        return display.format_html(self)

    def _list_empty(self, table: dict[str, list[Cell]]) -> list[str]:
        """The columns of numbers of which no row has one: a data frame could not tell what they are."""
        measured = [
            column for column in self.typed_columns if isinstance(column, ValueColumn) and not column.estimate.dates
        ]
        return [column.name for column in measured if all(value is None for value in table[column.name])]

    def _typed(self) -> dict[str, list[Cell]]:
        """The columns of the answer; of an answer without rows its first cell, so that types are known."""
        column = self.typed_columns[0]
        cells = len(column.values) if isinstance(column, KeyColumn) else column.estimate.values.size
        return self._table() if len(self) else replace(self, rows=np.arange(min(1, cells), dtype=np.intp))._table()
