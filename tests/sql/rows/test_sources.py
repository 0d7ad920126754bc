"""FROM as it is written: names, joins and tables of the catalog."""

from __future__ import annotations

import pytest

from adomnia.errors import Refusal
from adomnia.privacy import relations
from adomnia.sql.reading.parse import parse
from adomnia.sql.rows.sources import find_table, read_from
from sql.hospital import CITY_TABLE, HOSPITAL, ITEMS, PEOPLE, VISITS


def sources(text):
    return read_from(parse(f"SELECT COUNT(*) FROM {text}"))


def table(text):
    return find_table(sources(text)[0].node, HOSPITAL)


def code(read, text):
    with pytest.raises(Refusal) as refusal:
        read(text)
    return refusal.value.code


@pytest.mark.parametrize("name", ["people", "People", '"PEOPLE"'])
def test_a_table_is_found_in_upper_and_lower_case(name):
    assert table(name).relation == relations.Private("people", 1, PEOPLE.columns)


def test_a_private_table_knows_its_cap_and_its_keys_and_a_public_one_how_often_values_repeat():
    assert table("visits").relation == relations.Private("visits", 10, VISITS.columns, ("visit_id",))
    assert table("items").relation == relations.Private("items", 20, ITEMS.columns)
    assert table("cities").relation == relations.Public("cities", CITY_TABLE.columns, (1, 16, 2))


def test_the_columns_of_a_table_mean_themselves():
    assert table("cities").columns == {column.name: column for column in CITY_TABLE.columns}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("people", ["people"]),
        ("people AS p", ["p"]),
        ("people p, visits", ["p", "visits"]),
        ("people p JOIN visits v ON TRUE LEFT JOIN cities ON TRUE", ["p", "v", "cities"]),
        ("(SELECT * FROM people) t", ["t"]),
        ("(SELECT * FROM people)", ["subquery"]),
    ],
)
def test_what_stands_in_from_goes_by_its_alias_or_its_name(text, names):
    assert [each.name for each in sources(text)] == names


def test_a_join_knows_whether_it_is_outer_its_condition_and_its_shared_columns():
    first, inner, outer, comma = sources("people JOIN visits USING (person_id, Day) LEFT JOIN cities ON TRUE, zones")
    assert (first.outer, first.on, first.shared) == (False, None, ())
    assert (inner.outer, inner.on, inner.shared) == (False, None, ("person_id", "day"))
    assert (outer.outer, outer.on.sql(), outer.shared) == (True, "TRUE", ())
    assert (comma.outer, comma.on, comma.shared) == (False, None, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("people p, visits P", "duplicate_alias"),
        ("people, people", "duplicate_alias"),
        ("people RIGHT JOIN visits USING (person_id)", "join"),
        ("people FULL JOIN visits USING (person_id)", "join"),
        ("people NATURAL JOIN visits", "join"),
        ("people SEMI JOIN visits USING (person_id)", "join"),
        ("people ASOF JOIN visits USING (person_id)", "join"),
        ("people JOIN LATERAL (SELECT 1) t ON TRUE", "lateral"),
        ("people, LATERAL (SELECT 1) t", "lateral"),
        ("LATERAL (SELECT 1) t", "lateral"),
        ("people AS p(a, b)", "syntax_not_allowed"),
        ("people p JOIN visits AS v(a) ON TRUE", "syntax_not_allowed"),
    ],
)
def test_a_join_of_another_sort_is_refused(text, expected):
    assert code(sources, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nothing", "unknown_table"),
        ("main.people", "unknown_table"),
        ("'people.parquet'", "unknown_table"),
        ("read_csv('x')", "function_not_allowed"),
        ("people TABLESAMPLE 10%", "tablesample"),
        ("people PIVOT (COUNT(*) FOR sex IN ('F'))", "syntax_not_allowed"),
        ("people AT (VERSION => 3)", "syntax_not_allowed"),
    ],
)
def test_what_is_not_a_table_of_the_catalog_is_refused(text, expected):
    assert code(table, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT COUNT(*)", "not_an_aggregate"),
        ("SELECT 1", "not_an_aggregate"),
        ("SELECT version()", "function_not_allowed"),
        ("SELECT (SELECT COUNT(*) FROM people)", "private_subquery"),
    ],
)
def test_a_question_about_no_table_is_refused(text, expected):
    assert code(lambda text: read_from(parse(text)), text) == expected
