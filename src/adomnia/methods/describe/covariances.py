"""The covariance matrix of some columns."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import ClassVar

from adomnia.methods.analysis import keys_of
from adomnia.methods.contract import BY, INFERENCE, Arguments, Frame, Method
from adomnia.methods.parts.describe.column_sums import SPREAD, ColumnSums, column_vector
from adomnia.methods.parts.describe.pair_sums import COLUMNS, COVARIANCE, PairMatrix, PairSums, equal_parts, read_matrix
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Measured, ResultTable


@dataclass(frozen=True)
class Covariances(PairMatrix):
    """The covariance of each pair of columns and the variance of each column, in every group.

    Method      noisy Bernstein sums: of degree four for each column, of degree two for both values of each pair.
    Guarantee   equal parts of the price for each variance and each covariance, composed.
    Bias        clamping.
    Cite        Awan & Slavkovic 2021 (the norm); Fieller 1954 (quotients).
    """

    tag: ClassVar[str] = "Covariances"
    name: ClassVar[str] = "covariances"

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        keys = keys_of(*self.by)
        vectors = (column_vector(each.value, each.domain, SPREAD, absent=False) for each in self.columns)
        return equal_parts([*(Query(self.relation, keys, each) for each in vectors), *self.pair_queries(COVARIANCE)])

    def tabulate(self, *measured: Measured) -> ResultTable:
        alone, together = measured[: len(self.columns)], measured[len(self.columns) :]
        variances = [
            ColumnSums(column.value, column.domain, SPREAD, sums, self.population).variance()
            for column, sums in zip(self.columns, alone, strict=True)
        ]
        pairs = zip(combinations(self.columns, 2), together, strict=True)
        found = [PairSums(*pair, COVARIANCE, sums, self.population).covariance() for pair, sums in pairs]
        return self.fill(variances, found)


def _build(frame: Frame, arguments: Arguments) -> Covariances:
    return Covariances(*read_matrix(frame, arguments, "covariances"))


METHOD = Method(
    "covariances",
    "describe",
    "The covariance matrix of columns.",
    (COLUMNS, BY, INFERENCE),
    _build,
    {"column": "a column", "other": "another, or the same", "estimate": "their covariance, or the variance"},
    "SELECT * FROM covariances((SELECT age, salary FROM people))",
    {"R": "cov", "SAS": "PROC CORR COV", "NumPy": "cov"},
)
