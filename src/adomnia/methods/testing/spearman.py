"""Spearman's rank correlation of two columns."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adomnia.methods.contract import Arguments, Frame, Method
from adomnia.methods.testing.rank_correlation import NOTES, PARAMETERS, Margins, RankCorrelation, read_columns
from adomnia.methods.testing.report import returns
from adomnia.statistics.contract import Floats


@dataclass(frozen=True)
class Spearman(RankCorrelation):
    """Whether the ranks of two columns are correlated.

    Method      noisy counts of a table whose bins hold one value or lie between values chosen by rank; the sum of
                products of the ranks of its bins, over their deviations. Null: the product of both distributions, and
                fresh noise.
    Guarantee   of few values one measurement at the whole price, else three rounds composed.
    Bias        bins: values in one bin count as equal. How far that may change the correlation is in the interval.
    Cite        Spearman 1904; Kaplan, Schnapp & Stemmer 2022 (the choice); Ferrando, Wang & Sheldon 2022.
    """

    tag: ClassVar[str] = "Spearman"
    name: ClassVar[str] = "spearman"

    @staticmethod
    def correlate(table: Floats, margins: Margins) -> tuple[Floats, Floats]:
        first, second = margins
        products = np.einsum("...i,...ij,...j->...", first.scores, table, second.scores)
        between = first.between * second.between
        return products * np.sqrt(first.all * second.all) / between, products / np.sqrt(between)


def build(frame: Frame, arguments: Arguments) -> Spearman:
    """The test that the arguments ask for."""
    relation, column, other = read_columns(frame, arguments, "spearman")
    return Spearman(relation, arguments["by"], column, other, arguments["bins"], arguments["alternative"])


METHOD = Method(
    name="spearman",
    chapter="testing",
    summary="Tests whether the ranks of two columns are correlated (Spearman).",
    parameters=PARAMETERS,
    build=build,
    returns=returns("Spearman's rank correlation"),
    example="SELECT * FROM spearman(people, column => age, other => salary)",
    elsewhere={"R": 'cor.test(method = "spearman")', "SAS": "PROC CORR SPEARMAN", "SciPy": "spearmanr"},
    notes=NOTES,
)
