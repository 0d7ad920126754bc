"""The measured columns of an answer as a page draws them: what is shown of each, and a shared axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adomnia.console.answers.scales import IntervalScale, choose_scale
from adomnia.figures.described import is_intercept
from adomnia.plans.columns import KeyColumn
from adomnia.session.cells import is_never_negative, show_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adomnia.plans.columns import ValueColumn
    from adomnia.session.answer import Answer
    from adomnia.session.cells import ShownColumn

_TERM, _COLUMN = "term", "column"  # what methods call the labels of coefficients, and those of columns of a table


@dataclass(frozen=True)
class MeasuredColumn:
    """A column as it is shown, and the axis that its intervals share.

    `coefficients`: it matters whether an interval holds zero.
    """

    shown: ShownColumn
    scale: IntervalScale | None = None
    coefficients: bool = False


def read_measured(answer: Answer, column: ValueColumn) -> MeasuredColumn:
    """A column of an answer."""
    shown = show_column(answer, column)
    if column.estimate.about is None:
        return MeasuredColumn(shown)
    scale = None
    if _share_a_unit(answer):
        drawn = ~np.isnan(shown.values) & ~_find_intercepts(answer)
        ends = shown.lower[drawn], shown.upper[drawn]
        scale = choose_scale(*ends, from_zero=is_never_negative(column), dates=column.estimate.dates)
    coefficients = [answer.figure.get(part) for part in ("kind", "x", "y")] == ["points", _TERM, column.name]
    return MeasuredColumn(shown, scale, coefficients)


def _share_a_unit(answer: Answer) -> bool:
    """Whether the rows of a column can stand on one axis: not where each row is about a column of its own."""
    own = "own" if answer.figure.get("x") == _COLUMN else "shared"
    return bool(answer.figure.get("scales", own) == "shared")


def _find_intercepts(answer: Answer) -> NDArray[np.bool_]:
    """The rows of constants of models, which have another scale than the others; none, if there is nothing else."""
    terms = next((column for column in answer.typed_columns if column.name == answer.figure.get("x")), None)
    if not isinstance(terms, KeyColumn):
        return np.zeros(len(answer), dtype=bool)
    found = np.array([is_intercept(terms.values[row]) for row in answer.rows], dtype=bool)
    return found if not found.all() else ~found
