"""Which ratios explain two noisy numbers (Fieller 1954)."""

from dataclasses import dataclass

import numpy as np

from adomnia.mechanisms.contract import Bounds, Floats


def fieller(
    above: Floats,
    below: Floats,
    variance: tuple[Floats | float, Floats | float, Floats | float],
    deviations: Floats | float,
    floor: float = 0.0,
) -> Bounds:
    """All ratios r for which above - r below is within so many standard deviations of zero.

    Its variance is a - 2 b r + c r**2. The ends are infinite where the divisor may be zero, or is not above it. `floor`
    is what is left of its square at least, for those who take noise for no more than that.

    >>> [float(end) for end in fieller(np.array(10.0), np.array(5.0), (1.0, 0.0, 0.0), 2.0)]
    [1.6, 2.4]
    """
    squares, (a, b, c) = np.square(deviations), variance
    first, middle, last = below**2 - squares * c, above * below - squares * b, above**2 - squares * a
    first = np.maximum(first, floor)
    clear = (below > 0) & (first > 0)
    root, divisor = np.sqrt(np.maximum(middle**2 - first * last, 0.0)), np.where(clear, first, 1.0)
    return np.where(clear, (middle - root) / divisor, -np.inf), np.where(clear, (middle + root) / divisor, np.inf)


@dataclass(frozen=True)
class NoisyPair:
    """Two noisy sums, their standard deviations, and their covariance: None where only its bounds are known."""

    above: Floats
    below: Floats
    above_error: Floats
    below_error: Floats
    covariance: Floats | None = None

    def bound_ratio(self, deviations: float) -> Bounds:
        """All ratios that the sums allow for; infinite where the divisor may be zero.

        Where the covariance is unknown, the deviation of the difference is at most the sum of both.
        """
        with np.errstate(all="ignore"):
            if self.covariance is None:
                return self._bound_apart(deviations)
            sign, variance = (
                np.where(self.below < 0, -1.0, 1.0),
                (self.above_error**2, self.covariance, self.below_error**2),
            )
            return fieller(sign * self.above, sign * self.below, variance, deviations)

    def _bound_apart(self, deviations: float) -> Bounds:
        above = [self.above + sign * deviations * self.above_error for sign in (-1, 1)]
        below = [self.below + sign * deviations * self.below_error for sign in (-1, 1)]
        bounded = np.abs(self.below) > deviations * self.below_error
        corners = np.stack([one / np.where(bounded, other, 1.0) for one in above for other in below])
        lower, upper = corners.min(axis=0), corners.max(axis=0)
        return np.where(bounded, lower, -np.inf), np.where(bounded, upper, np.inf)
