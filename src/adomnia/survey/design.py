"""What every design of randomized response has in common: its distribution, its cost, and the estimator that undoes it.

A report *supports* some of the answers. The distribution of that support is all that an estimate needs:
docs/proofs/local.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self, TypeAlias

from adomnia.noise import draw_below
from adomnia.privacy.amounts import Number, exact
from adomnia.privacy.enclosures import exp_down, ln_up
from adomnia.survey.estimates import Estimates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from fractions import Fraction

    from adomnia.noise import Bits
    from adomnia.survey.estimates import Support

Report: TypeAlias = tuple[int, ...]

MOST_CATEGORIES = 1000
LEAST_EPSILON, LARGEST_EPSILON = exact(0.001, "design", "epsilon"), exact(20, "design", "epsilon")
_ODDS_UNIT = exact(0.000001, "design", "odds")  # short in a file, and 0.1% of what the least epsilon allows


@dataclass(frozen=True)
class ResponseDesign(ABC):
    """How one answer is randomised where it is given; answers are numbered from 0, a report is a tuple of integers."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def categories(self) -> int:
        """How many answers there are."""

    @property
    @abstractmethod
    def worst_ratio(self) -> Fraction:
        """The largest probability of a report under one answer, divided by that under another: exact."""

    @abstractmethod
    def probability(self, report: Report, answer: int) -> Fraction:
        """P[report | answer], exactly; 0 for what is no report."""

    @abstractmethod
    def draw(self, answer: int, bits: Bits) -> Report:
        """Draw a report of exactly that distribution."""

    @abstractmethod
    def reports(self) -> Iterator[Report]:
        """All possible reports: few for a small design, very many for a large one."""

    @property
    @abstractmethod
    def longest_report(self) -> Report:
        """One that takes the most digits to write: all others are made as long, wherever they are sent or kept."""

    @abstractmethod
    def supports(self, report: Report, answer: int) -> bool:
        """Whether a report supports an answer."""

    @abstractmethod
    def support_of(self, answer: int) -> Support:
        """How likely a report supports that answer, if it was given and if another was."""

    @abstractmethod
    def explain(self, answers: Sequence[str]) -> str:
        """What a device does with an answer, in plain words."""

    @abstractmethod
    def parameters(self) -> dict[str, str]:
        """What a file says of this design: exact numbers as texts."""

    @classmethod
    @abstractmethod
    def from_parameters(cls, categories: int, written: Mapping[str, Fraction]) -> Self:
        """The design that a file describes."""

    @classmethod
    @abstractmethod
    def for_epsilon(cls, categories: int, epsilon: Number) -> Self:
        """The design whose exact distribution costs at most this epsilon, and hardly less."""

    @classmethod
    def candidates(cls, categories: int, epsilon: Number) -> list[Self]:
        """The designs of its kind to choose among at that epsilon."""
        return [cls.for_epsilon(categories, epsilon)]

    @classmethod
    def accepts(cls, categories: int) -> bool:
        """Whether it can be made for that many answers."""
        return 2 <= categories <= MOST_CATEGORIES

    @property
    def epsilon(self) -> Fraction:
        """A proved upper bound of what one report costs its respondent: the logarithm of the worst ratio."""
        return ln_up(self.worst_ratio)

    def randomize(self, answer: int, bits: Bits) -> Report:
        """Draw what is reported instead of an answer."""
        if not (isinstance(answer, int) and 0 <= answer < self.categories):
            # The answer is not repeated: it is what nobody else may see, and messages are logged.
            raise ValueError(f"{type(self).__name__} answer must be an integer from 0 to {self.categories - 1}.")
        return self.draw(answer, bits)

    def is_report(self, report: Report) -> bool:
        """Whether somebody could have reported that."""
        return self.probability(report, 0) > 0

    def estimate(self, counts: Mapping[Report, int]) -> Estimates:
        """Unbiased counts of the answers, from how often each report came."""
        for report, count in counts.items():
            if count < 0 or not self.is_report(report):
                raise ValueError(f"{type(self).__name__} cannot have made the report {report} {count} times.")
        answers = range(self.categories)
        supported = [
            sum(count for report, count in counts.items() if self.supports(report, answer)) for answer in answers
        ]
        return Estimates(sum(counts.values()), tuple(supported), tuple(map(self.support_of, answers)))


def round_odds(epsilon: Number) -> Fraction:
    """The greatest short decimal at or below e^epsilon: a design of these odds costs at most that epsilon."""
    wanted = exact(epsilon, "design", "epsilon")
    if not LEAST_EPSILON <= wanted <= LARGEST_EPSILON:
        raise ValueError(f"design epsilon must be from {float(LEAST_EPSILON)} to {LARGEST_EPSILON}, got {epsilon}.")
    return exp_down(wanted) // _ODDS_UNIT * _ODDS_UNIT


def check_categories(owner: str, categories: int) -> None:
    """Refuse a number of answers that no question has."""
    if not (isinstance(categories, int) and 2 <= categories <= MOST_CATEGORIES):
        raise ValueError(f"{owner} categories must be from 2 to {MOST_CATEGORIES}, got {categories}.")


def check_odds(owner: str, odds: Fraction) -> None:
    """Refuse odds under which reports would say nothing, or hide nothing."""
    if not 1 < odds <= exp_down(LARGEST_EPSILON):
        raise ValueError(f"{owner} odds must be > 1 and at most e^{LARGEST_EPSILON}, got {odds}.")


def flip(probability: Fraction, bits: Bits) -> bool:
    """Whether something of that very probability happens."""
    return draw_below(probability.denominator, bits) < probability.numerator


def percent(probability: Fraction) -> str:
    """A probability for the eye."""
    return f"{100 * float(probability):.3g}%"


def write_exact(number: Fraction) -> str:
    """A decimal where that is exact and short, else a quotient."""
    millionths = number / _ODDS_UNIT
    if millionths.denominator == 1:
        whole, part = divmod(int(millionths), _ODDS_UNIT.denominator)
        return f"{whole}.{part:06d}".rstrip("0").rstrip(".")
    return str(number)
