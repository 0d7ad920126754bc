"""Tests of terms of a linear model that know the noise: of one after the other, or of all of them together."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adomnia.methods.parts.models.least_squares import LeastSquares


@dataclass(frozen=True)
class TermTest:
    """What one term adds to those before it."""

    sum_of_squares: float | None
    statistic: float | None
    p_value: float | None


@dataclass(frozen=True)
class VarianceTable:
    """The tests of all terms, from one set of noisy sums."""

    full: LeastSquares
    ends: tuple[tuple[int, int], ...]  # of each term's columns

    @cached_property
    def tests(self) -> tuple[TermTest, ...]:
        return tuple(self._test(*end) for end in self.ends)

    def _test(self, start: int, end: int) -> TermTest:
        """The score test of a term in the model that it is the last of; without noise it is the F test.

        It looks at the products of the term's columns, less what the columns before explain of them, with the residuals
        of the model without the term. Nothing is divided by what little data a level may have.
        """
        before, products = LeastSquares(self.full.products, start), self.full.products
        if not np.all(before.identified):
            return TermTest(None, None, None)
        own = self.full.directions[:, start:end]
        own = own - before.directions @ (before.inverse @ (before.directions.T @ products.matrix @ own))
        sizes, vectors = np.linalg.eigh(own.T @ products.matrix @ own)
        own, sizes = own @ vectors, np.maximum(sizes, 0.0)
        scores = own.T @ products.matrix @ before.residual
        noises = products.noises_of_products(own, before.residual)
        noise = noises @ noises.T
        sampling = np.diag(sizes) if products.squares is None else products.spread_scores(own)
        inverse = np.linalg.inv(self.full.variance * sampling + self.full.widen_scores(own) + noise)
        squared = max(0.0, float(scores @ inverse @ scores))
        seen = sizes > 2 * np.sqrt(np.trace(noise))
        squares = float(np.sum((scores[seen] ** 2 - np.diagonal(noise)[seen]) / sizes[seen]))
        shares = np.sum(noises * (inverse @ noises), axis=0)  # of each noise in the square
        variance = 2 * (end - start) + products.kurtosis * float(shares @ shares)
        p_value = tail_of_square(squared, end - start, variance, self.full.degrees_of_freedom)
        return TermTest(max(0.0, squares) * products.plan.halves[-1] ** 2, squared / (end - start), p_value)


def tail_of_square(squared: float, mean: float, variance: float, freedom: float) -> float:
    """How often a square of that mean and variance is larger, whose divisor has so many degrees of freedom.

    Normal scores have a variance of twice the mean. Heavier tails have more: then it is like a multiple of a square of
    fewer scores (Satterthwaite 1946).
    """
    from scipy.special import fdtrc

    multiple = variance / (2 * mean)
    return float(fdtrc(mean / multiple, freedom, squared / mean))


def find_overall_test(fit: LeastSquares, *, intercept: bool) -> tuple[TermTest, int]:
    """The test that all coefficients but the intercept are 0, and how many these are: without noise the F test."""
    terms = fit.chosen - intercept
    return (
        VarianceTable(fit, ((int(intercept), fit.chosen),)).tests[0] if terms else TermTest(None, None, None)
    ), terms
