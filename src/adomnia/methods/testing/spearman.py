"""Spearman's rank correlation of two columns."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adomnia.methods.contract import Arguments, Frame, Method
from adomnia.methods.parts.testing.rank_correlation import (
    NOTES,
    PARAMETERS,
    Margin,
    Margins,
    RankCorrelation,
    read_columns,
)
from adomnia.methods.parts.testing.report import returns
from adomnia.statistics.contract import Floats

_PARTS = 8  # that a bin of several values is taken to have
_TERMS = 80  # of Mehler's series
_CORRELATIONS = np.linspace(-1.0, 1.0, 201)  # of the normal values


@dataclass(frozen=True)
class Spearman(RankCorrelation):
    """Whether the ranks of two columns are correlated.

    Method      noisy counts of a table whose bins hold one value or lie between values chosen by rank; the sum of
                products of the ranks of its bins, over their deviations. Null: the product of both distributions, and
                fresh noise.
    Guarantee   of few values one measurement at the whole price, else three rounds composed.
    Bias        bins: values in one bin count as equal. How far that may change the correlation is in the interval: if
                it is weak, if one column follows from the other, and if both are ranks of normal values.
    Cite        Spearman 1904; Kaplan, Schnapp & Stemmer 2022 (the choice); Ferrando, Wang & Sheldon 2022; Lancaster
                1957 (normal values in bins, by Mehler's series).
    """

    tag: ClassVar[str] = "Spearman"
    name: ClassVar[str] = "spearman"

    @staticmethod
    def correlate(table: Floats, margins: Margins) -> tuple[Floats, Floats]:
        first, second = margins
        products = np.einsum("...i,...ij,...j->...", first.scores, table, second.scores)
        between = first.between * second.between
        return products * np.sqrt(first.all * second.all) / between, products / np.sqrt(between)

    @staticmethod
    def list_candidates(found: Floats, margins: Margins) -> Floats:
        """One more: that of normal values, of which bins hide less than weak correlations say, but for the strongest.

        Few bins hide the corners of the table, where middling correlations are seen.
        """
        binned, all_ranks = (_rank_normal(*each) for each in (margins, (_split(margins[0]), _split(margins[1]))))
        return np.concatenate([found, np.interp(found[1], binned, all_ranks)[None]])


def _split(margin: Margin) -> Margin:
    """Bins of several values in equal parts."""
    parts = np.where(margin.tied, 1, _PARTS)
    return Margin(np.repeat(margin.shares / parts, parts), (True,) * int(parts.sum()))


def _rank_normal(first: Margin, second: Margin) -> Floats:
    """The rank correlations of normal values in such bins, by their correlation: they rise with it."""
    products = _expand(first) * _expand(second)
    found = (_CORRELATIONS[:, None] ** np.arange(1, _TERMS + 1)) @ products / np.sqrt(first.between * second.between)
    return np.asarray(np.maximum.accumulate(found))


def _expand(margin: Margin) -> Floats:
    """The coefficients of the rank of a normal value's bin over Hermite polynomials, but for the constant one."""
    from scipy.special import ndtri  # slow to import

    cuts, jumps = ndtri(np.clip(np.cumsum(margin.shares)[:-1], 0.0, 1.0)), np.diff(margin.scores)
    inside = np.isfinite(cuts)
    cuts, found = cuts[inside], np.empty(_TERMS)
    before, weight = np.zeros_like(cuts), jumps[inside] * np.exp(-(cuts**2) / 2) / np.sqrt(2 * np.pi)
    polynomial = np.ones_like(cuts)
    for term in range(_TERMS):
        found[term] = (weight * polynomial).sum() / np.sqrt(term + 1)
        before, polynomial = polynomial, (cuts * polynomial - np.sqrt(term) * before) / np.sqrt(term + 1)
    return found


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
    known_as={"R": 'cor.test(method = "spearman")', "SAS": "PROC CORR SPEARMAN", "SciPy": "spearmanr"},
    notes=NOTES,
)
