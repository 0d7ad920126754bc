from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime
from math import inf, nan

import numpy as np
import pytest

from adomnia.plans.columns import Cap, KeyColumn, LeftOut, ValueColumn
from adomnia.statistics.contract import Estimate
from adomnia.wire.answers import (
    AnswerReply,
    BatchReply,
    CapReply,
    ColumnNumbers,
    answer_of,
    answer_record,
    ends_of,
)

QUESTIONS = [
    ("SELECT sex, COUNT(*) AS n, AVG(salary) AS pay FROM people GROUP BY sex", {"epsilon": 1}),
    ("SELECT day, COUNT(*) AS n FROM visits GROUP BY day", {"epsilon": 200, "delta": 1e-9}),
    ("SELECT name, COUNT(*) AS n FROM people GROUP BY name", {"epsilon": 1, "delta": 1e-9}),
    ("SELECT sex, AVG(age) AS a FROM people GROUP BY sex HAVING COUNT(*) > 1000000", {"epsilon": 1}),
    ("SELECT SUM(salary) / COUNT(*) AS q FROM people", {"epsilon": 1e-6}),
    ("SELECT hospital, SUM(cost) AS s FROM visits GROUP BY hospital", {"rho": 0.5}),
    (
        "SELECT MAX(CASE WHEN cost < 9 THEN '2020-02-03'::DATE ELSE '2020-03-04'::DATE END) AS last FROM visits",
        {"epsilon": 1},
    ),
    ("SELECT city, population FROM cities", {}),
    ("SELECT city, population FROM cities WHERE population > 1000000", {}),
]


def nobody(name, confidence, simultaneous):
    raise AssertionError("nobody is asked")


def sent(answer, intervals=nobody, **way):
    return answer_of(told(json.loads(json.dumps(answer_record(answer, **way), allow_nan=False))), intervals)


def told(record):
    return AnswerReply.model_validate(record, strict=True)


@pytest.mark.parametrize(("text", "payment"), QUESTIONS)
def test_an_answer_arrives_as_it_left(bob, text, payment):
    answer = bob.sql(text, **payment)
    found = sent(answer)
    assert found.records() == answer.records()
    assert found.to_arrow() == answer.to_arrow()
    assert (repr(found), found._repr_html_()) == (repr(answer), answer._repr_html_())
    assert (found.left, found.cost, found.caps, found.replayed) == (answer.left, answer.cost, answer.caps, False)
    assert found.receipt == (answer.receipt and replace(answer.receipt, asked=""))
    assert found.columns == answer.columns
    assert [_possible(column) for column in found.typed_columns] == [
        _possible(column) for column in answer.typed_columns
    ]


def _possible(column):
    return column.estimate.possible if isinstance(column, ValueColumn) else None


@pytest.mark.parametrize(
    ("limits", "dates", "written"),
    [
        (None, False, None),
        ((0.0, inf), False, [0, None]),
        ((-5.5, 70.0), False, [-5.5, 70]),
        ((737_424.0, 737_454.0), True, ["2020-01-01", "2020-01-31"]),
    ],
)
def test_readers_are_told_what_is_possible(bob, limits, dates, written):
    answer = bob.sql("SELECT COUNT(*) AS n FROM people", epsilon=1)
    values = np.array([737_430.0])
    estimate = Estimate(values, lambda *_: (values, values), "m", whole=True, dates=dates, limits=limits)
    answer = replace(answer, typed_columns=(ValueColumn("n", estimate),))
    assert answer_record(answer)["columns"][0].get("possible") == written
    assert sent(answer).typed_columns[0].estimate.possible == limits


def test_what_is_possible_arrives_where_it_is_known(bob):
    text = "SELECT sex, COUNT(*) AS n, AVG(age) AS age, SUM(age) - 5 AS less FROM people GROUP BY sex"
    answer = bob.sql(text, epsilon=1)
    columns = {each["name"]: each for each in answer_record(answer)["columns"]}
    assert (columns["n"]["possible"], columns["age"]["possible"]) == ([0.0, None], [0.0, 120.0])
    here, came = ([each.estimate.possible for each in one.typed_columns[1:]] for one in (answer, sent(answer)))
    assert here == came


def test_other_intervals_are_asked_for(bob):
    answer = bob.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex LIMIT 1", epsilon=2)
    asked = []

    def intervals(name, confidence, simultaneous):
        asked.append((name, confidence, simultaneous))
        return ends_of(told(answer_record(replace(answer, confidence=confidence), simultaneous=simultaneous)), name, 1)

    found = sent(answer, intervals)
    for confidence, simultaneous in ((None, False), (0.5, False), (None, True), (0.5, True)):
        assert found.interval("n", confidence, simultaneous) == answer.interval("n", confidence, simultaneous)
    assert asked == [("n", 0.5, False), ("n", 0.95, True), ("n", 0.5, True)]
    assert found.interval("n", simultaneous=True) != found.interval("n")


def test_a_table_with_intervals_that_hold_all_groups_is_that_of_the_server(bob):
    """Of one row that is shown, too: it is one of several groups."""
    answer = bob.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex LIMIT 1", epsilon=2)

    def intervals(name, confidence, simultaneous):
        again = replace(answer, confidence=confidence)
        return ends_of(told(answer_record(again, simultaneous=simultaneous)), name, len(answer))

    assert sent(answer, intervals).to_arrow(simultaneous=True) == answer.to_arrow(simultaneous=True)
    assert answer.to_arrow(simultaneous=True) != answer.to_arrow()


def test_a_number_is_missing_where_the_interval_beside_it_is_all_that_is_possible(bob):
    """One that holds all groups may be, where that of a group by itself is not."""
    column = ValueColumn("x", Estimate(np.full(3, 0.4), _widen, "m", limits=(0.0, 1.0)))
    answer = replace(bob.sql("SELECT COUNT(*) AS n FROM people", epsilon=2), typed_columns=(column,), rows=np.arange(3))
    told_of = {way: answer_record(answer, simultaneous=way)["columns"][0] for way in (False, True)}
    assert told_of[False]["values"] == [0.4] * 3
    assert (told_of[True]["values"], told_of[True]["missing"]) == ([None] * 3, ["uninformative"] * 3)
    assert answer.to_arrow(simultaneous=True)["x"].null_count == 3
    assert answer.to_arrow()["x"].null_count == 0


def _widen(_confidence, cells):
    return np.full(3, 0.2 if cells == 1 else 0.0), np.full(3, 0.7 if cells == 1 else 1.0)


@pytest.mark.parametrize(
    "lie",
    [
        {"rows": 2},
        {"columns": []},
        {"columns": [{"name": "k", "kind": "key", "type": "text", "values": [5]}]},
        {"columns": [{"name": "k", "kind": "key", "type": "boolean", "values": ["x"]}]},
        {"columns": [{"name": "k", "kind": "key", "type": "null", "values": [0]}]},
        {"columns": [{"name": "k", "kind": "key", "type": "text", "values": ["x"]}], "rows": 10**15},
    ],
)
def test_an_answer_that_could_not_be_shown_is_not_read(bob, lie):
    record = answer_record(bob.sql("SELECT COUNT(*) AS n FROM people", epsilon=2)) | lie
    with pytest.raises((ValueError, TypeError)):
        answer_of(told(record), nobody)


@pytest.mark.parametrize("name", ["lower", "upper", "values"])
def test_a_number_has_both_ends(bob, name):
    record = answer_record(bob.sql("SELECT COUNT(*) AS n FROM people", epsilon=2))
    for lie in ([], [1, 2], None):
        column = record["columns"][0] | {name: lie}
        with pytest.raises((ValueError, TypeError)):
            answer_of(told(record | {"columns": [column]}), nobody)
    with pytest.raises(ValueError, match="must have 2 rows"):
        ends_of(told(record), "n", 2)


def test_of_one_group_together_is_alone(bob):
    answer = sent(bob.sql("SELECT COUNT(*) AS n FROM people", epsilon=2))
    assert answer.interval("n", simultaneous=True) == answer.interval("n")


def test_a_batch_is_written_in_its_order(bob):
    texts = ["SELECT COUNT(*) AS n FROM people", "SELECT AVG(age) AS a FROM people"]
    record = {"answers": [answer_record(answer) for answer in bob.batch(texts, epsilon=1)]}
    BatchReply.model_validate(record)
    assert [each["columns"][0]["name"] for each in record["answers"]] == ["n", "a"]
    assert record["answers"][0]["receipt"] == record["answers"][1]["receipt"]


@pytest.mark.parametrize(
    ("values", "kind", "written"),
    [
        (("a", None), "text", ["a", None]),
        ((True, False), "boolean", [True, False]),
        ((date(2020, 2, 29), None), "date", ["2020-02-29", None]),
        ((datetime(2020, 2, 29, 12), None), "timestamp", ["2020-02-29T12:00:00", None]),  # noqa: DTZ001 - local time
        ((1, -(2**53) + 1, None), "integer", [1, -(2**53) + 1, None]),
        ((2**53, None, -(2**60)), "integer", ["9007199254740992", None, str(-(2**60))]),
        ((0.5, None), "number", [0.5, None]),
        ((None, None), "null", [None, None]),
    ],
)
def test_every_key_has_a_type(bob, values, kind, written):
    answer = replace(
        bob.sql("SELECT city FROM cities"), typed_columns=(KeyColumn("k", values),), rows=np.arange(len(values))
    )
    (column,) = answer_record(answer)["columns"]
    assert column == {"name": "k", "kind": "key", "type": kind, "values": written}
    assert sent(answer)["k"] == list(values)
    assert list(map(type, sent(answer)["k"])) == list(map(type, values))


def test_a_public_number_that_is_not_finite_is_none(bob):
    answer = replace(
        bob.sql("SELECT city FROM cities"), typed_columns=(KeyColumn("k", (inf, nan, 1.5)),), rows=np.arange(3)
    )
    assert sent(answer)["k"] == [None, None, 1.5]


@pytest.mark.parametrize("value", ["x", True, 7, 0.5, date(2020, 1, 1), datetime.fromisoformat("2020-01-01T12:00:00")])
def test_a_column_without_rows_keeps_its_type(bob, value):
    answer = replace(bob.sql("SELECT city FROM cities"), typed_columns=(KeyColumn("k", (value,)),), rows=np.arange(0))
    assert sent(answer).to_arrow() == answer.to_arrow()
    assert len(sent(answer)) == 0


def test_numbers_that_are_whole_are_written_so_while_every_reader_can_hold_them():
    def listed(*numbers, whole):
        return ColumnNumbers(np.array(numbers), whole).part(0, len(numbers))

    assert listed(3.0, -4.0, whole=True) == [3, -4]
    assert all(isinstance(each, int) for each in listed(3.0, whole=True))
    assert all(isinstance(each, float) for each in listed(3.0, whole=False))
    assert listed(1e300, 2.0, whole=True) == [1e300, 2.0]
    assert listed(-inf, 2.0, inf, nan, whole=True) == [None, 2.0, None, None]
    parts = ColumnNumbers(np.array([1.0, 2.0, inf, 4.0]), whole=True)
    assert (len(parts), parts.part(0, 2), parts.part(2, 4)) == (4, [1.0, 2.0], [None, 4.0])
    assert all(isinstance(each, float) for each in parts.part(0, 2))  # a column is written in one way


@pytest.mark.parametrize("cap", [Cap("t", 3), Cap("t", 1, LeftOut(0.25, 0.01, 4, 9), shortened=True)])
def test_caps_arrive_as_they_left(cap):
    record = json.loads(json.dumps(CapReply.record(cap)))
    assert CapReply.model_validate(record, strict=True).cap() == cap
    assert record["says"] == str(cap)


def test_a_million_cells_are_written_and_read(bob):
    size = 10**6
    values = np.linspace(0, 1e6, size)
    estimate = Estimate(values, lambda confidence, cells: (values - 1, values + 1), "made up", whole=False)
    keys = KeyColumn("k", tuple(map(str, range(size))))
    answer = replace(
        bob.sql("SELECT city FROM cities"), typed_columns=(keys, ValueColumn("v", estimate)), rows=np.arange(size)
    )
    text = json.dumps(answer_record(answer), allow_nan=False)
    found = answer_of(told(json.loads(text)), nobody)
    assert (found.typed_columns[1].estimate.values == values).all()


@pytest.mark.parametrize("text", ["t_test(people, column => age, mu => 1)", "lm(people, formula => 'age ~ sex')"])
def test_a_p_value_that_is_a_bound_is_shown_as_one_and_sent_as_a_number(bob, text):
    answer = bob.sql(f"SELECT p_value AS p FROM {text}", epsilon=100)
    (column,) = answer_record(answer)["columns"]
    assert (column["floor"], column["type"]) == (1e-4, "number")
    assert 0 <= column["values"][0] <= 1e-4
    for each in (answer, sent(answer)):
        assert "< 0.0001" in repr(each)
        assert "&lt; 0.0001" in each._repr_html_()
        assert each["p"][0] == column["values"][0]
        assert each.to_arrow().schema.field("p").metadata[b"floor"] == b"0.0001"


def test_a_p_value_that_is_known_has_no_floor(bob):
    answer = bob.sql("SELECT p_value FROM t_test(people, column => age, group => age >= 50)", epsilon=0.001)
    assert "floor" not in answer_record(answer)["columns"][0]
    assert "<" not in str(answer).splitlines()[2]
