"""Predictions of a model for rows that are public."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adomnia.errors import Refusal
from adomnia.methods.parts.models.predictor import predict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd
    import polars as pl
    import pyarrow as pa

_NAMES = ("prediction", "prediction_lower", "prediction_upper")


def predict_rows(
    model: Mapping[str, Any],
    rows: Iterable[Mapping[str, Any]] | pa.Table | pd.DataFrame | pl.DataFrame,
    confidence: float,
) -> list[dict[str, Any]]:
    """The rows, each with what is predicted there and the ends of its interval; None where it is not estimable."""
    if not model:
        fix = "ask for a model such as lm, of all people: with by => there is one for each group"
        raise Refusal("predict()", "needs the answer of a model", fix, code="no_model")
    listed = _list_rows(rows)
    found = predict(model, listed, confidence)
    return [{**row, **dict(zip(_NAMES, values, strict=True))} for row, values in zip(listed, found, strict=True)]


def _list_rows(rows: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - tables of several libraries
    for method, arguments in (("to_pylist", ()), ("to_dicts", ()), ("to_dict", ("records",))):
        if hasattr(rows, method):
            return list(getattr(rows, method)(*arguments))
    return [dict(row) for row in rows]
