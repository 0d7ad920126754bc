"""What regressions have in common: a formula, the noisy sums of its products, and rows that are complete."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Self

from adomnia.errors import Refusal
from adomnia.methods.analysis import SingleRound
from adomnia.methods.contract import Arguments, BadArgument, Factor, Frame, NumberColumn, Parameter
from adomnia.methods.parts.models.design import Design, build_design
from adomnia.methods.parts.models.least_squares import LeastSquares
from adomnia.methods.parts.models.sums import SumsOfProducts
from adomnia.privacy.events import Price, Pure
from adomnia.privacy.kinds import LATER
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Measured
from adomnia.work import spend

_PRODUCTS_OF_A_STEP = 15_000  # of numbers: how long it takes to tell the noise of each direction
_KEPT = 64  # regressions whose queries are remembered: a question is priced, explained and asked

FORMULA = Parameter("formula", "formula", "what explains what, as in R: salary ~ age + C(city)", required=True)


@dataclass(frozen=True)
class Regression(SingleRound):
    """An analysis of the sums of products of a design.

    `laplace` says for which noise the sums are chosen; either can be bought with any price.
    """

    relation: Relation
    by: tuple[Factor, ...]
    design: Design
    population: bool = False
    laplace: bool = True
    weights: NumberColumn | None = field(default=None, metadata={LATER: True})

    @cached_property
    def sums(self) -> SumsOfProducts:
        """What is measured."""
        return SumsOfProducts(self.design, self.laplace, self.weights)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return _divide(self.sums, self.relation, self.by)

    @property
    def fits(self) -> int:
        """How many models of that size are fitted, in their work."""
        return 1

    def specialize_for(self, price: Price) -> Self:
        return replace(self, laplace=isinstance(price, Pure))

    def fit(self, measured: tuple[Measured, ...]) -> LeastSquares:
        """The fit of all columns."""
        spend(self.fits * (len(self.design.columns) * self.sums.size) ** 2 // _PRODUCTS_OF_A_STEP)
        return LeastSquares(self.sums.read(*measured), len(self.design.columns))


@lru_cache(maxsize=_KEPT)
def _divide(sums: SumsOfProducts, relation: Relation, by: tuple[Factor, ...]) -> tuple[tuple[Query, Fraction], ...]:
    """The same queries for the same question: their sensitivities are worked out once."""
    return sums.shares(relation, by)


def read_rows(frame: Frame, arguments: Arguments) -> tuple[Relation, tuple[Factor, ...], Design]:
    """The complete rows, the groups and the design that the arguments of a regression name."""
    design = build_design(arguments["formula"], frame)
    by: tuple[Factor, ...] = arguments.get("by") or ()
    for factor in by:
        if factor in design.factors or any(factor.name == number.name for number in design.numbers):
            why = f"names {factor.name}, which is the same in all rows of a group"
            raise BadArgument("by", why, f"leave {factor.name} out of the formula or out of by")
    return design.complete_cases(frame.relation), by, design


def is_about_population(frame: Frame, arguments: Arguments, method: str) -> bool:
    """Whether intervals are about the population, which rows of the same person tell less of than others."""
    if arguments["inference"] != "population":
        return False
    if frame.relation.rows_per_person > 1:
        why = "takes rows for independent, and a person may have several here"
        fix = "reduce them to one row a person in the SELECT, or write inference => 'data'"
        raise Refusal(f"{method} about the population", why, fix, code="rows_per_person")
    return True
