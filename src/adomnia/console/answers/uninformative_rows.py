"""Which rows of a column say nothing: those whose interval is all that is possible, as far as that is known."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adomnia.plans.columns import ValueColumn
    from adomnia.session.answer import Answer


def find_uninformative(answer: Answer, column: ValueColumn) -> NDArray[np.bool_]:
    """A flag for each row of the answer; what has no value at all is not among them."""
    lowest, highest = column.estimate.possible or (-inf, inf)
    lower, upper = column.estimate.interval(answer.confidence, 1)
    known = np.isnan(column.estimate.values) | (lowest == highest)  # nothing, or the one number that is possible
    silent = (lower <= lowest) & (upper >= highest) & ~known
    found: NDArray[np.bool_] = np.broadcast_to(silent, np.shape(column.estimate.values)).ravel()[answer.rows]
    return found
