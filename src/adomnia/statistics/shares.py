"""The interval of a share A / (A + B) of noisy sums that are not negative, by the distribution of their noise."""

import numpy as np

from adomnia.distributions.ratios import quotient_bounds, ratio_bounds
from adomnia.statistics.contract import Bounds, Measured

_WHOLE = 4.0  # so wide that its quarter is all that is possible


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
    beyond = np.asarray((part.values < 0) | (rest.values < 0))
    if not beyond.any():
        return lower, upper
    less = np.asarray(part.values < rest.values)
    widths = np.where(less, _width(part, rest, confidence, cells), _width(rest, part, confidence, cells))
    low, high = np.where(less, 0.0, 1 - widths / 4), np.where(less, widths / 4, 1.0)
    return np.where(beyond, np.minimum(lower, low), lower), np.where(beyond, np.maximum(upper, high), upper)


def _width(part: Measured, rest: Measured, confidence: float, cells: int) -> np.ndarray:
    """How wide the interval of a share is that is not kept between 0 and 1; a quarter of it holds all, without ends."""
    lower, upper = quotient_bounds(part, rest, confidence, cells)
    known = np.isfinite(upper - lower) & (lower > -1)
    lower, upper = np.where(known, lower, 0.0), np.where(known, upper, 0.0)
    return np.where(known, np.minimum(upper / (1 + upper) - lower / (1 + lower), _WHOLE), _WHOLE)


def _stack(first: Measured, second: Measured) -> Measured:
    return Measured(np.stack([first.values, second.values]), first.mechanism)  # type: ignore[arg-type]  # of one type


def _ratio_within(above: Measured, below: Measured, confidence: float, cells: int) -> tuple[Bounds, np.ndarray]:
    """The ratios between 0 and 1 that fit, and whether there are any."""
    lower, upper = ratio_bounds(above, below, (0, 1), confidence, cells)
    return (np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)), lower <= upper
