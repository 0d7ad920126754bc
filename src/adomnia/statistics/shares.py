"""The interval of a share A / (A + B) of noisy sums that are not negative, by the distribution of their noise."""

import numpy as np

from adomnia.distributions.ratios import hold_within, measure_width, ratio_bounds
from adomnia.statistics.contract import Bounds, Measured


def share_bounds(part: Measured, rest: Measured, confidence: float, cells: int) -> Bounds:
    """Bounds of part / (part + rest) in each cell, between 0 and 1, with a quarter of their width on this side.

    Up to one half it is r / (1 + r) with r = part / rest between 0 and 1, and from there on 1 / (1 + r) with r =
    rest / part: docs/proofs/ratios.md, claim 11.
    """
    if part.mechanism is rest.mechanism:  # of one vector: both ratios have the same noise, and are solved as one array
        above, below = _stack(part, rest), _stack(rest, part)
        bounds, fits = _ratio_within(above, below, confidence, cells)
        (small, large), (small_fits, large_fits) = zip(*bounds, strict=True), fits
    else:
        small, small_fits = _ratio_within(part, rest, confidence, cells)
        large, large_fits = _ratio_within(rest, part, confidence, cells)
    lower = np.where(small_fits, small[0] / (1 + small[0]), np.where(large_fits, 1 / (1 + large[1]), np.inf))
    upper = np.where(large_fits, 1 / (1 + large[0]), np.where(small_fits, small[1] / (1 + small[1]), -np.inf))
    less = np.asarray(part.values < rest.values)
    width = np.where(
        less, *(measure_width(*pair, np.zeros(()), confidence, cells) for pair in ((part, rest), (rest, part)))
    )
    nearest = np.where(lower <= upper, lower, np.where(less, 0.0, 1.0))
    return hold_within(lower, upper, nearest, (0.0, 1.0), width)


def _stack(first: Measured, second: Measured) -> Measured:
    return Measured(np.stack([first.values, second.values]), first.mechanism)  # type: ignore[arg-type]  # of one type


def _ratio_within(above: Measured, below: Measured, confidence: float, cells: int) -> tuple[Bounds, np.ndarray]:
    """The ratios between 0 and 1 that fit, and whether there are any."""
    lower, upper = ratio_bounds(above, below, (0, 1), confidence, cells)
    return (np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)), lower <= upper
