from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from adomnia.console.budget.burn_down import _mark_amounts, draw_burn_down
from adomnia.console.budget.debits import Debit, add_totals
from adomnia.console.budget.gauges import EPSILON
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Budget, Filter
from adomnia.wire.amounts import count_cost

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def draw(*ages: timedelta, epsilon: float = 0.25, whole: float = 2, now: datetime = NOW):
    account = Filter(Budget(epsilon=whole))
    for _ in ages:
        account = account.after(Pure(epsilon))
    cost = count_cost(Pure(epsilon))
    debits = [Debit((NOW - age).isoformat(), "id", ("text",), cost, answered=True) for age in ages]
    return draw_burn_down(add_totals(debits, account.spent, EPSILON), account, EPSILON, now)


def steps(picture) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"H([\d.]+)V([\d.]+)", picture.line)]


def test_each_debit_is_a_step_down_at_its_time():
    picture = draw(timedelta(days=10), timedelta(days=5))
    assert picture.line.startswith("M0 0.0H")
    (first, one), (second, two) = steps(picture)
    assert (one, two) == (125, 250)
    assert first == pytest.approx(1000 * 0.5 / 10.5, abs=0.1)
    assert second == pytest.approx(1000 * 5.5 / 10.5, abs=0.1)
    assert (picture.end, picture.left) == (0.25, "1.5")
    assert [mark.label for mark in picture.times] == ["6 Nov", "8 Nov", "11 Nov", "13 Nov", "16 Nov"]


def test_ten_thousand_debits_are_a_short_line():
    picture = draw(*(timedelta(minutes=k) for k in range(3000)), epsilon=0.0001)
    assert len(steps(picture)) <= 501
    assert steps(picture)[-1][1] == 150.0
    assert len(picture.line) < 10_000


def test_everything_in_one_second_is_a_picture_too():
    picture = draw(timedelta(0), timedelta(0))
    assert steps(picture) == [(1000.0, 250.0)]
    assert picture.times[-1].label == "12:00"


def test_a_clock_that_went_back_does_not_matter():
    assert steps(draw(timedelta(0), now=NOW - timedelta(days=3)))[-1][1] == 125


def test_all_spent_ends_at_the_bottom():
    assert draw(timedelta(days=1), epsilon=2).end == 1


@pytest.mark.parametrize(
    ("whole", "labels"),
    [
        (2, ["0", "0.5", "1", "1.5", "2"]),
        (10, ["0", "2", "4", "6", "8", "10"]),
        (1.478, ["0", "0.5", "1"]),
        (0.0791933, ["0", "0.02", "0.04", "0.06"]),
        (100_000, ["0", "20000", "40000", "60000", "80000", "100000"]),
    ],
)
def test_amounts_are_marked_at_round_numbers(whole, labels):
    marks = _mark_amounts(whole)
    assert [mark.label for mark in marks] == labels
    assert all(mark.place == pytest.approx(1 - float(mark.label) / whole) for mark in marks)
