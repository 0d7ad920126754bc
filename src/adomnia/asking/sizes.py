"""How large an answer is, from public facts alone: what is measured for it, and what an analyst may have of that."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.ledger.records import Storage
from adomnia.plans.formulas import statistics_of
from adomnia.pricing.quotes import list_measures, list_planned_measures
from adomnia.privacy.keys import Key, is_open, key_cells
from adomnia.work import remember

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.catalog.model import Analyst
    from adomnia.plans.columns import KeyColumn
    from adomnia.plans.plan import Plan
    from adomnia.pricing.questions import Priced
    from adomnia.privacy.events import Price
    from adomnia.statistics.contract import Measure

NUMBER_BYTES = 21  # of a stored number: the digits of 64 bits, a sign and a comma
LARGE_NUMBER_BYTES = 60  # of one that 64 bits do not hold
FOUND_BYTES = 100  # of a value that is found, and stored beside the numbers
ENTRY_BYTES = 2_000  # of the entries of a question, beside its text
RESULT_BYTES = 4_000  # of an answer as it was given, beside its cells: notes, caps
OUTPUT_BYTES = 500  # of an output of it, beside its cells and its name
CELL_BYTES = 40  # of a number of it, with both ends of its interval
LABEL_BYTES = 30  # of a value of a key, and of the place of a row
TABLE_BYTES = 20_000  # of the table of a method, beside its cells
MOST_RESULT_BYTES = 2**25  # of all that a request is answered and is kept as given; of more there are hashes alone
_TABLE_CELLS = 10  # of a method, for each number that is measured for it
_KEPT = 64  # plans of which the size is remembered: it is asked for twice
_LARGEST = 2**62  # half of what 64 bits hold: noise comes on top


@dataclass(frozen=True)
class AnswerSize:
    """The numbers that are measured, those of the largest output among them, and the bytes that are stored.

    Of these, `result_bytes` are of the answer as it was given.
    """

    numbers: int
    largest: int
    stored_bytes: int
    result_bytes: int = 0


def measure_size(priced: Sequence[Priced]) -> AnswerSize:
    """The size of the answers to a question or a batch, which follows from their shape."""
    sizes, results = [_measure_plan(each.plan, each.price) for each in priced], sum(bound_results(priced))
    return AnswerSize(
        numbers=sum(size.numbers for size in sizes),
        largest=max(size.largest for size in sizes),
        stored_bytes=sum(size.stored_bytes for size in sizes) + results,
        result_bytes=results,
    )


def size_of_rows(columns: Sequence[KeyColumn]) -> AnswerSize:
    """The size of an answer of public rows, of which nothing is stored."""
    cells = sum(len(column.values) for column in columns)
    return AnswerSize(cells, 0, 0)


def check_size(analyst: Analyst, size: AnswerSize) -> None:
    """Refuse an answer that is larger than the catalog lets this analyst have."""
    most = analyst.quota.largest_answer
    if most is not None and size.numbers > most:
        why = f"measures {size.numbers:,} numbers, more than the {most:,} that {analyst.name} may have in one answer"
        owner = f"have the owner raise largest_answer under [analysts.{analyst.name}]"
        fix = f"ask for fewer groups or aggregates, or {owner}"
        raise Refusal("The question", why, fix, code="too_many_cells")


def count_storage(analyst: Analyst, size: AnswerSize, asked: str) -> Storage:
    """What the answer and the text of the question count for in the ledger, and the most that this analyst may have."""
    return Storage(size.stored_bytes + len(asked) + ENTRY_BYTES, analyst.quota.storage)


def bound_results(priced: Sequence[Priced]) -> list[int]:
    """The most bytes that each answer may take in the ledger as it was given: one that takes more is not kept so.

    The answers of a batch are one record, which has a largest size: what is paid for must fit.
    """
    return [min(_bound_result(each.plan, each.price), MOST_RESULT_BYTES // len(priced)) for each in priced]


def _bound_result(plan: Plan, price: Price) -> int:
    if plan.view is not None:
        numbers = sum(map(_count, list_measures(plan, price)))
        return TABLE_BYTES + CELL_BYTES * _TABLE_CELLS * numbers
    row, said = LABEL_BYTES, RESULT_BYTES
    for output in plan.outputs:
        row += LABEL_BYTES if isinstance(output.source, Key) else CELL_BYTES
        said += OUTPUT_BYTES + len(output.name)
    return said + row * plan.rows


@remember(_KEPT)
def _measure_plan(plan: Plan, price: Price) -> AnswerSize:
    """The size of what is measured; the answer as it was given comes on top."""
    distinct = list_measures(plan, price)  # refuses prices for which no noise can be drawn
    measures = dict(zip(plan.statistics, list_planned_measures(plan, price), strict=True))
    outputs = (set(chain.from_iterable(map(measures.__getitem__, statistics_of(term)))) for term in plan.terms)
    found = prod(len(key_cells(key)) for key in plan.keys if is_open(key)) if any(map(is_open, plan.keys)) else 0
    return AnswerSize(
        numbers=sum(map(_count, distinct)),
        largest=max(sum(map(_count, each)) for each in outputs),
        stored_bytes=sum(_count(each) * _number_bytes(each) for each in distinct) + FOUND_BYTES * found,
    )


def _count(measure: Measure) -> int:
    return prod(measure.mechanism.shape(measure.query))


def _number_bytes(measure: Measure) -> int:
    return NUMBER_BYTES if measure.query.largest < _LARGEST else LARGE_NUMBER_BYTES
