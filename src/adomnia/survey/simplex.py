"""Shares that are shares: none negative, and one in all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


def project_onto_simplex(shares: Sequence[float]) -> tuple[float, ...]:
    """The nearest point, by Euclid's distance, whose coordinates are >= 0 and sum to 1 (Duchi et al. 2008, figure 1).

    >>> project_onto_simplex([0.75, 0.5, -0.25])
    (0.625, 0.375, 0.0)
    """
    values = np.asarray(shares, dtype=np.float64)
    falling = np.sort(values)[::-1]
    surplus = (np.cumsum(falling) - 1) / np.arange(1, len(values) + 1)
    shift = surplus[np.flatnonzero(falling > surplus)[-1]]
    return tuple(float(value) for value in np.maximum(values - shift, 0.0))
