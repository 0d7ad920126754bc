"""Which correlations explain two noisy variances and a noisy covariance: docs/proofs/moments.md, claim 6.

Where both variances are clear of their noise, a correlation is a quotient. Elsewhere each correlation r is tried: of
all variances x, y with the covariance r sqrt(x y), those are sought that are nearest to what was seen, in units of
noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from adomnia.distributions.quotients import (
    USUAL,
    Noisy,
    Quotient,
    combine,
    covary,
    find_lost,
    margins_of_each,
    solve_in_blocks,
    widen,
)
from adomnia.mechanisms.contract import Noise, find_alpha
from adomnia.statistics.contract import Bounds, Floats

_CLEAR = 0.5  # how large the noise of a variance may be beside it where a correlation is taken for a quotient
_TRIED = np.linspace(-1.0, 1.0, 65)
_RATIOS = np.concatenate(([0.0], 2.0 ** np.arange(-4.0, 4.125, 0.25)))  # of the deviations, beside the likeliest
_BENT = 0.3  # of what a quotient is widened by: most of that is about lines, and here none is drawn
_AT_ONCE = 256  # cells: four megabytes of numbers
_RIDGE = 1e-9  # so that sums which move alike have a distance too


@dataclass(frozen=True)
class Explained:
    """A correlation, from noisy sums of squares and products about the means."""

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
        alpha = find_alpha(confidence, cells)

        def solve(rows: Noisy, x: Noisy, both: Noisy, y: Noisy) -> Bounds:
            return Explained(rows, x, both, y, self.noises)._solve(alpha)

        return solve_in_blocks(solve, (self.rows, self.x, self.both, self.y))

    def _solve(self, alpha: float) -> Bounds:
        """The same all at once."""
        hidden = find_lost((self.rows,), self.noises, alpha)
        lower, upper = map(np.array, self._quotient.bounds_where(hidden, alpha))
        # By the usual noise, whatever is asked for: else a surer interval could be the narrower one.
        usual = find_lost((self.x, self.y), self.noises, USUAL)
        unclear = (usual > _CLEAR) & (hidden < 1)
        if unclear.any():
            lost = usual if alpha >= USUAL else find_lost((self.x, self.y), self.noises, alpha)
            wider = 1 + _BENT * (widen(lost, alpha) - 1)
            lower[unclear], upper[unclear] = self._try_all(unclear, wider * self._reach_in_spreads(alpha))
        return np.minimum(lower, self.values), np.maximum(upper, self.values)

    def _reach_in_spreads(self, alpha: float) -> Floats:
        """How many times its spread the noise of one of the sums reaches at most."""
        return np.asarray((margins_of_each(self._sums, self.noises, alpha) / self._spreads).max(axis=0))

    def _try_all(self, cells: NDArray[np.bool_], limits: Floats) -> Bounds:
        """The ends of the correlations whose nearest explanation is not too far away."""
        spreads = self._spreads[:, cells].T
        seen = np.stack([each.values[cells] for each in self._sums], axis=-1) / spreads
        shared = self._covariances[:, :, cells].transpose(2, 0, 1) / spreads[:, None, :] / spreads[:, :, None]
        metric: Floats = np.asarray(np.linalg.inv(shared + _RIDGE * np.eye(len(self._sums))), dtype=np.float64)
        towards = np.einsum("cij,cj->ci", metric, seen)
        ratios = self._ratio[cells] * _RATIOS[:, None]
        explained = np.empty((len(_TRIED), len(seen)))
        for start in range(0, len(seen), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            explained[:, some] = _explain(
                ratios[:, some], spreads[some].T, np.moveaxis(metric[some], 0, -1), towards[some].T
            )
        return _ends((seen * towards).sum(axis=-1) - explained, np.square(np.asarray(limits)[cells]))

    @property
    def _sums(self) -> tuple[Noisy, Noisy, Noisy]:
        return self.x, self.both, self.y

    @cached_property
    def _covariances(self) -> Floats:
        """Of the noises of each two of the sums."""
        found = np.empty((3, 3, *self.x.values.shape))
        for (a, one), (b, two) in combinations_with_replacement(enumerate(self._sums), 2):
            found[a, b] = found[b, a] = covary(one, two, self.noises)
        return found

    @cached_property
    def _spreads(self) -> Floats:
        """Of the noise of each sum, in the order of the sums."""
        return np.asarray(np.sqrt([self._covariances[place, place] for place in range(3)]))

    @cached_property
    def _ratio(self) -> Floats:
        """The ratio of both deviations, where none of the variances is taken for less than its noise."""
        x, y = (np.maximum(each.values, np.sqrt(covary(each, each, self.noises))) for each in (self.x, self.y))
        return np.asarray(np.sqrt(y / x))

    @cached_property
    def _quotient(self) -> Quotient:
        # The root of x y is half of x times the ratio of the roots, and half of y divided by it: linear, where near.
        denominator = combine((self.x, self._ratio / 2), (self.y, 1 / self._ratio / 2))
        return Quotient(self.both, denominator, (self.rows,), (-1.0, 1.0), self.noises)


def _explain(ratios: Floats, spreads: Floats, metric: Floats, towards: Floats) -> Floats:
    """How much of the squared distance from nothing the best variances explain, for each correlation that is tried.

    With the ratio of deviations t they are a and a t^2, the covariance is a r t: of each line the nearest a is known.
    """
    x, both, y = 1 / spreads[0], ratios / spreads[1], np.square(ratios) / spreads[2]
    tried = _TRIED[:, None, None]
    along = np.maximum(x * towards[0] + y * towards[2] + tried * (both * towards[1]), 0.0)
    apart = np.square(x) * metric[0, 0] + np.square(y) * metric[2, 2] + 2 * x * y * metric[0, 2]
    mixed = 2 * both * (x * metric[0, 1] + y * metric[1, 2])
    length = apart + tried * mixed + np.square(tried) * (np.square(both) * metric[1, 1])
    return np.asarray((np.square(along) / length).max(axis=1))


def _ends(distances: Floats, limits: Floats) -> Bounds:
    """Where the distance, beyond that of the correlation which explains best, passes its limit."""
    limits = limits + distances.min(axis=0)
    fits, last, step = distances <= limits, len(_TRIED) - 1, _TRIED[1] - _TRIED[0]
    ends = []
    for first, outwards in ((fits.argmax(axis=0), -1), (last - fits[::-1].argmax(axis=0), 1)):
        beyond = np.clip(first + outwards, 0, last)
        inside, outside = (np.take_along_axis(distances, each[None], axis=0)[0] for each in (first, beyond))
        part = np.clip((limits - inside) / np.where(outside > inside, outside - inside, np.inf), 0.0, 1.0)
        ends.append(_TRIED[first] + outwards * step * part)
    return ends[0], ends[1]
