"""The distribution of several independent noises, added up: what a total over cells that were measured is off by."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from adomnia.distributions.combinations import farthest
from adomnia.mechanisms.contract import Continuous, Cumulants, Noise
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.interval import Interval, find_alpha

_SMOOTH = 4  # from this variance on, a sum of discrete Gaussians is one, as far as doubles can tell


@dataclass(frozen=True)
class SummedNoise:
    """So many independent noises of one distribution, added up. Nothing is released by it."""

    noise: Noise
    times: int

    @property
    def cumulants(self) -> Cumulants:
        """Those of each, so many times."""
        variance, fourth = self.noise.cumulants
        return Cumulants(self.times * variance, self.times * fourth)

    @property
    def continuous(self) -> Continuous:
        """That of each, so many times."""
        each = self.noise.continuous
        return each._replace(times=self.times * each.times)

    def interval(self, confidence: float, cells: int = 1) -> Interval:
        """The interval around a noisy sum that holds the exact one; around all of `cells` at once."""
        reach = farthest([self], [np.ones(())], find_alpha(confidence, cells))  # type: ignore[list-item]  # it has all that is asked for
        return Interval(ceil(float(reach)), confidence)


def sum_noise(noise: Noise, times: int) -> Noise:
    """The distribution of the sum of so many independent noises of one distribution."""
    if times == 1:
        return noise
    if isinstance(noise, DiscreteGaussian):
        # Of smaller variance it is nearer to zero than of this one, and so is the sum: docs/proofs/results.md.
        return DiscreteGaussian(times * max(noise.variance, Fraction(_SMOOTH)))
    if isinstance(noise, SummedNoise):
        return sum_noise(noise.noise, times * noise.times)
    return SummedNoise(noise, times)  # type: ignore[return-value]  # it has the distribution, and releases nothing


def round_noise(noise: Noise, parts: int) -> DiscreteGaussian:
    """The distribution of Gaussian noise on so many parts of a unit, once it is rounded to whole units.

    The quarter that is added to the variance is more than what rounding adds to the noise.
    """
    if not isinstance(noise, DiscreteGaussian):
        raise TypeError(f"round_noise noise must be Gaussian, got {type(noise).__name__}.")
    return DiscreteGaussian(noise.variance / parts**2 + Fraction(1, 4))
