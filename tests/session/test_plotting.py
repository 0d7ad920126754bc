"""Answers as pictures: those of SQL, of methods, and of servers."""

from __future__ import annotations

import json

import altair as alt
import pytest

from adomnia.errors import Refusal
from adomnia.figures.choice import choose_layout
from adomnia.figures.rows import draw_rows
from adomnia.figures.spec import write_caption
from adomnia.session.plotting import as_drawable
from adomnia.wire.answers import AnswerReply, answer_of, answer_record
from kit.planted_method import tally

__all__ = ["tally"]

GROUPED = "SELECT sex, member, COUNT(*) AS n, AVG(salary) AS pay FROM people GROUP BY sex, member"


def spec_of(answer, folder):
    return json.loads(answer.plot(folder / "answer.json").read_text())


def test_an_answer_is_a_chart_and_a_file(alice, tmp_path):
    answer = alice.sql(GROUPED, epsilon=100)
    assert isinstance(answer.plot(), alt.VConcatChart)
    assert answer.plot(tmp_path / "a.svg").read_text().startswith("<svg")
    assert answer.plot(str(tmp_path / "a.png")) == tmp_path / "a.png"


def test_a_picture_has_the_values_and_intervals_of_the_answer(alice, tmp_path):
    answer = alice.sql(GROUPED, epsilon=100)
    rows = spec_of(answer, tmp_path)["data"]["values"]
    assert [(row["axis"], row["colour"]) for row in rows] == [
        (sex, str(member).lower()) for sex, member in zip(answer["sex"], answer["member"], strict=True)
    ]
    assert [row["v0"] for row in rows] == [max(count, 0) for count in answer["n"]]
    ends = zip(answer["pay"], answer.interval("pay"), strict=True)
    assert [row.get("v1") and (row["l1"], row["u1"]) for row in rows] == [
        None if value is None else end for value, end in ends
    ]


def test_an_answer_that_came_over_a_wire_looks_the_same(alice, tmp_path):
    answer = alice.sql(GROUPED, epsilon=1)
    received = answer_of(AnswerReply.model_validate(json.loads(json.dumps(answer_record(answer)))), lambda *_: None)
    assert spec_of(received, tmp_path) == spec_of(answer, tmp_path)


def test_rows_stand_in_the_order_of_the_answer(alice, tmp_path):
    answer = alice.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY n DESC LIMIT 2", epsilon=1)
    spec = spec_of(answer, tmp_path)
    assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == answer["sex"]


def test_an_answer_without_rows_is_an_empty_picture(alice, tmp_path):
    empty = alice.sql(f"{GROUPED} HAVING sex IS NULL", epsilon=1)
    assert spec_of(empty, tmp_path)["data"]["values"] == []
    assert "No rows." in empty.plot(tmp_path / "a.svg").read_text()


def test_an_unbounded_interval_is_told(alice, tmp_path):
    answer = alice.sql("SELECT COUNT(*) / (COUNT(salary) - COUNT(salary)) AS x FROM people", epsilon=1)
    told = spec_of(answer, tmp_path)["title"]["subtitle"]
    assert "Grey: uninformative, the interval is all that is possible." in told


def test_a_value_whose_interval_was_not_bought_has_none(alice, tmp_path):
    answer = alice.sql("SELECT MEDIAN(age) AS middle FROM people", epsilon=1, interval=False)
    spec = spec_of(answer, tmp_path)
    assert [set(row) for row in spec["data"]["values"]] == [{"axis", "v0"}]
    assert spec["title"]["subtitle"] == ["middle has no interval."]


def test_an_explanation_has_nothing_to_draw(alice):
    with pytest.raises(Refusal, match="no numbers to draw"):
        alice.explain(GROUPED).plot()


def test_a_method_is_drawn_by_the_names_that_its_columns_are_shown_under(alice, tally, tmp_path):
    answer = alice.sql("SELECT * FROM tally(people, column => salary, by => sex)", epsilon=1)
    assert {column.name: column.role for column in as_drawable(answer).columns} == {
        "sex": "label",
        "term": "label",
        "place": "label",
        "estimate": "value",
        "p_value": "fact",
    }
    assert spec_of(answer, tmp_path)["title"]["text"] == "estimate by term and sex"
    text = "SELECT p_value, estimate AS x, sex AS s, term AS t FROM tally(people, column => salary, by => sex)"
    renamed = spec_of(alice.sql(text, epsilon=1), tmp_path)
    assert renamed["title"]["text"] == "x by t and s"
    facts = alice.sql("SELECT term, p_value FROM tally(people, column => salary)", epsilon=1)
    assert [row.get("v0") for row in spec_of(facts, tmp_path)["data"]["values"]] == [0.25, None, 0.5]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("kernel_regression(people, y => salary, x => age)", "Bands: 95% intervals about the population."),
        ("kernel_regression(people, y => salary, x => age, inference => 'data')", "Bands: 95% intervals of the noise."),
        ("knn_regression(people, y => salary, x => age)", "Bands: 95% intervals about the population."),
        ("posterior(people, column => member, family => 'bernoulli')", "Lines: 95% credible intervals."),
        ("quantiles(people, column => salary)", "Lines: 95% intervals about the population."),
        ("frequencies(people, factor => sex)", "Lines: 95% intervals of the noise."),  # the counts, not the shares
        ("log_rank(people, time => age, event => member, group => sex)", "Lines: 95% intervals of the noise."),
    ],
)
def test_the_caption_says_what_the_intervals_of_a_method_hold(call, says, alice):
    answer = alice.mock().sql(f"SELECT * FROM {call}", epsilon=1)
    assert says in describe_answer(answer)


def test_the_caption_says_that_an_answer_is_about_the_population(alice):
    text = "SELECT AVG(salary) AS x, AVG(age) + 1 AS y FROM people"
    answer = alice.mock().sql(text, epsilon=1, inference="population")
    assert "Lines: 95% intervals about the population." in describe_answer(answer)


def describe_answer(answer):
    """The caption of its picture."""
    drawn = as_drawable(answer)
    return write_caption(drawn, draw_rows(choose_layout(drawn)))
