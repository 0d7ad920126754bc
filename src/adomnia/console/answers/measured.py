"""The measured columns of an answer, as they are shown: numbers, ends that stop where they must, and a shared axis."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from adomnia.console.answers.scales import IntervalScale, choose_scale
from adomnia.figures.described import is_intercept
from adomnia.plans.columns import KeyColumn, ValueColumn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adomnia.session.answer import Answer
    from adomnia.statistics.contract import Floats

_TERM, _COLUMN = "term", "column"  # what methods call the labels of coefficients, and those of columns of a table


@dataclass(frozen=True)
class MeasuredColumn:
    """The numbers of a column in the rows of an answer: what was released, and what of it is shown where it differs.

    `alone`: no interval was bought. `coefficients`: it matters whether an interval holds zero.
    """

    values: Floats
    lower: Floats
    upper: Floats
    silent: NDArray[np.bool_]
    shown: Floats
    shown_lower: Floats
    scale: IntervalScale | None = None
    whole: bool = False
    dates: bool = False
    alone: bool = False
    coefficients: bool = False


def read_measured(answer: Answer, column: ValueColumn) -> MeasuredColumn:
    """A column of an answer."""
    estimate, rows = column.estimate, answer.rows
    values = np.asarray(estimate.values, dtype=np.float64).ravel()[rows]
    whole, dates = estimate.whole, estimate.dates
    if estimate.about is None:
        silent = np.zeros(len(rows), dtype=bool)
        return MeasuredColumn(values, values, values, silent, values, values, None, whole, dates, alone=True)
    lower, upper = (np.asarray(end, dtype=np.float64).ravel()[rows] for end in estimate.interval(answer.confidence, 1))
    silent, from_zero = find_uninformative(answer, column), (estimate.possible or (-inf, inf))[0] == 0
    # Ends of counts stop at 0; an interval that is all below it shows that the noise was unusually large.
    stopped = from_zero & (upper >= 0)
    shown, shown_lower = (np.where(stopped, np.maximum(each, 0.0), each) for each in (values, lower))
    drawn = ~silent & ~np.isnan(values) & ~_find_intercepts(answer)
    scale = None
    if _share_a_unit(answer):
        scale = choose_scale(shown_lower[drawn], upper[drawn], from_zero=from_zero, dates=dates)
    coefficients = [answer.figure.get(part) for part in ("kind", "x", "y")] == ["points", _TERM, column.name]
    numbers = (values, lower, upper, silent, shown, shown_lower)
    return MeasuredColumn(*numbers, scale, whole, dates, coefficients=coefficients)


def _share_a_unit(answer: Answer) -> bool:
    """Whether the rows of a column can stand on one axis: not where each row is about a column of its own."""
    own = "own" if answer.figure.get("x") == _COLUMN else "shared"
    return bool(answer.figure.get("scales", own) == "shared")


def _find_intercepts(answer: Answer) -> NDArray[np.bool_]:
    """The rows of constants of models, which have another scale than the others; none, if there is nothing else."""
    terms = next((column for column in answer.columns if column.name == answer.figure.get("x")), None)
    if not isinstance(terms, KeyColumn):
        return np.zeros(len(answer), dtype=bool)
    found = np.array([is_intercept(terms.values[row]) for row in answer.rows], dtype=bool)
    return found if not found.all() else ~found


def find_uninformative(answer: Answer, column: ValueColumn) -> NDArray[np.bool_]:
    """A flag for each row of the answer; what has no value at all is not among them."""
    lowest, highest = column.estimate.possible or (-inf, inf)
    lower, upper = column.estimate.interval(answer.confidence, 1)
    known = np.isnan(column.estimate.values) | (lowest == highest)  # nothing, or the one number that is possible
    silent = (lower <= lowest) & (upper >= highest) & ~known
    found: NDArray[np.bool_] = np.broadcast_to(silent, np.shape(column.estimate.values)).ravel()[answer.rows]
    return found
