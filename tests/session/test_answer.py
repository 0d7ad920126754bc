"""Answers: values, intervals, tables for other tools."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from adomnia.curator.executor import Executor
from adomnia.plans.columns import KeyColumn
from adomnia.session.answer import Answer
from adomnia.statistics.contract import Measured
from kit.hospital import curated

GROUPED = "SELECT sex, member, COUNT(*) AS n, AVG(salary) AS pay FROM people GROUP BY sex, member"


@pytest.fixture
def answer(alice):
    return alice.sql(GROUPED, epsilon=1)


def test_every_key_comes_back_in_its_declared_order(answer):
    assert len(answer) == 6
    assert answer["sex"] == ["F", "F", "M", "M", "X", "X"]
    assert answer["member"] == [False, True] * 3


def test_counts_are_integers_and_means_are_numbers_within_the_bounds(answer):
    assert {type(value) for value in answer["n"]} == {int}
    assert all(value is None or 0 <= value <= 500_000 for value in answer["pay"])


def test_records_hold_the_interval_beside_each_value(answer):
    first = answer.records()[0]
    assert list(first) == ["sex", "member", "n", "n_lower", "n_upper", "pay", "pay_lower", "pay_upper"]
    assert first["n_lower"] <= first["n"] <= first["n_upper"]
    assert (first["pay"], first["pay_lower"], first["pay_upper"]) == (None, 0.0, 500_000.0)  # of so few people


def test_arrow_pandas_and_polars_hold_the_same(answer):
    records = answer.records()
    assert answer.to_arrow().to_pylist() == records
    framed = answer.to_pandas().to_dict("records")
    assert [
        {name: None if isinstance(value, float) and np.isnan(value) else value for name, value in row.items()}
        for row in framed
    ] == records
    assert answer.to_polars().to_dicts() == records


def test_an_interval_is_wider_at_more_confidence_and_for_all_cells_together(answer):
    def widths(*arguments):
        return [upper - lower for lower, upper in answer.interval("n", *arguments)]

    assert widths() == widths(0.95)
    assert max(widths(0.5)) < min(widths(0.95)) < min(widths(0.999))
    assert min(widths(0.95, True)) > max(widths(0.95))


def test_the_confidence_of_the_question_is_that_of_its_intervals(alice, answer):
    again = alice.sql(GROUPED, epsilon=1, confidence=0.5)
    assert again.replayed
    assert again.interval("n") == answer.interval("n", 0.5)


@pytest.mark.parametrize("confidence", [0, 1, 2, -1])
def test_a_confidence_that_is_none_is_an_error(answer, confidence):
    with pytest.raises(ValueError, match="confidence"):
        answer.interval("n", confidence)


def test_a_key_has_no_interval(answer):
    with pytest.raises(TypeError, match="measured column, got the key sex"):
        answer.interval("sex")


def test_an_unknown_column_is_told_with_those_there_are(answer):
    with pytest.raises(KeyError, match="no column x; it has sex, member, n, pay"):
        answer["x"]


def test_order_and_limit_work_on_noisy_values(alice, answer):
    top = alice.sql(f"{GROUPED} ORDER BY n DESC LIMIT 2", epsilon=1)
    assert top.replayed
    assert top["n"] == sorted(answer["n"], reverse=True)[:2]
    assert len(top) == len(top.records()) == len(top.interval("pay")) == 2


def test_having_works_on_noisy_values_and_is_free(alice, answer):
    kept = alice.sql(f"{GROUPED} HAVING n > 1 AND member OFFSET 1", epsilon=1)
    expected = [row for row in answer.records() if row["n"] > 1 and row["member"]][1:]
    assert kept.replayed
    assert kept.records() == expected


def test_an_answer_without_rows_has_its_columns_and_their_types(alice, answer):
    empty = alice.sql(f"{GROUPED} HAVING sex IS NULL", epsilon=1)
    assert (len(empty), empty.records(), empty["n"], empty.interval("pay")) == (0, [], [], [])
    assert empty.to_arrow().schema == answer.to_arrow().schema
    assert empty.to_arrow().num_rows == 0
    assert empty.to_pandas().dtypes.tolist() == answer.to_pandas().dtypes.tolist()
    assert empty.to_pandas().empty
    assert empty.to_polars().schema == answer.to_polars().schema
    assert empty.to_polars().is_empty()
    assert "No rows." in repr(empty)
    assert "<tbody></tbody>" in empty._repr_html_()


def test_public_rows_that_are_none_have_their_columns(answer):
    public = Answer((KeyColumn("city", ()),), np.arange(0), 0.95, None, False, answer.left)
    assert public.to_arrow().column_names == ["city"]
    assert public.to_arrow().num_rows == 0


def test_arithmetic_between_aggregates_is_that_of_their_noisy_values(alice):
    text = (
        "SELECT sex, COUNT(*) AS n, SUM(salary) AS s, SUM(salary) / COUNT(*) AS pay, COUNT(*) - 2 AS less FROM people"
    )
    answer = alice.sql(f"{text} GROUP BY sex", epsilon=1)
    assert answer["pay"] == [s / max(n, 1) for s, n in zip(answer["s"], answer["n"], strict=True)]
    assert answer["less"] == [n - 2 for n in answer["n"]]
    assert {type(value) for value in answer["less"]} == {int}
    assert all(lower <= pay <= upper for pay, (lower, upper) in zip(answer["pay"], answer.interval("pay"), strict=True))


def test_an_unbounded_interval_is_none_in_records_infinite_in_tables_and_a_word_for_the_eye(alice):
    answer = alice.sql("SELECT COUNT(*) / (COUNT(salary) - COUNT(salary)) AS x FROM people", epsilon=1)
    (record,) = answer.records()
    assert record == {"x": None, "x_lower": None, "x_upper": None}
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert answer.interval("x") == [(-np.inf, np.inf)]
    assert answer.to_pandas()["x_upper"].tolist() == answer.to_arrow()["x_upper"].to_pylist() == [np.inf]
    for shown in (repr(answer), answer._repr_html_()):
        assert "unbounded" in shown
        assert not re.search(r"\b(nan|inf)\b", shown)


def test_whole_numbers_beyond_what_a_double_holds_are_doubles(alice):
    answer = alice.sql("SELECT 1000000000000000 * COUNT(*) * 1000000 AS x FROM people", epsilon=1)
    assert {type(value) for value in answer["x"]} == {float}
    assert answer.to_arrow()["x"].to_pylist() == answer["x"]


def test_an_answer_knows_what_was_paid(answer, alice):
    assert answer.cost == answer.receipt.event
    assert answer.left == alice.budget().personal.left()


def test_public_rows_have_values_of_every_kind_and_no_cost(answer):
    columns = (KeyColumn("city", ("Oslo", None)), KeyColumn("size", (700, 1.5)))
    public = Answer(columns, np.arange(2), 0.95, None, False, answer.left)
    assert (public.cost, len(public)) == (None, 2)
    assert public.records() == [{"city": "Oslo", "size": 700}, {"city": None, "size": 1.5}]
    assert public.to_pandas()["size"].tolist() == [700, 1.5]
    with pytest.raises(TypeError, match="measured column, got the key size"):
        public.interval("size")


def test_a_sum_too_large_for_64_bits_is_exact_to_the_double(alice):
    answer = alice.sql("SELECT SUM(salary * salary * 1e6) AS s FROM people", epsilon=10_000, confidence=0.999)
    exact = sum(salary**2 * 1e6 for salary in (10_000.0, 50_000.0, 90_000.0, 120_000.0, 499_999.0))
    ((lower, upper),) = answer.interval("s")
    assert lower <= exact <= upper


@pytest.mark.parametrize(
    "text",
    [
        GROUPED,
        "SELECT * FROM poisson(people, formula => 'age ~ score')",
        "SELECT * FROM kaplan_meier(people, time => age, event => member, intervals => 7)",
        "SELECT * FROM correlation_test(people, column => age, other => salary)",
        "SELECT * FROM crosstab(people, row => sex, column => city)",
    ],
)
def test_of_other_rows_that_were_measured_alike_everything_it_says_is_the_same(text, alice, catalog, monkeypatch):
    """Values, intervals, notes and figures follow from the noisy integers: what nobody paid for is in none of them."""
    release, kept = Executor._release, []

    def keep(self, measure, exact):
        kept.append(release(self, measure, exact))
        return kept[-1]

    def repeat(self, measure, exact):
        return Measured(kept.pop(0).values, release(self, measure, exact).mechanism)

    monkeypatch.setattr(Executor, "_release", keep)
    first = alice.sql(text, epsilon=1)
    monkeypatch.setattr(Executor, "_release", repeat)
    with curated(catalog, [], []) as empty:
        second = empty.session("alice").sql(text, epsilon=1)
    assert not kept
    assert second.records() == first.records()
    for said in ("notes", "figure", "caps", "model", "product"):
        assert str(getattr(second, said)) == str(getattr(first, said)), said
