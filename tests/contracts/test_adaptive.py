"""A planted method: two rounds, the second of which depends on the first, and a table as its result.

It is priced, explained, executed, replayed and held to its event by whoever does so with the statistics of SQL.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest

from adomnia.curator.executor import Executor, Statements, drive
from adomnia.curator.measurements import Record, Replayer
from adomnia.explaining.explanations import explain
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.messages.texts import Note
from adomnia.plans.columns import build_columns
from adomnia.plans.plan import Output, Plan
from adomnia.plans.views import TableView
from adomnia.pricing.parts import amount, bill, identify, split_price, split_together
from adomnia.pricing.quotes import list_measures, quote_plan
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.losses import covers
from adomnia.privacy.scans import NonNull, Rows
from adomnia.sql.lower import lower
from adomnia.statistics.clipped import Clipped
from adomnia.statistics.contract import Measure, Measured, ResultTable
from adomnia.statistics.count import Count
from adomnia.statistics.one_round import OneRound, in_steps
from kit.curated import alice, bob, carol, catalog, curator
from kit.hospital import CountedBits

if TYPE_CHECKING:
    from adomnia.privacy.queries import Query

__all__ = ["alice", "bob", "carol", "catalog", "curator"]

PRICE = Pure(1)


@dataclass(frozen=True)
class RowsThenValues:
    """How many rows, and then, only where these are many, how many values: what is asked depends on noise."""

    tag: ClassVar[str] = "RowsThenValues"
    query: Query
    values: NonNull
    greedy: bool = False  # asks for twice what it may
    name: ClassVar[str] = "ROWS_THEN_VALUES"

    @property
    def operands(self):
        return (self.query.aggregate, self.values)

    @property
    def queries(self):
        return (self.query,)

    @property
    def continuations(self):
        return (self,)

    def event(self, price):
        return Composed((price,))

    def planned_measures(self, price):
        return Measure(self.query, price / 2), Measure(replace(self.query, aggregate=self.values), price / 2)

    def steps(self, price):
        first, second = self.planned_measures(price)
        (rows,) = yield (first,)
        asked = replace(second, price=price) if self.greedy else second
        found = [rows] if int(rows.values) < -100 else [rows, *(yield (asked,))]
        estimates = [in_steps(each, Fraction(1), "noisy count") for each in found]
        return ResultTable(
            {"term": ("rows", "values")[: len(found)]},
            {
                "estimate": replace(
                    estimates[0],
                    values=np.array([float(each.values) for each in estimates]),
                    parts=(),
                    interval=lambda confidence, cells: tuple(
                        np.array([float(each.interval(confidence, cells)[end]) for each in estimates]) for end in (0, 1)
                    ),
                )
            },
            notes=(Note("planted"),),
        )

    def split(self, _portions):
        return self

    def map_queries(self, change):
        return replace(self, query=change(self.query))


@pytest.fixture
def plan(catalog):
    count = lower("SELECT COUNT(*) FROM people", catalog)
    values = lower("SELECT COUNT(salary) FROM people", catalog).statistics[0].query.aggregate
    (rows,) = count.statistics
    return replace(count, outputs=(Output("planted", RowsThenValues(rows.query, values)),))


def executor(curator, plan, price=PRICE, reserved=None):
    statements = Statements(curator.engine, curator.catalog)
    statements.of([measure.query for measure in list_measures(plan, price)])
    return Executor(curator.engine, statements, reserved or bill((plan, price)), CountedBits(0))


def test_its_bill_is_its_event(plan):
    assert bill((plan, PRICE)) == Composed((PRICE,))
    spent = Composed(each.mechanism.event(each.query.sensitivity()) for each in list_measures(plan, PRICE))
    assert covers(bill((plan, PRICE)), spent)


def test_it_is_quoted_with_an_error_for_each_column_and_every_measurement_that_is_known(plan):
    quote = quote_plan(plan, PRICE)
    assert [line.name for line in quote.outputs] == ["estimate"]
    assert 5 < quote.outputs[0].error < 8  # Laplace noise of scale 2, at 95%
    assert len(quote.measurements) == 2
    assert quote.event == bill((plan, PRICE))


def test_it_is_explained(plan):
    text = str(explain(plan, quote_plan(plan, PRICE)))
    assert "ROWS_THEN_VALUES(*, salary)" in text
    assert "epsilon 0.5" in text


def test_it_is_executed_in_two_rounds_within_its_event(curator, plan):
    running = executor(curator, plan)
    (table,) = drive(split_price(plan, PRICE), running)
    assert table.labels == {"term": ("rows", "values")}
    assert len(curator.engine.ran) == 2
    assert len(running.record.values) == 2


def test_it_is_replayed_from_its_record(curator, plan):
    running = executor(curator, plan)
    (table,) = drive(split_price(plan, PRICE), running)
    (again,) = drive(split_price(plan, PRICE), Replayer(Record.from_bytes(running.record.to_bytes())))
    assert again.labels == table.labels
    assert again.estimates["estimate"].values.tolist() == table.estimates["estimate"].values.tolist()


def test_its_table_is_the_answer(curator, plan):
    (table,) = drive(split_price(plan, PRICE), executor(curator, plan))
    shown = replace(plan, view=TableView((("term", "term"), ("found", "estimate"))))
    columns = build_columns(shown, dict(zip(plan.statistics, (table,), strict=True)))
    assert [column.name for column in columns] == ["term", "found"]
    assert columns[0].values == ("rows", "values")


def test_what_goes_beyond_its_event_is_not_measured(curator, plan):
    greedy = plan.with_statistics(lambda one: replace(one, greedy=True))
    running = executor(curator, greedy)
    with pytest.raises(ValueError, match="more than was reserved"):
        drive(split_price(greedy, PRICE), running)
    assert len(running.record.values) == 1


def test_beside_a_count_of_the_same_rows_both_are_paid(curator, plan):
    """They start from one query and go on differently: what one measures does not pay for the other."""
    (planted,) = plan.statistics
    both = replace(plan, outputs=(*plan.outputs, Output("n", Count(planted.query))))
    assert [amount(event) for event in bill((both, PRICE)).events] == [Fraction(1, 2), Fraction(1, 2)]
    assert split_together([both], PRICE) == [PRICE]
    drive(split_price(both, PRICE), executor(curator, both))


def test_it_has_an_identity(plan):
    (planted,) = plan.statistics
    other = replace(
        plan, outputs=(Output("planted", replace(planted, values=NonNull(planted.values.value), greedy=True)),)
    )
    assert identify(plan, PRICE, 1) != identify(other, PRICE, 1)
    assert isinstance(planted.query.aggregate, Rows)
    assert isinstance(plan, Plan)


@dataclass(frozen=True)
class Fullest(OneRound):
    """Which cell has the most rows: chosen and not noisy."""

    tag: ClassVar[str] = "Fullest"
    name: ClassVar[str] = "FULLEST"
    by: ClassVar[str] = "exponential"
    query: Query

    def estimate(self, *measured):
        return in_steps(Measured(measured[0].values, DiscreteLaplace(Fraction(1))), Fraction(1), "chosen")


@pytest.fixture
def chosen(catalog):
    counts = lower("SELECT hospital, COUNT(*) FROM visits GROUP BY hospital", catalog)
    (count,) = counts.statistics
    return replace(counts, outputs=(Output("fullest", Fullest(count.query)), Output("n", count)))


def test_what_is_chosen_beside_noise_on_the_same_counts_is_paid_beside_it(curator, chosen):
    """They start from one query by two mechanisms: each is a measurement of its own."""
    assert [amount(event) for event in bill((chosen, PRICE)).events] == [Fraction(1, 2), Fraction(1, 2)]
    results = drive(split_price(chosen, PRICE), executor(curator, chosen))
    assert {each.values.shape for each in results} == {(), (5,)}


def test_what_is_chosen_is_not_shortened(chosen):
    price = Concentrated(1)
    (way,) = Clipped(Fullest(chosen.statistics[0].query)).planned_measures(price)
    assert way == Measure(chosen.statistics[0].query, price, "exponential")
