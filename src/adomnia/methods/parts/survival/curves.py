"""Survival curves from noisy counts of events and of people who were censored, in intervals of time.

Those who are at risk in an interval are all who are counted in it or later. Where an interval holds many possible
times, those who are censored within it are taken to be at risk for half of it (the life table; Cutler & Ederer 1958);
where it holds one time alone, for all of it (Kaplan & Meier 1958).

The variance of the logarithm of survival is Greenwood's for the sampling, and for the noise its own times the squares
of how the logarithm changes with each count.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from adomnia.statistics.contract import Floats

_CLEAR = 2.5  # standard deviations of their noise that people at risk must exceed
_LEAST = 0.5  # people, of what is divided by and of what has a variance


@dataclass(frozen=True)
class SurvivalCurve:
    """One curve, or several along the first axes.

    `events` and `censored` are of shape (..., intervals), `after` is of shape (..., cells): counts of those who are
    seen beyond all intervals. `variance` is that of the noise of each count. `halved`: whether intervals hold many
    times, so that the censored count half; `part`: for what part of such an interval they are not at risk.
    `until_latest`: whether those after, censored and with an event, are those of the latest time. It ends the last
    interval: what happens then counts in it, and who is censored then is at risk for all of it.
    """

    events: Floats
    censored: Floats
    after: Floats
    variance: float
    halved: bool
    until_latest: bool = False
    part: float = 0.5

    @property
    def intervals(self) -> int:
        """How many there are."""
        return int(self.events.shape[-1])

    @cached_property
    def happened(self) -> Floats:
        """The noisy number of events in each interval, its end included."""
        if not self.until_latest:
            return self.events
        latest = self.events[..., -1:] + self.after[..., 1:]
        return np.concatenate([self.events[..., :-1], latest], axis=-1)

    @cached_property
    def at_risk(self) -> Floats:
        """The noisy number of people at risk in each interval."""
        both = self.events + self.censored
        later = np.cumsum(both[..., ::-1], axis=-1)[..., ::-1] + self.after.sum(axis=-1, keepdims=True)
        return np.asarray(later - self.part_censored * self.censored)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Whether people at risk are clearly more than their noise, there and before."""
        cells = 2 * np.arange(self.intervals, 0, -1) + self.after.shape[-1]
        clear = self.at_risk > np.maximum(1.0, _CLEAR * np.sqrt(self.variance * cells))
        return np.logical_and.accumulate(clear, axis=-1)

    @cached_property
    def survival(self) -> Floats:
        """The share that survives each interval, as long as it is known: not made to fall, nor cut at 0 and 1."""
        return np.cumprod(1 - np.minimum(self._seen / self._divisor, 1.0), axis=-1)

    @cached_property
    def variances(self) -> Floats:
        """Those of survival in each interval, by sampling and noise."""
        logarithms = np.cumsum(self._greenwood, axis=-1) + self.variance * (self._slopes**2).sum(axis=-1)
        return np.asarray(logarithms * self._size**2)

    def deviate(self, noise: Floats, chance: Floats) -> Floats:
        """How survival deviates by noise of all counts and by standard normal chance in each interval, to first order.

        Of one curve; both have the draws along their first axis, noise of events, of censored and of those after.
        """
        sampling = np.cumsum(chance * np.sqrt(self._greenwood), axis=-1)
        return np.asarray((sampling + noise @ self._slopes.T) * self._size)

    @property
    def part_censored(self) -> float:
        """For what part of their interval the censored are not at risk."""
        return self.part if self.halved else 0.0

    @cached_property
    def extremes(self) -> tuple["SurvivalCurve", "SurvivalCurve"]:
        """The censored of an interval all leave before its events, or after them; exact times have a curve between.

        The same curve twice where intervals hold one time.
        """
        return (replace(self, part=1.0), replace(self, part=0.0)) if self.halved else (self, self)

    @cached_property
    def _seen(self) -> Floats:
        return np.where(self.known, self.happened, 0.0)

    @cached_property
    def _divisor(self) -> Floats:
        return np.where(self.known, self.at_risk, 1.0)

    @cached_property
    def _left(self) -> Floats:
        """Those who stay without the event; at least half a person."""
        return np.maximum(self._divisor - self._seen, _LEAST)

    @cached_property
    def _pull(self) -> Floats:
        """How the logarithm of what an interval leaves changes with the people at risk."""
        return self._seen / (self._divisor * self._left)

    @cached_property
    def _greenwood(self) -> Floats:
        """What each interval adds to the variance of the logarithm by sampling."""
        events = np.where(self.known, np.maximum(self.happened, _LEAST), 0.0)
        return events / (self._divisor * self._left)

    @cached_property
    def _size(self) -> Floats:
        """Survival, above zero: what the variance of its logarithm is multiplied by."""
        return np.asarray(np.cumprod(self._left / self._divisor, axis=-1), dtype=np.float64)

    @cached_property
    def _slopes(self) -> Floats:
        """How the logarithm at each interval changes with events, censored and those after, side by side."""
        pulled = np.cumsum(self._pull, axis=-1)
        places = np.arange(self.intervals)
        until = pulled[..., np.minimum.outer(places, places)]
        own = (places[:, None] >= places[None, :]).astype(np.float64)
        by_events = until - own * np.where(self.known, 1 / self._left, 0.0)[..., None, :]
        by_censored = until - self.part_censored * own * self._pull[..., None, :]
        by_after = np.repeat(pulled[..., :, None], self.after.shape[-1], axis=-1)
        if self.until_latest:
            by_after[..., 1] = by_events[..., -1]
        return np.concatenate([by_events, by_censored, by_after], axis=-1)
