"""Noisy measurements as a record: what is stored of an answer, and all that is needed to give it again."""

import json
from collections import deque
from dataclasses import dataclass, field
from datetime import date

import numpy as np

from adomnia.noise import Integers
from adomnia.plans.undeclared import Finding, Values
from adomnia.privacy.aggregates import Histogram
from adomnia.privacy.keys import Label
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Measure, Measured

_LARGEST_INT64 = 2**63


@dataclass
class Record:
    """Noisy values in the order in which they were measured, and before them the values of keys that were found."""

    values: list[Integers] = field(default_factory=list)
    names: list[tuple[Values, ...]] = field(default_factory=list)

    def to_bytes(self) -> bytes:
        found = [{"names": [list(map(_written, values)) for values in named]} for named in self.names]
        arrays = [{"shape": list(array.shape), "values": array.ravel().tolist()} for array in self.values]
        return json.dumps([*found, *arrays], separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, payload: bytes) -> "Record":
        items = json.loads(payload)
        arrays = [_array(item["values"], tuple(item["shape"])) for item in items if "names" not in item]
        found = [item["names"] for item in items if "names" in item]
        return cls(arrays, [tuple(tuple(map(_read, values)) for values in named) for named in found])


class Replay:
    """Answers measures from a record, in order: the same plan asks the same measures, so it gets the same answers."""

    def __init__(self, record: Record) -> None:
        self._values, self._names = deque(record.values), deque(record.names)

    def measure(self, measures: tuple[Measure, ...]) -> tuple[Measured, ...]:
        return tuple(Measured(self._next(each.query), each.noise()) for each in measures)

    def find(self, _: Finding) -> tuple[Values, ...]:
        return self._names.popleft()

    def _next(self, query: Query) -> Integers:
        values, shape = self._values.popleft(), query.shape
        more = 1 if isinstance(query.aggregate, Histogram) else 0  # several values of one histogram are chosen at once
        if values.shape[: len(shape)] != shape or values.ndim != len(shape) + more:
            raise ValueError(f"Replay values must have the shape {shape}, got {values.shape}.")
        return values


def _written(label: Label) -> str | float | dict[str, str]:
    return {"day": label.isoformat()} if isinstance(label, date) else label


def _read(written: str | float | dict[str, str]) -> Label:
    return date.fromisoformat(written["day"]) if isinstance(written, dict) else written


def _array(values: list[int], shape: tuple[int, ...]) -> Integers:
    fits = all(-_LARGEST_INT64 <= value < _LARGEST_INT64 for value in values)
    return np.array(values, dtype=np.int64 if fits else object).reshape(shape)
