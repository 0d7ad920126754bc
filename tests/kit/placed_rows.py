"""Drives releases on rows that are places of values: exact tables in NumPy, noise and choices of the real mechanisms.

For simulations, where many data sets are released: no engine, no ledger, no text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia.mechanisms.secret import Secret
from adomnia.methods.contract import Factor, Frame
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text
from adomnia.privacy.relations import Private
from adomnia.statistics.contract import Measure, Measured, ResultTable
from kit.bits import SeededBits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.methods.contract import Method
    from adomnia.noise import Integers
    from adomnia.privacy.events import Event, Price
    from adomnia.privacy.queries import Query


def build(method: Method, sizes: Sequence[int], rows_per_person: int = 1, **arguments: Any) -> Any:
    """The analysis of a table whose columns have so many values, all of them declared, and none missing."""
    columns = [
        Column(f"c{place}", Text(tuple(f"v{value}" for value in range(size)))) for place, size in enumerate(sizes)
    ]
    factors = {column.name: Factor(column.name, column) for column in columns}
    frame = Frame(Private("people", rows_per_person, tuple(columns)), {}, factors, order=tuple(factors))
    usual = {each.name: () if each.kind == "names" else each.default for each in method.parameters}
    return method.build(frame, {**usual, "missing": "left_out", **arguments})


@dataclass
class PlacedRows:
    """The data, one line a row with the place of its value in every column; and what was paid so far."""

    analysis: Any
    rows: np.ndarray
    bits: SeededBits
    events: list[Event] = field(default_factory=list)

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {column.key: place for place, column in enumerate(self.analysis.columns)}

    def exact(self, query: Query) -> Integers:
        """The exact answer."""
        return query.apply([self._count(each) for each in query.inner])

    def _count(self, query: Query) -> Integers:
        own = tuple(self.rows[:, self._places[key]] for key in query.keys)
        table = np.zeros(query.shape, dtype=np.int64)
        np.add.at(table, own, 1) if own else table.__setitem__((), len(self.rows))
        return table

    def measure(self, measure: Measure) -> Measured:
        """What a mechanism releases."""
        query, mechanism = measure.query, measure.mechanism
        self.events.append(mechanism.event(query.sensitivity()))
        secret = Secret(self.exact(query), query.sensitivity(), measure.price)
        released = np.asarray(mechanism.release(secret, self.bits))  # type: ignore[arg-type]  # of cells
        return Measured(released.reshape(mechanism.shape(query)), mechanism)


def release(analysis: Any, price: Price, rows: np.ndarray, seed: object = 0) -> tuple[ResultTable, list[Event]]:
    """What an analysis publishes of some rows, and what it paid."""
    data, flow = PlacedRows(analysis, rows, SeededBits(seed)), analysis.steps(price)
    asked = next(flow)
    while True:
        try:
            asked = flow.send(tuple(map(data.measure, asked)))
        except StopIteration as end:
            return end.value, data.events


def find_shares(rows: np.ndarray, sizes: Sequence[int], table: Sequence[int]) -> np.ndarray:
    """The shares of rows in each cell of a table."""
    shape = [sizes[column] for column in table]
    cells = np.ravel_multi_index([rows[:, column] for column in table], shape)
    return np.bincount(cells, minlength=int(np.prod(shape))) / max(len(rows), 1)


def find_distance(one: np.ndarray, other: np.ndarray, sizes: Sequence[int], ways: int) -> float:
    """The mean total variation between two sets of rows, over all tables of so many columns."""
    tables = combinations(range(len(sizes)), ways)
    apart = [np.abs(find_shares(one, sizes, each) - find_shares(other, sizes, each)).sum() / 2 for each in tables]
    return float(np.mean(apart))


def draw_people(number: int, sizes: Sequence[int], seed: int) -> np.ndarray:
    """Rows of a few sorts of people, in which columns go together: a column often repeats the one before."""
    chance = np.random.default_rng(seed)
    sorts = chance.integers(3, size=number)
    columns: list[np.ndarray] = []
    for size in sizes:
        ends = np.cumsum(chance.dirichlet(np.ones(size), 3), axis=1)[sorts]
        values = np.minimum((chance.random((number, 1)) > ends).sum(axis=1), size - 1)
        if columns:
            values = np.where(chance.random(number) < 0.4, columns[-1] % size, values)
        columns.append(values)
    return np.stack(columns, axis=1)
