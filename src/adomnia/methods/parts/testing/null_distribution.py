"""What a statistic would be if the null hypothesis held, noise included: simulated, because no table has it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, prod
from typing import Literal, TypeAlias, cast

import numpy as np

from adomnia.distributions.margins import divide_confidence
from adomnia.distributions.projections import project_shares
from adomnia.distributions.simulations import Generator, draw_again
from adomnia.messages.texts import define_note
from adomnia.methods.contract import Factor
from adomnia.methods.simulation import count_simulations
from adomnia.noise.afterwards import follow
from adomnia.statistics.contract import Floats, Measured
from adomnia.statistics.p_values import bound_p_value

Alternative: TypeAlias = Literal["two-sided", "less", "greater"]

MOST_DRAWS = 9_999
LEAST_DRAWS = 999
_NUMBERS = 250_000  # that one simulation draws: some 20 ms
_TAIL = 20  # draws beyond a quantile that is read off; further out the tail is taken for an exponential one
_ROUNDING = 1e-12
LOST = define_note(
    "group_lost", "A group has so few rows that they are lost in the noise: nothing is known of its distribution."
)


def count_draws(numbers: int, by: Sequence[Factor] = ()) -> int:
    """How many draws are made of a statistic that takes so many random numbers, in each of the groups."""
    groups = prod(len(factor.levels) for factor in by)
    draws = max(LEAST_DRAWS, min(MOST_DRAWS, _NUMBERS // max(1, numbers * groups)))
    return count_simulations(draws, least=20 * _TAIL)  # enough to read off the quantile of 0.95


@dataclass(frozen=True)
class NullDistribution:
    """Draws of a statistic under the null hypothesis.

    >>> import numpy as np
    >>> NullDistribution(np.arange(-9.0, 10.0)).p_value(8.0, "greater")
    0.15
    """

    draws: Floats

    def p_value(self, observed: float, alternative: Alternative = "two-sided") -> float:
        """(1 + draws at least as far out) / (1 + draws): never below its level, also with few draws.

        Cite        Davison & Hinkley 1997, section 4.2.
        """
        found, drawn = (_turn_outwards(np.asarray(each), alternative) for each in (observed, self.draws))
        beyond = int((drawn >= found - _ROUNDING * np.abs(found)).sum())
        return bound_p_value((1 + beyond) / (1 + len(self.draws)), 1 / (1 + len(self.draws)))

    def distance(self, confidence: float, cells: int = 1) -> float:
        """How far from zero it is at most, with that confidence in each of so many cells together."""
        alpha = 1 - divide_confidence(confidence, max(1, cells))
        least = _TAIL / len(self._sizes)
        if alpha >= least:
            return float(np.quantile(self._sizes, 1 - alpha))
        return float(np.quantile(self._sizes, 1 - least)) * log(alpha) / log(least)

    @cached_property
    def _sizes(self) -> Floats:
        return np.abs(self.draws)


def _turn_outwards(values: Floats, alternative: Alternative) -> Floats:
    """Larger where they are further from the null hypothesis."""
    if alternative == "two-sided":
        return np.abs(values)
    return -values if alternative == "less" else values


def as_alternative(text: str) -> Alternative:
    """The alternative that a choice names."""
    return cast("Alternative", text)


@dataclass(frozen=True)
class Histograms:
    """Noisy counts with bins on the last axis, groups on the one before."""

    measured: Measured
    by: tuple[Factor, ...]

    @cached_property
    def counts(self) -> Floats:
        """What was measured."""
        return np.asarray(self.measured.values, dtype=np.float64)

    @cached_property
    def rows(self) -> Floats:
        """Rows of each group, none below 0."""
        found: Floats = np.maximum(np.rint(self.counts.sum(axis=-1)), 0.0)
        return found

    @cached_property
    def pooled(self) -> Floats:
        """The shares of the bins in all groups together, as many times as there are groups."""
        return np.broadcast_to(project_shares(self.counts.sum(axis=-2)), self.counts.shape)

    @cached_property
    def lost(self) -> bool:
        """Whether some group is."""
        return bool(self.are_lost(self.counts))

    def are_lost(self, counts: Floats) -> Floats:
        """Whether so few rows are counted in some group that they may be noise alone: it has no distribution then."""
        noise = 2 * np.sqrt(counts.shape[-1] * self.measured.noise.cumulants.variance)
        found: Floats = (counts.sum(axis=-1) < noise).any(axis=-1)
        return found

    def simulate(self, shares: Floats, purpose: str) -> Floats:
        """Counts of groups of these sizes whose bins have such shares, with fresh noise, many times."""
        generator, draws = follow([self.measured.values], purpose), count_draws(2 * self.counts.size, self.by)
        return self._draw(shares, generator, draws)

    def simulate_each(self, tables: Floats, purpose: str, draws: int, compare: Callable[[Floats], Floats]) -> Floats:
        """What is compared of counts of several such shares, many times each: one after the other, to save memory."""
        generator = follow([self.measured.values], purpose)
        return np.stack([compare(self._draw(shares, generator, draws)) for shares in tables])

    def _draw(self, shares: Floats, generator: Generator, draws: int) -> Floats:
        groups = [generator.multinomial(int(rows), each, draws) for rows, each in zip(self.rows, shares, strict=True)]
        drawn = np.stack(groups, axis=-2)
        noisy: Floats = drawn + draw_again(self.measured.noise, generator, drawn.shape)
        return noisy
