"""Tables of several sets of columns, one below the other: in each line a value of every column, or all of them."""

from collections.abc import Sequence
from math import inf, log, prod, sqrt
from statistics import NormalDist

import numpy as np

from adomnia.methods.parts.describe.error_laws import left_open
from adomnia.methods.synthesis.agreeing import Agreement
from adomnia.methods.synthesis.attributes import MISSING
from adomnia.methods.synthesis.residuals import Columns, Residuals
from adomnia.privacy.keys import Label
from adomnia.statistics.contract import Bounds, Estimate, Fact
from adomnia.statistics.products import Attribute, Tails

ALL = "(all)"


def list_labels(attributes: Sequence[Attribute], tables: Sequence[Columns]) -> dict[str, tuple[Label, ...]]:
    """The value of every column in each line, in words."""
    return {each.name: _list_values(attributes, place, tables) for place, each in enumerate(attributes)}


def _list_values(attributes: Sequence[Attribute], own: int, tables: Sequence[Columns]) -> tuple[str, ...]:
    words = (*map(word, attributes[own].levels), ALL)
    found: list[str] = []
    for columns in tables:
        cells = prod(len(attributes[column]) for column in columns)
        if own not in columns:
            found += words[-1:] * cells
            continue
        after = prod(len(attributes[column]) for column in columns if column > own)
        once = [each for each in words[:-1] for _ in range(after)]
        found += once * (cells // len(once))
    return tuple(found)


def word(level: Label | None) -> str:
    """A value as it is written beside others of its column."""
    if level is None:
        return MISSING
    return str(level).lower() if isinstance(level, bool) else str(level)


def estimate_cells(estimates: Residuals, tables: Sequence[Columns], tails: Tails, step: float) -> Estimate:
    """The counts of all cells, each with the known variance of its noise, which is in whole steps of that size."""
    values = np.concatenate([estimates.marginal(columns).ravel() for columns in tables])
    sizes = [prod(estimates.sizes[column] for column in columns) for columns in tables]
    deviations = np.repeat([sqrt(estimates.variance(columns)) for columns in tables], sizes)

    def interval(confidence: float, cells: int) -> Bounds:
        # Half a step more: the quantiles are of continuous laws, and what lies on their ends is missed as a whole.
        reach = deviations * count_deviations(left_open(confidence, cells), tails) + step / 2
        return values - reach, values + reach

    method = "sum of noisy contrasts by least squares"
    return Estimate(values, interval, method, limits=(0.0, inf))


def count_deviations(missed: float, tails: Tails) -> float:
    """So many standard deviations a sum of noises stays within, but for that probability.

    Sums of Laplace noises are between one such noise and a normal one: what reaches further holds for all of them.
    Intervals that hold one by one hold together at least as often as if their noises were independent (Sidak 1967),
    also for these, which are normal noises of scales that are independent.
    """
    normal = -NormalDist().inv_cdf(missed / 2)
    return max(normal, log(1 / missed) / sqrt(2)) if tails == "laplace" else normal


def list_whole(found: Agreement | None, tables: Sequence[Columns], lines: int) -> list[Fact]:
    """The whole numbers in the same order; None in each line where there are none."""
    if found is None or not found.tables:
        return [None] * lines
    whole: list[Fact] = np.concatenate([found.tables[columns].ravel() for columns in tables]).tolist()
    return whole
