"""Surveys that nobody answers: how far off estimates are, beside one count in a database that is trusted."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from adomnia.distributions.projections import round_remainders
from adomnia.mechanisms.registry import find_noise
from adomnia.noise.afterwards import follow
from adomnia.privacy.events import Pure
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.survey.estimates import Estimates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.survey.design import ResponseDesign

_MOST_PEOPLE, _MOST_REPEATS = 10**10, 100_000
_CHECKED = 100  # repeats whose intervals are computed: many people make each of them slow


@dataclass(frozen=True)
class Simulation:
    """What came of asking the same made-up people many times. Errors are in people, root mean square.

    `errors` are measured, `expected` follow from the variance. `covered` is the part of intervals that held the truth.
    """

    design: ResponseDesign
    people: int
    counts: tuple[int, ...]
    errors: tuple[float, ...]
    expected: tuple[float, ...]
    covered: tuple[float, ...]
    central: float

    @property
    def price(self) -> float:
        """How many times as far off the worst count is as one of a trusted database at the same epsilon."""
        return max(self.expected) / self.central


def simulate(
    design: ResponseDesign, shares: Sequence[float], people: int, repeats: int = 1000, confidence: float = 0.95
) -> Simulation:
    """Ask made-up people of whom these shares give each answer; the same survey comes out the same again.

    >>> from fractions import Fraction
    >>> from adomnia.survey.warner import Warner
    >>> found = simulate(Warner(Fraction(2, 3)), [0.4, 0.6], 1000)
    >>> round(found.expected[0], 1), round(found.central, 1), round(found.price)
    (44.7, 2.0, 22)
    """
    _check(design, shares, people, repeats)
    wanted = people * np.array(shares, dtype=np.float64) / sum(shares)
    counts = tuple(round_remainders(wanted, np.array(people)).tolist())
    supports = tuple(map(design.support_of, range(design.categories)))
    generator = follow([np.array([people, repeats, *counts])], f"survey {design.name} {design.parameters()}")
    drawn = np.stack(
        [
            generator.binomial(count, float(support.kept), repeats)
            + generator.binomial(people - count, float(support.raised), repeats)
            for count, support in zip(counts, supports, strict=True)
        ]
    )
    contrasts = np.array([float(support.contrast) for support in supports])[:, None]
    raised = np.array([people * float(support.raised) for support in supports])[:, None]
    errors = np.sqrt(np.mean(np.square((drawn - raised) / contrasts - np.array(counts)[:, None]), axis=1))
    expected = [sqrt(support.variance_in_data(count, people)) for support, count in zip(supports, counts, strict=True)]
    held = np.zeros(design.categories)
    for supported in drawn.T[:_CHECKED]:
        found = Estimates(people, tuple(map(int, supported)), supports).intervals(confidence)
        held += [low <= count / people <= high for (low, high), count in zip(found, counts, strict=True)]
    covered = held / min(repeats, _CHECKED)
    return Simulation(
        design, people, counts, tuple(errors.tolist()), tuple(expected), tuple(covered.tolist()), central_error(design)
    )


def central_error(design: ResponseDesign) -> float:
    """The standard deviation of one count of the same answers by discrete Laplace noise at the same epsilon.

    There too one person's answer may be any other: that moves one of two counts by 1, and of several two of them.
    """
    price, moved = Pure(design.epsilon), Sensitivity(l1=1 if design.categories == 2 else 2)
    return sqrt(find_noise(price).calibrated(moved, price).cumulants.variance)


def _check(design: ResponseDesign, shares: Sequence[float], people: int, repeats: int) -> None:
    if len(shares) != design.categories:
        raise ValueError(f"simulate shares must be {design.categories}, one for each answer, got {len(shares)}.")
    if not (all(0 <= share < float("inf") for share in shares) and sum(shares) > 0):
        raise ValueError("simulate shares must be numbers >= 0, of which one is above 0.")
    if not 1 <= people <= _MOST_PEOPLE:
        raise ValueError(f"simulate people must be from 1 to {_MOST_PEOPLE:,}, got {people}.")
    if not 1 <= repeats <= _MOST_REPEATS:
        raise ValueError(f"simulate repeats must be from 1 to {_MOST_REPEATS:,}, got {repeats}.")
