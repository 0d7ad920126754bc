"""What a measurement would be of rows that are only supposed: the shape and the integers that its statistic expects."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.errors import Refusal
from adomnia.pricing.precision import price_for_error
from adomnia.pricing.simulated import Simulated, _simulate
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Rows, Total
from adomnia.privacy.transforms.matrices import Combination, Matrix
from adomnia.privacy.vectors import Variable, Vector, constant, variable
from adomnia.sql.lower import lower, plan_question
from adomnia.sql.reading.parse import parse
from adomnia.statistics.contract import Measure
from adomnia.statistics.count import part_query
from adomnia.work import current, limit
from sql.hospital import HOSPITAL

AGE = Column("age", Quantity(Fraction(18), Fraction(118), whole=True), Numbers.integers(18, 118))
URGENT = Column("urgent", Boolean())
X = variable(0, 1)
ENDS = Vector((Variable(AGE, AGE.domain),), (X, constant(100, 1) - X, X * X))
FAR = Vector((Variable(AGE, AGE.domain),), (constant(2**60, 1), constant(1, 1)))
DIFFERENCES = Combination(((Matrix.identity(2),), (Matrix.dense([[3, -1], [1, -1]]),)))


@pytest.mark.parametrize(
    ("keys", "aggregate", "values"),
    [
        ((), Rows(), 10),
        ((), Total(AGE, AGE.domain), 680),
        ((), ENDS, [500, 500, 25_000]),
        ((URGENT,), ENDS, [500, 500, 25_000]),
        ((URGENT,), DIFFERENCES, [10, 10, 20, 0]),
        ((), FAR, [10 * 2**60, 10]),
    ],
    ids=["rows", "sum", "vector", "vector by groups", "combinations", "beyond 64 bits"],
)
def test_all_values_lie_in_the_middle_and_every_cell_has_the_supposed_rows(keys, aggregate, values):
    query = Query(Private("visits", 3, (AGE, URGENT)), keys, aggregate)
    found = _simulate(Measure(query, Pure(1)), 10)
    assert found.tolist() == values
    assert found.dtype == (object if aggregate is FAR else np.int64)


@pytest.mark.parametrize(
    ("aggregate", "values"), [(Rows(), [10, 0]), (ENDS, [[500, 500, 25_000], [0, 0, 0]])], ids=["rows", "vector"]
)
def test_all_rows_have_the_value_whose_presence_is_asked_for(aggregate, values):
    query = part_query(Query(Private("visits", 3, (AGE,)), (), aggregate), AGE)
    assert _simulate(Measure(query, Pure(1)), 10).tolist() == values


def test_the_interval_of_a_total_over_groups_counts_as_more_work():
    plan = lower("SELECT sex, AVG(age) FROM people GROUP BY ROLLUP (sex)", HOSPITAL)
    steps = []
    for groups in (1, 3):
        supposed = Simulated(plan, Pure(1))
        supposed.estimate(plan.outputs[1].source)  # what is supposed is counted before
        with limit():
            supposed.half_width(plan.outputs[1].source, 1000, 0.95, groups=groups)
            steps.append(current().steps)
    assert steps[1] == 3 * steps[0] > 0


@pytest.mark.parametrize(
    ("output", "half_width"),
    [
        ("AVG(salary)", 1.96 * 500_000 / 12**0.5 / 50),
        ("AVG(active)", 1.96 * 0.5 / 50),
        ("VAR_POP(age)", 1.96 * 120**2 * (1 / 80 - 1 / 144) ** 0.5 / 50),
    ],
)
def test_the_error_about_a_population_has_the_sampling_of_evenly_spread_values_in_it(output, half_width):
    asked = plan_question(parse(f"SELECT {output} FROM people"), HOSPITAL, inference="population")
    dear, cheap = (Simulated(asked, Pure(epsilon), 2500) for epsilon in (50, Fraction(1, 50)))
    (found,) = asked.outputs
    assert dear.error(found.source, 0.95) == pytest.approx(half_width, rel=0.08)
    assert cheap.error(found.source, 0.95) > 1.2 * half_width


def test_no_price_keeps_an_error_below_what_sampling_leaves():
    asked = plan_question(parse("SELECT AVG(salary) FROM people"), HOSPITAL, inference="population")
    _, price = price_for_error(asked, 10_000, rows=2500)
    assert price.epsilon < 1
    with pytest.raises(Refusal, match="is less than any price can promise"):
        price_for_error(asked, 1000, rows=2500)
