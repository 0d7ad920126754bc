"""How good a release is: how far what it publishes is from what was measured, and what it is not good for.

All of it follows from what is published, so that it costs nothing.
"""

from __future__ import annotations

from itertools import combinations, islice
from math import pi, prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from adomnia.releases.quality_report import Quality, TableQuality
from adomnia.releases.rows import RowCounts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from adomnia.mechanisms.contract import Tails
    from adomnia.statistics.contract import Floats
    from adomnia.statistics.products import Product

_MOST_CELLS = 10**6  # of a table that is looked at
_ALL_CELLS = 2 * 10**7  # of all of them
_MOST_TRIPLES = 1000  # that are looked for
_MOST_NAMED = 8
_ROUGH = 0.5  # of a count: an error that is larger leaves nothing to say of it
_BEYOND = 2.0  # times the noise: what is further off was not only moved by it
# The mean of the absolute value of noise, in its standard deviations.
_MEAN_ERRORS: dict[Tails, float] = {"gaussian": sqrt(2 / pi), "laplace": sqrt(1 / 2)}


def assess_product(name: str, product: Product) -> Quality:
    """Look at every column and pair of columns of a release."""
    return _Assessor(name, product).assess()


def count_published(product: Product, columns: tuple[int, ...]) -> Floats | None:
    """How many published rows have each combination of values; None where nothing is published of it."""
    shape = tuple(len(product.attributes[column]) for column in columns)
    if product.rows is not None:
        counts, _ = RowCounts(product.rows).count(columns, _number_cells(shape), prod(shape))
        return counts.reshape(shape)
    found = product.tables.get(columns)
    return None if found is None else np.asarray(found, dtype=np.float64)


def _number_cells(shape: tuple[int, ...]) -> NDArray[np.int64]:
    return np.arange(prod(shape), dtype=np.int64).reshape(shape)


class _Assessor:
    """Looks at one release."""

    def __init__(self, name: str, product: Product) -> None:
        self._name, self._product = name, product
        self._left = _ALL_CELLS
        self._rare: list[str] = []
        self._lowest: list[float] = []  # the count below which a table is mostly noise

    def assess(self) -> Quality:
        places = range(len(self._product.attributes))
        tables = [self._look(columns) for many in (1, 2) for columns in combinations(places, many)]
        total = self._estimate(())
        rows = None if total is None else max(0.0, float(total[0][0]))
        return Quality(self._name, self._names(places), rows, tuple(tables), tuple(self._list_limits(tables)))

    def _names(self, columns: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._product.attributes[column].name for column in columns)

    def _estimate(self, columns: tuple[int, ...]) -> tuple[Floats, Floats] | None:
        """The measured counts of a table and the mean errors of its cells; None where it was not measured together."""
        estimates = self._product.estimates
        if estimates is None or not estimates.covers(columns):
            return None
        shape = tuple(len(self._product.attributes[column]) for column in columns)
        values, variances = estimates.count(columns, _number_cells(shape), prod(shape))
        return values.ravel(), _MEAN_ERRORS[self._product.tails] * np.sqrt(np.maximum(variances, 0.0)).ravel()

    def _look(self, columns: tuple[int, ...]) -> TableQuality:
        names, cells = self._names(columns), prod(len(self._product.attributes[column]) for column in columns)
        measured = self._product.estimates is not None and self._product.estimates.covers(columns)
        if not measured or cells > min(_MOST_CELLS, self._left):
            return TableQuality(names, cells, measured)
        self._left -= cells
        found = self._estimate(columns)
        assert found is not None  # noqa: S101 - it was measured
        values, errors = found
        rough = errors > _ROUGH * np.maximum(values, 0.0)
        self._lowest.append(float(np.median(errors)) / _ROUGH)
        if len(columns) == 1:
            levels = self._product.attributes[columns[0]].levels
            rare = [levels[place] for place in np.flatnonzero(rough)]
            self._rare += [f"{names[0]} {'missing' if each is None else each}" for each in rare]
        total = float(values.sum())
        if total <= 0:
            return TableQuality(names, cells, measured, rough=int(rough.sum()))
        distance = self._measure_distance(columns, values / total)
        return TableQuality(names, cells, measured, distance, float(errors.sum()) / (2 * total), int(rough.sum()))

    def _measure_distance(self, columns: tuple[int, ...], shares: Floats) -> float | None:
        """The total variation between what is published and what was measured, each as shares of its total."""
        published = count_published(self._product, columns)
        if published is None or published.sum() <= 0:
            return None
        return float(np.abs(published.ravel() / published.sum() - shares).sum()) / 2

    def _list_limits(self, tables: Sequence[TableQuality]) -> Iterator[str]:
        """What it is not good for, from facts alone."""
        yield from self._tell_noise(tables)
        yield from self._tell_apart([" x ".join(table.columns) for table in tables if not table.measured])
        yield from self._tell_triples()
        far = [table for table in tables if table.exceeds_noise(_BEYOND)]
        if far:
            said = _list_some(
                [f"{' x '.join(table.columns)} ({table.distance:.3f}, noise {table.noise:.3f})" for table in far]
            )
            yield f"Tables that are further from what was measured than noise explains: {said}."
        binned = [each.name for each in self._product.attributes if each.edges]
        if binned:
            yield f"Values inside of bins: where in its bin a value of {_list_some(binned)} lies is not known."
        if self._product.rows is not None:
            yield "Single rows; standard errors or tests as if rows were people, which are surer than they should be."
        if any(table.measured and table.noise is None and table.distance is None for table in tables):
            yield "Tables without numbers above have too many cells to be looked at, or no rows to compare."

    def _tell_noise(self, tables: Sequence[TableQuality]) -> Iterator[str]:
        rough, cells = (
            sum(each) for each in zip(*[(t.rough, t.cells) for t in tables if t.measured] or [(0, 0)], strict=True)
        )
        if rough:
            low, high = min(self._lowest), max(self._lowest)
            below = (
                f"{low:,.0f} rows" if round(low) == round(high) else f"{low:,.0f} to {high:,.0f} rows, by the table,"
            )
            yield (
                f"Small counts: {rough:,} of {cells:,} cells of measured tables have an error above half their count. "
                f"Below about {below} a count is mostly noise."
            )
        if self._rare:
            yield f"Rare values: {_list_some(self._rare)}."

    def _tell_apart(self, apart: Sequence[str]) -> Iterator[str]:
        if not apart:
            return
        why = "is not published" if self._product.rows is None else "is a guess of the model"
        yield f"How these columns go together, which was not measured and {why}: {_list_some(apart)}."

    def _tell_triples(self) -> Iterator[str]:
        estimates, triples = self._product.estimates, combinations(range(len(self._product.attributes)), 3)
        looked = list(islice(triples, _MOST_TRIPLES))
        if looked and not any(estimates is not None and estimates.covers(each) for each in looked):
            yield "Three and more columns at once: none were measured together."


def _list_some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
