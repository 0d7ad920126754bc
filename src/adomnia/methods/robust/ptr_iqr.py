"""The interquartile range by propose-test-release."""

from dataclasses import dataclass
from math import inf, nan
from typing import ClassVar

import numpy as np

from adomnia.messages.texts import define_note
from adomnia.methods.contract import Arguments, Frame, Method, NumberColumn, Parameter
from adomnia.methods.parts.describe.cuts import is_whole
from adomnia.methods.parts.describe.noisy_ratios import DATA
from adomnia.methods.parts.robust.proposals import (
    NOT_REPLIED,
    QUARTILES,
    Allowance,
    Flow,
    ProposalReply,
    Proposing,
    ask,
    propose_levels,
)
from adomnia.privacy.events import Price
from adomnia.statistics.contract import Bounds, Estimate, ResultTable, Steps

NO_STEP = define_note(
    "quartiles_in_one_step",
    "The quartiles are less than one step of the grid apart, as far as noise lets one see: many rows have one value.",
)
GIVEN_A_REPLY = define_note(
    "interval_given_reply", "Intervals hold as often as they say among answers that have a value; some have none."
)


@dataclass(frozen=True)
class PtrIqr(Proposing):
    """The distance between the first and the third quartile, where few people could have moved it far.

    Method      a noisy number of rows; from it a bound on the exponent of the distance, as normal data of that many
                rows would keep; the exponent with noise for that bound, if a noisy test says that the data keeps it.
    Guarantee   the two rounds composed: (epsilon, delta)-differential privacy.
    Bias        clamping, and half a level of rounding the exponent.
    Cite        Dwork & Lei 2009.
    """

    tag: ClassVar[str] = "PtrIqr"
    name: ClassVar[str] = "ptr_iqr"

    def steps(self, price: Price) -> Steps:
        rows, left = yield from self.count_rows(price)
        reply = yield from find_scale(self, rows, left)
        return self._tabulate(ReleasedScale(self.column, reply))

    def _tabulate(self, scale: "ReleasedScale") -> ResultTable:
        estimate = Estimate(np.array([scale.value]), scale.bounds, "an exponent with Laplace noise, if a test passes")
        notes = [DATA, GIVEN_A_REPLY]
        if scale.reply.value is None:
            notes.append(NOT_REPLIED(what="interquartile range", instead="iqr"))
        elif scale.reply.value <= 0:
            notes.append(NO_STEP)
        figure = {"kind": "points", "x": "column", "y": "estimate"}
        return ResultTable({"column": (self.column.name,)}, {"estimate": estimate}, tuple(notes), figure)


def find_scale(asked: Proposing, rows: float, allowance: Allowance) -> Flow[ProposalReply]:
    """One round: the level of the distance between the quartiles, or no reply."""
    size, price = asked.column.domain.width + 1, allowance.whole
    bound, ratio = propose_levels(size, asked.relation.rows_per_person, rows, price)
    return ask(asked.propose(price, QUARTILES, bound, ratio))


@dataclass(frozen=True)
class ReleasedScale:
    """The distance between quartiles that a reply tells: its level is 1 + the greatest j of ratio**j <= distance."""

    column: NumberColumn
    reply: ProposalReply

    @property
    def _ratio(self) -> float:
        return float(self.reply.mechanism.statistic.ratio)  # type: ignore[union-attr]  # of levels

    @property
    def value(self) -> float:
        """The middle of its level; no number without a reply, and 0 below one step of the grid."""
        if self.reply.value is None:
            return nan
        return self._number(self._steps(self.reply.value - 0.5)) if self.reply.value > 0 else 0.0

    def bounds(self, confidence: float, cells: int) -> Bounds:
        """What distances the noise allows for: from the least one of a level to the least one of the level after."""
        if self.reply.value is None:
            return np.array([-inf]), np.array([inf])
        far = self.reply.half_width(confidence, cells)
        low, high = self.reply.value - far, self.reply.value + far
        # Each quartile was rounded to the nearest step.
        off = 0.0 if is_whole(self.column.value, self.column.domain) else 1.0
        least = self._steps(low - 1) - off if low > 0 else 0.0
        most = self._steps(high) + off if high > 0 else off
        return np.array([self._number(least)]), np.array([self._number(most)])

    def _steps(self, exponent: float) -> float:
        top = self.reply.mechanism.statistic.top
        return float(self._ratio ** min(exponent, top + 1.0))

    def _number(self, steps: float) -> float:
        width = self.column.domain.width
        return float(min(max(steps, 0.0), width) * self.column.domain.step)


def _build(frame: Frame, arguments: Arguments) -> PtrIqr:
    return PtrIqr(frame.relation, arguments["column"])


METHOD = Method(
    "ptr_iqr",
    "robust",
    "The interquartile range of a column by propose-test-release: with a delta, and sometimes without a reply.",
    (Parameter("column", "column", "the numbers", required=True),),
    _build,
    {"column": "which column", "estimate": "the distance between the first and the third quartile"},
    "SELECT * FROM ptr_iqr(people, column => salary)",
    {"R": "IQR", "SciPy": "stats.iqr"},
    ("It needs `delta=` beside its price. `iqr` needs none, always replies, and is nearer to the truth on most data.",),
)
