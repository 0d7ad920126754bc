"""From text to plan: outputs, their names, and the order of rows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.errors import Refusal
from adomnia.plans.plan import Plan
from adomnia.sql.lower import lower, plan_question
from adomnia.sql.reading.parse import parse
from kit.effort import count_calls, do_within
from sql.bad_input import BAD
from sql.hospital import CITIES, HOSPITAL, PEOPLE, whole


def names(text):
    return [output.name for output in lower(text, HOSPITAL).outputs]


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ("COUNT(*)", ["count"]),
        ("COUNT(*), COUNT(*)", ["count", "count_2"]),
        ("COUNT(*), COUNT(*), SUM(age) AS count_2", ["count", "count_3", "count_2"]),
        ("SUM(age), AVG(AGE)", ["sum_age", "avg_AGE"]),
        ("SUM(age + 1), COUNT(DISTINCT person_id)", ["sum", "count_people"]),
    ],
)
def test_an_output_without_a_name_is_given_one_of_its_own(outputs, expected):
    assert names(f"SELECT {outputs} FROM people") == expected


def test_names_are_distinct_and_short_however_long_the_column():

    long = "x" * 63
    table = replace(PEOPLE, columns=(*PEOPLE.columns, whole(long, 0, 1)))
    plan = lower(f"SELECT SUM({long}), SUM({long}) FROM people", replace(HOSPITAL, tables=(table,)))
    found = [output.name for output in plan.outputs]
    assert len(set(found)) == 2
    assert max(map(len, found)) <= 63


@pytest.mark.parametrize(
    "text",
    [
        'SELECT "<img src=x>", COUNT(*) FROM (SELECT sex AS "<img src=x>" FROM people) GROUP BY 1',
        'SELECT SUM("<img src=x>") FROM (SELECT age AS "<img src=x>" FROM people)',
        'SELECT city AS "<img src=x>" FROM cities',
        'SELECT "<img src=x>" FROM (SELECT city AS "<img src=x>" FROM cities)',
    ],
)
def test_no_output_gets_a_name_that_could_be_taken_for_markup(text):
    with pytest.raises(Refusal) as refusal:
        plan_question(parse(text), HOSPITAL)
    assert refusal.value.code == "bad_alias"


def test_the_order_of_group_by_is_an_order_of_rows_and_not_of_cells():
    one = lower("SELECT COUNT(*) FROM people GROUP BY sex, active", HOSPITAL)
    other = lower("SELECT COUNT(*) FROM people GROUP BY active, sex", HOSPITAL)
    assert one.statistics == other.statistics
    assert one.order == ()
    assert [order.by.name for order in other.order] == ["active", "sex"]


def test_an_output_may_be_sorted_by_its_number_its_name_or_itself():
    texts = ["2 DESC", "n DESC", "N DESC", "COUNT(*) DESC", "(n) DESC"]
    orders = {
        lower(f"SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY {by}", HOSPITAL).order for by in texts
    }
    assert len(orders) == 1


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_what_nobody_should_ask_is_refused_quickly_with_its_place_and_a_way_out(text):
    lower("SELECT COUNT(*) FROM people", HOSPITAL)  # the first call of the parser builds its tables

    def refuse():
        with pytest.raises(Refusal) as refusal:
            lower(text, HOSPITAL)
        return refusal.value

    refused = do_within(0.5, refuse)  # promised: 50 ms
    assert refused.code != "refused"
    assert refused.position is not None
    assert refused.fix


def test_a_question_about_several_tables_takes_few_steps_too():
    text = (
        "WITH often AS (SELECT person_id, SUM(cost) AS spent FROM visits GROUP BY person_id HAVING COUNT(*) > 3) "
        "SELECT sex, region, AVG(o.spent) FROM people p JOIN often o ON p.person_id = o.person_id "
        "JOIN cities c ON p.city = c.city WHERE EXISTS (SELECT 1 FROM visits v WHERE v.person_id = p.person_id "
        "AND v.hospital = 'H1') AND age >= 18 GROUP BY sex, region"
    )
    lower(text, HOSPITAL)
    assert count_calls(lambda: lower(text, HOSPITAL)) < 10_000  # 7,948; benchmarks/lowering.py measures the time


def test_text_to_plan_takes_few_steps():
    text = "SELECT city, COUNT(*), AVG(salary), SUM(age) FROM people WHERE age >= 18 AND sex = 'F' GROUP BY city"
    lower(text, HOSPITAL)
    assert count_calls(lambda: lower(text, HOSPITAL)) < 4_000  # 3,144


WORDS = """
    SELECT FROM WHERE GROUP BY ORDER LIMIT people visits cities age salary sex city active born name person_id weight
    COUNT SUM AVG MIN DISTINCT ( ) ( ) ( ) * , . + - / = <> < > <= >= AND OR NOT IN BETWEEN IS NULL LIKE AS DESC 1 2 0
    1e400 0.5 'F' 'x%' 'a''b' DATE '2024-01-01' TRUE NULL CASE WHEN THEN ELSE END CAST :: DOUBLE OVER EXISTS JOIN ON
    HAVING UNION ALL random() ; -- /* */ " ' $1 ? [ ] { } INTERVAL 1 DAY ~ || % ROLLUP LATERAL n COUNT(*) LEFT USING
    WITH adults items visit_id price region p. v. p v (SELECT (SELECT FROM( ) )
    FILTER (WHERE COUNTIF OFFSET ROUND( SUM(age)
"""


def reply(text):
    """What a text comes to: a plan, or the code and the place of its refusal; anything else is a fault."""
    try:
        return lower(text, HOSPITAL)
    except Refusal as refusal:
        return refusal.code, refusal.position


@given(st.lists(st.sampled_from(WORDS.split()), max_size=25), st.booleans())
def test_any_words_are_a_plan_or_a_refusal(words, begun):
    text = " ".join((["SELECT COUNT(*) FROM people"] if begun else []) + words)
    match reply(text):
        case Plan() as plan:
            assert plan.statistics
        case code, position:
            assert code != "refused"
            assert position is not None


@given(st.text(max_size=200))
def test_any_characters_are_a_plan_or_a_refusal(text):
    for question in (text, f"SELECT COUNT(*) FROM people WHERE name = '{text}'", f"SELECT {text} FROM people"):
        assert isinstance(reply(question), Plan) or None not in reply(question)


def test_every_declared_category_is_known():
    plan = lower("SELECT city, COUNT(*) FROM people GROUP BY city", HOSPITAL)
    assert plan.keys[0].kind.values == CITIES
