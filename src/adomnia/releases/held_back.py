"""Tables that a release did not measure, and how far off it is in them by a fresh noisy table.

Noise makes distances look larger. Its law is known, so that an interval of the true distance follows:
docs/proofs/quality.md has the three bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, islice
from math import log, prod, sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr

from adomnia.releases.quality_report import HeldBackTable

if TYPE_CHECKING:
    from adomnia.mechanisms.contract import Tails
    from adomnia.statistics.contract import Floats
    from adomnia.statistics.products import Product

_MOST_LOOKED = 100_000  # sets of columns that are looked at
_MOST_CELLS = 100_000  # of a table that is held back
_FOR_TOTAL = 0.1  # of what may be missed, for the number of rows
_SLOPES = np.geomspace(1e-6, 40.0, 4000)  # where Chernoff's bound is looked for, in standard deviations


def choose_held_back(product: Product, most: int) -> list[tuple[int, ...]]:
    """Sets of two columns that were not measured together, then of three; those of the fewest cells first."""
    found: list[tuple[int, ...]] = []
    for many in (2, 3):
        sets = islice(combinations(range(len(product.attributes)), many), _MOST_LOOKED)
        apart = [each for each in sets if not _covers(product, each) and count_cells(product, each) <= _MOST_CELLS]
        found += sorted(apart, key=lambda each: (count_cells(product, each), each))[: most - len(found)]
    return found


def count_cells(product: Product, columns: tuple[int, ...]) -> int:
    """How many combinations of values some columns have."""
    return prod(len(product.attributes[column]) for column in columns)


def _covers(product: Product, columns: tuple[int, ...]) -> bool:
    return product.estimates is not None and product.estimates.covers(columns)


@dataclass(frozen=True)
class CellNoise:
    """Independent noise of one law on each of so many cells."""

    deviation: float
    tails: Tails
    cells: int

    def bound_sum(self, missed: float) -> float:
        """What the absolute values of all noises add up to at most, but for that probability."""
        return self._bound(self._log_moments_of_absolute(), self.cells, missed)

    def bound_total(self, missed: float) -> float:
        """How far all noises together are from 0 at most, but for that probability."""
        return self._bound(self._log_moments(), self.cells, missed / 2)

    def bound_drop(self, missed: float) -> float:
        """How far a sum over cells of functions that change by at most the noise is below its mean at most.

        The exponential moment of such a function around its mean is at most the square of that of the noise, by an
        independent copy.
        """
        return self._bound(self._log_moments(), 2 * self.cells, missed)

    def _bound(self, log_moments: Floats, times: int, missed: float) -> float:
        """Chernoff's: the least over all slopes."""
        return self.deviation * float(np.min((times * log_moments + log(1 / missed)) / self._slopes()))

    def _slopes(self) -> Floats:
        """Laplace noise has exponential moments up to sqrt(2) standard deviations."""
        return _SLOPES if self.tails == "gaussian" else _SLOPES * (sqrt(2) * 0.9999 / _SLOPES[-1])

    def _log_moments(self) -> Floats:
        slopes = self._slopes()
        return slopes**2 / 2 if self.tails == "gaussian" else -np.log1p(-(slopes**2) / 2)

    def _log_moments_of_absolute(self) -> Floats:
        slopes = self._slopes()
        if self.tails == "gaussian":
            return np.asarray(slopes**2 / 2 + log(2) + log_ndtr(slopes))
        return -np.log1p(-slopes / sqrt(2))


def compare_table(
    columns: tuple[str, ...], noisy: Floats, published: Floats, noise: CellNoise, missed: float
) -> HeldBackTable:
    """How far off a published table is by a noisy one of the same cells; its interval misses with that probability.

    What is published is scaled to the noisy total, which is as far from the true one as `beside` says.
    """
    for_total, for_cells = _FOR_TOTAL * missed, (1 - _FOR_TOTAL) * missed / 2
    total, beside = float(noisy.sum()), noise.bound_total(for_total)
    scaled = published * (total / published.sum()) if total > 0 and published.sum() > 0 else published * 0.0
    gaps = noisy - scaled
    apart = float(np.abs(gaps).sum())
    surplus = noise.bound_sum(for_cells)
    least = apart - surplus - beside
    most = apart + min(surplus, noise.bound_drop(for_cells)) + beside
    squared = float((gaps**2).mean()) - noise.deviation**2
    return HeldBackTable(
        columns,
        noise.cells,
        min(1.0, apart / (2 * total)) if total > 0 else 1.0,
        min(1.0, max(0.0, least) / (2 * (total + beside))) if total + beside > 0 else 0.0,
        min(1.0, most / (2 * (total - beside))) if total > beside else 1.0,
        sqrt(max(0.0, squared)),
    )
