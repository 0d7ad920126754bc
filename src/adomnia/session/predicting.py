"""Predictions of a model for rows that are public: a table as it was given, with three columns more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from adomnia.errors import Refusal
from adomnia.methods.parts.models.predictor import predict

_NAMES = ("prediction", "prediction_lower", "prediction_upper")
_ARROW = (pa.Table, pa.RecordBatch)


def predict_rows(model: Mapping[str, Any], rows: Any, confidence: float) -> Any:  # noqa: ANN401 - as it was given
    """The rows, each with what is predicted there and the ends of its interval; None where it is not estimable."""
    if "columns" not in model:
        fix = "ask for a model such as lm, of all people: with by => there is one for each group"
        raise Refusal("predict()", "needs the answer of a model", fix, code="no_model")
    if isinstance(rows, Mapping):
        raise Refusal("predict()", "takes several rows, and this is a dictionary", "write [row]", code="bad_row")
    table = rows.collect() if hasattr(rows, "collect_schema") and hasattr(rows, "collect") else rows
    listed = _list_rows(table)
    found = predict(model, listed, confidence)
    if isinstance(table, _ARROW) or hasattr(table, "with_columns") or hasattr(table, "assign"):
        return _add_columns(table, {name: [each[place] for each in found] for place, name in enumerate(_NAMES)})
    return [{**row, **dict(zip(_NAMES, values, strict=True))} for row, values in zip(listed, found, strict=True)]


def _add_columns(table: Any, columns: dict[str, list[float | None]]) -> Any:  # noqa: ANN401 - of several libraries
    """The same table with these columns at its end."""
    made = {name: pa.array(values, pa.float64()) for name, values in columns.items()}
    if isinstance(table, _ARROW):
        for name, values in made.items():
            kept = [each for each in table.schema.names if each != name]
            table = table.select(kept).append_column(name, values)
        return table
    if hasattr(table, "with_columns"):
        import polars as pl

        return table.with_columns(**{name: pl.from_arrow(values) for name, values in made.items()})
    return table.assign(**{name: values.to_numpy(zero_copy_only=False) for name, values in made.items()})


def _list_rows(rows: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - tables of several libraries
    for method, arguments in (("to_pylist", ()), ("to_dicts", ()), ("to_dict", ("records",))):
        if hasattr(rows, method):
            return list(getattr(rows, method)(*arguments))
    return [dict(row) for row in rows]
