"""Tables of several sets of columns, one below the other: in each line a value of every column, or all of them."""

from collections.abc import Sequence
from math import inf, prod, sqrt

import numpy as np

from adomnia.distributions.margins import margin
from adomnia.mechanisms.contract import Tails, find_alpha
from adomnia.methods.synthesis.agreeing import Agreement
from adomnia.methods.synthesis.attributes import MISSING
from adomnia.methods.synthesis.residuals import Columns, Residuals
from adomnia.privacy.keys import Label
from adomnia.statistics.contract import Bounds, Estimate, Fact
from adomnia.statistics.products import Attribute

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
        # Half a step more: quantiles are of continuous distributions, and what lies on their ends is missed as a whole.
        reach = deviations * margin(tails, find_alpha(confidence, cells)) + step / 2
        return values - reach, values + reach

    method = "sum of noisy contrasts by least squares"
    return Estimate(values, interval, method, limits=(0.0, inf))


def list_whole(found: Agreement | None, tables: Sequence[Columns], lines: int) -> list[Fact]:
    """The whole numbers in the same order; None in each line where there are none."""
    if found is None or not found.tables:
        return [None] * lines
    whole: list[Fact] = np.concatenate([found.tables[columns].ravel() for columns in tables]).tolist()
    return whole
