"""Quotients of noisy sums over a sample: intervals for what they are in the population.

If r is the population's quotient, numerator - r * denominator is noise and a sum of independent distances of rows, one
for each, whose mean is zero. Fieller's argument holds as for noise alone, with the variance of that sum beside that of
the noise: docs/proofs/population.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np

from adomnia.distributions.combinations import farthest_in_sample
from adomnia.distributions.quotients import Noisy, Quotient, covary, find_lost, solve_in_blocks
from adomnia.mechanisms.contract import Noise, find_alpha
from adomnia.statistics.contract import Bounds, Floats

_RAISED = 0.5  # deviations that a noisy variance is raised by: of rows far out a sample may have seen too few
_FEWEST_FREE = 1.0  # degrees of freedom
_LEAST_SHARE, _TINY = 1e-3, 1e-300


@dataclass(frozen=True)
class Sampling:
    """What sampling adds to the variance of numerator - r * denominator: above - 2 r both + r^2 below.

    `rows`: from how many that variance was itself estimated; none where it follows from r.
    """

    above: Floats
    both: Floats
    below: Floats
    rows: Floats | None = None

    def at(self, quotients: Floats) -> Floats:
        """The variance at some quotients."""
        return np.maximum(self.above - 2 * quotients * self.both + np.square(quotients) * self.below, 0.0)


def raise_variance(seen: Noisy, noises: Mapping[str, Noise], largest: Floats, most: Floats) -> Floats:
    """The variance that sampling adds, from its noisy estimate, at most `most`.

    It is the sum of a square of each row, none above `largest`: so far may noise and a sample that lacks rows far out
    have moved it, as deviations go, and half of that is added.
    """
    found = np.clip(seen.values, 0.0, most)
    off = np.sqrt(covary(seen, seen, noises) + found * largest)
    return np.minimum(found + _RAISED * off, most)


@dataclass(frozen=True)
class SampledQuotient(Quotient):
    """A quotient whose interval is about the population: noise and sampling together."""

    sampling: Sampling = field(kw_only=True)

    def bounds(self, confidence: float, cells: int) -> Bounds:
        alpha, shape = find_alpha(confidence, cells), self.numerator.values.shape
        rows = self.sampling.rows
        given = (self.sampling.above, self.sampling.both, self.sampling.below, *(() if rows is None else (rows,)))
        carried = [Noisy(np.broadcast_to(each, shape), {}, np.zeros(shape)) for each in given]

        def solve(numerator: Noisy, denominator: Noisy, needed: Noisy, *sampled: Noisy) -> Bounds:
            sampling = Sampling(*(each.values for each in sampled))
            part = replace(self, numerator=numerator, denominator=denominator, sampling=sampling)
            return part.bounds_where(find_lost((needed,), self.noises, alpha), alpha)

        (needed,) = self.needed
        return solve_in_blocks(solve, (self.numerator, self.denominator, needed, *carried))

    def _spread_and_reach(self, off: Noisy, quotients: Floats, alpha: float) -> tuple[Floats, Floats]:
        sampled, names = self.sampling.at(quotients), list(off.weights)
        noises, weights = [self.noises[name] for name in names], [off.weights[name] for name in names]
        spread = np.sqrt(covary(off, off, self.noises) + sampled)
        return spread, self._student(alpha) * farthest_in_sample(noises, weights, sampled, alpha)

    def _student(self, alpha: float) -> Floats:
        """How much farther Student's t reaches than the normal, where few rows tell how far they scatter."""
        if self.sampling.rows is None:
            return np.ones(())
        from scipy.special import stdtrit

        above, both, below = super()._covary_sides()
        noise = above - 2 * self.values * both + np.square(self.values) * below
        sampled = self.sampling.at(self.values)
        # What is known of the variance by the noise is known exactly: Satterthwaite's degrees of freedom.
        share = np.maximum(sampled / np.maximum(noise + sampled, _TINY), _LEAST_SHARE)
        free = np.maximum(self.sampling.rows - 1, _FEWEST_FREE) / np.square(share)
        normal = max(-NormalDist().inv_cdf(alpha / 2), _TINY)
        return np.asarray(-stdtrit(free, alpha / 2) / normal)

    def _covary_sides(self) -> tuple[Floats, Floats, Floats]:
        above, both, below = super()._covary_sides()
        return above + self.sampling.above, both + self.sampling.both, below + self.sampling.below
