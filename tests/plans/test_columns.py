"""Columns of an answer are plain values: equal ones are equal, and nothing in them can be changed."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from math import inf

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.plans.columns import KeyColumn, ValueColumn, _one_below_the_other, finish
from adomnia.plans.intervals import estimate_term
from adomnia.sql.lower import lower
from adomnia.statistics.contract import Estimate
from adomnia.statistics.count import Count
from sql.hospital import HOSPITAL


def test_keys_are_compared_by_what_they_hold():
    assert KeyColumn("sex", ("F", "M")) == KeyColumn("sex", ("F", "M"))
    assert KeyColumn("sex", ("F", "M")) != KeyColumn("sex", ("M", "F"))
    assert KeyColumn("sex", (None, True, 1.5)).values == (None, True, 1.5)


def test_a_column_cannot_be_changed(alice):
    key, value = alice.sql("SELECT sex, COUNT(*) FROM people GROUP BY sex", epsilon=1).typed_columns
    assert (type(key), type(value)) == (KeyColumn, ValueColumn)
    for column in (key, value):
        with pytest.raises(FrozenInstanceError):
            column.name = "other"


@pytest.mark.parametrize(
    ("output", "possible"),
    [
        ("COUNT(*)", (0.0, inf)),
        ("AVG(age)", (0.0, 120.0)),
        ("MEDIAN(age)", (0.0, 120.0)),
        ("SUM(score)", None),  # its values may be negative
        ("COUNT(*) - 5", None),
        ("CORR(age, salary)", (-1.0, 1.0)),
        ("COVAR_POP(age, salary)", (-30.0 * 500_000, 30.0 * 500_000)),
        ("ROUND(AVG(age) / 7, 1)", (0.0, 17.1)),
        ("100 - AVG(age)", (-20.0, 100.0)),
        ("ROUND(100 * COUNT(*) / SUM(COUNT(*)) OVER (), 1)", (0.0, 100.0)),
        ("AVG(age) - SUM(score)", None),
        ("COUNT(*) FILTER (WHERE age > 30) - COUNT(*) FILTER (WHERE age < 20)", None),
        ("SUM(COUNT(*) FILTER (WHERE age > 30) - COUNT(*) FILTER (WHERE age < 20)) OVER ()", None),
        ("SUM(COUNT(*)) OVER ()", (0.0, inf)),
    ],
)
def test_what_a_column_can_be_is_known_also_of_some_of_its_cells(alice, output, possible):
    column = alice.sql(
        f"SELECT sex, {output} AS x FROM people GROUP BY sex", epsilon=1, allow_uninformative=True
    ).typed_columns[1]
    assert column.estimate.possible == possible
    assert column.only((0, 2)).estimate.possible == possible


@pytest.mark.parametrize(
    ("output", "possible"),
    [
        ("AVG(age)", (0.0, 120.0)),
        ("AVG(CASE WHEN member THEN 1 ELSE 0 END)", (0.0, 1.0)),
        ("VAR_POP(age)", (0.0, 3600.0)),
    ],
)
def test_what_a_population_can_be_is_known_too(alice, output, possible):
    text = f"SELECT {output} AS x FROM people"
    answer = alice.sql(text, epsilon=1e-6, inference="population", allow_uninformative=True)
    assert answer.typed_columns[0].estimate.possible == pytest.approx(possible, rel=1e-5)
    assert answer["x"] == [None]


def between(lower, upper, possible):
    """A column of one number with such an interval."""
    ends = np.array([lower]), np.array([upper])
    return ValueColumn("x", Estimate(np.clip(5.0, *ends), lambda *_: ends, "m", limits=possible))


@pytest.mark.parametrize(
    ("possible", "ends", "silent"),
    [
        ((0.0, 1.0), (0.0, 1.0), True),
        ((0.0, 1.0), (0.0, 0.99), False),
        ((0.1, 0.7), (0.1 + 1e-16, 0.7), True),  # as doubles are rounded
        ((2.0**53, 2.0**53 + 1000), (2.0**53, 2.0**53 + 1000), True),  # beside which a thousand is little
        ((2.5, 2.5), (2.5, 2.5), False),  # the only number that is possible is known
        ((2.5, 2.5 + 4e-16), (2.5, 2.5 + 4e-16), False),
        ((0.0, inf), (0.0, inf), True),
        ((0.0, inf), (0.0, 1e300), False),
        (None, (-inf, inf), True),
        (None, (-1e300, inf), False),
    ],
)
def test_a_number_is_missing_where_its_interval_is_all_that_is_possible(possible, ends, silent):
    column, rows = between(*ends, possible), np.arange(1)
    found = column.read(rows, column.bounds(rows, 0.95))
    assert found.uninformative.tolist() == np.isnan(found.values).tolist() == [silent]


def test_what_one_below_the_other_can_be_is_what_any_can_be():
    values = np.zeros(1)
    found = [
        Estimate(values, lambda *_: (values, values), "m", limits=each) for each in ((0.0, 5.0), (-1.0, 2.0), None)
    ]
    assert _one_below_the_other(found[:2]).possible == (-1.0, 5.0)
    assert _one_below_the_other(found).possible is None


def rows(text, **values):
    """The cells in order, where each output by name has these noisy values."""
    plan = lower(text, HOSPITAL)
    named = {output.source: output.name for output in plan.outputs}
    shape = (3, 2) if len(plan.keys) == 2 else (3,) if plan.keys else ()
    estimates = {
        statistic: Estimate(np.array(values.get(named.get(statistic, "hidden")), dtype=float).reshape(shape), None, "")
        for statistic in plan.statistics
    }
    return finish(plan, estimates).tolist()


SEX = "SELECT sex, COUNT(*) AS n, SUM(age) AS total FROM people GROUP BY sex"


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("", [0, 1, 2]),
        ("ORDER BY sex DESC", [2, 1, 0]),
        ("ORDER BY n", [1, 0, 2]),
        ("ORDER BY n DESC", [0, 2, 1]),
        ("ORDER BY n DESC, sex DESC", [2, 0, 1]),
        ("ORDER BY n, total DESC", [1, 2, 0]),
        ("ORDER BY n DESC LIMIT 1", [0]),
        ("LIMIT 2", [0, 1]),
        ("LIMIT 99", [0, 1, 2]),
    ],
)
def test_rows_are_sorted_as_asked_and_ties_by_the_declared_order_of_keys(order, expected):
    assert rows(f"{SEX} {order}", n=[5, -1, 5], total=[1.0, 2.0, 3.0]) == expected


@pytest.mark.parametrize(
    ("having", "expected"),
    [
        ("n > 4", [0, 2]),
        ("n < 5", [1]),
        ("n >= 5 AND total <> 3", [0]),
        ("n = -1 OR total = 3", [1, 2]),
        ("NOT n = -1", [0, 2]),
        ("n BETWEEN -1 AND 4", [1]),
        ("n NOT BETWEEN -1 AND 4", [0, 2]),
        ("total IN (1, 3)", [0, 2]),
        ("n - total <= 2", [1, 2]),
        ("sex = 'F'", [0]),
        ("sex <> 'F' AND total < 2.5", [1]),
        ("sex IN ('X', 'F', 'nobody')", [0, 2]),
        ("sex = 'nobody'", []),
        ("sex IS NULL", []),
        ("sex IS NOT NULL", [0, 1, 2]),
        ("n > 1000", []),
    ],
)
def test_having_keeps_the_rows_whose_noisy_values_and_keys_say_so(having, expected):
    assert rows(f"{SEX} HAVING {having}", n=[5, -1, 5], total=[1.0, 2.0, 3.0]) == expected


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("HAVING n > 0 ORDER BY total DESC", [2, 0]),
        ("HAVING n > 0 ORDER BY total DESC LIMIT 1", [2]),
        ("HAVING n > 0 ORDER BY total DESC LIMIT 1 OFFSET 1", [0]),
        ("HAVING n > 0 OFFSET 2", []),
        ("OFFSET 1", [1, 2]),
        ("LIMIT 1 OFFSET 1", [1]),
        ("ORDER BY -total", [2, 1, 0]),
        ("ORDER BY n / total, n", [1, 2, 0]),
    ],
)
def test_rows_are_kept_then_sorted_then_skipped_then_cut(rest, expected):
    assert rows(f"{SEX} {rest}", n=[5, -1, 5], total=[1.0, 2.0, 3.0]) == expected


def test_conditions_on_keys_find_their_cells_among_those_of_several_keys():
    text = "SELECT COUNT(*) AS n FROM people GROUP BY sex, active HAVING"
    assert rows(f"{text} active", n=[0] * 6) == [1, 3, 5]
    assert rows(f"{text} NOT active AND sex <> 'M'", n=[0] * 6) == [0, 4]
    assert rows(f"{text} sex = 'M' OR n > 1", n=[2, 0, 0, 0, 0, 2]) == [0, 2, 3, 5]


def test_what_only_having_needs_need_not_be_an_output():
    text = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex HAVING SUM(age) > 1"
    assert rows(text, n=[1, 2, 3], hidden=[3, 1, 2]) == [0, 2]


def test_an_answer_without_keys_may_have_no_row():
    assert rows("SELECT COUNT(*) AS n FROM people HAVING n > 5", n=7) == [0]
    assert rows("SELECT COUNT(*) AS n FROM people HAVING n > 5", n=3) == []


def test_an_order_need_not_be_an_output():
    assert rows(
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY SUM(age)", n=[1, 2, 3], hidden=[3, 1, 2]
    ) == [1, 2, 0]


def test_rows_follow_the_order_in_which_the_keys_were_written():
    counts = {"n": [0] * 6}
    assert rows("SELECT COUNT(*) AS n FROM people GROUP BY sex, active", **counts) == [0, 1, 2, 3, 4, 5]
    assert rows("SELECT COUNT(*) AS n FROM people GROUP BY active, sex", **counts) == [0, 2, 4, 1, 3, 5]


def test_an_answer_without_keys_has_one_row():
    assert rows("SELECT COUNT(*) AS n FROM people", n=7) == [0]
    assert rows("SELECT COUNT(*) AS n FROM people ORDER BY n DESC LIMIT 3", n=7) == [0]


@given(st.lists(st.integers(-3, 3), min_size=3, max_size=3))
def test_the_order_is_a_stable_sort(values):
    assert rows(f"{SEX} ORDER BY n", n=values, total=[0, 0, 0]) == sorted(range(3), key=values.__getitem__)
    down = sorted(range(3), key=lambda place: -values[place])
    assert rows(f"{SEX} ORDER BY n DESC", n=values, total=[0, 0, 0]) == down


AGES = {"F": [30, 40, 50], "M": [20], "X": [70, 71]}


def plain(text):
    """The rows of a question over these people, by a database that runs it as it is written."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people (sex VARCHAR, age BIGINT)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", [(sex, age) for sex in AGES for age in AGES[sex]])
        return connection.execute(text).fetchall()


def ours(text):
    """The same from a plan, where the noise of every statistic is zero."""
    plan = lower(text, HOSPITAL)
    sums = {
        each: [len(ages) if isinstance(each, Count) else sum(ages) for ages in AGES.values()]
        for each in plan.statistics
    }
    estimates = {each: Estimate(np.array(values, dtype=float), None, "") for each, values in sums.items()}
    columns = [
        list(AGES) if output.source in plan.keys else estimate_term(output.source, estimates).values.tolist()
        for output in plan.outputs
    ]
    return [tuple(column[cell] for column in columns) for cell in finish(plan, estimates)]


@pytest.mark.parametrize(
    "outputs",
    [
        "COUNT(*) AS n, SUM(age) AS a",
        "SUM(age) / COUNT(*) AS a, 2 * COUNT(*) - 1 AS n",
        "ROUND(SUM(age) / COUNT(*), 1) AS a, -(COUNT(*) - SUM(age)) / 4 AS n",
        "100.0 * COUNT(*) / SUM(age) AS a, ROUND(-SUM(age) / 4) AS n",
    ],
)
@pytest.mark.parametrize(
    "rest",
    [
        "ORDER BY sex",
        "ORDER BY a, sex",
        "ORDER BY n DESC, sex",
        "ORDER BY SUM(age) / COUNT(*) - 3 DESC, sex DESC LIMIT 2",
        "HAVING COUNT(*) > 1 ORDER BY sex",
        "HAVING COUNT(*) > 1 AND sex <> 'X' ORDER BY sex",
        "HAVING NOT (COUNT(*) BETWEEN 1 AND 2 OR sex = 'X') ORDER BY sex",
        "HAVING SUM(age) - 100 * COUNT(*) < -80 OR sex IN ('M', 'nobody') ORDER BY a DESC, sex",
        "HAVING SUM(age) / COUNT(*) >= 40 ORDER BY n, sex LIMIT 1 OFFSET 1",
        "HAVING COUNT(*) IN (1, 3) AND SUM(age) IS NOT NULL ORDER BY sex OFFSET 1",
        "HAVING sex IS NULL ORDER BY sex",
    ],
)
def test_without_noise_the_rows_are_those_of_plain_sql(outputs, rest):
    text = f"SELECT sex, {outputs} FROM people GROUP BY sex {rest}"
    expected = [
        (sex, *map(pytest.approx, values)) for sex, *values in ((row[0], *map(float, row[1:])) for row in plain(text))
    ]
    assert ours(text) == expected
