"""Estimates from randomised answers: unbiased, with variances and intervals for whom the reports speak."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from adomnia.distributions.projections import project
from adomnia.errors import Refusal
from adomnia.survey.intervals import find_data_bounds, find_population_bounds

__all__ = ["Estimates", "Inference", "Support", "check_inference"]

# About those who answered, or about the population that they are an independent sample of.
Inference: TypeAlias = Literal["data", "population"]
_INFERENCES = ("data", "population")


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
    laws: tuple[Support, ...]

    def __post_init__(self) -> None:
        if self.people < 1:
            raise Refusal("An estimate", "needs at least one report", "wait until somebody has answered")

    @property
    def counts(self) -> tuple[Fraction, ...]:
        """Unbiased numbers of people; they may be below 0, and need not add up."""
        pairs = zip(self.laws, self.supported, strict=True)
        return tuple(law.count(supported, self.people) for law, supported in pairs)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The same as parts of all respondents."""
        return tuple(count / self.people for count in self.counts)

    def variances(self, inference: Inference = "data") -> tuple[Fraction, ...]:
        """Of the shares, at their estimates, which are moved to the nearest share there can be."""
        check_inference(inference)
        found = []
        for law, share in zip(self.laws, self.shares, strict=True):
            likely = min(max(share, Fraction(0)), Fraction(1))
            if inference == "data":
                variance = law.variance_in_data(likely * self.people, self.people)
            else:
                variance = law.variance_in_population(likely, self.people)
            found.append(variance / self.people**2)
        return tuple(found)

    def intervals(
        self, confidence: float = 0.95, inference: Inference = "data", *, together: bool = False
    ) -> tuple[tuple[float, float], ...]:
        """Where each share lies: of these respondents, or of the population that they are a sample of.

        `together`: all of them at once hold with that confidence, not each one.
        """
        check_inference(inference)
        if not 0 < confidence < 1:
            raise ValueError(f"Estimates confidence must be > 0 and < 1, got {confidence}.")
        alpha = (1 - confidence) / (self._statements if together else 1)
        find = find_data_bounds if inference == "data" else find_population_bounds
        pairs = zip(self.laws, self.supported, strict=True)
        return tuple(
            find(supported, self.people, (float(law.kept), float(law.raised)), alpha) for law, supported in pairs
        )

    def project(self) -> tuple[float, ...]:
        """The nearest shares that are not negative and add up to one: post-processing, and biased where it moves."""
        return tuple(project(np.array(self.shares, dtype=np.float64), np.ones(())).tolist())

    @property
    def _statements(self) -> int:
        """Of two answers, each report supports just one in most designs: both intervals then say the same."""
        if len(self.laws) == 2 and self.laws[0].kept + self.laws[1].raised == 1 and sum(self.supported) == self.people:
            return 1
        return len(self.laws)


def check_inference(inference: str) -> None:
    """Refuse a word that says nothing about whom intervals are about."""
    if inference not in _INFERENCES:
        raise ValueError(f"inference must be 'data' or 'population', got {inference!r}.")
