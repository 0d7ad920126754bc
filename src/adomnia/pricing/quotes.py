"""What a plan costs and how far off its answer may be: from public facts alone, before any data is read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import lru_cache
from math import isfinite, prod

import numpy as np

from adomnia.errors import Refusal
from adomnia.mechanisms.quantiles import MOST_VALUES, TooManyValuesError
from adomnia.messages.references import Option
from adomnia.messages.texts import Message, Note
from adomnia.methods.simulation import SUPPOSED_ROWS, simulate_less
from adomnia.noise.discrete import NotDrawableError
from adomnia.plans.descriptions import date_range, describe_query, describe_term
from adomnia.plans.formulas import Formula, WindowFunction, statistics_of
from adomnia.plans.plan import Output, Plan
from adomnia.plans.words import in_words, term_in_words
from adomnia.pricing.bills import ErrorName, Expected, Measurement, Quote, Search
from adomnia.pricing.findings import total_price
from adomnia.pricing.notes import hides_rows, list_suppositions
from adomnia.pricing.parts import amount, bill, cost, split_price
from adomnia.pricing.questions import Priced, list_findings
from adomnia.pricing.rules import without_effort
from adomnia.pricing.simulated import Simulated
from adomnia.privacy.enclosures import sqrt_up
from adomnia.privacy.events import AnyPrice, Concentrated, Price
from adomnia.privacy.expressions import Call, Literal
from adomnia.privacy.keys import Key
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Estimate, Measure, ResultTable, Round
from adomnia.work import spend

_LARGEST_NOISE = 1e300  # a number of many times this size is no double any more
_BEYOND = Fraction(10**301)
_KEPT = 64  # plans of which the measures are remembered: every question lists them several times
_DRAWABLE = "name a price between 0.001 and 10"
_STEPS_OF_A_QUERY = 15
_STEPS_OF_A_MEASUREMENT = 15  # to describe it


def list_measures(plan: Plan, price: Price) -> Round:
    """What a plan measures, as far as it is known before, each once; a Refusal where no noise can be drawn for it."""
    spend(_STEPS_OF_A_QUERY * sum(len(statistic.queries) for statistic in plan.statistics))
    return _list_measures(plan, price)


@lru_cache(maxsize=_KEPT)
def list_planned_measures(plan: Plan, price: Price) -> tuple[Round, ...]:
    """What each statistic of a plan measures, in their order; equal measures are one object, with one mechanism."""
    known: dict[Measure, Measure] = {}
    try:
        rounds = [statistic.planned_measures(part) for statistic, part in split_price(plan, price)]
        return tuple(tuple(known.setdefault(measure, measure) for measure in each) for each in rounds)
    except TooManyValuesError:
        raise _too_many_values() from None
    except NotDrawableError:  # where later rounds of a method depend on the noise of earlier ones
        why = "makes noise that is too small or too large to draw"
        raise Refusal(_amount(price), why, _DRAWABLE, code="bad_price") from None


@lru_cache(maxsize=_KEPT)
def _list_measures(plan: Plan, price: Price) -> Round:
    distinct = tuple(dict.fromkeys(measure for each in list_planned_measures(plan, price) for measure in each))
    for measure in distinct:
        check_drawable(measure, price)
    return distinct


def quote_plan(  # noqa: PLR0913 - what a question is asked with, and what is told of it
    plan: Plan,
    price: Price,
    confidence: float = 0.95,
    *,
    simultaneous: bool = False,
    rows: int | None = None,
    notes: Sequence[Note] = (),
) -> Quote:
    """Cost and expected error, without touching data; with high effort, those that are known: with the normal one.

    By the `notes` of the question it tells whether one person moves a measurement, or one row.
    """
    effort, event, plan = plan.effort, bill((plan, price)), without_effort(plan)
    why = _why_of_rows if hides_rows(notes) else _why
    measured = tuple(_measurement(measure, plan.relation, why) for measure in list_measures(plan, price))
    expected = _expect_outputs(plan, price, (confidence, plan.rows if simultaneous else 1), rows)
    rows = rows or SUPPOSED_ROWS
    return Quote(price, event, confidence, expected, measured, simultaneous=simultaneous, effort=effort, rows=rows)


def expect_errors(
    plan: Plan, price: Price, confidence: float = 0.95, *, rows: int | None = None, of: ErrorName | None = None
) -> tuple[Expected, ...]:
    """The expected errors alone, as a quote would tell them: all, or those of one name."""
    plan = without_effort(plan)
    list_measures(plan, price)  # refuses what could not be drawn
    lines = _expect_outputs(plan, price, (confidence, 1), rows, of)
    return lines if of is None else tuple(line for line in lines if line.of == of)


def _expect_outputs(
    plan: Plan, price: Price, sure: tuple[float, int], rows: int | None, of: ErrorName | None = None
) -> tuple[Expected, ...]:
    """The errors of all outputs, or of the one that a name is of."""
    supposed = Simulated(plan, price, rows or SUPPOSED_ROWS)
    named = [each for each in plan.outputs if of is None or each.name == of.output]
    with simulate_less():
        return tuple(line for output in named for line in _expect(output, plan.relation, supposed, sure))


def quote_questions(asked: Sequence[Priced], confidence: float, simultaneous: bool, rows: int | None) -> Quote:
    """The quote of a question, or one of all questions of a batch: what two of them share stands there once."""
    quotes = [
        replace(
            quote_plan(each.plan, each.price, confidence, simultaneous=simultaneous, rows=rows, notes=each.notes),
            caps=each.caps,
            notes=(*each.notes, *list_suppositions(each.plan)),
        )
        for each in asked
    ]
    if len(quotes) == 1:
        return replace(quotes[0], price=total_price(asked[0]), event=cost(asked), findings=_searches(asked))
    return Quote(
        None,
        cost(asked),
        confidence,
        tuple(
            replace(line, name=f"{place}: {line.name}") for place, one in enumerate(quotes, 1) for line in one.outputs
        ),
        tuple(dict.fromkeys(line for one in quotes for line in one.measurements)),
        tuple(dict.fromkeys(cap for one in quotes for cap in one.caps)),
        simultaneous,
        _searches(asked),
        rows=rows or SUPPOSED_ROWS,
        notes=tuple(dict.fromkeys(note for one in quotes for note in one.notes)),
    )


def _searches(asked: Sequence[Priced]) -> tuple[Search, ...]:
    who = "rows" if any(hides_rows(each.notes) for each in asked) else "people"
    return tuple(
        Search(each.say(who), each.price, each.threshold.people, each.minimum) for each in list_findings(asked)
    )


def _expect(output: Output, rows: Relation, supposed: Simulated, sure: tuple[float, int]) -> Iterator[Expected]:
    """The error of an output; of a table, that of each of its columns where it is largest."""
    source = output.source
    if isinstance(source, Key) or not any(True for _ in statistics_of(source)):
        return
    words = describe_term(term_in_words(source), rows)
    table = None if isinstance(source, Formula | WindowFunction) else supposed.result(source, supposed.rows)  # type: ignore[arg-type]
    if isinstance(table, ResultTable):
        for name, estimate in table.estimates.items():
            error = float(np.max(np.subtract(*reversed(estimate.interval(*sure))))) / 2
            line = _expected(output.name, f"{name} of {words}", error, estimate, supposed.rows)
            yield replace(line, name=name)
        return
    needed = supposed.rows if supposed.needs_rows(source) else None
    for groups in supposed.groupings:
        error, estimate = supposed.error(source, *sure, groups), supposed.estimate(source, groups=groups)
        line = _expected(output.name, words, error, estimate, needed)
        several = f"{output.name} of {groups:,} groups", f"{words} of {groups:,} groups as one"
        yield line if groups == 1 else replace(line, name=several[0], what=several[1], groups=groups)


def _expected(output: str, words: str, error: float, estimate: Estimate, rows: int | None) -> Expected:
    value = float(np.max(np.abs(estimate.values)))
    relative = error / value if value and isfinite(error / value) and not estimate.dates else None
    known = error if isfinite(error) else None
    return Expected(output, words, known, rows, relative, estimate.method, estimate.dates, output)


def _measurement(measure: Measure, rows: Relation, why: Callable[[Query], str]) -> Measurement:
    spend(_STEPS_OF_A_MEASUREMENT)
    query = measure.query
    return Measurement(
        describe_query(in_words(query), rows),
        prod(query.result_shape),
        query.sensitivity(),
        why(query),
        measure.mechanism,
        measure.price,
        _bounds(query),
        query.columns,
    )


def _bounds(query: Query) -> str:
    grids = query.aggregate.grids
    match query.form, query.aggregate.expressions:
        case "histogram", (Call(function="days between", arguments=(_, Literal(value=date.min))),):
            return "dates from {} to {}".format(*date_range(*grids))
    each = (f"from {grid.lower} to {grid.upper}, in steps of {grid.step}" for grid in grids)
    return f"values {', and '.join(each)}" if grids else ""


def _why(query: Query) -> str:
    rows = query.relation.rows_per_person
    if query.aggregate.of_people:
        cells = min(rows, prod(query.shape))
        return "a person counts once" if cells == 1 else f"a person counts in at most {cells} groups"
    if query.by_block:
        return "a person is in one block, whatever rows they have, and moves its estimates alone"
    has = f"a person has at most {rows:,} row{'s' if rows > 1 else ''} here"
    if query.relation.has_blocks:
        has = f"a person changes the row of their block here: at most {rows:,} rows, those before and after"
    return has + _each_of(query)


def _why_of_rows(query: Query) -> str:
    """The same where each row is hidden by itself."""
    rows = query.relation.rows_per_person
    if query.by_block:
        return "a row is in one block, and moves its estimates alone"
    counts = "a row counts once here" if rows == 1 else f"a row counts at most {rows:,} times here"
    if query.relation.has_blocks:
        counts = f"a row changes that of its block here: at most {rows:,} rows, those before and after"
    return counts + _each_of(query)


def _each_of(query: Query) -> str:
    if not query.aggregate.adds_up:
        return ""
    if query.aggregate.clips:  # one sum
        return f", each of at most {query.total.magnitude:,} steps"
    most, columns = query.vector.row.l1, query.columns
    together = f"{most.numerator:,}" if most.denominator == 1 else f"{float(most):,g}"
    return f", each of at most {together}" + (f" in all {columns} sums together" if columns > 1 else "")


def check_drawable(measure: Measure, price: AnyPrice) -> None:
    """Refuse a price at which no noise can be drawn, before it is paid."""
    try:
        _ = measure.mechanism
    except TooManyValuesError:
        raise _too_many_values() from None
    except (ValueError, TypeError):
        raise _not_drawable(measure, price, "too small or too large to draw", _DRAWABLE) from None
    if _noise_size(measure) > _LARGEST_NOISE:
        fix = "divide the value by a large constant, or name a higher price"
        raise _not_drawable(measure, price, "larger than any double", fix)


def _too_many_values() -> Refusal:
    """Whichever method chooses values: all of them are rehearsed here before they are paid."""
    why = f"can take over {MOST_VALUES:,} values, too many to choose from"
    return Refusal("column", why, "divide it by a constant in the bracketed SELECT, or bound it with CLAMP")


def _not_drawable(measure: Measure, price: AnyPrice, size: str, fix: str) -> Refusal:
    why = f"makes noise for the {describe_query(in_words(measure.query))} that is {size}"
    return Refusal(_amount(price), why, fix, code="bad_price")


def _noise_size(measure: Measure) -> float:
    """How large the noise of a sum usually is, as a number and not in steps."""
    aggregate, price, sensitivity = measure.query.aggregate, measure.price, measure.query.sensitivity()
    step = aggregate.step
    if isinstance(price, Concentrated):
        steps = sqrt_up(sensitivity.l2_squared / price.rho)
    else:
        steps = sensitivity.l1 / price.epsilon
    return float(min(step * steps, _BEYOND))


def _amount(price: AnyPrice) -> Message:
    return Message(Option("rho" if isinstance(price, Concentrated) else "epsilon", f"{float(amount(price)):g}"))
