"""What holds of every robust number: without noise it is that of the data, and its interval holds and is narrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kit.analyses import frame
from kit.describing import DISTRIBUTIONS, EPSILON, EXACT, RHO, build, covers_as_often, table_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.privacy.events import Price

every_price = pytest.mark.parametrize("price", [EPSILON, RHO], ids=str)
_FRAME = frame({"x": (0, 100)})
_LAST_DIGITS = 1e-3


@dataclass(frozen=True)
class RobustNumber:
    """A method, what it says of values without noise, and how wide its intervals of skewed values may be."""

    method: str
    plain: Callable[[np.ndarray], float]
    widest: float = np.inf

    def estimate(self, price: Price, values: np.ndarray, seed: int = 0):
        asked = build(self.method, _FRAME, column=_FRAME.numbers["x"])
        return table_of(asked, price, {"x": values}, seed).estimates["estimate"]

    def check_without_noise(self, distribution: str) -> None:
        values = DISTRIBUTIONS[distribution](np.random.default_rng(3), 20_000)
        estimate, truth = self.estimate(EXACT, values), self.plain(values)
        (low,), (high,) = estimate.interval(0.95, 1)
        assert estimate.values[0] == pytest.approx(truth, abs=0.2)
        assert low - _LAST_DIGITS <= truth <= high + _LAST_DIGITS

    def check_interval(self, distribution: str, price: Price) -> None:
        """Of 15 samples; too few hits are seen at a false-alarm rate of 1e-6."""
        random, truth = np.random.default_rng(4), self.truth(distribution, 10**6)
        ends = [self.ends(price, DISTRIBUTIONS[distribution](random, 5000), seed) for seed in range(15)]
        self._check_hits(ends, truth, 0.94)
        assert distribution != "lognormal" or np.median([high - low for low, high in ends]) < self.widest

    def check_coverage(self, distribution: str, size: int, price: Price) -> None:
        draws, random = 200 if size < 100_000 else 60, np.random.default_rng(size)
        ends = [self.ends(price, DISTRIBUTIONS[distribution](random, size), seed) for seed in range(draws)]
        self._check_hits(ends, self.truth(distribution, 4 * 10**6), 0.93)

    def truth(self, distribution: str, size: int) -> float:
        return self.plain(DISTRIBUTIONS[distribution](np.random.default_rng(0), size))

    def ends(self, price: Price, values: np.ndarray, seed: int) -> np.ndarray:
        return np.ravel(self.estimate(price, values, seed).interval(0.95, 1))

    def _check_hits(self, ends: list[np.ndarray], truth: float, promised: float) -> None:
        hits = sum(low - _LAST_DIGITS <= truth <= high + _LAST_DIGITS for low, high in ends)
        assert covers_as_often(hits, len(ends), promised)
