"""Robust methods with a delta on arrays: how often they reply, and how often their intervals hold where they do."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from kit.analyses import frame
from kit.describing import build, covers_as_often, table_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.privacy.events import Price
    from adomnia.statistics.contract import ResultTable

DELTA = Fraction(1, 10**6)
FRAME = frame({"x": (0, 100), "k": (0, 100)}, whole=("k",))
_STEP = float(FRAME.numbers["x"].domain.step)
DATA: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda random, n: np.clip(random.normal(40, 6, n), 0, 100),
    "heavy tails": lambda random, n: np.clip(40 + 4 * random.standard_cauchy(n), 0, 100),
    "zeros": lambda random, n: np.where(random.random(n) < 0.6, 0, np.clip(random.exponential(15, n), 0, 100)),
    "whole numbers": lambda random, n: np.clip(np.round(random.normal(40, 6, n)), 0, 100),
    "constant": lambda _, n: np.full(n, 37.3),
    "two ends": lambda random, n: np.where(random.random(n) < 0.5, 0.0, 100.0),
}


@dataclass(frozen=True)
class Replies:
    """What came of many questions: of each with a reply its ends, its estimate and the truth; and all notes."""

    asked: int
    found: np.ndarray  # low, estimate, high, truth

    @property
    def silent(self) -> float:
        """How often there was no reply."""
        return 1 - len(self.found) / self.asked

    @property
    def hits(self) -> int:
        """How often the interval held the truth, where there was one."""
        low, _, high, truth = self.found.T
        return int(((low - _STEP / 100 <= truth) & (truth <= high + _STEP / 100)).sum())

    def check_coverage(self) -> None:
        """Not too seldom, at a false-alarm rate of 1e-6, and some miss: the interval is not just wide."""
        assert covers_as_often(self.hits, len(self.found), 0.95)

    @property
    def width(self) -> float:
        """The usual width."""
        return float(np.median(self.found[:, 2] - self.found[:, 0]))


def ask(name: str, price: Price, values: np.ndarray, seed: int, column: str = "x", **arguments: Any) -> ResultTable:
    """The table of a method about some values."""
    asked = build(name, FRAME, column=FRAME.numbers[column], **arguments).with_delta(DELTA)  # type: ignore[attr-defined]
    other = "k" if column == "x" else "x"
    return table_of(asked, price, {column: values, other: np.zeros_like(values)}, seed)


def ask_often(  # noqa: PLR0913, PLR0917 - all that a simulation depends on
    name: str,
    plain: Callable[[np.ndarray], float],
    distribution: str,
    rows: int,
    draws: int,
    price: Price,
    **arguments: Any,
) -> Replies:
    """The same method about many samples."""
    random, found = np.random.default_rng(rows + draws), []
    for seed in range(draws):
        values = DATA[distribution](random, rows)
        estimate = ask(name, price, values, seed, **arguments).estimates["estimate"]
        if not np.isnan(estimate.values[0]):
            (low,), (high,) = estimate.interval(0.95, 1)
            found.append((low, estimate.values[0], high, plain(values)))
    return Replies(draws, np.array(found).reshape(-1, 4))
