"""Kendall's rank correlation of two columns."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adomnia.methods.contract import Arguments, Frame, Method
from adomnia.methods.parts.testing.rank_correlation import NOTES, PARAMETERS, Margins, RankCorrelation, read_columns
from adomnia.methods.parts.testing.report import returns
from adomnia.statistics.contract import Floats


@dataclass(frozen=True)
class Kendall(RankCorrelation):
    """Whether pairs of rows are in the same order by both columns.

    Method      noisy counts of a table whose bins hold one value or lie between values chosen by rank; pairs of rows in
                the same order by both columns less those in the opposite order, over those without ties (tau-b). Null:
                the product of both distributions, and fresh noise.
    Guarantee   of few values one measurement at the whole price, else three rounds composed.
    Bias        bins: values in one bin count as equal. How far that may change the correlation is in the interval.
    Cite        Kendall 1945; Kaplan, Schnapp & Stemmer 2022 (the choice); Ferrando, Wang & Sheldon 2022.
    """

    tag: ClassVar[str] = "Kendall"
    name: ClassVar[str] = "kendall"

    @staticmethod
    def correlate(table: Floats, margins: Margins) -> tuple[Floats, Floats]:
        first, second = margins
        ordered = _order(table)
        hidden = first.all * second.all / (first.between * second.between)
        weak = ordered * hidden / np.sqrt(first.untied(within=True) * second.untied(within=True))
        return weak, ordered / np.sqrt(first.untied(within=False) * second.untied(within=False))


def _order(table: Floats) -> Floats:
    """The share of pairs that both columns put in the same order, less of those in the opposite one.

    All are products of two cells, whose noises are independent: right on average.
    """
    rows = np.cumsum(table, axis=-2) - table  # of each column of the table, what is above
    below, upto = np.cumsum(rows, axis=-1) - rows, np.cumsum(rows, axis=-1)
    found: Floats = 2 * (table * (below + upto - rows.sum(axis=-1, keepdims=True))).sum(axis=(-1, -2))
    return found


def build(frame: Frame, arguments: Arguments) -> Kendall:
    """The test that the arguments ask for."""
    relation, column, other = read_columns(frame, arguments, "kendall")
    return Kendall(relation, arguments["by"], column, other, arguments["bins"], arguments["alternative"])


METHOD = Method(
    name="kendall",
    chapter="testing",
    summary="Tests whether two columns put rows in the same order (Kendall's tau-b).",
    parameters=PARAMETERS,
    build=build,
    returns=returns("Kendall's tau-b"),
    example="SELECT * FROM kendall(people, column => age, other => salary)",
    known_as={"R": 'cor.test(method = "kendall")', "SAS": "PROC CORR KENDALL", "SciPy": "kendalltau"},
    notes=NOTES,
)
