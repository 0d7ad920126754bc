"""Subset selection: a set of answers, in which the true one is more likely to be."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb
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
class SubsetSelection(ResponseDesign):
    """A set of `size` answers: each set with the true answer is `odds` times as likely as each set without it.

    Guarantee   epsilon = ln(odds), of one respondent, whichever answer is theirs.
    Conditions  a fixed list of answers; odds > 1; 1 <= size < number of answers; each respondent reports once.
    Noise       over all answers together, near the least that there can be, at a size of about number / (odds + 1).
    Proof       Ye & Barg 2018; docs/proofs/local.md.

    >>> SubsetSelection(4, Fraction(3), 2).probability((0, 1), 0)
    Fraction(1, 4)
    """

    name: ClassVar[str] = "subset"
    number: int
    odds: Fraction
    size: int

    def __post_init__(self) -> None:
        check_categories("SubsetSelection", self.number)
        object.__setattr__(self, "odds", exact(self.odds, "SubsetSelection", "odds"))
        check_odds("SubsetSelection", self.odds)
        if not (isinstance(self.size, int) and 1 <= self.size < self.number):
            raise ValueError(f"SubsetSelection size must be from 1 to {self.number - 1}, got {self.size}.")

    @property
    def categories(self) -> int:
        return self.number

    @property
    def worst_ratio(self) -> Fraction:
        return self.odds

    def probability(self, report: Report, answer: int) -> Fraction:
        if len(report) != self.size or not _is_set_below(self.number, report):
            return Fraction(0)
        kept = self.support_of(answer).kept
        if answer in report:
            return kept / comb(self.number - 1, self.size - 1)
        return (1 - kept) / comb(self.number - 1, self.size)

    def draw(self, answer: int, bits: Bits) -> Report:
        own = [answer] if flip(self.support_of(answer).kept, bits) else []
        others = [each for each in range(self.number) if each != answer]
        for place in range(self.size - len(own)):
            other = place + draw_below(len(others) - place, bits)
            others[place], others[other] = others[other], others[place]
        return tuple(sorted(own + others[: self.size - len(own)]))

    def reports(self) -> Iterator[Report]:
        return combinations(range(self.number), self.size)

    @property
    def longest_report(self) -> Report:
        return tuple(range(self.number - self.size, self.number))

    def supports(self, report: Report, answer: int) -> bool:
        return answer in report

    def support_of(self, answer: int) -> Support:  # noqa: ARG002 - all answers have one distribution
        kept = self.odds * self.size / (self.odds * self.size + self.number - self.size)
        return Support(kept, (self.size - kept) / (self.number - 1))

    def explain(self, answers: Sequence[str]) -> str:  # noqa: ARG002 - they are all alike
        support = self.support_of(0)
        others = f"every other one with {percent(support.raised)}"
        return (
            f"sends {self.size} of the answers: yours is among them with probability {percent(support.kept)}, {others}"
        )

    def parameters(self) -> dict[str, str]:
        return {"odds": write_exact(self.odds), "size": str(self.size)}

    @classmethod
    def from_parameters(cls, categories: int, written: Mapping[str, Fraction]) -> Self:
        size = written["size"]
        if size.denominator != 1:
            raise ValueError(f"SubsetSelection size must be a whole number, got {size}.")
        return cls(categories, written["odds"], int(size))

    @classmethod
    def for_epsilon(cls, categories: int, epsilon: Number) -> Self:
        odds = round_odds(epsilon)
        near = int(categories / (odds + 1))
        sizes = {min(max(size, 1), categories - 1) for size in (near, near + 1)}
        made = [cls(categories, odds, size) for size in sorted(sizes)]
        return min(made, key=_total_variance)

    @classmethod
    def candidates(cls, categories: int, epsilon: Number) -> list[Self]:
        """Larger sets are worse for rare answers and better for common ones; more than half of all are for nothing."""
        usual = cls.for_epsilon(categories, epsilon)
        return [cls(categories, usual.odds, size) for size in range(usual.size, max(usual.size, categories // 2) + 1)]


def _total_variance(design: SubsetSelection) -> Fraction:
    """Of all counts together, for one person: the same whatever is true."""
    support = design.support_of(0)
    return support.variance_in_data(1, 1) + (design.number - 1) * support.variance_in_data(0, 1)


def _is_set_below(number: int, report: Report) -> bool:
    """Whether a report is a set of answers, written in its one order."""
    inside = all(0 <= each < number for each in report)
    return inside and all(first < second for first, second in pairwise(report))
