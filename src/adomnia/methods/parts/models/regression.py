"""What regressions have in common: a formula, the noisy sums of its products, and rows that are complete."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Self

import numpy as np

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


@dataclass(frozen=True)
class TermTest:
    """What one term adds to those before it."""

    sum_of_squares: float | None
    statistic: float | None
    p_value: float | None


@dataclass(frozen=True)
class VarianceTable:
    """The tests of all terms, from one set of noisy sums."""

    full: LeastSquares
    ends: tuple[tuple[int, int], ...]  # of each term's columns

    @cached_property
    def tests(self) -> tuple[TermTest, ...]:
        return tuple(self._test(*end) for end in self.ends)

    def _test(self, start: int, end: int) -> TermTest:
        """The score test of a term in the model that it is the last of; without noise it is the F test.

        It looks at the products of the term's columns, less what the columns before explain of them, with the residuals
        of the model without the term. Nothing is divided by what little data a level may have.
        """
        before, products = LeastSquares(self.full.products, start), self.full.products
        if not np.all(before.identified):
            return TermTest(None, None, None)
        own = self.full.directions[:, start:end]
        own = own - before.directions @ (before.inverse @ (before.directions.T @ products.matrix @ own))
        sizes, vectors = np.linalg.eigh(own.T @ products.matrix @ own)
        own, sizes = own @ vectors, np.maximum(sizes, 0.0)
        scores = own.T @ products.matrix @ before.residual
        noises = products.noises_of_products(own, before.residual)
        noise = noises @ noises.T
        sampling = np.diag(sizes) if products.squares is None else products.spread_scores(own)
        inverse = np.linalg.inv(self.full.variance * sampling + self.full.widen_scores(own) + noise)
        squared = max(0.0, float(scores @ inverse @ scores))
        seen = sizes > 2 * np.sqrt(np.trace(noise))
        squares = float(np.sum((scores[seen] ** 2 - np.diagonal(noise)[seen]) / sizes[seen]))
        shares = np.sum(noises * (inverse @ noises), axis=0)  # of each noise in the square
        variance = 2 * (end - start) + products.kurtosis * float(shares @ shares)
        p_value = tail_of_square(squared, end - start, variance, self.full.degrees_of_freedom)
        return TermTest(max(0.0, squares) * products.plan.halves[-1] ** 2, squared / (end - start), p_value)


def tail_of_square(squared: float, mean: float, variance: float, freedom: float) -> float:
    """How often a square of that mean and variance is larger, whose divisor has so many degrees of freedom.

    Normal scores have a variance of twice the mean. Heavier tails have more: then it is like a multiple of a square of
    fewer scores (Satterthwaite 1946).
    """
    from scipy.special import fdtrc

    multiple = variance / (2 * mean)
    return float(fdtrc(mean / multiple, freedom, squared / mean))


def find_overall_test(fit: LeastSquares, *, intercept: bool) -> tuple[TermTest, int]:
    """The test that all coefficients but the intercept are 0, and how many these are: without noise the F test."""
    terms = fit.chosen - intercept
    return (
        VarianceTable(fit, ((int(intercept), fit.chosen),)).tests[0] if terms else TermTest(None, None, None)
    ), terms
