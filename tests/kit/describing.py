"""Builds describing methods on arrays, and counts how often their intervals hold."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binom

from adomnia.methods.registry import METHODS
from adomnia.privacy.events import Concentrated, Pure
from kit.analyses import analyse
from kit.bits import SeededBits

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.methods.contract import Frame
    from adomnia.privacy.events import Price
    from adomnia.statistics.contract import ResultTable, Statistic

EPSILON = Pure(1)
RHO = Concentrated(Fraction(158, 10_000))  # about what epsilon 1 and delta 1e-6 buy
EXACT = Pure(40)  # so little noise that answers can be compared with those of others
FALSE_ALARM = 1e-6
DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda random, n: np.clip(random.normal(40, 12, n), 0, 100),
    "lognormal": lambda random, n: np.clip(random.lognormal(2.5, 0.6, n), 0, 100),
    "rounded": lambda random, n: np.clip(np.round(random.normal(40, 12, n) / 5) * 5, 0, 100),
    "zeros": lambda random, n: np.where(random.random(n) < 0.8, 0, np.clip(random.exponential(15, n), 0, 100)),
    "clusters": lambda random, n: np.where(random.random(n) < 0.6, random.normal(20, 2, n), random.normal(80, 2, n)),
    "constant": lambda _, n: np.full(n, 37.3),
}


def build(name: str, frame: Frame, **arguments: Any) -> Statistic:
    """A method of these rows, with its defaults."""
    method = METHODS[name]
    several = {"factors", "columns", "names", "numbers"}
    defaults = {
        each.name: () if each.default is None and each.kind in several else each.default for each in method.parameters
    }
    return method.build(frame, defaults | arguments)


def table_of(statistic: Statistic, price: Price, data: dict[str, np.ndarray], seed: object = 0) -> ResultTable:
    """The table that a method returns about some arrays."""
    return analyse(statistic, price, data, SeededBits(str(seed)))  # type: ignore[return-value]


def covers_as_often(hits: int, draws: int, coverage: float) -> bool:
    """Whether so many hits are likely where intervals hold with that probability; false alarms: one in a million."""
    return hits >= binom.ppf(FALSE_ALARM, draws, coverage)
