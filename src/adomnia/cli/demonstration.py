"""What `adomnia demo` does: made-up people, a private count, and a budget that runs out."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import numpy as np

from adomnia.errors import Refusal
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.mechanisms.secret import Secret
from adomnia.options import CONFIDENCE
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Budget, Filter
from adomnia.privacy.sensitivity import Sensitivity

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from numpy.typing import NDArray

    from adomnia.noise.bits import Bits

BUDGET = Budget(epsilon=2)
LEAST_EPSILON = Decimal("0.02")  # a hundred questions empty the budget: enough to see it, and never a long wait
MOST_EPSILON = Decimal(2)
ONE_PERSON = Sensitivity(l1=1, monotone=True)  # a person is one row, and a row is counted or not


@dataclass(frozen=True)
class Town:
    """People from a fixed rule: anyone can compute the truth, so showing it hurts nobody."""

    size: int = 10_000

    @property
    def ages(self) -> NDArray[np.int64]:
        person = np.arange(self.size, dtype=np.int64)
        return 61 * person % 97

    @property
    def diabetic(self) -> NDArray[np.bool_]:
        """More likely with age, from nobody under 8 to about one in six of the oldest."""
        person = np.arange(self.size, dtype=np.int64)
        return person * person % 89 < self.ages // 8

    def exact_diabetics(self, at_least: int = 0) -> int:
        return int(np.count_nonzero(self.diabetic & (self.ages >= at_least)))


@dataclass(frozen=True)
class AgeQuestion:
    """How many people with diabetes are at least this old."""

    at_least: int = 0

    def __str__(self) -> str:
        return f"People with diabetes aged {self.at_least} or more" if self.at_least else "People with diabetes"


@dataclass(frozen=True)
class NoisyCount:
    """A question that was paid for. The truth is shown only because the town is made up."""

    question: str
    noisy: int
    exact: int
    epsilon_left: Fraction


@dataclass(frozen=True)
class Demonstration:
    """Everything the demonstration has to show, in the order in which it happened."""

    people: int
    sensitivity: Sensitivity
    price: Pure
    noise: DiscreteLaplace
    half_width: int
    answers: tuple[NoisyCount, ...]
    refused: str
    refusal: Refusal


def price_of(text: str) -> Pure:
    """The price a person typed, read as the decimal number it is."""
    try:
        epsilon = Decimal(text)
        within = LEAST_EPSILON <= epsilon <= MOST_EPSILON  # a NaN is refused by comparing it
    except InvalidOperation:
        within = False
    if not within:
        raise Refusal(
            f"A price of epsilon {text!r}",
            "is outside what the demonstration can show",
            f"choose a number from {LEAST_EPSILON} to {MOST_EPSILON}",
        )
    return Pure(epsilon)


def ask_by_age() -> Iterator[AgeQuestion]:
    """Overlapping ones, so that no partition makes them cheaper together: everyone, then 10 or more, 20 or more, ..."""
    yield AgeQuestion()
    for years in range(10, 20):
        for age in range(years, 110, 10):
            yield AgeQuestion(age)


def demonstrate(price: Pure, bits: Bits) -> Demonstration:
    """Ask at this price until the filter refuses."""
    town = Town()
    noise = DiscreteLaplace.calibrated(ONE_PERSON, price)
    half_width = noise.interval(CONFIDENCE).half_width
    budget = Filter(BUDGET)
    answers: list[NoisyCount] = []
    for question in ask_by_age():
        event = noise.event(ONE_PERSON)
        try:
            budget = budget.after(event)  # pay first; only then may the people be counted
        except Refusal as refusal:
            return Demonstration(
                town.size, ONE_PERSON, price, noise, half_width, tuple(answers), str(question), refusal
            )
        exact = town.exact_diabetics(question.at_least)
        noisy = noise.release(Secret(np.array([exact]), ONE_PERSON, event), bits)
        answers.append(NoisyCount(str(question), int(noisy[0]), exact, budget.left().epsilon))
    raise AssertionError("The demonstration has more questions than its budget can pay for.")
