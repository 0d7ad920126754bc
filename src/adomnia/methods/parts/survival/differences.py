"""Whether survival differs between groups: the log-rank test of noisy counts.

In each interval the events of a group are compared with those that it would have if all groups had the same hazard:
its part of the people at risk, of all events. The differences are added up (Mantel 1966). Their covariance is the
hypergeometric one of the sampling, and that of the noise by how the sums change with each noisy count. The fewer events
are expected in an interval, compared with the noise of their count, the less it weighs; without noise all weigh alike.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adomnia.methods.parts.survival.curves import SurvivalCurve
from adomnia.statistics.contract import Floats

_TINY = 1e-12


@dataclass(frozen=True)
class Differences:
    """Curves of groups along the last axis but one: (..., groups, intervals)."""

    groups: SurvivalCurve

    @cached_property
    def pooled(self) -> SurvivalCurve:
        """All groups together."""
        one = self.groups
        variance = one.variance * one.events.shape[-2]
        counts = (one.events.sum(-2), one.censored.sum(-2), one.after.sum(-2))
        return SurvivalCurve(*counts, variance, one.halved, one.until_latest)

    @cached_property
    def expected(self) -> Floats:
        """Events of each group and interval if all had the same hazard."""
        return self._parts * self.pooled.happened[..., None, :]

    @cached_property
    def weights(self) -> Floats:
        """How much each interval counts: 0 where people at risk are not clearly more than their noise."""
        pooled = self.pooled
        at_risk = np.where(pooled.known, pooled.at_risk, 0.0)
        events = np.where(pooled.known, pooled.happened, 0.0).sum(axis=-1, keepdims=True)
        hazard = np.maximum(events, 1.0) / np.maximum(at_risk.sum(axis=-1, keepdims=True), 1.0)
        expected = np.minimum(hazard, 1.0) * at_risk  # by one hazard for all times: single counts are too noisy
        return np.asarray(expected / np.maximum(expected + pooled.variance, _TINY))

    @cached_property
    def statistic(self) -> Floats:
        """The squares of what groups have beyond what is expected, over its covariance; about chi-square if equal."""
        beyond = ((self.groups.happened - self.expected) * self.weights[..., None, :]).sum(axis=-1)[..., :-1]
        inverse = np.linalg.pinv((self._sampling + self._noise)[..., :-1, :-1], hermitian=True)
        return np.asarray(np.maximum(np.einsum("...g,...gh,...h->...", beyond, inverse, beyond), 0.0))

    @cached_property
    def _parts(self) -> Floats:
        """What part of the people at risk is in each group."""
        at_risk = np.maximum(self.groups.at_risk, 0.0)
        return np.asarray(at_risk / np.maximum(at_risk.sum(axis=-2, keepdims=True), 1.0))

    @cached_property
    def _sampling(self) -> Floats:
        at_risk = np.maximum(self.pooled.at_risk, 2.0)
        events = np.minimum(self.pooled.happened, at_risk)
        chance = self.weights**2 * events * (at_risk - events) / (at_risk - 1)
        own = np.einsum("...k,...gk->...g", chance, self._parts)
        shared = np.einsum("...k,...gk,...hk->...gh", chance, self._parts, self._parts)
        return np.asarray(own[..., :, None] * np.eye(shared.shape[-1]) - shared)

    @cached_property
    def _noise(self) -> Floats:
        """From the slopes of each sum in the counts of each group: (..., sums, groups, counts)."""
        apart = np.eye(self._parts.shape[-2])[:, :, None] - self._parts[..., :, None, :]
        hazard = self.pooled.happened / np.maximum(self.pooled.at_risk, 1.0)
        pull = (self.weights * hazard)[..., None, None, :] * apart
        pulled = np.cumsum(pull, axis=-1)
        events = self.weights[..., None, None, :] * apart - pulled
        censored = self.groups.part_censored * pull - pulled
        after = np.repeat(-pulled[..., -1:], self.groups.after.shape[-1], axis=-1)
        if self.groups.until_latest:
            after[..., 1] = events[..., -1]
        slopes = np.concatenate([events, censored, after], axis=-1)
        return np.asarray(self.groups.variance * np.einsum("...ghk,...fhk->...gf", slopes, slopes))
