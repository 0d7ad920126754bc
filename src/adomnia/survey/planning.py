"""Which design a survey should have, before anybody is asked: the least epsilon for an error, and the reverse."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.survey.design import LARGEST_EPSILON, LEAST_EPSILON, check_categories
from adomnia.survey.estimates import check_inference
from adomnia.survey.registry import DESIGNS

if TYPE_CHECKING:
    from fractions import Fraction

    from adomnia.privacy.amounts import Number
    from adomnia.survey.design import ResponseDesign
    from adomnia.survey.estimates import Inference

_STEP = LEAST_EPSILON  # epsilons are looked for in thousandths
_MOST_PEOPLE = 10**10


@dataclass(frozen=True)
class SurveyPlan:
    """The best design for a survey, and how far off its shares may be.

    `error` is half the width of the interval of one share, as a part of 1, at the worst share there can be.
    `others` are all designs at the same epsilon, best first, each with that error.
    """

    design: ResponseDesign
    people: int
    error: float
    confidence: float
    inference: Inference
    others: tuple[tuple[ResponseDesign, float], ...]

    @property
    def epsilon(self) -> Fraction:
        """What one report costs its respondent."""
        return self.design.epsilon


def plan(  # noqa: PLR0913 - two ways to say what is wanted, and how it is meant
    categories: int,
    people: int,
    *,
    error: float | None = None,
    epsilon: Number | None = None,
    confidence: float = 0.95,
    inference: Inference = "data",
) -> SurveyPlan:
    """The cheapest design whose shares are that near the truth, or the nearest one for an epsilon.

    >>> found = plan(2, 10_000, error=0.02)
    >>> found.design.name, round(float(found.epsilon), 3)
    ('warner', 0.945)
    >>> round(plan(2, 10_000, epsilon=0.945).error, 4)
    0.02
    """
    check_categories("plan", categories)
    _check(people, confidence, inference)
    if (error is None) == (epsilon is None):
        raise ValueError("plan needs either an error or an epsilon.")
    if epsilon is not None:
        return _best(categories, people, epsilon, confidence, inference)
    assert error is not None  # noqa: S101 - one of both is there
    if not 0 < error < 1:
        raise ValueError(f"plan error must be a part of 1, > 0 and < 1, got {error}.")
    return _cheapest(categories, people, error, confidence, inference)


def expect_error(design: ResponseDesign, people: int, confidence: float = 0.95, inference: Inference = "data") -> float:
    """Half the width of the interval of one share, at the worst share there can be."""
    _check(people, confidence, inference)
    error = NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(float(worst_variance(design, inference)) / people)
    return min(1.0, error)


def worst_variance(design: ResponseDesign, inference: Inference) -> Fraction:
    """The largest variance of any count, for one person: what designs are chosen by."""
    return max(design.support_of(answer).worst_variance(inference) for answer in (0, design.categories - 1))


def _cheapest(categories: int, people: int, error: float, confidence: float, inference: Inference) -> SurveyPlan:
    low, high = 1, int(LARGEST_EPSILON / _STEP)
    if _best(categories, people, high * _STEP, confidence, inference).error > error:
        raise Refusal(
            f"An error of {error:g} with {people:,} people",
            f"is out of reach at any epsilon up to {LARGEST_EPSILON}",
            "ask more people, or allow a larger error",
        )
    while low < high:
        middle = (low + high) // 2
        reached = _best(categories, people, middle * _STEP, confidence, inference).error <= error
        low, high = (low, middle) if reached else (middle + 1, high)
    return _best(categories, people, high * _STEP, confidence, inference)


def _best(categories: int, people: int, epsilon: Number, confidence: float, inference: Inference) -> SurveyPlan:
    def scatter(design: ResponseDesign) -> Fraction:
        return worst_variance(design, inference)

    kinds = [kind for kind in DESIGNS.values() if kind.accepts(categories)]
    made = sorted((min(kind.candidates(categories, epsilon), key=scatter) for kind in kinds), key=scatter)
    others = tuple((each, expect_error(each, people, confidence, inference)) for each in made)
    design, error = others[0]
    return SurveyPlan(design, people, error, confidence, inference, others)


def _check(people: int, confidence: float, inference: str) -> None:
    check_inference(inference)
    if not 1 <= people <= _MOST_PEOPLE:
        raise ValueError(f"plan people must be from 1 to {_MOST_PEOPLE:,}, got {people}.")
    if not 0 < confidence < 1:
        raise ValueError(f"plan confidence must be > 0 and < 1, got {confidence}.")
