"""A planted statistic of a vector: quoted, explained, executed and replayed by whoever does so with those of SQL."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import pytest

from adomnia.curator.executor import Executor, Statements, drive
from adomnia.curator.measurements import Record, Replayer
from adomnia.explaining.explanations import explain
from adomnia.plans.plan import Output
from adomnia.pricing.parts import bill, split_price
from adomnia.pricing.quotes import list_measures, quote_plan
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.transforms.matrices import Combination, Matrix
from adomnia.privacy.vectors import Variable, Vector
from adomnia.sql.lower import lower
from adomnia.statistics.contract import Measured, ResultTable
from adomnia.statistics.one_round import OneRound, in_steps
from kit.curated import alice, bob, carol, catalog, curator
from kit.hospital import CountedBits
from kit.polynomials import bernstein

if TYPE_CHECKING:
    from adomnia.privacy.queries import Query

__all__ = ["alice", "bob", "carol", "catalog", "curator"]


@dataclass(frozen=True)
class Several(OneRound):
    """All numbers of one measurement as a table."""

    tag: ClassVar[str] = "Several"
    name: ClassVar[str] = "SEVERAL"
    query: Query

    def estimate(self, *measured):
        (found,) = measured
        labels = tuple(map(str, range(len(found.values))))
        estimate = in_steps(Measured(found.values, found.mechanism), Fraction(1), "noisy sums")
        return ResultTable({"entry": labels}, {"estimate": estimate})


def ends(catalog):
    """How far salaries are above the lower end, and below the upper one."""
    salary = catalog.table("people").column("salary")
    return Vector((Variable(salary, salary.domain),), tuple(bernstein(1, salary.domain.width, 0, 1)))


@pytest.fixture(params=["vector", "combinations"])
def plan(catalog, request):
    text = "SELECT COUNT(*) FROM people" + (" GROUP BY sex" if request.param == "combinations" else "")
    counted = lower(text, catalog)
    (query,) = (one.query for one in counted.statistics)
    blocks = ((Matrix.identity(query.shape[0]),), (Matrix.total(query.shape[0]),)) if query.keys else ()
    aggregate = Combination(blocks) if blocks else ends(catalog)
    return replace(counted, keys=(), outputs=(Output("planted", Several(replace(query, aggregate=aggregate))),))


@pytest.mark.parametrize("price", [Pure(1), Concentrated(Fraction(1, 8))])
def test_it_is_quoted_as_one_measurement_of_all_its_numbers(plan, price):
    quote = quote_plan(plan, price)
    (query,) = (one.query for one in plan.statistics)
    assert [part.cells for part in quote.measurements] == [*query.result_shape]
    assert quote.event == bill((plan, price))
    (line,) = quote.outputs
    assert 1 < line.error / float(query.sensitivity().l1) < 12
    assert ("sums of salary" if isinstance(query.aggregate, Vector) else "combinations of rows") in str(
        explain(plan, quote)
    )


@pytest.mark.parametrize("price", [Pure(1), Concentrated(Fraction(1, 8))])
def test_it_is_replayed_from_its_record(curator, plan, price):
    statements = Statements(curator.engine, curator.catalog)
    statements.of([measure.query for measure in list_measures(plan, price)])
    running = Executor(curator.engine, statements, bill((plan, price)), CountedBits(0))
    (table,) = drive(split_price(plan, price), running)
    (query,) = (one.query for one in plan.statistics)
    assert [each.shape for each in running.record.values] == [query.result_shape]
    (again,) = drive(split_price(plan, price), Replayer(Record.from_bytes(running.record.to_bytes())))
    assert again.estimates["estimate"].values.tolist() == table.estimates["estimate"].values.tolist()
