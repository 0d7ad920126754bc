"""What a plan costs and how far off its answer may be: from public facts alone, before any data is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, log, prod

import numpy as np

from adomnia.errors import Refusal
from adomnia.mechanisms.contract import Noise
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.privacy.aggregates import People, Total
from adomnia.privacy.amounts import EPSILON_UNIT, Number, positive, round_up
from adomnia.privacy.events import Composed, Event, Price, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.queries import Query
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.sql.explain import describe_query, describe_term
from adomnia.sql.formulas import Formula, estimated, is_linear, statistics_of
from adomnia.sql.plan import Plan
from adomnia.sql.words import in_words, term_in_words
from adomnia.statistics.contract import Estimate, Measure, Measured, Statistic
from adomnia.statistics.count import Count
from adomnia.statistics.mean import Mean
from adomnia.statistics.sum import Sum

SUPPOSED_ROWS = 1000  # of a cell, where the error depends on how many there are


@dataclass(frozen=True)
class Expected:
    """How far off one output may be: within `error` at the confidence, in each cell. `rows`: in a cell of so many.

    No error is known for a quotient whose divisor may be zero.
    """

    name: str
    what: str
    error: float | None
    rows: int | None = None


@dataclass(frozen=True)
class Measurement:
    """One noisy vector: what is measured, how far one person moves it and why, the noise, and its part of the price."""

    what: str
    cells: int
    sensitivity: Sensitivity
    why: str
    noise: Noise
    price: Price


@dataclass(frozen=True)
class Quote:
    """A price before it is paid. `event` is what the ledger will be charged, exactly."""

    price: Price
    event: Event
    confidence: float
    outputs: tuple[Expected, ...]
    measurements: tuple[Measurement, ...]


def shares(plan: Plan, price: Price) -> tuple[tuple[Statistic, Price], ...]:
    """Each statistic with its part of the price: all measurements of the plan get the same part.

    Statistics that need the same measurement are given the same part for it, so that it is measured, and paid, once.
    Their shares then add up to more than the price: what is charged is `event`.
    """
    needed = [(statistic, _queries(statistic, price)) for statistic in plan.statistics]
    distinct = {query for _, queries in needed for query in queries}
    return tuple((statistic, price * Fraction(len(queries), len(distinct))) for statistic, queries in needed)


def measures(plan: Plan, price: Price) -> tuple[Measure, ...]:
    """All measurements of a plan, each once; a Refusal where no noise can be drawn for the price."""
    rounds = (next(statistic.steps(share)) for statistic, share in shares(plan, price))
    distinct = tuple(dict.fromkeys(measure for measures in rounds for measure in measures))
    for measure in distinct:
        _check_drawable(measure, price)
    return distinct


def event(plan: Plan, price: Price) -> Event:
    """What the plan costs: its measurements composed. They add up to exactly the price."""
    return Composed(measure.price for measure in measures(plan, price))


def quote(plan: Plan, price: Price, confidence: float = 0.95) -> Quote:
    """Cost and expected error, without touching data."""
    parts = dict(shares(plan, price))
    measured = measures(plan, price)
    expected = tuple(
        _expected(output.name, source, parts, confidence)
        for output in plan.outputs
        if not isinstance(source := output.source, Column)
    )
    return Quote(price, event(plan, price), confidence, expected, tuple(map(_measurement, measured)))


def price_for_error(plan: Plan, error: Number, confidence: float = 0.95) -> Pure:
    """The cheapest epsilon at which every output is within `error` of the truth with that confidence, in each cell."""
    try:
        wanted = positive(error, "price", "error")
    except ValueError:
        raise Refusal(f"error={error}", "is not a positive number", "write error=50", code="bad_price") from None
    for output in plan.outputs:
        if isinstance(output.source, Formula):
            what, why = f"error= for {output.name}", "is of a value computed from others, each with an error of its own"
            fix = "ask for its aggregates, or give epsilon= and see price for what to expect"
            raise Refusal(what, why, fix, code="error_not_known")
    cheapest = {statistic: _least_epsilon(statistic, wanted, confidence) for statistic in plan.statistics}
    if len(set(cheapest.values())) > 1:
        what = " and ".join(describe_term(term_in_words(each)) for each in cheapest)
        fix = "ask for them one at a time, or give epsilon="
        raise Refusal(f"error={error}", f"means different prices for {what}", fix, code="ambiguous_error")
    return Pure(len(cheapest) * next(iter(cheapest.values())))


def _queries(statistic: Statistic, price: Price) -> tuple[Query, ...]:
    return tuple(measure.query for measure in next(statistic.steps(price)))


def _least_epsilon(statistic: Statistic, error: Fraction, confidence: float) -> Fraction:
    if not isinstance(statistic, Count | Sum):
        what, why = (
            f"error= for {describe_term(term_in_words(statistic))}",
            "depends on the number of rows, which is private",
        )
        raise Refusal(what, why, "give epsilon=, and see price for what to expect", code="error_not_known")
    aggregate = statistic.query.aggregate
    steps = error // (aggregate.domain.step if isinstance(aggregate, Total) else 1)
    sensitivity = statistic.query.sensitivity()

    def suffices(units: int) -> bool:
        try:
            noise = DiscreteLaplace.calibrated(sensitivity, Pure(units * EPSILON_UNIT))
        except ValueError:  # so little that the noise would be too large to draw
            return False
        return noise.interval(confidence).half_width <= steps

    # P[|noise| > k] is about exp(-(k + 1) epsilon / sensitivity): a guess to start from, not a result.
    guess = -log(1 - confidence) * float(sensitivity.l1) / (float(steps) + 1)
    above = max(1, round_up(Fraction(guess), EPSILON_UNIT))
    while not suffices(above):
        above *= 2
    below = 0
    while above - below > 1:
        middle = (above + below) // 2
        below, above = (below, middle) if suffices(middle) else (middle, above)
    return above * EPSILON_UNIT


def _expected(name: str, source: Statistic | Formula, prices: Mapping[Statistic, Price], confidence: float) -> Expected:
    """Half the width of the interval that the output itself would have, for values that nobody measured."""
    known = is_linear(source) and not any(isinstance(part, Mean) for part in statistics_of(source))
    supposed = {part: _supposed(part, prices[part], 0 if known else SUPPOSED_ROWS) for part in statistics_of(source)}
    lower, upper = estimated(source, supposed).interval(confidence, 1)
    error = float(upper - lower) / 2
    what = describe_term(term_in_words(source))
    return Expected(name, what, error if isfinite(error) else None, None if known else SUPPOSED_ROWS)


def _supposed(statistic: Statistic, price: Price, rows: int) -> Estimate:
    """What would be estimated in a cell of so many rows, all values in the middle of their bounds, without noise."""
    flow = statistic.steps(price)
    made_up = tuple(Measured(np.array(_exact(measure.query, rows)), measure.noise()) for measure in next(flow))
    try:
        flow.send(made_up)
    except StopIteration as end:
        estimate: Estimate = end.value
    return estimate


def _exact(query: Query, rows: int) -> int:
    if isinstance(query.aggregate, Total):
        return rows * (query.aggregate.domain.middle - query.aggregate.centre)
    return rows


def _measurement(measure: Measure) -> Measurement:
    query = measure.query
    return Measurement(
        describe_query(in_words(query)),
        prod(query.shape),
        query.sensitivity(),
        _why(query),
        measure.noise(),
        measure.price,
    )


def _why(query: Query) -> str:
    rows = query.relation.rows_per_person
    if isinstance(query.aggregate, People):
        cells = min(rows, prod(query.shape))
        return "a person counts once" if cells == 1 else f"a person counts in at most {cells} groups"
    has = f"a person has at most {rows:,} row{'s' if rows > 1 else ''} here"
    return f"{has}, each of at most {query.aggregate.magnitude:,} steps" if isinstance(query.aggregate, Total) else has


def _check_drawable(measure: Measure, price: Price) -> None:
    try:
        measure.noise()
    except ValueError:
        why = f"makes noise for the {describe_query(in_words(measure.query))} that is too small or too large to draw"
        raise Refusal(_amount(price), why, "name a price between 0.001 and 10", code="bad_price") from None


def _amount(price: Price) -> str:
    name, amount = ("epsilon", price.epsilon) if isinstance(price, Pure) else ("rho", price.rho)
    return f"{name}={float(amount):g}"
