"""Synthetic rows from noisy tables: what was measured, the rows that follow from a model of it, and what to know."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from adomnia.methods.contract import Parameter
from adomnia.methods.describe.error_laws import cumulants
from adomnia.methods.releases.attributes import ReleaseColumn
from adomnia.methods.releases.decoding import decode_rows
from adomnia.methods.releases.graphical.fitting import MeasuredTable
from adomnia.methods.releases.graphical.models import Model
from adomnia.methods.releases.graphical.rows import draw_rows
from adomnia.methods.releases.workload import TablePlaces
from adomnia.noise import Integers
from adomnia.noise.afterwards import follow
from adomnia.statistics.contract import Measured, ResultTable
from adomnia.statistics.products import Product, Tails

MOST_ROWS = 1_000_000  # that are written where nobody says how many
_FORESEEN = 2  # rows of a table that only shows which columns there are

SIZE = Parameter(
    "size",
    "integer",
    "how many rows are drawn; about as many as there are if not said",
    lower=1,
    upper=10 * MOST_ROWS,
)


@dataclass(frozen=True)
class NoisyTable:
    """A table as it was measured: counts by the values of its columns, with noise."""

    table: TablePlaces
    measured: Measured

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise on each count."""
        return sqrt(cumulants(self.measured.noise)[0])

    @property
    def fitted(self) -> MeasuredTable:
        """The same for who fits a model."""
        return MeasuredTable(self.table, np.asarray(self.measured.values, dtype=np.float64), self.deviation)


def synthesize(
    columns: Sequence[ReleaseColumn],
    model: Model,
    noisy: Sequence[NoisyTable],
    size: int | None,
    about: Mapping[str, Any],
) -> ResultTable:
    """Rows that are drawn from a model, in a table and as a product. What chance decides follows from the noise."""
    released: list[Integers] = [each.measured.values for each in noisy]
    attributes = tuple(column.attribute for column in columns)
    number = size or min(max(round(model.total), 1), MOST_ROWS)
    rows = draw_rows(model, number, follow(released, "rows"))
    labels = decode_rows(attributes, rows, follow(released, "values"))
    names = [attribute.name for attribute in attributes]
    product = Product(
        attributes,
        tails=_tails(noisy),
        rows=rows,
        about={**about, "total": float(model.total), "measured": [_describe(each, names) for each in noisy]},
    )
    return ResultTable(labels, {}, _notes(number, model.total, noisy, names), product=product)  # type: ignore[arg-type]


def foresee_rows(columns: Sequence[ReleaseColumn], note: str) -> ResultTable:
    """A table of the same columns with a few rows of no meaning, before anything is measured."""
    attributes = tuple(column.attribute for column in columns)
    rows = np.zeros((_FORESEEN, len(columns)), dtype=np.int32)
    return ResultTable(decode_rows(attributes, rows, follow([], "foreseen")), {}, (note,))  # type: ignore[arg-type]


def _tails(noisy: Sequence[NoisyTable]) -> Tails:
    return "laplace" if any(hasattr(each.measured.mechanism, "scale") for each in noisy) else "gaussian"


def _describe(noisy: NoisyTable, names: Sequence[str]) -> dict[str, Any]:
    return {"columns": [names[place] for place in noisy.table], "deviation": noisy.deviation}


def _notes(number: int, total: float, noisy: Sequence[NoisyTable], names: Sequence[str]) -> tuple[str, ...]:
    together = dict.fromkeys(each.table for each in noisy if len(each.table) > 1)
    listed = ", ".join(" x ".join(names[place] for place in table) for table in list(together)[:_LISTED])
    more = f" and {len(together) - _LISTED} others" if len(together) > _LISTED else ""
    measured = f"Measured together were {listed}{more}." if together else "No columns were measured together."
    return (
        f"These {number:,} rows are of nobody: they are drawn from a model of noisy counts. "
        f"There are about {max(round(total), 0):,} rows of data.",
        f"{measured} How other columns go together is guessed from that, and may be far off.",
        "They are good for counts and shares of many rows. They are not good for rare values and outliers, and a test "
        "or an interval that takes them for data is too sure of itself.",
        "What chance decides in drawing them follows from what was measured: the same measurements give the same rows.",
    )


_LISTED = 6  # tables that a note names
