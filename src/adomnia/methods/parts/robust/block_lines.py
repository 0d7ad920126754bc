"""The line of least squares within each block of people, as rows of a relation."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar

from adomnia.methods.contract import NumberColumn
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression, call, number
from adomnia.privacy.keys import Blocks
from adomnia.privacy.relations import OwnValue, PerBlock, Relation, Select, Selected, Where
from adomnia.privacy.scans import Average, OwnSpread

_STEP = Fraction(1, 2**30)  # of the bounds: what is multiplied is rounded to it, and stays exact over 2**48 rows
_STILL = Fraction(1, 2**40)  # variance of the predictor, in squared bounds, at which rounding would be the slope
_SLOPE, _INTERCEPT = "slope", "intercept"


@dataclass(frozen=True)
class BlockLines:
    """Rows of blocks, each with the slope and the intercept of its line; a block whose predictor is still has none.

    Both columns are scaled to run from 0 to 1 within their bounds. Four times their covariance is the variance of their
    sum less that of their difference, each made of exact integers.
    """

    tag: ClassVar[str] = "BlockLines"
    response: NumberColumn
    predictor: NumberColumn
    slopes: Numbers

    def rows(self, relation: Relation, blocks: int) -> Relation:
        """One row for each block that has a line."""
        inside = PerBlock(relation, Blocks(blocks), self._outputs)
        spread, together, apart, mean, level = inside.columns
        scale = number(_width(self.response) / (4 * _width(self.predictor)))
        slope = call("*", call("/", call("-", together, apart), spread), scale)
        intercept = call("-", level, call("*", slope, mean))
        moving = Where(inside, call(">", spread, number(_STILL)))
        return Select(moving, (Selected(_SLOPE, slope), Selected(_INTERCEPT, intercept)))

    @property
    def _outputs(self) -> tuple[OwnValue, ...]:
        x, y = (_scale(each) for each in (self.predictor, self.response))
        return (
            OwnValue("spread", _vary(x, 0, 1)),
            OwnValue("together", _vary(call("+", x, y), 0, 2)),
            OwnValue("apart", _vary(call("-", x, y), -1, 1)),
            OwnValue("mean", Average(self.predictor.value, self.predictor.domain)),
            OwnValue("level", Average(self.response.value, self.response.domain)),
        )

    def coefficients(self, rows: Relation) -> tuple[NumberColumn, NumberColumn]:
        """The intercept and the slope as columns of such rows, each within its bounds."""
        slope, intercept = rows.columns
        return NumberColumn("(Intercept)", intercept, self.intercepts), NumberColumn(
            self.predictor.name, slope, self.slopes
        )

    @property
    def intercepts(self) -> Numbers:
        """Where lines of such slopes that meet the bounds of both columns may be at zero."""
        x, y = self.predictor.domain, self.response.domain
        rises = [one * other for one, other in product((self.slopes.lower, self.slopes.upper), (x.lower, x.upper))]
        return Numbers.bounded(y.lower - max(rises), y.upper - min(rises))


def _width(column: NumberColumn) -> Fraction:
    return column.domain.upper - column.domain.lower


def _scale(column: NumberColumn) -> Expression:
    """From 0 to 1 within its bounds; what is beyond them is clamped before it is added to another."""
    lower = number(column.domain.lower)
    clamped = call("clamp", column.value, lower, number(column.domain.upper))
    return call("/", call("-", clamped, lower), number(_width(column)))


def _vary(value: Expression, lower: int, upper: int) -> OwnSpread:
    return OwnSpread(value, Numbers.bounded(lower, upper, _STEP), root=False, sample=False)
