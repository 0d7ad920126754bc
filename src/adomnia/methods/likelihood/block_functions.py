"""What the exact sums of blocks of people are turned into before the noise: estimates of a law, block by block.

All of this is run on exact sums, and the guarantee needs that a block's estimates depend on that block's sums and its
place alone (docs/proofs/estimates.md). So arrays have a number for each block, and are combined element by element.
Nothing is added up over blocks, no number of steps depends on what is found, and nothing is raised.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adomnia.privacy.domains import Numbers
from adomnia.statistics.contract import Floats

_TINY = 1e-300
_PASSES = 3  # of a correction that depends on what it corrects
# From the number of rows and the means of the statistics, each of one block: the parameters, and how many rows each of
# them is worth. What cannot be told is no number.
Fit: TypeAlias = Callable[[Floats, Sequence[Floats]], tuple[list[Floats], list[Floats]]]


@dataclass(frozen=True)
class SumsOfBlocks:
    """Estimates from the number of rows and the sums of powers of values, in steps of `grids` from their lower ends.

    They are those of most likelihood, without their bias, on the scale on which `law` is averaged, or on the one on
    which it is `located`. About a `centre` every block counts by its rows, of which there are `rows` on average: then
    chance in their number adds nothing.
    """

    tag: ClassVar[str] = "SumsOfBlocks"
    law: str
    grids: tuple[Numbers, ...]
    located: bool = False
    centre: tuple[Fraction, ...] = ()
    rows: Fraction = Fraction(1)

    def estimate(self, sums: NDArray[Any]) -> Floats:
        """The estimates of each block."""
        with np.errstate(all="ignore"):
            numbers = sums.astype(np.float64)
            rows = numbers[:, 0]
            found, worth = FITS[self.law](rows, self._means(numbers, np.maximum(rows, 1.0)))
            if self.located:
                found = [_LOCATED[scale](each) for scale, each in zip(LOCATED[self.law], found, strict=True)]
            if self.centre:
                found = [self._weigh(*each) for each in zip(found, worth, self.centre, self._usual, strict=True)]
            return np.stack(found, axis=-1)

    @property
    def _usual(self) -> list[float]:
        """How many rows a parameter of a block of the usual size is worth."""
        usual = np.array([float(self.rows)])
        ones = [np.ones(1)] * sum(POWERS[self.law])
        return [max(float(each[0]), 1.0) for each in FITS[self.law](usual, ones)[1]]

    def _weigh(self, found: Floats, worth: Floats, centre: Fraction, usual: float) -> Floats:
        """The centre, and the distance from it by the rows that the estimate is worth; of none, the centre."""
        away = np.where(np.isfinite(found), found - float(centre), 0.0)
        return float(centre) + np.maximum(worth, 0.0) / usual * away

    def _means(self, numbers: Floats, rows: Floats) -> list[Floats]:
        """The means of each value, and of its square about them if that was added up."""
        means, place = [], 1
        for grid, powers in zip(self.grids, POWERS[self.law], strict=True):
            step, first = float(grid.step), float(grid.grid_lower * grid.step)
            mean = numbers[:, place] / rows
            means.append(first + step * mean)
            if powers > 1:
                means.append(step**2 * np.maximum(numbers[:, place + 1] / rows - mean**2, 0.0))
            place += powers
        return means


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


# Of each law, up to which power the values that it looks at are added up: x or ln(x), or both.
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
# The scales on which estimates are counted in bins: blocks spread on them alike, wherever the parameter is.
LOCATED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "bernoulli": ("share",),
        "poisson": ("root",),
        "exponential": ("log",),
        "normal": ("same", "log"),
        "lognormal": ("same", "log"),
        "gamma": ("log", "log"),
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
BLOCK_FUNCTIONS: tuple[type, ...] = (SumsOfBlocks,)
