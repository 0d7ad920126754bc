"""Warner's design: the truth with some probability, else its opposite."""

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


@dataclass(frozen=True)
class Warner(ResponseDesign):
    """Of two answers, the true one with probability `truth`, else the other one.

    Guarantee   epsilon = ln(truth / (1 - truth)), of one respondent, whichever of both answers is theirs.
    Conditions  two answers; 1/2 < truth < 1; each respondent reports once.
    Noise       a count of n people has variance n truth (1 - truth) / (2 truth - 1)^2, whatever the answers are.
    Proof       Warner 1965; docs/proofs/local.md.

    >>> round(float(Warner(Fraction(2, 3)).epsilon), 4)
    0.6931
    """

    name: ClassVar[str] = "warner"
    truth: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "truth", exact(self.truth, "Warner", "truth"))
        if not Fraction(1, 2) < self.truth < 1:
            raise ValueError(f"Warner truth must be > 1/2 and < 1, got {self.truth}.")

    @property
    def categories(self) -> int:
        return 2

    @property
    def worst_ratio(self) -> Fraction:
        return self.truth / (1 - self.truth)

    def probability(self, report: Report, answer: int) -> Fraction:
        if report not in ((0,), (1,)):
            return Fraction(0)
        return self.truth if report == (answer,) else 1 - self.truth

    def draw(self, answer: int, bits: Bits) -> Report:
        return (answer if flip(self.truth, bits) else 1 - answer,)

    def reports(self) -> Iterator[Report]:
        return iter(((0,), (1,)))

    @property
    def longest_report(self) -> Report:
        return (1,)

    def supports(self, report: Report, answer: int) -> bool:
        return report == (answer,)

    def support_of(self, answer: int) -> Support:  # noqa: ARG002 - both answers have one distribution
        return Support(self.truth, 1 - self.truth)

    def explain(self, answers: Sequence[str]) -> str:
        truth, lie = percent(self.truth), percent(1 - self.truth)
        return (
            f"sends your answer with probability {truth}, and the other of “{answers[0]}” and “{answers[1]}” with {lie}"
        )

    def parameters(self) -> dict[str, str]:
        return {"truth": write_exact(self.truth)}

    @classmethod
    def from_parameters(cls, categories: int, written: Mapping[str, Fraction]) -> Self:  # noqa: ARG003 - always two
        return cls(**written)

    @classmethod
    def for_epsilon(cls, categories: int, epsilon: Number) -> Self:  # noqa: ARG003 - always two
        odds = round_odds(epsilon)
        return cls(odds / (1 + odds))

    @classmethod
    def accepts(cls, categories: int) -> bool:
        return categories == 2
