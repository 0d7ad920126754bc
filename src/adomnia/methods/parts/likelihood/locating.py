"""Where the estimates of blocks lie, from noisy numbers of them in bins: after the noise."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from adomnia.statistics.contract import Floats

_RARELY = 200  # a window that noise alone has filled is found once in so many
_RATIO = 1.25  # between the widths that are tried
_SURE, _WITHIN_ONE = 0.35, 0.683  # of the blocks: surely in the first window, perhaps within one standard deviation
_WIDER = 1.5  # times the first window, on both sides: where blocks are averaged
_EVEN = 12  # the variance of an even law is its width squared over this


@dataclass(frozen=True)
class BlockPlace:
    """A middle in bins, how far noise may have moved it, and the least that blocks spread, both as deviations."""

    middle: float
    error: float
    spread: float


def locate(counts: Floats, deviation: float, blocks: int) -> BlockPlace | None:
    """Where most of so many blocks are, whose noisy counts are off by such a deviation; None where that is hidden.

    The narrowest window that surely holds many of them is found, and the mean of a wider one around it.
    """
    bins = len(counts)
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    widths = sorted({min(bins, int(np.ceil(_RATIO**power))) for power in range(int(log(bins) / log(_RATIO)) + 2)})
    most = np.array([np.max(sums[width:] - sums[:-width]) for width in widths])
    # As many windows of a width are independent as fit side by side. A sum of Laplace noises exceeds this as rarely as
    # one part in that many, by Bernstein's inequality: its tails are those of one of them.
    rarely = np.log(_RARELY * bins / np.array(widths))
    away = deviation * (np.sqrt(2 * rarely * widths) + rarely / sqrt(2))
    sure = np.flatnonzero(most - away >= _SURE * blocks)
    if not len(sure):
        return None
    width = widths[int(sure[0])]
    start = int(np.argmax(sums[width:] - sums[:-width]))
    lower, upper = max(0, int(start - _WIDER * width)), min(bins, int(np.ceil(start + (1 + _WIDER) * width)))
    places = np.arange(lower, upper) + 0.5
    held = max(float(sums[upper] - sums[lower]), _SURE * blocks)
    middle = start + width / 2
    middle += float((places - middle) @ counts[lower:upper]) / held
    error = deviation * sqrt((upper - lower) ** 3 / _EVEN) / held
    # All bins hold all blocks: where noise has made even their sum too small, the widest window is taken.
    wide = np.flatnonzero(most + away >= _WITHIN_ONE * blocks)
    perhaps = widths[int(wide[0])] if len(wide) else bins
    # Two bins less: blocks next to an edge are in two of them, however little they spread.
    return BlockPlace(float(np.clip(middle, start, start + width)), error, max(0.0, (perhaps - 2) / 2))
