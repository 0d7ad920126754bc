"""Estimates from randomised answers: unbiased, with variances and intervals for whom the reports speak.

An interval is a test turned round, with mid-p tails: everybody supports an answer independently, with probability
`kept` or `raised`. In a population that is one binomial distribution, and among given answers the sum of two. Tails are
exact unless their spread is large: docs/proofs/local.md, 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from adomnia.distributions.projections import project
from adomnia.errors import Refusal
from adomnia.mechanisms.contract import find_alpha

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# About those who answered, or about the population that they are an independent sample of.
Inference: TypeAlias = Literal["data", "population"]
_INFERENCES = ("data", "population")
_WIDE = 400.0  # a variance beyond which the normal distribution is within 0.2% of both tails
_REACH = 9.0  # deviations: what lies beyond has probability below 1e-18
_HALVINGS = 50


@dataclass(frozen=True)
class Support:
    """How likely a report supports an answer: `kept` if it was given, `raised` if any other was."""

    kept: Fraction
    raised: Fraction

    @property
    def contrast(self) -> Fraction:
        """How much more often an answer is supported by those who gave it."""
        return self.kept - self.raised

    def count(self, supported: int, people: int) -> Fraction:
        """The unbiased number of people who gave the answer."""
        return (supported - people * self.raised) / self.contrast

    def variance_in_data(self, count: Fraction | int, people: int) -> Fraction:
        """Of that estimate, where `count` of the people gave the answer: exact."""
        scattered = count * self.kept * (1 - self.kept) + (people - count) * self.raised * (1 - self.raised)
        return scattered / self.contrast**2

    def variance_in_population(self, share: Fraction, people: int) -> Fraction:
        """Of that estimate, where everybody gives the answer with probability `share`, independently: exact."""
        supported = self.raised + share * self.contrast
        return people * supported * (1 - supported) / self.contrast**2

    def worst_variance(self, inference: Inference) -> Fraction:
        """The largest variance for one person, whatever is true."""
        supported = [self.kept, self.raised]
        if inference == "population":
            supported.append(min(max(Fraction(1, 2), self.raised), self.kept))
        return max(each * (1 - each) for each in supported) / self.contrast**2


@dataclass(frozen=True)
class Estimates:
    """How many people gave each answer, from how many reports support it.

    Nothing is rounded, clamped or made to add up: that would bias it. `project` does that, and says so.
    """

    people: int
    supported: tuple[int, ...]
    supports: tuple[Support, ...]

    def __post_init__(self) -> None:
        if self.people < 1:
            raise Refusal("An estimate", "needs at least one report", "wait until somebody has answered")

    @property
    def counts(self) -> tuple[Fraction, ...]:
        """Unbiased numbers of people; they may be below 0, and need not add up."""
        pairs = zip(self.supports, self.supported, strict=True)
        return tuple(support.count(supported, self.people) for support, supported in pairs)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The same as parts of all respondents."""
        return tuple(count / self.people for count in self.counts)

    def variances(self, inference: Inference = "data") -> tuple[Fraction, ...]:
        """Of the shares, at their estimates, which are moved to the nearest share there can be."""
        check_inference(inference)
        found = []
        for support, share in zip(self.supports, self.shares, strict=True):
            likely = min(max(share, Fraction(0)), Fraction(1))
            if inference == "data":
                variance = support.variance_in_data(likely * self.people, self.people)
            else:
                variance = support.variance_in_population(likely, self.people)
            found.append(variance / self.people**2)
        return tuple(found)

    def intervals(
        self, confidence: float = 0.95, inference: Inference = "data", *, simultaneous: bool = False
    ) -> tuple[tuple[float, float], ...]:
        """Where each share lies: of these respondents, or of the population that they are a sample of.

        `simultaneous`: all of them at once hold with that confidence, not each one.
        """
        check_inference(inference)
        if not 0 < confidence < 1:
            raise ValueError(f"Estimates confidence must be > 0 and < 1, got {confidence}.")
        alpha = find_alpha(confidence, self._statements if simultaneous else 1, "any")
        find = find_data_bounds if inference == "data" else find_population_bounds
        pairs = zip(self.supports, self.supported, strict=True)
        return tuple(
            find(supported, self.people, (float(each.kept), float(each.raised)), alpha) for each, supported in pairs
        )

    def project(self) -> tuple[float, ...]:
        """The nearest shares that are not negative and add up to one: post-processing, and biased where it moves."""
        return tuple(project(np.array(self.shares, dtype=np.float64), np.ones(())).tolist())

    @property
    def _statements(self) -> int:
        """Of two answers, each report supports just one in most designs: both intervals then say the same."""
        supports, all_support_one = self.supports, sum(self.supported) == self.people
        if len(supports) == 2 and supports[0].kept + supports[1].raised == 1 and all_support_one:
            return 1
        return len(self.supports)


def check_inference(inference: str) -> None:
    """Refuse a word that says nothing about whom intervals are about."""
    if inference not in _INFERENCES:
        raise ValueError(f"inference must be 'data' or 'population', got {inference!r}.")


def find_population_bounds(
    supported: int, people: int, chances: tuple[float, float], alpha: float
) -> tuple[float, float]:
    """The shares of a population under which so many supporting reports are not too rare.

    >>> low, high = find_population_bounds(300, 1000, (0.75, 0.25), 0.05)
    >>> round(low, 3), round(high, 3)
    (0.044, 0.158)
    """
    kept, raised = chances
    few, many = _nearest_counts(supported, people, chances)

    def below(share: float) -> float:
        return _mid_below(many, people, raised + share * (kept - raised))

    def above(share: float) -> float:
        return 1 - _mid_below(few, people, raised + share * (kept - raised))

    return 1 - _halve(lambda rest: above(1 - rest), alpha / 2), _halve(below, alpha / 2)


def find_data_bounds(supported: int, people: int, chances: tuple[float, float], alpha: float) -> tuple[float, float]:
    """The shares of these very people under which so many supporting reports are not too rare."""
    few, many = _nearest_counts(supported, people, chances)
    tail = _wide_tail if _is_wide(people, chances) else _exact_tail

    def below(count: int) -> bool:
        return tail(many, count, people, chances) > alpha / 2

    def above(count: int) -> bool:
        return 1 - tail(few, count, people, chances) > alpha / 2

    most = _last_true(below, people)
    least = people - _last_true(lambda rest: above(people - rest), people)
    return least / people, most / people


def _nearest_counts(supported: int, people: int, chances: tuple[float, float]) -> tuple[int, int]:
    """The count, moved to where some share would put its mean: fewer supports than nobody causes say "nobody".

    For the lower bound and for the upper one. Bounds only move outwards by it, and no interval is ever empty.
    """
    kept, raised = chances
    return min(supported, floor(people * kept)), max(supported, ceil(people * raised))


def _mid_below(count: int, people: int, probability: float) -> float:
    """P[X < count] + P[X = count] / 2 of a binomial distribution."""
    from scipy.special import bdtr

    under = float(bdtr(count - 1, people, probability)) if count else 0.0
    return (under + float(bdtr(count, people, probability))) / 2


def _halve(tail: Callable[[float], float], level: float) -> float:
    """The largest share whose tail is above the level, where tails fall as shares grow."""
    if tail(1.0) > level:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > level else (low, middle)
    return high


def _last_true(holds: Callable[[int], bool], most: int) -> int:
    """The largest number that holds, where it holds up to some number and not beyond; 0 if it never does."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def _is_wide(people: int, chances: tuple[float, float]) -> bool:
    return people * min(each * (1 - each) for each in chances) > _WIDE


def _wide_tail(supported: int, count: int, people: int, chances: tuple[float, float]) -> float:
    """P[sum of both < supported], ties halved, by the normal distribution."""
    from scipy.special import ndtr

    kept, raised = chances
    mean = count * kept + (people - count) * raised
    variance = count * kept * (1 - kept) + (people - count) * raised * (1 - raised)
    return float(ndtr((supported - mean) / sqrt(variance)))


def _exact_tail(supported: int, count: int, people: int, chances: tuple[float, float]) -> float:
    """P[sum of both < supported], ties halved: over how many of the `count` people support their own answer."""
    from scipy.special import bdtr

    kept, raised = chances
    own, masses = _binomial(count, kept)
    others = people - count
    left = supported - own
    under = np.where(left >= 1, bdtr(np.clip(left - 1, 0, others), others, raised), 0.0)
    upto = np.where(left >= 0, bdtr(np.clip(left, 0, others), others, raised), 0.0)
    return float(np.dot(masses, under + upto) / 2)


def _binomial(number: int, probability: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where a binomial distribution has its mass, and how much."""
    from scipy.special import gammaln, xlog1py, xlogy

    reach = _REACH * (1 + sqrt(number * probability * (1 - probability)))
    middle = number * probability
    values = np.arange(max(0, floor(middle - reach)), min(number, ceil(middle + reach)) + 1, dtype=np.float64)
    ways = gammaln(number + 1) - gammaln(values + 1) - gammaln(number - values + 1)
    return values, np.exp(ways + xlogy(values, probability) + xlog1py(number - values, -probability))
