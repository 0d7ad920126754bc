"""Noisy measurements as a record: what is stored of an answer, and all that is needed to give it again.

Beside the noisy integers it keeps what they are of, as one digest for each round, and what was answered, as plain data:
code that asks other rounds, or computes other results, is noticed by that.
"""

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from typing import Any

import numpy as np

from adomnia.noise import Integers
from adomnia.plans.plan import canonical
from adomnia.plans.undeclared import KeyDiscovery, Values
from adomnia.privacy.keys import Label
from adomnia.statistics.contract import Measure, Measured, Round
from adomnia.version import __version__

_LARGEST_INT64 = 2**63


class ChangedRoundError(Exception):
    """The code asks for another measurement than the one that was recorded in its place."""


@dataclass
class Record:
    """Noisy values in the order in which they were measured, and before them the values of keys that were found.

    `rounds` are digests of what was found and measured, in order, `version` is that of the program, and `results` are
    what was answered: the first records have none of these.
    """

    values: list[Integers] = field(default_factory=list)
    names: list[tuple[Values, ...]] = field(default_factory=list)
    rounds: list[str] | None = None
    results: list[Any] | None = None
    version: str = __version__

    def add_round(self, measures: Round, measured: tuple[Measured, ...]) -> None:
        """Keep what was measured in one round."""
        self.values += [each.values for each in measured]
        self.rounds = [*(self.rounds or ()), digest_round(measures)]

    def add_names(self, finding: KeyDiscovery, names: tuple[Values, ...]) -> None:
        """Keep the values of keys that were found."""
        self.names.append(names)
        self.rounds = [*(self.rounds or ()), digest_finding(finding)]

    def to_bytes(self) -> bytes:
        record = {
            "version": self.version,
            "rounds": self.rounds,
            "names": [[list(map(_written, values)) for values in named] for named in self.names],
            "values": [{"shape": list(array.shape), "values": array.ravel().tolist()} for array in self.values],
            "results": self.results,
        }
        return json.dumps(record, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, payload: bytes) -> "Record":
        record = json.loads(payload)
        if isinstance(record, list):  # of the first records, in which names and values are one list
            arrays = [each for each in record if "names" not in each]
            found = [each["names"] for each in record if "names" in each]
            return cls(_read_arrays(arrays), _read_names(found), None, None, "")
        arrays, found = _read_arrays(record["values"]), _read_names(record["names"])
        return cls(arrays, found, record["rounds"], record["results"], record["version"])


class Replayer:
    """Answers measures from a record, in order: the same plan asks the same measures, so it gets the same answers.

    Where it asks others, as code may that is newer than the record, it gets a ChangedRoundError and no value.
    """

    def __init__(self, record: Record) -> None:
        self._values, self._names = deque(record.values), deque(record.names)
        self._rounds = None if record.rounds is None else deque(record.rounds)

    def measure(self, measures: Round) -> tuple[Measured, ...]:
        self._check(digest_round, measures)
        return tuple(Measured(self._next(each), each.mechanism) for each in measures)

    def find(self, finding: KeyDiscovery) -> tuple[Values, ...]:
        self._check(digest_finding, finding)
        return self._names.popleft()

    def finish(self) -> None:
        """Notice a round that was recorded and is not asked for any more."""
        if self._rounds:
            raise ChangedRoundError

    def _check(self, digest: Callable[[Any], str], asked: Round | KeyDiscovery) -> None:
        if self._rounds is not None and (not self._rounds or self._rounds.popleft() != digest(asked)):
            raise ChangedRoundError

    def _next(self, measure: Measure) -> Integers:
        values, shape = self._values.popleft(), measure.mechanism.shape(measure.query)
        if values.shape != shape:
            raise ValueError(f"Replay values must have the shape {shape}, got {values.shape}.")
        return values


def digest_round(measures: Round) -> str:
    """The hash of the queries of a round and of what each is measured by, in order."""
    return sha256(canonical(tuple((each.query, each.mechanism) for each in measures))).hexdigest()


def digest_finding(finding: KeyDiscovery) -> str:
    """The same for the values of keys that are found."""
    return sha256(canonical((finding.query, finding.threshold))).hexdigest()


def _written(label: Label) -> str | float | dict[str, str]:
    return {"day": label.isoformat()} if isinstance(label, date) else label


def _read(written: str | float | dict[str, str]) -> Label:
    return date.fromisoformat(written["day"]) if isinstance(written, dict) else written


def _read_names(found: list[Any]) -> list[tuple[Values, ...]]:
    return [tuple(tuple(map(_read, values)) for values in named) for named in found]


def _read_arrays(items: list[Any]) -> list[Integers]:
    return [_array(item["values"], tuple(item["shape"])) for item in items]


def _array(values: list[int], shape: tuple[int, ...]) -> Integers:
    fits = all(-_LARGEST_INT64 <= value < _LARGEST_INT64 for value in values)
    return np.array(values, dtype=np.int64 if fits else object).reshape(shape)
