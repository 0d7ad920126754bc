"""The correlation matrix of some columns."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np

from adomnia.methods.contract import BY, INFERENCE, Arguments, Frame, Method
from adomnia.methods.parts.describe.pair_sums import (
    COLUMNS,
    CORRELATION,
    COVARIANCE,
    PairMatrix,
    PairSums,
    equal_parts,
    read_matrix,
)
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Estimate, Measured, ResultTable


@dataclass(frozen=True)
class Correlations(PairMatrix):
    """Pearson's correlation of each pair of columns, in every group.

    Method      noisy Bernstein sums of degree four in both values of each pair: the fourth moments tell how exact a
                sample's correlation is, whatever the distribution of the values. Of the data alone, of degree two.
    Guarantee   equal parts of the price for each pair, composed.
    Bias        clamping; of the population, what rounding values to 1/128 to 1/256 of their range leaves once its
                variance is taken off.
    Cite        Awan & Slavkovic 2021 (the norm); Fieller 1954 (quotients); Sheppard 1898 (rounding).
    """

    tag: ClassVar[str] = "Correlations"
    name: ClassVar[str] = "correlations"
    rules: ClassVar[int] = 2  # of the data alone by degree two, on a finer grid

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return equal_parts(self.pair_queries(self._degree))

    @property
    def _degree(self) -> int:
        return CORRELATION if self.population else COVARIANCE

    def tabulate(self, *measured: Measured) -> ResultTable:
        pairs = zip(combinations(self.columns, 2), measured, strict=True)
        found = [PairSums(*pair, self._degree, sums, self.population).correlation() for pair, sums in pairs]
        one = np.ones(1)
        itself = Estimate(one, lambda *_: (one, one), "always 1", limits=(1.0, 1.0))
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
