"""The design of the unrelated question: a coin decides whether the question or an innocuous one is answered."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from adomnia.privacy.amounts import Number, exact
from adomnia.survey.design import Report, ResponseDesign, flip, percent, round_odds, write_exact
from adomnia.survey.estimates import Support

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adomnia.noise import Bits

_YES = 0


@dataclass(frozen=True)
class UnrelatedQuestion(ResponseDesign):
    """The truth with probability `truth`, else the answer to an innocuous question: yes with probability `innocuous`.

    Guarantee   epsilon = the larger of ln(P[yes | yes] / P[yes | no]) and ln(P[no | no] / P[no | yes]).
    Conditions  two answers, the first of which is the yes; both probabilities above 0 and below 1; one report each. On
                paper, who answers the innocuous question truthfully with that probability must be independent of the
                other answer, and known to nobody: a birthday often is known.
    Noise       a share has variance y (1 - y) / (n truth^2) in a population whose part y says yes.
    Proof       Greenberg, Abul-Ela, Simmons & Horvitz 1969; docs/proofs/local.md.

    A coin, then drug use or a birthday in June, costs ln 13 and not ln 3:

    >>> june = UnrelatedQuestion(Fraction(1, 2), Fraction(1, 12))
    >>> june.worst_ratio, round(float(june.epsilon), 4)
    (Fraction(13, 1), 2.5649)
    """

    name: ClassVar[str] = "unrelated"
    truth: Fraction
    innocuous: Fraction

    def __post_init__(self) -> None:
        for field in ("truth", "innocuous"):
            number = exact(getattr(self, field), "UnrelatedQuestion", field)
            object.__setattr__(self, field, number)
            if not 0 < number < 1:
                raise ValueError(f"UnrelatedQuestion {field} must be > 0 and < 1, got {number}.")

    @property
    def categories(self) -> int:
        return 2

    @property
    def worst_ratio(self) -> Fraction:
        yes, no = self.support_of(_YES), self.support_of(1 - _YES)
        return max(yes.kept / yes.raised, no.kept / no.raised)

    def probability(self, report: Report, answer: int) -> Fraction:
        if report not in ((0,), (1,)):
            return Fraction(0)
        support = self.support_of(report[0])
        return support.kept if report == (answer,) else support.raised

    def draw(self, answer: int, bits: Bits) -> Report:
        if flip(self.truth, bits):
            return (answer,)
        return (_YES if flip(self.innocuous, bits) else 1 - _YES,)

    def reports(self) -> Iterator[Report]:
        return iter(((0,), (1,)))

    @property
    def longest_report(self) -> Report:
        return (1,)

    def supports(self, report: Report, answer: int) -> bool:
        return report == (answer,)

    def support_of(self, answer: int) -> Support:
        by_chance = self.innocuous if answer == _YES else 1 - self.innocuous
        raised = (1 - self.truth) * by_chance
        return Support(self.truth + raised, raised)

    def explain(self, answers: Sequence[str]) -> str:
        yes, no = percent(self.innocuous), percent(1 - self.innocuous)
        by_chance = f"“{answers[0]}” with probability {yes} and “{answers[1]}” with {no}"
        return f"sends your answer with probability {percent(self.truth)}, else {by_chance}, whatever you answered"

    def parameters(self) -> dict[str, str]:
        return {"truth": write_exact(self.truth), "innocuous": write_exact(self.innocuous)}

    @classmethod
    def from_parameters(cls, categories: int, written: Mapping[str, Fraction]) -> Self:  # noqa: ARG003 - always two
        return cls(**written)

    @classmethod
    def for_epsilon(cls, categories: int, epsilon: Number, innocuous: Fraction = Fraction(1, 2)) -> Self:  # noqa: ARG003
        """The rarer of both innocuous answers decides what a report may cost; a fair coin loses least."""
        rarer = min(innocuous, 1 - innocuous)
        raised = (round_odds(epsilon) - 1) * rarer
        return cls(raised / (1 + raised), innocuous)

    @classmethod
    def accepts(cls, categories: int) -> bool:
        return categories == 2
