"""The correlation matrix of some columns."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np

from adomnia.methods.contract import BY, INFERENCE, Arguments, Frame, Method
from adomnia.methods.describe.matrices import COLUMNS, PairMatrix, equal_parts, read_matrix
from adomnia.methods.describe.pair_sums import CORRELATION, PairSums
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Estimate, Measured, ResultTable


@dataclass(frozen=True)
class Correlations(PairMatrix):
    """Pearson's correlation of each pair of columns, in every group.

    Method      noisy Bernstein sums of degree four in both values of each pair: the fourth moments tell how exact a
                sample's correlation is, whatever the law of the values.
    Guarantee   equal parts of the price for each pair, composed.
    Bias        clamping, and rounding values to 1/128 to 1/256 of their range.
    Cite        Awan & Slavkovic 2021 (the norm); Fieller 1954 (quotients).
    """

    tag: ClassVar[str] = "Correlations"
    name: ClassVar[str] = "correlations"

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return equal_parts(self.pair_queries(CORRELATION))

    def tabulate(self, *measured: Measured) -> ResultTable:
        pairs = zip(combinations(self.columns, 2), measured, strict=True)
        found = [PairSums(*pair, CORRELATION, sums, self.population).correlation() for pair, sums in pairs]
        one = np.ones(1)
        itself = Estimate(one, lambda *_: (one, one), "always 1")
        return self.fill([itself] * len(self.columns), found)


def _build(frame: Frame, arguments: Arguments) -> Correlations:
    return Correlations(*read_matrix(frame, arguments, "correlations"))


METHOD = Method(
    "correlations",
    "describe",
    "The correlation matrix of columns.",
    (COLUMNS, BY, INFERENCE),
    _build,
    {"column": "a column", "other": "another, or the same", "estimate": "their correlation"},
    "SELECT * FROM correlations((SELECT age, salary FROM people))",
    {"R": "cor", "SAS": "PROC CORR", "NumPy": "corrcoef"},
)
