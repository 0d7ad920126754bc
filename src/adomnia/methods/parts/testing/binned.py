"""Noisy histograms of a column in groups, and what would be counted of simulated people."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adomnia.distributions.projections import project_shares
from adomnia.distributions.simulations import Generator, draw_again
from adomnia.messages.notes import define_note
from adomnia.methods.contract import Factor
from adomnia.methods.parts.testing.null_distribution import count_draws
from adomnia.noise.afterwards import follow
from adomnia.statistics.contract import Floats, Measured

LOST = define_note(
    "group_lost", "A group has so few rows that they are lost in the noise: nothing is known of its distribution."
)


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
