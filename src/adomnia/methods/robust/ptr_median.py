"""The median by propose-test-release."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import inf, nan
from typing import ClassVar

import numpy as np

from adomnia.messages.texts import NoteTemplate, define_note
from adomnia.methods.contract import Arguments, BadArgument, Frame, Method, NumberColumn, Parameter
from adomnia.methods.parts.describe.cuts import is_whole
from adomnia.methods.parts.describe.noisy_ratios import DATA
from adomnia.methods.parts.robust.proposals import (
    MIDDLE,
    NOT_REPLIED,
    Allowance,
    Flow,
    ProposalReply,
    Proposing,
    Routine,
    ask,
    cascade,
    propose_width,
    subroutine,
)
from adomnia.methods.robust.ptr_iqr import GIVEN_A_REPLY, ReleasedScale, find_scale
from adomnia.methods.simulation import SUPPOSED_ROWS, drive
from adomnia.privacy.events import Price
from adomnia.statistics.contract import Bounds, Estimate, Measure, ResultTable, Round, Steps

_SCALE = Fraction(2, 5)  # of what the number of rows leaves: the scale, where it has to be asked for
_SCALE_SURE = 0.5  # to both sides: of the scale that the bound is proposed for, its upper end
_COARSER = 4  # times the bound of the attempt before
_MOST_ATTEMPTS = 4
_ATTEMPTS = NoteTemplate(
    "attempts_paid", "The price is divided among {attempts} attempts; those that were not needed are paid too."
)
_NAME_SCALE = define_note(
    "name_scale",
    "A scale that is known (scale =>) leaves the whole price for the median, which is then replied to far more often.",
)


@dataclass(frozen=True)
class PtrMedian(Proposing):
    """The median of a column, where few people could have moved it far.

    Method      a noisy number of rows; the scale, which is given or found as ptr_iqr does; from both a bound on the
                median, as normal data would keep; the median with noise for that bound, if a noisy test says that the
                data keeps it, else another attempt with a bound that is four times as wide.
    Guarantee   all rounds composed: (epsilon, delta)-differential privacy.
    Bias        clamping, and half a step of rounding a value.
    Cite        Dwork & Lei 2009.
    """

    tag: ClassVar[str] = "PtrMedian"
    name: ClassVar[str] = "ptr_median"
    scale: Fraction | None
    attempts: int

    def steps(self, price: Price) -> Steps:
        rows, left = yield from self.count_rows(price)
        return self._tabulate((yield from self.find(rows, left)))

    def find(self, rows: float, allowance: Allowance) -> Flow[ProposalReply]:
        """The median of about so many rows, or no reply."""
        if self.scale is not None:
            return self._locate(rows, float(self.scale))(allowance)
        return subroutine(allowance, _SCALE, partial(find_scale, self, rows), self._follow(rows))

    def _follow(self, rows: float) -> Callable[[ProposalReply], Routine[ProposalReply]]:
        """The routine that a scale leads to; without one there is nothing to propose, and no reply."""

        def follow(found: ProposalReply) -> Routine[ProposalReply]:
            if found.value is None:
                return _stay(found)
            (widest,) = ReleasedScale(self.column, found).bounds(_SCALE_SURE, 1)[1]  # a scale too small is no reply
            return self._locate(rows, float(widest))

        return follow

    def _locate(self, rows: float, scale: float) -> Routine[ProposalReply]:
        """Attempts, each with a coarser bound than the one before."""
        routines = [partial(self._attempt, rows, scale, _COARSER**number) for number in range(self.attempts)]
        return lambda allowance: cascade(allowance, routines, lambda reply: reply.value is not None)

    def _attempt(self, rows: float, scale: float, coarser: int, allowance: Allowance) -> Flow[ProposalReply]:
        size, price, steps = self.column.domain.width + 1, allowance.whole, scale / float(self.column.domain.step)
        bound = propose_width(size, self.relation.rows_per_person, rows, price, steps)
        return ask(self.propose(price, MIDDLE, max(1, min(bound * coarser, size - 1))))

    def planned_measures(self, price: Price) -> Round:
        """All attempts, of which the first may be enough."""
        measures = drive(self, price, SUPPOSED_ROWS)[0]
        return (*measures, *(_widen(measures[-1], _COARSER**number) for number in range(1, self.attempts)))

    def _tabulate(self, reply: ProposalReply) -> ResultTable:
        location = ReleasedMedian(self.column, reply)
        estimate = Estimate(
            np.array([location.value]), location.bounds, "a median with Laplace noise, if a test passes"
        )
        notes = [DATA, GIVEN_A_REPLY]
        if reply.value is None:
            notes.append(NOT_REPLIED(what="median", instead="quantiles with probs => (0.5)"))
            notes += [_NAME_SCALE] if self.scale is None else []
        if self.attempts > 1:
            notes.append(_ATTEMPTS(attempts=self.attempts))
        figure = {"kind": "points", "x": "column", "y": "estimate"}
        return ResultTable({"column": (self.column.name,)}, {"estimate": estimate}, tuple(notes), figure)


def _stay(found: ProposalReply) -> Routine[ProposalReply]:
    def stay(_allowance: Allowance) -> Flow[ProposalReply]:
        yield from ()
        return found

    return stay


def _widen(measure: Measure, times: int) -> Measure:
    """The same proposal with a wider bound."""
    proposal = measure.query.proposal
    wider = replace(proposal, bound=max(1, min(proposal.bound * times, proposal.values - 1)))
    return replace(measure, query=replace(measure.query, aggregate=wider))


@dataclass(frozen=True)
class ReleasedMedian:
    """The median that a reply tells."""

    column: NumberColumn
    reply: ProposalReply

    @property
    def value(self) -> float:
        """Within the declared bounds; no number without a reply."""
        return nan if self.reply.value is None else self._number(self.reply.value)

    def bounds(self, confidence: float, cells: int) -> Bounds:
        """What medians the noise allows for."""
        if self.reply.value is None:
            return np.array([-inf]), np.array([inf])
        far = self.reply.half_width(confidence, cells)
        off = 0.0 if is_whole(self.column.value, self.column.domain) else 0.5  # of a step: values were rounded
        low, high = (self._number(self.reply.value + side * (far + off)) for side in (-1, 1))
        return np.array([low]), np.array([high])

    def _number(self, place: float) -> float:
        domain = self.column.domain
        found = (place + domain.grid_lower) * float(domain.step)
        return float(min(max(found, float(domain.lower)), float(domain.upper)))


def _build(frame: Frame, arguments: Arguments) -> PtrMedian:
    scale = arguments["scale"]
    if scale is not None and scale <= 0:
        raise BadArgument("scale", "must be above 0", "write the distance between the quartiles, or leave it out")
    return PtrMedian(frame.relation, arguments["column"], scale, arguments["attempts"])


METHOD = Method(
    "ptr_median",
    "robust",
    "The median of a column by propose-test-release: with a delta, and sometimes without a reply.",
    (
        Parameter("column", "column", "the numbers", required=True),
        Parameter(
            "scale", "number", "how far apart the quartiles are, if that is known; else a part of the price finds it"
        ),
        Parameter(
            "attempts",
            "integer",
            "how often a coarser bound may be tried where there is no reply; each is paid in advance",
            default=1,
            lower=1,
            upper=_MOST_ATTEMPTS,
        ),
    ),
    _build,
    {"column": "which column", "estimate": "the median"},
    "SELECT * FROM ptr_median(people, column => salary, scale => 30000)",
    {"R": "median", "SciPy": "stats.scoreatpercentile"},
    ("It needs `delta=` beside its price. `quantiles` needs none, always replies, and is nearer to the truth mostly.",),
)
