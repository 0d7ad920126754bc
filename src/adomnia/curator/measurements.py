"""Noisy measurements as a record: what is stored of an answer, and all that is needed to give it again."""

import json
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from adomnia.noise import Integers
from adomnia.statistics.contract import Measure, Measured

_LARGEST_INT64 = 2**63


@dataclass
class Record:
    """Noisy values in the order in which they were measured."""

    values: list[Integers] = field(default_factory=list)

    def to_bytes(self) -> bytes:
        arrays = [{"shape": list(array.shape), "values": array.ravel().tolist()} for array in self.values]
        return json.dumps(arrays, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, payload: bytes) -> "Record":
        return cls([_array(item["values"], tuple(item["shape"])) for item in json.loads(payload)])


class Replay:
    """Answers measures from a record, in order: the same plan asks the same measures, so it gets the same answers."""

    def __init__(self, record: Record) -> None:
        self._values = deque(record.values)

    def measure(self, measures: tuple[Measure, ...]) -> tuple[Measured, ...]:
        return tuple(Measured(self._values.popleft(), each.noise()) for each in measures)


def _array(values: list[int], shape: tuple[int, ...]) -> Integers:
    fits = all(-_LARGEST_INT64 <= value < _LARGEST_INT64 for value in values)
    return np.array(values, dtype=np.int64 if fits else object).reshape(shape)
