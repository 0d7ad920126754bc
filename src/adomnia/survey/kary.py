"""Randomized response of several answers: the true one most often, every other one equally often."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from adomnia.noise import draw_below
from adomnia.privacy.amounts import Number, exact
from adomnia.survey.design import (
    Report,
    ResponseDesign,
    check_categories,
    check_odds,
    flip,
    percent,
    round_odds,
    write_exact,
)
from adomnia.survey.estimates import Support

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adomnia.noise import Bits


@dataclass(frozen=True)
class KaryResponse(ResponseDesign):
    """One of the answers: the true one is `odds` times as likely as each other one.

    Guarantee   epsilon = ln(odds), of one respondent, whichever answer is theirs.
    Conditions  a fixed list of answers; odds > 1; each respondent reports once.
    Noise       little for few answers or a large epsilon; it grows with the number of answers.
    Proof       Kairouz, Oh & Viswanath 2016; docs/proofs/local.md.

    >>> KaryResponse(3, Fraction(2)).probability((0,), 0)
    Fraction(1, 2)
    """

    name: ClassVar[str] = "kary"
    number: int
    odds: Fraction

    def __post_init__(self) -> None:
        check_categories("KaryResponse", self.number)
        object.__setattr__(self, "odds", exact(self.odds, "KaryResponse", "odds"))
        check_odds("KaryResponse", self.odds)

    @property
    def categories(self) -> int:
        return self.number

    @property
    def worst_ratio(self) -> Fraction:
        return self.odds

    def probability(self, report: Report, answer: int) -> Fraction:
        if len(report) != 1 or not 0 <= report[0] < self.number:
            return Fraction(0)
        support = self.support_of(answer)
        return support.kept if report == (answer,) else support.raised

    def draw(self, answer: int, bits: Bits) -> Report:
        if flip(self.support_of(answer).kept, bits):
            return (answer,)
        return ((answer + 1 + draw_below(self.number - 1, bits)) % self.number,)

    def reports(self) -> Iterator[Report]:
        return ((answer,) for answer in range(self.number))

    @property
    def longest_report(self) -> Report:
        return (self.number - 1,)

    def supports(self, report: Report, answer: int) -> bool:
        return report == (answer,)

    def support_of(self, answer: int) -> Support:  # noqa: ARG002 - all answers have one distribution
        raised = 1 / (self.odds + self.number - 1)
        return Support(self.odds * raised, raised)

    def explain(self, answers: Sequence[str]) -> str:  # noqa: ARG002 - they are all alike
        support = self.support_of(0)
        others = f"each of the others with probability {percent(support.raised)}"
        return f"sends your answer with probability {percent(support.kept)}, and {others}"

    def parameters(self) -> dict[str, str]:
        return {"odds": write_exact(self.odds)}

    @classmethod
    def from_parameters(cls, categories: int, written: Mapping[str, Fraction]) -> Self:
        return cls(categories, **written)

    @classmethod
    def for_epsilon(cls, categories: int, epsilon: Number) -> Self:
        return cls(categories, round_odds(epsilon))
