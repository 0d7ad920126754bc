"""Drives analyses on arrays: exact aggregates in NumPy, noise of the real mechanisms from seeded bits.

For simulations, where thousands of data sets are analysed: no engine, no ledger, no text.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia.mechanisms.histograms import SecretHistogram
from adomnia.mechanisms.secret import Secret
from adomnia.methods.contract import Factor, Frame, NumberColumn
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Column, Expression, Literal
from adomnia.privacy.keys import Bucket, key_cells, key_values
from adomnia.privacy.kinds import Boolean, Quantity, Text
from adomnia.privacy.relations import Named, PerBlock, Private, Relation, Select, Where
from adomnia.privacy.scans import Histogram, NonNull, Rows, Total
from adomnia.privacy.transforms.matrices import Combination
from adomnia.privacy.vectors import Vector
from adomnia.statistics.contract import Measure, Measured, Result, Statistic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.noise import Bits, Integers
    from adomnia.privacy.events import Price
    from adomnia.privacy.queries import Query


def frame(
    bounds: Mapping[str, tuple[float, float]] | None = None,
    levels: Mapping[str, tuple[str, ...]] | None = None,
    whole: tuple[str, ...] = (),
    rows_per_person: int = 1,
) -> Frame:
    """Rows of a table `people` with bounded numbers and declared categories."""
    numbers = {}
    for name, (lower, upper) in (bounds or {}).items():
        kind = Quantity(Fraction(lower), Fraction(upper), name in whole)
        domain = Numbers.integers(lower, upper) if name in whole else Numbers.bounded(lower, upper)
        numbers[name] = NumberColumn(name, Column(name, kind, domain), domain)
    factors = {name: Factor(name, Column(name, Text(values))) for name, values in (levels or {}).items()}
    columns = (*(each.value for each in numbers.values()), *(each.key for each in factors.values()))
    return Frame(Private("people", rows_per_person, columns), numbers, factors, order=(*numbers, *factors))


@dataclass
class Arms:
    """The data of one table as arrays: numbers with NaN for NULL, texts as objects with None for NULL."""

    data: Mapping[str, np.ndarray]
    bits: Bits

    def measure(self, measure: Measure) -> Measured:
        query, mechanism = measure.query, measure.mechanism
        facts = (query.sensitivity(), measure.price)
        if mechanism.reads == "cells":
            secret: Any = Secret(self.exact(query), *facts)
        else:
            cells = int(np.prod(query.shape, dtype=int))
            secret = SecretHistogram(lambda buckets: self._histogram(query, buckets), cells, *facts)
        released = np.asarray(mechanism.release(secret, self.bits))
        return Measured(released.reshape(mechanism.shape(query)), mechanism)

    def exact(self, query: Query) -> Integers:
        """The exact integers of a query, in the shape of its result."""
        kept, cells = self._cells(query)
        sums = [self._added(values, cells, query) for values in self._rows(query, kept)]
        stacked = np.stack(sums, axis=-1)
        return query.apply([stacked if isinstance(query.aggregate, Vector) else stacked[..., 0]])

    def _cells(self, query: Query) -> tuple[np.ndarray, np.ndarray]:
        """Which rows are read, and the flat cell of each; those in no cell are not read."""
        kept = self._filtered(query.relation)
        place = np.zeros(len(kept), dtype=np.int64)
        for key in query.keys:
            found = self._place(key)
            kept, place = kept & (found >= 0), place * len(key_cells(key)) + found
        return kept, place[kept]

    def _place(self, key: Any) -> np.ndarray:
        if isinstance(key, Bucket) and isinstance(key.among, Numbers):
            steps = _grid(key.among, self.value(key.value))
            return np.where(np.isnan(steps), -1, steps - key.among.grid_lower).astype(np.int64)
        held = self.value(key.value if isinstance(key, Bucket) else key)
        order = {label: place for place, label in enumerate(key_values(key))}
        return np.array([order.get(each, -1) for each in held.tolist()], dtype=np.int64)

    def _filtered(self, relation: Relation) -> np.ndarray:
        match relation:
            case Private() | PerBlock():  # whose rows the arrays are
                return np.ones(len(next(iter(self.data.values()))), dtype=bool)
            case Where(source=source, condition=condition):
                return self._filtered(source) & (self.value(condition) == 1)
            case Named(source=source) | Select(source=source):
                return self._filtered(source)
        raise TypeError(f"Arms relation must be of one table, got {type(relation).__name__}.")

    def _rows(self, query: Query, kept: np.ndarray) -> list[np.ndarray]:
        match query.aggregate:
            case Rows() | Combination():
                return [np.ones(kept.sum(), dtype=np.int64)]
            case NonNull(value=value):
                return [(~_null(self.value(value)))[kept].astype(np.int64)]
            case Total(value=value, domain=domain, centre=centre):
                steps = _grid(domain, self.value(value))[kept]
                return [np.where(np.isnan(steps), 0, steps - centre).astype(np.int64)]
            case Vector() as vector:
                return self._vector(vector, kept)
        raise TypeError(f"Arms aggregate must be a sum, got {type(query.aggregate).__name__}.")

    def _vector(self, vector: Vector, kept: np.ndarray) -> list[np.ndarray]:
        steps = [_grid(each.domain, self.value(each.value))[kept] - each.domain.grid_lower for each in vector.variables]
        rows = int(kept.sum())
        # Beyond 64 bits doubles are near enough: what they round off is far below any noise.
        kind = np.float64 if vector.magnitude * max(1, rows) >= 2**62 else np.int64
        unknown = [np.isnan(each) for each in steps]
        whole = [np.where(null, 0, each).astype(kind) for null, each in zip(unknown, steps, strict=True)]
        lacking = [bool(null.any()) for null in unknown]  # most columns are complete
        found = []
        for entry in vector.entries:
            added = np.zeros(rows, dtype=kind)
            for coefficient, exponents in entry.terms:
                product = kind(coefficient)
                for place, power in enumerate(exponents):
                    if power:
                        product = product * (whole[place] if power == 1 else whole[place] ** power)
                added += product
            used = {place for _, exponents in entry.terms for place, power in enumerate(exponents) if power}
            for place in used:
                if lacking[place]:
                    added[unknown[place]] = 0
            found.append(added)
        if vector.absent:
            found.append(unknown[0].astype(kind) * kind(vector.absent))
        return found

    def _added(self, values: np.ndarray, cells: np.ndarray, query: Query) -> np.ndarray:
        sums = np.zeros(int(np.prod(query.shape, dtype=int)), dtype=values.dtype)
        np.add.at(sums, cells, values)
        if sums.dtype == np.float64:
            sums = np.array([int(each) for each in sums], dtype=object)
        return sums.reshape(query.shape)

    def _histogram(self, query: Query, buckets: Any) -> np.ndarray:
        counted = query.aggregate
        assert isinstance(counted, Histogram)
        kept, cells = self._cells(query)
        steps = _grid(counted.domain, self.value(counted.value))[kept]
        there = ~np.isnan(steps)
        places = (steps[there] - counted.domain.grid_lower).astype(np.int64)
        held = places >> counted.shift
        if buckets is None:
            places = held
        else:
            chosen = np.isin(held, np.asarray(buckets, dtype=np.int64))
            cells, places = cells[there][chosen], places[chosen]
            there = np.ones(len(cells), dtype=bool)
        values = counted.domain.width + 1
        found, counts = np.unique(cells[there] * values + places, return_counts=True)
        return np.vstack([*np.divmod(found, values), counts])

    def value(self, expression: Expression) -> np.ndarray:
        """The values of all rows; NaN and None are NULL, conditions are 1 and 0."""
        match expression:
            case Column(name=name, kind=kind):
                held = self.data[name]
                return held.astype(float) if isinstance(kind, Quantity | Boolean) and held.dtype != object else held
            case Literal(value=None, kind=Quantity()):
                return np.full(len(next(iter(self.data.values()))), np.nan)
            case Literal(value=constant):
                rows = len(next(iter(self.data.values())))
                number = isinstance(constant, Fraction | bool | int)
                return np.full(rows, float(constant) if number else constant, dtype=float if number else object)
            case Call(function=function, arguments=arguments):
                with np.errstate(all="ignore"):
                    return MEANINGS[function](*map(self.value, arguments))


def _null(values: np.ndarray) -> np.ndarray:
    return np.equal(values, None) if values.dtype == object else np.isnan(values)


def _grid(domain: Numbers, values: np.ndarray) -> np.ndarray:
    clamped = np.clip(values, float(domain.lower), float(domain.upper))
    steps = np.floor(clamped / float(domain.step) + 0.5)
    return np.clip(steps, domain.grid_lower, domain.grid_upper)


def _where_known(condition: np.ndarray, *operands: np.ndarray) -> np.ndarray:
    known = ~np.logical_or.reduce([_null(each) for each in operands])
    return np.where(known, condition.astype(float), np.nan)


def _finite(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, np.nan)


def _compare(sign: Any) -> Any:
    return lambda a, b: _where_known(sign(a, b), a, b)


def _case(*parts: np.ndarray) -> np.ndarray:
    chosen = parts[-1] if len(parts) % 2 else np.full(len(parts[0]), np.nan)
    for condition, value in reversed(list(zip(parts[: len(parts) - 1 : 2], parts[1::2], strict=False))):
        chosen = np.where(condition == 1, value, chosen)
    return chosen


MEANINGS: dict[str, Any] = {
    "+": lambda a, b: _finite(a + b),
    "-": lambda a, b: _finite(a - b),
    "*": lambda a, b: _finite(a * b),
    "/": lambda a, b: _finite(a / b),
    "negative": lambda a: -a,
    "abs": np.abs,
    "exp": lambda a: _finite(np.exp(a)),
    "ln": lambda a: _finite(np.where(a > 0, np.log(a), np.nan)),
    "sqrt": lambda a: _finite(np.sqrt(a)),
    "floor": np.floor,
    "ceil": np.ceil,
    "finite": _finite,
    "boolean as number": lambda a: a,
    "is null": lambda a: _null(a).astype(float),
    "not": lambda a: 1 - a,
    "and": lambda a, b: np.where((a == 0) | (b == 0), 0.0, a * b),
    "or": lambda a, b: np.where((a == 1) | (b == 1), 1.0, np.maximum(a, b)),
    "=": _compare(lambda a, b: a == b),
    "<>": _compare(lambda a, b: a != b),
    "<": _compare(lambda a, b: a < b),
    "<=": _compare(lambda a, b: a <= b),
    ">": _compare(lambda a, b: a > b),
    ">=": _compare(lambda a, b: a >= b),
    "case": _case,
    "coalesce": lambda a, b: np.where(_null(a), b, a),
    "least": np.minimum,
    "clamp": np.clip,
}


def analyse(statistic: Statistic, price: Price, data: Mapping[str, np.ndarray], bits: Bits) -> Result:
    """The result of a statistic about the people in some arrays, with noise."""
    arms, flow = Arms(data, bits), statistic.steps(price)
    asked = next(flow)
    while True:
        try:
            asked = flow.send(tuple(map(arms.measure, asked)))
        except StopIteration as end:
            found: Result = end.value
            return found
