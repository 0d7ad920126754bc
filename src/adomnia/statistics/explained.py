"""Which correlations explain two noisy variances and a noisy covariance: docs/proofs/moments.md, claim 6.

Where both variances are clear of their noise a correlation is a quotient. Elsewhere each correlation r is tried: those
variances x, y and covariance r sqrt(x y) are sought that are nearest to what was seen, in units of noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adomnia.mechanisms.contract import Noise
from adomnia.statistics.contract import Bounds, Floats
from adomnia.statistics.quotients import Noisy, Quotient, combine, covary, find_lost, reach_of_noise, widen
from adomnia.statistics.ratios import left_open_by

_CLEAR = 0.5  # how large the noise of a variance may be beside it where a quotient is nearly linear
_TRIED = np.linspace(-1.0, 1.0, 65)
_RATIOS = np.concatenate(([0.0], 2.0 ** np.arange(-4.0, 4.125, 0.25)))  # of both deviations, beside the likeliest
_RIDGE = 1e-9


@dataclass(frozen=True)
class Explained:
    """A correlation, from the noisy sums of squares and products about the means."""

    rows: Noisy
    x: Noisy
    both: Noisy
    y: Noisy
    noises: Mapping[str, Noise]

    @property
    def values(self) -> Floats:
        """The noisy correlation, between -1 and 1; nearer to zero where a variance is all noise."""
        return self._quotient.values

    def bounds(self, confidence: float, cells: int) -> Bounds:
        """The least and the greatest correlation in each cell that explains what was seen."""
        left_open = left_open_by(confidence, cells)
        lower, upper = self._quotient.bounds(confidence, cells)
        lost = find_lost((self.rows, self.x, self.y), self.noises, left_open)
        unclear = lost > _CLEAR
        if unclear.any():
            limits = (1 + (widen(lost, left_open) - 1) * 0.3) * self._surely(left_open)
            tried = self._try(unclear, limits)
            lower, upper = (end.copy() for end in np.broadcast_arrays(lower, upper, lost)[:2])
            lower[unclear], upper[unclear] = tried
        few = find_lost((self.rows,), self.noises, left_open) == 1
        lower, upper = np.where(few, -1.0, lower), np.where(few, 1.0, upper)
        return np.minimum(lower, self.values), np.maximum(upper, self.values)

    def _surely(self, left_open: float) -> Floats:
        """How many times its spread the noise of a sum reaches, of those here the most."""
        return np.maximum.reduce([
            reach_of_noise(each, self.noises, left_open) / np.sqrt(covary(each, each, self.noises))
            for each in (self.x, self.both, self.y)
        ])

    def _try(self, cells: Floats, limits: Floats) -> Bounds:
        """The ends of the correlations whose nearest explanation is not too far away."""
        sums = (self.x, self.both, self.y)
        spreads = np.stack([np.sqrt(covary(each, each, self.noises))[cells] for each in sums], axis=-1)
        seen = np.stack([each.values[cells] for each in sums], axis=-1) / spreads
        shared = np.stack([np.stack([covary(one, two, self.noises)[cells] for two in sums], axis=-1) for one in sums], axis=-2)
        shared = shared / spreads[..., None, :] / spreads[..., :, None] + _RIDGE * np.eye(3)
        inverse = np.linalg.inv(shared)
        towards = np.einsum("...ij,...j->...i", inverse, seen)
        nothing = (seen * towards).sum(axis=-1)
        ratio = self._ratio[cells] * _RATIOS[:, None]
        distances = np.stack([nothing - _explain(r, ratio, spreads, inverse, towards) for r in _TRIED])
        return _ends(distances, np.square(np.broadcast_to(limits, cells.shape)[cells]))

    @cached_property
    def _ratio(self) -> Floats:
        """The ratio of both deviations, each at least that of its noise."""
        x, y = (np.maximum(each.values, np.sqrt(covary(each, each, self.noises))) for each in (self.x, self.y))
        return np.sqrt(np.where(x > 0, y / np.where(x > 0, x, 1.0), 1.0))

    @cached_property
    def _quotient(self) -> Quotient:
        # The root of their product is half of each, times the ratio of the roots: linear in both, where they are near.
        ratio = np.where(self._ratio > 0, self._ratio, 1.0)
        denominator = combine((self.x, ratio / 2), (self.y, 1 / ratio / 2))
        return Quotient(self.both, denominator, (self.rows,), (-1.0, 1.0), self.noises)


def _explain(correlation: float, ratio: Floats, spreads: Floats, inverse: Floats, towards: Floats) -> Floats:
    """How much of the squared distance from nothing the best variances with that correlation explain."""
    shape = np.stack([np.ones_like(ratio), correlation * ratio, ratio**2], axis=-1) / spreads
    along = np.maximum((shape * towards).sum(axis=-1), 0.0)
    length = np.einsum("...i,...ij,...j->...", shape, inverse, shape)
    return (np.square(along) / length).max(axis=0)


def _ends(distances: Floats, limits: Floats) -> Bounds:
    """Where the distance passes its limit, between two that were tried; nothing is excluded where none fits."""
    fits = distances <= limits
    some, last = fits.any(axis=0), len(_TRIED) - 1
    ends = []
    for first, outwards in ((fits.argmax(axis=0), -1), (last - fits[::-1].argmax(axis=0), 1)):
        beyond = np.clip(first + outwards, 0, last)
        inside, outside = (np.take_along_axis(distances, each[None], axis=0)[0] for each in (first, beyond))
        part = np.where(beyond != first, (limits - inside) / np.where(outside > inside, outside - inside, 1.0), 0.0)
        ends.append(np.where(some, _TRIED[first] + outwards * np.clip(part, 0.0, 1.0) * (_TRIED[1] - _TRIED[0]), outwards * 1.0))
    return ends[0], ends[1]
