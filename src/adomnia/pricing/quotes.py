"""What a plan costs and how far off its answer may be: from public facts alone, before any data is read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite, prod
from typing import TYPE_CHECKING

import numpy as np

from adomnia.errors import Refusal
from adomnia.mechanisms.contract import Noise
from adomnia.mechanisms.quantiles import Quantiles
from adomnia.mechanisms.threshold import KeyPrice
from adomnia.noise import Integers
from adomnia.plans.descriptions import describe_query, describe_term
from adomnia.plans.formulas import Formula, estimated, is_linear, statistics_of
from adomnia.plans.plan import Plan
from adomnia.plans.words import in_words, term_in_words
from adomnia.pricing.effort import asked, usual
from adomnia.pricing.findings import cost, findings, total
from adomnia.pricing.parts import amount, event, shares
from adomnia.privacy.aggregates import Histogram, People, Total
from adomnia.privacy.events import Event, Price, Pure
from adomnia.privacy.keys import Key, key_cells
from adomnia.privacy.queries import Query
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.statistics.contract import Estimate, Measure, Measured, Statistic
from adomnia.statistics.presence import is_parted
from adomnia.statistics.ranks import choice, spread_evenly

if TYPE_CHECKING:
    from adomnia.pricing.caps import Cap
    from adomnia.pricing.payment import Priced

SUPPOSED_ROWS = 1000  # of a cell, where the error depends on how many there are


@dataclass(frozen=True)
class Expected:
    """How far off one output may be: within `error` at the confidence, in each group, or in all of them together.

    `rows`: where the error depends on how many rows a group has, in a group of so many. `relative`: the error as a part
    of the output's own value in a group of the quote's supposed rows, all values in the middle of their bounds. No
    error is known for a quotient whose divisor may be zero.
    """

    name: str
    what: str
    error: float | None
    rows: int | None = None
    relative: float | None = None
    method: str = ""


@dataclass(frozen=True)
class Measurement:
    """One noisy vector: what is measured, how far one person moves it and why, the noise, and its part of the price.

    `bounds` says what values are clamped and rounded to, where they are added up.
    """

    what: str
    cells: int
    sensitivity: Sensitivity
    why: str
    noise: Noise | Quantiles
    price: Price
    bounds: str = ""


@dataclass(frozen=True)
class Search:
    """How the values of keys that nobody declared will be found: at about so many people, one is named or is not."""

    says: str
    price: KeyPrice
    people: int
    minimum: int

    def __str__(self) -> str:
        return self.says


@dataclass(frozen=True)
class Quote:
    """A price before it is paid. `event` is what the ledger will be charged, exactly; `caps`, which rows will count.

    `price` is the one that was named for a question; the questions of a batch have one each.
    """

    price: Price | None
    event: Event
    confidence: float
    outputs: tuple[Expected, ...]
    measurements: tuple[Measurement, ...]
    caps: tuple["Cap", ...] = ()
    together: bool = False  # whether errors are for all groups at once
    findings: tuple[Search, ...] = ()  # of the values of keys that nobody declared
    effort: str = "normal"  # "high": errors will be smaller than these, but how much is not known before
    rows: int = SUPPOSED_ROWS  # of a group, where something depends on how many there are


def measures(plan: Plan, price: Price) -> tuple[Measure, ...]:
    """What a plan measures, as far as it is known before, each once; a Refusal where no noise can be drawn for it."""
    distinct = tuple(dict.fromkeys(asked(plan, price)))
    for measure in distinct:
        check_drawable(measure, price)
    return distinct


def quote(
    plan: Plan, price: Price, confidence: float = 0.95, *, together: bool = False, rows: int | None = None
) -> Quote:
    """Cost and expected error, without touching data; with high effort, those that are known: with the normal one."""
    effort, cost, plan = plan.effort, event((plan, price)), usual(plan)
    measured = tuple(map(_measurement, measures(plan, price)))
    sure = (confidence, prod(len(key_cells(key)) for key in plan.keys) if together else 1)
    supposed = Supposed(zip(plan.statistics, shares(plan, price), strict=True), rows or SUPPOSED_ROWS)
    asked = [(output.name, output.source) for output in plan.outputs if not isinstance(output.source, Key)]
    expected = tuple(_expected(name, source, supposed, sure) for name, source in asked)
    return Quote(price, cost, confidence, expected, measured, together=together, effort=effort, rows=supposed.rows)


def bill(asked: Sequence["Priced"], confidence: float, together: bool, rows: int | None) -> Quote:
    """The quote of a question, or one of all questions of a batch: what two of them share stands there once."""
    quotes = [
        replace(quote(each.plan, each.price, confidence, together=together, rows=rows), caps=each.caps)
        for each in asked
    ]
    if len(quotes) == 1:
        return replace(quotes[0], price=total(asked[0]), event=cost(asked), findings=_searches(asked))
    return Quote(
        None,
        cost(asked),
        confidence,
        tuple(
            replace(line, name=f"{place}: {line.name}") for place, one in enumerate(quotes, 1) for line in one.outputs
        ),
        tuple(dict.fromkeys(line for one in quotes for line in one.measurements)),
        tuple(dict.fromkeys(cap for one in quotes for cap in one.caps)),
        together,
        _searches(asked),
        rows=rows or SUPPOSED_ROWS,
    )


def _searches(asked: Sequence["Priced"]) -> tuple[Search, ...]:
    return tuple(Search(str(each), each.price, each.threshold.people, each.minimum) for each in findings(asked))


class Supposed:
    """What would be estimated in a cell of so many rows, all values in the middle of their bounds, without noise."""

    def __init__(self, paid: Iterable[tuple[Statistic, tuple[Statistic, Price]]], rows: int) -> None:
        self.rows = rows
        self._paid = dict(paid)
        self._measured: dict[int, dict[Measure, Measured]] = {}  # what two statistics share has one noise
        self._known: dict[tuple[Statistic, int], Estimate] = {}

    def needs_rows(self, source: Statistic | Formula) -> bool:
        """Whether the error depends on how many rows there are, as it does not for sums of noisy integers."""
        none = self._estimates(source, 0)
        return not is_linear(source) or not all(estimate.parts for estimate in none.values())

    def estimate(self, source: Statistic | Formula) -> Estimate:
        """The estimate where there are that many rows."""
        return estimated(source, self._estimates(source, self.rows))

    def error(self, source: Statistic | Formula, confidence: float, cells: int = 1) -> float:
        """Half the width of the interval that the output itself would have; infinite where nothing is known."""
        rows = self.rows if self.needs_rows(source) else 0
        lower, upper = estimated(source, self._estimates(source, rows)).interval(confidence, cells)
        return float(upper - lower) / 2

    def _estimates(self, source: Statistic | Formula, rows: int) -> dict[Statistic, Estimate]:
        return {part: self._estimate(part, rows) for part in statistics_of(source)}

    def _estimate(self, part: Statistic, rows: int) -> Estimate:
        if (part, rows) not in self._known:
            self._known[part, rows] = _driven(*self._paid[part], rows, self._measured.setdefault(rows, {}))
        return self._known[part, rows]


def _driven(statistic: Statistic, price: Price, rows: int, measured: dict[Measure, Measured]) -> Estimate:
    flow = statistic.steps(price)
    asked = next(flow)
    while True:
        for measure in asked:
            if measure not in measured:
                measured[measure] = Measured(_exact(measure, rows), measure.noise())
        try:
            asked = flow.send(tuple(measured[measure] for measure in asked))
        except StopIteration as end:
            estimate: Estimate = end.value
            return estimate


def _expected(name: str, source: Statistic | Formula, supposed: Supposed, sure: tuple[float, int]) -> Expected:
    error, estimate = supposed.error(source, *sure), supposed.estimate(source)
    value = abs(float(estimate.values))
    return Expected(
        name,
        describe_term(term_in_words(source)),
        error if isfinite(error) else None,
        supposed.rows if supposed.needs_rows(source) else None,
        error / value if value and isfinite(error / value) else None,
        estimate.method,
    )


def _exact(measure: Measure, rows: int) -> Integers:
    if is_parted(measure.query):
        return np.array([_in_one_cell(measure, rows), 0])
    return _in_one_cell(measure, rows)


def _in_one_cell(measure: Measure, rows: int) -> Integers:
    match measure.query.aggregate:
        case Total(domain=domain, centre=centre):
            return np.array(rows * (domain.middle - centre))
        case Histogram():  # of values that all lie in the middle, no rank would be off
            return spread_evenly(choice(measure.query, measure.price), rows)
    return np.array(rows)


def _measurement(measure: Measure) -> Measurement:
    query = measure.query
    return Measurement(
        describe_query(in_words(query)),
        prod(query.shape),
        query.sensitivity(),
        _why(query),
        measure.noise(),
        measure.price,
        _bounds(query),
    )


def _bounds(query: Query) -> str:
    if not isinstance(query.aggregate, Total | Histogram):
        return ""
    domain = query.aggregate.domain
    return f"values from {domain.lower} to {domain.upper}, in steps of {domain.step}"


def _why(query: Query) -> str:
    rows = query.relation.rows_per_person
    if isinstance(query.aggregate, People):
        cells = min(rows, prod(query.shape))
        return "a person counts once" if cells == 1 else f"a person counts in at most {cells} groups"
    has = f"a person has at most {rows:,} row{'s' if rows > 1 else ''} here"
    return f"{has}, each of at most {query.aggregate.magnitude:,} steps" if isinstance(query.aggregate, Total) else has


def check_drawable(measure: Measure, price: Price) -> None:
    """Refuse a price at which no noise can be drawn, before it is paid."""
    try:
        measure.noise()
    except ValueError:
        why = f"makes noise for the {describe_query(in_words(measure.query))} that is too small or too large to draw"
        raise Refusal(_amount(price), why, "name a price between 0.001 and 10", code="bad_price") from None


def _amount(price: Price) -> str:
    return f"{'epsilon' if isinstance(price, Pure) else 'rho'}={float(amount(price)):g}"
