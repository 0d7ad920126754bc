"""Answers that would say almost nothing: those whose expected interval is most of what they could say.

What is judged is the text, its price, the catalog, and a number of rows that was given, released in a profile of the
dataset, or released to this very analyst before. Rows of private tables are not looked at, so that a refusal tells
nothing that whoever asks could not compute from what they were given.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING

import numpy as np

from adomnia.errors import Refusal
from adomnia.messages.fixes import PAY
from adomnia.messages.references import Button, Option, Pay
from adomnia.messages.texts import Fix, Message, Note, NoteTemplate, join, write
from adomnia.methods.simulation import SUPPOSED_ROWS
from adomnia.plans.formulas import Formula, Grouping, Keyed, WindowFunction
from adomnia.pricing.findings import total_price
from adomnia.pricing.parts import amount, split_price
from adomnia.pricing.quotes import list_planned_measures
from adomnia.pricing.simulated import Simulated, count_steps
from adomnia.privacy.events import Pure
from adomnia.privacy.keys import Key
from adomnia.statistics.count import Count
from adomnia.statistics.joint import Joint
from adomnia.statistics.mean import Mean
from adomnia.statistics.population.mean import PopulationMean
from adomnia.statistics.population.quantile import PopulationQuantile
from adomnia.statistics.population.share import PopulationShare
from adomnia.statistics.quantile import Quantile
from adomnia.statistics.sum import Sum
from adomnia.work import allow, spend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.plans.plan import Plan
    from adomnia.pricing.questions import Priced
    from adomnia.privacy.events import Price
    from adomnia.statistics.contract import Round, Statistic

_WOULD_SAY = NoteTemplate("would_say_nothing", "{output} would say {why}. To change that, {fix}.")
SAYS_NOTHING = NoteTemplate("says_nothing", "{output} says {why}. To change that, {fix}.")
_COMPUTED = (Key, Formula, WindowFunction, Keyed, Grouping, Fraction)
_COVERED = 0.5  # of what an output could say, by its expected interval
_STEPS_OF_A_LOOK = 40  # for each query of the output
_DOUBLINGS = 40  # of a price or a number of rows that are sought
_MOST_KEPT = 4096
_INFORMATIVE: set[tuple[object, ...]] = set()  # outputs that were found to say something, but for their rows


@dataclass(frozen=True)
class KnownRows:
    """How many rows a group has, or on average may have at most, and how that is known; `sure` if it is at all."""

    rows: int
    how: str  # a Message where it names an answer
    sure: bool = True


UNKNOWN = KnownRows(SUPPOSED_ROWS, "if there are so many", sure=False)


@dataclass(frozen=True)
class Verdict:
    """An output that would say almost nothing, why, and what to do about it; `sure`: unless there are more rows."""

    output: str
    why: str
    fix: Fix
    sure: bool

    def warning(self) -> Note:
        """What is said of a quote."""
        return _WOULD_SAY(output=self.output, why=self.why, fix=self.fix, **self.fix.facts)

    def note(self) -> Note:
        """The same of an answer that is there."""
        return SAYS_NOTHING(output=self.output, why=self.why, fix=self.fix, **self.fix.facts)

    def refusal(self) -> Refusal:
        """The same before it is paid."""
        all_the_same = Button("take it all the same", Option("allow_uninformative", True))
        fix = Fix(self.fix + ", or " + Message(all_the_same), self.fix.action, **self.fix.facts)
        return Refusal(self.output, "would say " + self.why, fix, code="vacuous")


def judge(
    plan: Plan, priced: Priced, known: KnownRows, confidence: float, common: Price | None = None
) -> Verdict | None:
    """The first output of a question that would say almost nothing; None where all say something.

    `plan` is what was asked and `priced` how it is measured; `common` is the price of a batch that has one for all.
    Counts, sums, means and quantiles are judged; what high effort achieves is not known before.
    """
    if plan.effort != priced.plan.effort:
        return None
    looks = list(_list_looks(plan, priced, confidence))
    first = next((look for look in looks if not look.says_something(known.rows)), None)
    if first is None:
        return None
    return _verdict(first, looks, known, common or total_price(priced), grouped=bool(plan.keys))


def _list_looks(plan: Plan, priced: Priced, confidence: float) -> Iterator[_Look]:
    """A look at every output that is judged."""
    supposed = _Suppositions(priced)
    for asked, measured in zip(plan.outputs, priced.plan.outputs, strict=True):
        if isinstance(asked.source, _COMPUTED) or isinstance(measured.source, _COMPUTED):
            continue
        if _limits(asked.source, 1) is not None:
            yield _Look(asked.name, supposed, measured.source, asked.source, confidence)


class _Suppositions:
    """What would be estimated at multiples of a price, each supposed once for all outputs."""

    def __init__(self, priced: Priced) -> None:
        self.priced = priced
        self._known: dict[tuple[int, int], Simulated] = {}
        self._counted: set[Statistic] = set()

    def at(self, times: int, rows: int) -> Simulated:
        """At so many times the price, in a group of so many rows."""
        if (times, rows) not in self._known:
            self._known[times, rows] = Simulated(self.priced.plan, self.priced.price * times, rows)
        return self._known[times, rows]

    def paid(self, statistic: Statistic) -> tuple[Statistic, Round]:
        """How a statistic is measured once the price is split, and what it measures first."""
        plan, price = self.priced.plan, self.priced.price
        place = plan.statistics.index(statistic)
        return split_price(plan, price)[place][0], list_planned_measures(plan, price)[place]

    def count(self, statistic: Statistic) -> None:
        """Count the steps of a look, remembered or not: what is refused does not depend on what was asked before."""
        spend(_STEPS_OF_A_LOOK * len(statistic.queries))
        if statistic not in self._counted:
            spend(count_steps(statistic))
        self._counted.add(statistic)


@dataclass(frozen=True)
class _Look:
    name: str
    supposed: _Suppositions
    measured: Statistic
    asked: Statistic
    confidence: float

    def says_something(self, rows: int) -> bool:
        """Whether the output would not be vacuous; what differs in its rows alone is computed once."""
        measured, measures = self.supposed.paid(self.measured)
        asked, shape = _shape(self.asked), _shape(measured)
        if asked is None or shape is None:
            return not self.is_vacuous(1, rows)
        alike = asked, shape, tuple(each.mechanism for each in measures), rows, self.confidence
        self.supposed.count(self.measured)
        if alike in _INFORMATIVE:
            return True
        with allow():  # it was counted
            says = not self.is_vacuous(1, rows)
        if says:
            if len(_INFORMATIVE) >= _MOST_KEPT:
                _INFORMATIVE.clear()
            _INFORMATIVE.add(alike)
        return says

    def is_vacuous(self, times: int, rows: int) -> bool:
        """Whether the output would be, at so many times the price, in a group of so many rows."""
        (least, most), (lower, upper) = self.limits(rows), self.interval(times, rows)
        return not min(upper, most) - max(lower, least) <= _COVERED * (most - least)

    def limits(self, rows: int) -> tuple[float, float]:
        """What it could say of so many rows."""
        found = _limits(self.asked, rows)
        assert found is not None  # noqa: S101 - else it is not looked at
        return found

    def interval(self, times: int, rows: int) -> tuple[float, float]:
        spend(_STEPS_OF_A_LOOK * len(self.measured.queries))
        estimate = self.supposed.at(times, rows).estimate(self.measured)
        with np.errstate(all="ignore"):
            lower, upper = estimate.interval(self.confidence, 1)
        return float(np.min(lower)), float(np.max(upper))


def _shape(statistic: Statistic) -> tuple[object, ...] | None:
    """All but the rows and groups of a statistic whose interval follows from that, its noise and the number of rows."""
    match statistic:
        case Count(query=query, parted=parted) | Mean(query=query, parted=parted):
            return type(statistic), query.aggregate, parted
        case Sum(query=query, parted=parted, centred=centred):
            return Sum, query.aggregate, parted, centred
        case Quantile(query=query, share=share):
            return Quantile, query.aggregate, share
        case Joint(inner=inner, totals=totals, degree=degree, absent=absent):
            return _shape(inner), totals, degree, absent
    return None


def _find_price(looks: list[_Look], rows: int, paid: Price) -> Pay | None:
    """A multiple of the price at which every output would say something, rounded up; None where none was found."""
    try:
        times = next(each for each in _doubled(1) if not _is_any_vacuous(looks, each, rows))
    except (StopIteration, ValueError, Refusal):
        return None
    price = paid * times
    return Pay("epsilon" if isinstance(price, Pure) else "rho", _two_digits(float(amount(price))))


def _find_rows(looks: list[_Look], rows: int) -> int | None:
    """How many rows a group must have for every output to say something at this price."""
    return next((each for each in _doubled(rows) if not _is_any_vacuous(looks, 1, each)), None)


def _is_any_vacuous(looks: list[_Look], times: int, rows: int) -> bool:
    return any(look.is_vacuous(times, rows) for look in looks)


def _verdict(look: _Look, looks: list[_Look], known: KnownRows, paid: Price, *, grouped: bool) -> Verdict:
    limits, (lower, upper) = look.limits(known.rows), look.interval(1, known.rows)
    error = f"{float(f'{(upper - lower) / 2:.3g}'):,.12g}" if isfinite(upper - lower) else "anything"
    could = f"{limits[0]:,.10g} to {limits[1]:,.10g}"
    rows = f"{known.rows:,} row{'s' if known.rows > 1 else ''}{' a group' if grouped else ''}, "
    nothing = f"almost nothing: off by up to {error}, where it could be {could}"
    why = Message(f"{nothing} ({rows}", known.how, ")")
    price, enough = _find_price(looks, known.rows, paid), _find_rows(looks, known.rows) if grouped else None
    ways = [] if price is None else [Message(price)]
    ways += [Message(f"ask for coarser groups, of about {enough:,} rows or more")] if enough else []
    ways += [] if known.sure else [write("say {with rows=} how many rows there are")]
    fix = join(", or ", ways) if ways else "ask for fewer outputs or groups"
    paying = {} if price is None else {"currency": price.currency, "amount": price.amount}
    return Verdict(look.name, why, Fix(fix, PAY if price else "", **paying), known.sure)


def _limits(statistic: Statistic, rows: int) -> tuple[float, float] | None:
    """What an output could say of so many rows, by the declared bounds; None where it is not judged."""
    match statistic:
        case Count():
            return 0.0, float(rows)
        case Sum() | Mean() | PopulationMean() | PopulationShare() | Quantile() | PopulationQuantile():
            (grid,) = statistic.query.aggregate.grids
            lower, upper = float(grid.lower), float(grid.upper)
            return (rows * min(0.0, lower), rows * max(0.0, upper)) if isinstance(statistic, Sum) else (lower, upper)
    return None


def _doubled(first: int) -> Iterator[int]:
    return (first * 2**power for power in range(1, _DOUBLINGS))


def _two_digits(number: float) -> str:
    scale = 10.0 ** (floor(log10(number)) - 1)
    return f"{ceil(number / scale) * scale:.10g}"
