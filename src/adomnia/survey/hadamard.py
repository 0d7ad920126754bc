"""Hadamard response: each answer has its own half of the reports, and any two halves overlap by half."""

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
class HadamardResponse(ResponseDesign):
    """A number whose entry in the row of the true answer is +1 `odds` times as likely as -1, in a Hadamard matrix.

    Guarantee   epsilon = ln(odds), of one respondent, whichever answer is theirs.
    Conditions  a fixed list of answers; odds > 1; each respondent reports once.
    Noise       the same for every answer and any number of answers: variance n (odds + 1)^2 / (odds - 1)^2 at most.
    Proof       Acharya, Sun & Zhang 2019; docs/proofs/local.md.

    >>> HadamardResponse(3, Fraction(3)).probability((0,), 2)
    Fraction(3, 8)
    """

    name: ClassVar[str] = "hadamard"
    number: int
    odds: Fraction

    def __post_init__(self) -> None:
        check_categories("HadamardResponse", self.number)
        object.__setattr__(self, "odds", exact(self.odds, "HadamardResponse", "odds"))
        check_odds("HadamardResponse", self.odds)

    @property
    def categories(self) -> int:
        return self.number

    @property
    def size(self) -> int:
        """How many reports there are: a power of two above the number of answers; row 0, all +1, is nobody's."""
        return int(1 << self.number.bit_length())

    @property
    def worst_ratio(self) -> Fraction:
        return self.odds

    def probability(self, report: Report, answer: int) -> Fraction:
        if len(report) != 1 or not 0 <= report[0] < self.size:
            return Fraction(0)
        kept = self.odds / (1 + self.odds)
        return (kept if self.supports(report, answer) else 1 - kept) * 2 / self.size

    def draw(self, answer: int, bits: Bits) -> Report:
        drawn = draw_below(self.size, bits)
        row = answer + 1
        if self.supports((drawn,), answer) != flip(self.odds / (1 + self.odds), bits):
            drawn ^= row & -row  # one bit of the row: it pairs the reports of either half with those of the other
        return (drawn,)

    def reports(self) -> Iterator[Report]:
        return ((report,) for report in range(self.size))

    @property
    def longest_report(self) -> Report:
        return (self.size - 1,)

    def supports(self, report: Report, answer: int) -> bool:
        return (report[0] & (answer + 1)).bit_count() % 2 == 0

    def support_of(self, answer: int) -> Support:  # noqa: ARG002 - all answers have one distribution
        return Support(self.odds / (1 + self.odds), Fraction(1, 2))

    def explain(self, answers: Sequence[str]) -> str:  # noqa: ARG002 - they are all alike
        own = f"yours is among them with probability {percent(self.support_of(0).kept)}, every other one with 50%"
        return f"sends a number from 0 to {self.size - 1} that stands for about half of the answers: {own}"

    def parameters(self) -> dict[str, str]:
        return {"odds": write_exact(self.odds)}

    @classmethod
    def from_parameters(cls, categories: int, written: Mapping[str, Fraction]) -> Self:
        return cls(categories, **written)

    @classmethod
    def for_epsilon(cls, categories: int, epsilon: Number) -> Self:
        return cls(categories, round_odds(epsilon))
