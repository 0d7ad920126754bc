"""Propose-test-release as Dwork & Lei 2009 have it: replaced rows, a known number of them, two grids of bins.

It is here to be compared with: it adds noise of doubles, and is not private where rows come and go.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log

import numpy as np


@dataclass(frozen=True)
class BinnedScale:
    """Their algorithm S: the interquartile range, whose logarithm is tested in bins and then released with noise."""

    epsilon: float
    rows: int

    @property
    def base(self) -> float:
        """Of the logarithm."""
        return 1 + 1 / log(self.rows)

    @property
    def threshold(self) -> float:
        """Of the test: beyond any fixed delta as the number of rows grows."""
        return 1 + log(self.rows) ** 2

    @property
    def delta(self) -> float:
        """What each of both grids gives away beside epsilon."""
        return float(0.5 * self.rows ** (-self.epsilon * log(self.rows)))

    def release(self, values: np.ndarray, random: np.random.Generator) -> float | None:
        """The range with noise from the first grid that replies, or None."""
        ordered = np.sort(values)
        low, high = find_quartiles(len(ordered))
        for offset in (0.0, 0.5):
            distance = count_replaced(ordered, self.base, offset)
            if distance + random.laplace(0, 1 / self.epsilon) > self.threshold:
                spread = ordered[high] - ordered[low]
                return float(spread * self.base ** random.laplace(0, 1 / self.epsilon))
        return None


def find_quartiles(rows: int) -> tuple[int, int]:
    """The places of both quartiles among sorted rows, the first of them being 0."""
    return ceil(rows / 4) - 1, ceil(3 * rows / 4) - 1


def count_replaced(ordered: np.ndarray, base: float, offset: float) -> int:
    """How many rows have to be replaced until the logarithm of the range leaves its bin; 1 where the range is zero."""
    low, high = find_quartiles(len(ordered))
    spread = ordered[high] - ordered[low]
    if spread <= 0:
        return 1
    first = floor(log(spread) / log(base) - offset) + offset
    least, most = base**first, base ** (first + 1)
    padded = np.concatenate([np.full(len(ordered), -np.inf), ordered, np.full(len(ordered), np.inf)])
    low, high = low + len(ordered), high + len(ordered)
    for many in range(1, len(ordered) + 1):
        aside = np.arange(many + 1)
        widest = (padded[high + many - aside] - padded[low - aside]).max()
        narrowest = np.maximum(padded[high - many + aside] - padded[low + aside], 0).min()
        if widest >= most or narrowest < least:
            return many
    return len(ordered)


@dataclass(frozen=True)
class BoxedLine:
    """The test of their algorithm R for lines of two coefficients: how far the minimum is from leaving its box.

    What is minimised is the sum of |y - x'b| / |x|. Their own statistic is of another form; this one is easily seen to
    move by at most 1 where a row is replaced, and beyond 1 to keep the minimum of every neighbour in the box.
    """

    x: np.ndarray  # a row for each person, of two numbers
    y: np.ndarray
    sides: np.ndarray

    def weigh(self, at: np.ndarray) -> np.ndarray:
        """The sum at some coefficients, one below the other."""
        lengths = np.linalg.norm(self.x, axis=1)
        return (np.abs(self.y - np.atleast_2d(at) @ self.x.T) / lengths).sum(axis=1)

    def fit(self) -> np.ndarray:
        """Where it is least: a line through two of the points."""
        first, second = np.triu_indices(len(self.y), 1)
        pairs = np.stack([self.x[first], self.x[second]], axis=1)
        lines = np.linalg.solve(pairs, np.stack([self.y[first], self.y[second]], axis=1)[..., None])[..., 0]
        return lines[np.argmin(self.weigh(lines))]

    @property
    def box(self) -> np.ndarray:
        """The lower corner of the box that the fit lies in."""
        return np.floor(self.fit() / self.sides) * self.sides

    def distance(self) -> float:
        """The least rise from the centre to a face of the box, in what a replaced row moves at most."""
        corner, centre = self.box, self.box + self.sides / 2
        faces = [self._least(corner + up * self.sides * along, along) for up in (0, 1) for along in np.eye(2)]
        return max(0.0, (min(faces) - float(self.weigh(centre)[0])) / float(np.linalg.norm(self.sides)))

    def _least(self, start: np.ndarray, across: np.ndarray) -> float:
        """The least sum on a face, which lies along the other axis: at an end, or where a residual is zero."""
        way = (1 - across) * self.sides
        slopes = self.x @ way
        breaks = np.clip((self.y - self.x @ start) / np.where(slopes == 0, np.inf, slopes), 0, 1)
        return float(self.weigh(start + np.concatenate([[0, 1], breaks])[:, None] * way).min())
