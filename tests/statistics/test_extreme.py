"""The least and the greatest: a value with few rows beyond it, hardly ever past the extreme itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from adomnia.mechanisms.quantiles import Quantiles
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Histogram
from adomnia.statistics.contract import Measured
from adomnia.statistics.extreme import Extreme
from kit.bits import SeededBits
from kit.quantiles import drawn, exact_distribution

DRAWS = 4_000
FARE = Column("fare", Quantity(Fraction(0), Fraction(100)), Numbers(0, 100, Fraction(1, 128)))
_random = np.random.default_rng(7)
SHAPES = {
    "lognormal": np.clip(_random.lognormal(2.5, 0.7, 3000), 0, 100),
    "one": [50.0],
    "few": [3.0, 60.0, 99.0],
    "one value": [30.0] * 500,
    "mostly zeros": [0.0] * 300 + [20.0 + place / 10 for place in range(200)],
    "nobody beside one": [0.0, 100.0],
}


def statistic(greatest, shares=None, confidence=Fraction(19, 20), column=FARE):
    shares = shares or (Fraction(int(greatest)),)
    return Extreme(
        Query(Private("people", 1, (column,)), (), Histogram(column, column.domain, shares, confidence)), greatest
    )


def answered(asked, price, values):
    flow = asked.steps(price)
    (measure,) = next(flow)
    with pytest.raises(StopIteration) as end:
        flow.send((Measured(np.asarray(values), measure.mechanism),))
    return end.value.value


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("price", [Pure(Fraction(1, 2)), Pure(3), Concentrated(Fraction(1, 8))], ids=str)
@pytest.mark.parametrize("greatest", [False, True])
def test_the_extreme_itself_lies_within_the_interval(shape, price, greatest):
    """The upper bound of the coverage, of false-alarm probability 1e-6, is at least what is stated."""
    asked = statistic(greatest)
    rows = [FARE.domain.grid(float(value)) for value in SHAPES[shape]]
    chosen = drawn(Quantiles.for_query(asked.query, price), rows, DRAWS, SeededBits((shape, str(price), greatest)))
    lower, upper = answered(asked, price, chosen).interval(0.95, 1)
    true = (max(rows) if greatest else min(rows)) / 128
    hits = int(((lower <= true) & (true <= upper)).sum())
    assert hits == DRAWS or stats.beta.ppf(1 - 1e-6, hits + 1, DRAWS - hits) >= 0.95


@pytest.mark.parametrize("alpha", [Fraction(1, 20), Fraction(1, 10_000), Fraction(1, 10**9)], ids=float)
@pytest.mark.parametrize("rows", [(0,), (0, 0, 0), (0,) * 40], ids=len)
def test_what_is_stated_is_never_past_the_extreme_more_often(alpha, rows):
    """By enumeration, few rows at a low price: there only the values beyond the grid keep the word."""
    column = Column("stars", Quantity(Fraction(0), Fraction(9), whole=True), Numbers.integers(0, 9))
    asked = statistic(greatest=True, confidence=1 - alpha, column=column)
    mechanism = Quantiles.for_query(asked.query, Pure(Fraction(1, 10)))
    past = sum(chance for (value,), chance in exact_distribution(mechanism, rows).items() if value > 0)
    lower, _ = answered(asked, Pure(Fraction(1, 10)), [[5]]).interval(float(1 - alpha), 1)
    assert past <= alpha or lower.tolist() == [0.0]
    assert lower.tolist() == ([0.0] if alpha < Fraction(1, 2**20) else [5.0])


def test_about_as_many_rows_as_are_stated_lie_beyond():
    asked, rows = statistic(greatest=True), [FARE.domain.grid(float(value)) for value in SHAPES["lognormal"]]
    mechanism = Quantiles.for_query(asked.query, Pure(1))
    chosen = drawn(mechanism, rows, DRAWS, SeededBits("beyond"))[:, 0]
    beyond = np.median([sum(row > value for row in rows) for value in chosen[:200].tolist()])
    stated = float(-mechanism.targets[0].offset)
    assert beyond == pytest.approx(stated, abs=4)
    assert f"about {int(stated)} rows lie beyond it" == answered(asked, Pure(1), [[0]]).method


def test_it_is_one_sided():
    least, greatest = (answered(statistic(end), Pure(1), [[1280]]) for end in (False, True))
    assert least.values.tolist() == greatest.values.tolist() == [10.0]
    assert [bound.tolist() for bound in least.interval(0.9, 1)] == [[0.0], [10 + 1 / 256]]
    assert [bound.tolist() for bound in greatest.interval(0.9, 1)] == [[10 - 1 / 256], [100.0]]
    assert [bound.tolist() for bound in greatest.interval(0.99, 1)] == [[0.0], [100.0]]


def test_one_that_was_not_asked_for_is_refused():
    with pytest.raises(ValueError, match="all that its query asks for"):
        statistic(greatest=True, shares=(Fraction(0), Fraction(1)))
