"""Shapes of data that quantiles are judged on, as grid values of one declared range."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Random = np.random.Generator

VALUES = 2**20 + 1
TOP = 100.0
SHAPES: dict[str, Callable[[Random, int], NDArray[np.float64]]] = {
    "normal": lambda random, n: random.normal(50, 10, n),
    "lognormal": lambda random, n: random.lognormal(2.5, 0.7, n),
    "uniform": lambda random, n: random.uniform(0, TOP, n),
    "ages": lambda random, n: np.rint(random.normal(45, 18, n)),
    "rounded to 5": lambda random, n: 5 * np.rint(random.normal(50, 10, n) / 5),
    "zeros": lambda random, n: np.where(random.random(n) < 0.6, 0, random.lognormal(2.5, 0.7, n)),
    "clusters": lambda random, n: np.where(
        random.random(n) < 0.5, random.normal(20, 0.5, n), random.normal(80, 0.5, n)
    ),
    "heavy tails": lambda random, n: random.pareto(1.2, n) / 10,
    "prices": lambda random, n: np.floor(random.lognormal(2.5, 0.7, n)) + 0.99,
    "constant": lambda _, n: np.full(n, 37.0),
    "two values": lambda _, n: np.where(np.arange(n) < n // 2, 20.0, 80.0),
}
SMOOTH = ("normal", "lognormal", "uniform")


def sample(shape: str, n: int, seed: int = 0, values: int = VALUES) -> NDArray[np.int64]:
    """Sorted grid values of n rows; whole ages are a grid of their own with values=101."""
    drawn = SHAPES[shape](np.random.default_rng(seed), n)
    return np.sort(np.rint(np.clip(drawn, 0, TOP) * ((values - 1) / TOP)).astype(np.int64))
