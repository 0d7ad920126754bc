"""What the exact sums of blocks of people become before the noise: estimates of a distribution, block by block.

All of this is run on exact sums, and the guarantee needs that a block's estimates depend on that block's sums and its
place alone (docs/proofs/estimates.md). So arrays have a number for each block, and are combined element by element.
Nothing is added up over blocks, no number of steps depends on what is found, and nothing is raised.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import pi, sqrt
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adomnia.privacy.domains import Numbers

Floats: TypeAlias = NDArray[np.float64]

_TINY = 1e-300
_SCORINGS, _EXPECTATIONS = 8, 60  # steps of a search, the same for every block
_FARTHEST, _LARGEST_LOG = 600.0, 300.0  # logarithms whose exponentials are finite, and so are products of two
_GUMBEL, _EULER = pi / sqrt(6), 0.5772156649015329  # ln(x) of a Weibull distribution has this deviation times 1 / shape
# Of ln(scale) times the shape, and of ln(shape), times the rows: of any distribution, first order (Cox & Snell 1968).
_SCALE_BIAS, _SHAPE_BIAS = -0.3698, 1.0756
_LEAST_OF_A_PART = 4.0  # rows
_PASSES = 3  # of a correction that depends on what it corrects
# From the number of rows and the means of the statistics, each of one block: the parameters, and how many rows each of
# them is worth. What cannot be told is no number.
Fit: TypeAlias = Callable[[Floats, Sequence[Floats]], tuple[list[Floats], list[Floats]]]


@dataclass(frozen=True)
class SumsOfBlocks:
    """Estimates from the number of rows and the sums of powers of values, in steps of `grids` from their lower ends.

    They are those of maximum likelihood, without their bias, on the scale on which `distribution` is averaged, or on
    the one on which it is `located`. About a `centre` every block counts by its rows, of which there are `rows` on
    average: then chance in their number adds nothing.
    """

    tag: ClassVar[str] = "SumsOfBlocks"
    distribution: str
    grids: tuple[Numbers, ...]
    located: bool = False
    centre: tuple[Fraction, ...] = ()
    rows: Fraction = Fraction(1)

    def estimate(self, sums: NDArray[Any]) -> Floats:
        """The estimates of each block."""
        with np.errstate(all="ignore"):
            numbers = sums.astype(np.float64)
            rows = numbers[:, 0]
            found, worth = FITS[self.distribution](rows, self._means(numbers, np.maximum(rows, 1.0)))
            if self.located:
                found = [_LOCATED[scale](each) for scale, each in zip(LOCATED[self.distribution], found, strict=True)]
            if self.centre:
                found = [_weigh(*each) for each in zip(found, worth, self.centre, self._usual, strict=True)]
            return np.stack(found, axis=-1)

    @property
    def _usual(self) -> list[float]:
        """How many rows a parameter of a block of the usual size is worth."""
        usual = np.array([float(self.rows)])
        ones = [np.ones(1)] * sum(POWERS[self.distribution])
        return [max(float(each[0]), 1.0) for each in FITS[self.distribution](usual, ones)[1]]

    def _means(self, numbers: Floats, rows: Floats) -> list[Floats]:
        """The means of each value, and of its square about them if that was added up."""
        means, place = [], 1
        for grid, powers in zip(self.grids, POWERS[self.distribution], strict=True):
            step, first = float(grid.step), float(grid.grid_lower * grid.step)
            mean = numbers[:, place] / rows
            means.append(first + step * mean)
            if powers > 1:
                means.append(step**2 * np.maximum(numbers[:, place + 1] / rows - mean**2, 0.0))
            place += powers
        return means


@dataclass(frozen=True)
class BinsOfBlocks:
    """Estimates from how many rows of each block are in bins of equal width between two ends; the outer ones are open.

    They are found by as many steps for every block: Fisher's scoring, or expectation and maximisation.
    """

    tag: ClassVar[str] = "BinsOfBlocks"
    distribution: str
    lower: Fraction
    upper: Fraction
    located: bool = False  # which is on the scale of the averages
    centre: tuple[Fraction, ...] = ()
    rows: Fraction = Fraction(1)

    def estimate(self, sums: NDArray[Any]) -> Floats:
        """The estimates of each block."""
        with np.errstate(all="ignore"):
            counts = [sums[:, place].astype(np.float64) for place in range(sums.shape[1])]
            edges = np.linspace(float(self.lower), float(self.upper), len(counts) + 1)
            rows = np.zeros(len(sums))
            for count in counts:
                rows = rows + count
            found = BINNED[self.distribution](rows, counts, edges)
            if self.centre:
                usual = max(float(self.rows), 1.0)
                found = [_weigh(each, rows, at, usual) for each, at in zip(found, self.centre, strict=True)]
            return np.stack(found, axis=-1)


def _weigh(found: Floats, worth: Floats, centre: Fraction, usual: float) -> Floats:
    """The centre, and the distance from it by the rows that the estimate is worth; of none, the centre."""
    away = np.where(np.isfinite(found), found - float(centre), 0.0)
    return float(centre) + np.maximum(worth, 0.0) / usual * away


def _fit_weibull(rows: Floats, counts: Sequence[Floats], edges: Floats) -> list[Floats]:
    """ln(scale) and ln(shape), from the logarithms of values in bins. Their bias follows from the rows alone."""
    mean, variance = _binned_moments(rows, counts, edges)
    shape = np.log(_GUMBEL / np.sqrt(np.maximum(variance, 1e-12)))
    scale = mean + _EULER * np.exp(-shape)
    for _ in range(_SCORINGS):
        by_scale, by_shape, first, both, second = _score_weibull(counts, edges[1:-1], scale, np.exp(shape))
        left = np.maximum(first * second - both**2, _TINY) * np.maximum(rows, 1.0)
        scale = scale + np.clip((second * by_scale - both * by_shape) / left, -0.5, 0.5)
        shape = shape + np.clip((first * by_shape - both * by_scale) / left, -0.5, 0.5)
    known = rows > 2
    many = np.maximum(rows, 3.0)
    scale = scale - _SCALE_BIAS / many * np.exp(-shape)
    return [np.where(known, scale, np.nan), np.where(known, shape - _SHAPE_BIAS / many, np.nan)]


def _score_weibull(counts: Sequence[Floats], inner: Floats, scale: Floats, shape: Floats) -> tuple[Floats, ...]:
    """The derivatives of the log-likelihood by ln(scale) and ln(shape), and the information in one row."""
    nothing = np.zeros_like(scale)
    above, by_scale_above, by_shape_above = np.ones_like(scale), nothing, nothing
    found = [nothing] * 5
    for place, count in enumerate(counts):
        if place < len(inner):
            logs = np.clip(shape * (inner[place] - scale), -_FARTHEST, _FARTHEST)
            hazard = np.exp(np.minimum(logs, _LARGEST_LOG))
            beyond = np.exp(-hazard)
            by_scale, by_shape = beyond * hazard * shape, -beyond * hazard * logs
        else:
            beyond, by_scale, by_shape = nothing, nothing, nothing
        inside = np.maximum(above - beyond, 1e-12)
        one, two = by_scale_above - by_scale, by_shape_above - by_shape
        added = (count * one, count * two, one * one, one * two, two * two)
        found = [total + each / inside for total, each in zip(found, added, strict=True)]
        above, by_scale_above, by_shape_above = beyond, by_scale, by_shape
    return tuple(found)


def _fit_mixture(rows: Floats, counts: Sequence[Floats], edges: Floats) -> list[Floats]:
    """Two normal distributions: the part of the one with the lower mean, both means, ln of both deviations."""
    mean, variance = _binned_moments(rows, counts, edges)
    width = float(edges[1] - edges[0])
    spread, middles = np.sqrt(np.maximum(variance, width**2)), (edges[1:] + edges[:-1]) / 2
    part, means = np.full_like(mean, 0.5), [mean - 0.8 * spread, mean + 0.8 * spread]
    squares = [np.maximum(0.4 * variance, width**2), np.maximum(0.4 * variance, width**2)]
    many = np.maximum(rows, 1.0)
    for _ in range(_EXPECTATIONS):
        nothing = np.zeros_like(mean)
        weight, first, second, whole_first, whole_second = nothing, nothing, nothing, nothing, nothing
        for count, middle in zip(counts, middles.tolist(), strict=True):
            logs = [
                -0.5 * (middle - at) ** 2 / square - 0.5 * np.log(square)
                for at, square in zip(means, squares, strict=True)
            ]
            odds = np.exp(np.clip(logs[1] - logs[0], -_LARGEST_LOG, _LARGEST_LOG)) * (1 - part) / np.maximum(part, 1e-9)
            taken = count / (1 + odds)
            weight, first, second = weight + taken, first + taken * middle, second + taken * middle**2
            whole_first, whole_second = whole_first + count * middle, whole_second + count * middle**2
        others = np.maximum(rows - weight, 1e-9)
        some = np.maximum(weight, 1e-9)
        part = np.clip(weight / many, 0.01, 0.99)
        means = [first / some, (whole_first - first) / others]
        # Less what the width of a bin adds to a variance: Sheppard 1898.
        spreads = (second / some - means[0] ** 2, (whole_second - second) / others - means[1] ** 2)
        squares = [np.maximum(each - width**2 / 12, width**2 / 16) for each in spreads]
    turned = means[0] > means[1]
    # Deviations have the bias that they would have if it were known whose part a row is.
    squares = [
        square * np.exp(2 / np.maximum(each * rows, _LEAST_OF_A_PART))
        for square, each in zip(squares, (part, 1 - part), strict=True)
    ]
    known = rows > 5
    ordered = [
        np.where(turned, 1 - part, part),
        np.minimum(*means),
        np.maximum(*means),
        0.5 * np.log(np.where(turned, squares[1], squares[0])),
        0.5 * np.log(np.where(turned, squares[0], squares[1])),
    ]
    return [np.where(known, each, np.nan) for each in ordered]


def _binned_moments(rows: Floats, counts: Sequence[Floats], edges: Floats) -> tuple[Floats, Floats]:
    """The mean and the variance of the middles of bins."""
    many = np.maximum(rows, 1.0)
    first, second = np.zeros_like(rows), np.zeros_like(rows)
    for count, middle in zip(counts, ((edges[1:] + edges[:-1]) / 2).tolist(), strict=True):
        first, second = first + count * middle, second + count * middle**2
    return first / many, np.maximum(second / many - (first / many) ** 2, 0.0)


def _fit_mean(rows: Floats, means: Sequence[Floats]) -> tuple[list[Floats], list[Floats]]:
    """Of one statistic, which is the value: its mean has no bias."""
    return [np.where(rows > 0, means[0], np.nan)], [rows]


def _fit_normal(rows: Floats, means: Sequence[Floats]) -> tuple[list[Floats], list[Floats]]:
    """The mean; and the root of the variance over its mean, which is known for normal values. Cite: Holtzman 1950."""
    from scipy.special import gammaln

    mean, variance = means
    freedom = np.maximum(rows - 1, 1.0)
    ratio = np.exp(gammaln((freedom + 1) / 2) - gammaln(freedom / 2)) * np.sqrt(2 / freedom)
    deviation = np.sqrt(variance * rows / freedom) / ratio
    return [np.where(rows > 0, mean, np.nan), np.where(rows > 1, deviation, np.nan)], [rows, rows - 1]


def _fit_gamma(rows: Floats, means: Sequence[Floats]) -> tuple[list[Floats], list[Floats]]:
    """The mean, and ln(mean) less the mean of ln(x), from which the shape follows: its bias is known to all orders.

    That is digamma(shape t) - ln(shape t) for t rows. 1 / (2 gap) + 1 / 6 is near enough to the shape there.
    """
    from scipy.special import digamma

    mean, logs = means
    gap = np.maximum(np.log(np.maximum(mean, _TINY)) - logs, 1e-9)
    unbiased = gap
    for _ in range(_PASSES):
        many = np.maximum((0.5 / np.maximum(unbiased, 1e-9) + 1 / 6) * rows, 1.0)
        unbiased = gap - (digamma(many) - np.log(many))
    return [np.where(rows > 0, mean, np.nan), np.where(rows > 1, unbiased, np.nan)], [rows, rows]


# Of each distribution, up to which power the values that it looks at are added up: x or ln(x), or both.
POWERS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {"bernoulli": (1,), "poisson": (1,), "exponential": (1,), "normal": (2,), "lognormal": (2,), "gamma": (1, 1)}
)
FITS: Mapping[str, Fit] = MappingProxyType(
    {
        "bernoulli": _fit_mean,
        "poisson": _fit_mean,
        "exponential": _fit_mean,
        "normal": _fit_normal,
        "lognormal": _fit_normal,
        "gamma": _fit_gamma,
    }
)
BINNED: Mapping[str, Callable[[Floats, Sequence[Floats], Floats], list[Floats]]] = MappingProxyType(
    {"weibull": _fit_weibull, "normal mixture": _fit_mixture}
)
# The scales on which estimates are counted in bins: blocks spread on them alike, wherever the parameter is.
LOCATED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "bernoulli": ("share",),
        "poisson": ("root",),
        "exponential": ("log",),
        "normal": ("same", "log"),
        "lognormal": ("same", "log"),
        "gamma": ("log", "log"),
        "weibull": ("even", "even"),
        "normal mixture": ("share", "same", "same", "even", "even"),
    }
)
_LOCATED: Mapping[str, Callable[[Floats], Floats]] = MappingProxyType(
    {
        "same": lambda values: values,
        "share": lambda values: values,
        "root": lambda values: np.sqrt(np.maximum(values, 0.0)),
        "log": lambda values: np.log(np.maximum(values, _TINY)),
    }
)
# All functions of blocks: the contract holds each of them to its own rows.
BLOCK_FUNCTIONS: tuple[type, ...] = (SumsOfBlocks, BinsOfBlocks)
