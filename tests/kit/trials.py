"""Many trials of a test on simulated people: how often it rejects, with noise of the real mechanisms."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from scipy import stats

from adomnia.methods.parts.testing import departures, null_distribution
from adomnia.methods.registry import METHODS
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.losses import rho_of
from kit.analyses import Arms, analyse
from kit.bits import SeededBits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adomnia.methods.contract import Frame
    from adomnia.privacy.events import Price
    from adomnia.statistics.contract import ResultTable, Statistic

Data = dict[str, np.ndarray]

LEVEL = 0.05
FEWER = 499  # draws: a level does not depend on their number
PRICES = {"epsilon = 1": Pure(1), "rho of (1, 1e-6)": Concentrated(rho_of(1, 1e-6))}
NO_NOISE = Pure(99)  # nearly none, the least that the mechanisms add


def build(method: str, rows: Frame, **arguments: Any) -> Statistic:
    """The analysis of a method, with the defaults of its signature."""
    signature = METHODS[method].parameters
    given = {each.name: () if each.kind in {"factors", "numbers"} else each.default for each in signature}
    return METHODS[method].build(rows, {**given, **arguments})


def answer(statistic: Statistic, price: Price, data: Data, seed: str = "answer") -> ResultTable:
    """The table of one data set."""
    return analyse(statistic, price, data, SeededBits(seed))  # type: ignore[return-value]  # methods have tables


def read_p_value(table: ResultTable) -> float:
    """The p-value of a table, and that it is one."""
    found = table.facts["p_value"]()[0]
    assert isinstance(found, float)
    assert 0 < found <= 1
    return found


def most_rejected(trials: int, level: float = 0.06) -> float:
    """The share of rejections that a test of that level exceeds once in a million times."""
    return float(stats.binom(trials, level).isf(1e-6)) / trials


@contextmanager
def fewer_draws() -> Iterator[None]:
    """Simulations of null distributions and of strengths are short."""
    usual = null_distribution.MOST_DRAWS, null_distribution.LEAST_DRAWS, departures.MOST_DRAWS
    null_distribution.MOST_DRAWS = null_distribution.LEAST_DRAWS = FEWER
    departures.MOST_DRAWS = FEWER // 2
    try:
        yield
    finally:
        null_distribution.MOST_DRAWS, null_distribution.LEAST_DRAWS, departures.MOST_DRAWS = usual


@contextmanager
def _hardly_any_effects() -> Iterator[None]:
    """Sizes of effects are simulated whether they are read or not: who reads p-values alone has few of them."""
    with patch.multiple(departures, MOST_DRAWS=20, LEAST_DRAWS=20):
        yield


def share_rejected(
    statistic: Statistic, price: Price, draw: Callable[[np.random.Generator], Data], trials: int, seed: str
) -> float:
    """The share of p-values of at most the level, of people and noise that follow from a seed."""
    random, bits = np.random.default_rng(list(seed.encode())), SeededBits(seed)
    with fewer_draws(), _hardly_any_effects():
        tables = (analyse(statistic, price, draw(random), bits) for _ in range(trials))
        return float(np.mean([read_p_value(table) <= LEVEL for table in tables]))  # type: ignore[arg-type]


def share_covered(
    statistic: Statistic, price: Price, draw: Callable[[np.random.Generator], Data], truth: float, trials: int
) -> float:
    """The share of 95% intervals, of the first row, that hold the truth."""
    random, bits, held = np.random.default_rng(11), SeededBits("covered"), []
    with fewer_draws():
        for _ in range(trials):
            table: Any = analyse(statistic, price, draw(random), bits)
            lower, upper = table.estimates["estimate"].interval(0.95, 1)
            held.append(lower[0] <= truth <= upper[0])
    return float(np.mean(held))


def share_rejected_naively(
    statistic: Statistic,
    price: Price,
    draw: Callable[[np.random.Generator], Data],
    p_value: Callable[[np.ndarray], float],
    trials: int,
) -> float:
    """The same of a classical test on the noisy numbers of the last round, which takes them for exact ones."""
    random, bits = np.random.default_rng(7), SeededBits("naive")
    noisy = (_measure_last(statistic, price, draw(random), bits) for _ in range(trials))
    return float(np.mean([p_value(each) <= LEVEL for each in noisy]))


def _measure_last(statistic: Statistic, price: Price, data: Data, bits: SeededBits) -> np.ndarray:
    arms, flow, left = Arms(data, bits), statistic.steps(price), len(statistic.planned_measures(price))
    asked = next(flow)
    while True:
        measured, left = tuple(map(arms.measure, asked)), left - len(asked)
        if not left:
            return measured[-1].values.astype(float)
        asked = flow.send(measured)
