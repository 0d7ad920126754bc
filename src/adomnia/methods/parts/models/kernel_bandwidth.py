"""How far a kernel reaches, from the noisy sums that it will smooth: no further price.

Of each candidate, the squared error over all rows but for a constant: sum n m**2 - 2 s m, of the smoothed means m at
the bins' middles. Their own rows and their own noise are in m too, so that the means follow them: what that makes the
error look smaller, 2 K(0) / N times the variance of s - m n, is given back (Mallows 1973).
"""

from collections.abc import Iterator

import numpy as np

from adomnia.methods.parts.models.binned_means import BinnedMeans
from adomnia.statistics.contract import Floats

LEAST = 0.75  # widths of a bin: so far a kernel reaches at least, and then every bin is by itself
_RATIO = 2**0.5
_SEEN = 2.5  # standard deviations of noise: with fewer rows around it there will be no reply at a bin
_CAUTION = 3.0  # times what is given back, where 2 is right in the mean: noise is not to be taken for a curve
_LEAST_SPREAD = 1e-4  # of a response of which nothing is seen to differ


def weigh(points: Floats, middles: Floats, bandwidth: float) -> Floats:
    """The weights of bins at some points: the kernel of Epanechnikov, which ends at the bandwidth."""
    far = (points[:, None] - middles) / bandwidth
    return np.maximum(1 - far**2, 0.0)


def list_bandwidths(width: float, span: float) -> Iterator[float]:
    """Candidates from one bin to all of them."""
    bandwidth = LEAST * width
    while bandwidth < span:
        yield bandwidth
        bandwidth *= _RATIO
    yield bandwidth


def choose_bandwidth(bins: BinnedMeans, middles: Floats, width: float) -> float:
    """The candidate of the least estimated error; the widest where hardly any rows are seen."""
    candidates = list(list_bandwidths(width, width * len(middles)))
    if bins.counts.sum() <= _SEEN * bins.count_deviation * len(middles) ** 0.5:
        return candidates[-1]
    return min(candidates, key=lambda each: estimate_error(bins, weigh(middles, middles, each)))


def estimate_error(bins: BinnedMeans, weights: Floats) -> float:
    """The squared error of the means at all bins, without what is the same for all candidates.

    Where no rows are seen, there will be no reply: an error as large as the spread of the response, of as many rows as
    may be there unseen.
    """
    rows, overall = weights @ bins.counts, bins.sums.sum() / max(bins.counts.sum(), 1.0)
    floor = np.maximum(_SEEN * bins.count_deviation * np.sqrt((weights**2).sum(axis=1)), 1.0)
    seen = rows > floor
    means = np.clip(np.where(seen, weights @ bins.sums / np.maximum(rows, floor), overall), 0.0, 1.0)
    own = np.where(seen, np.diagonal(weights) / np.maximum(rows, floor), 0.0)
    followed = np.maximum(bins.spread_at(means), 0.0) + bins.noise_at(means)
    spread = np.clip(bins.spread_at(overall).sum() / max(bins.counts.sum(), 1.0), _LEAST_SPREAD, 0.25)
    silent = np.where(seen, 0.0, np.maximum(bins.counts, bins.count_deviation) * spread)
    return float((bins.counts * means**2 - 2 * bins.sums * means + _CAUTION * own * followed + silent).sum())
