"""SELECTs from the inside out: WITH, subqueries, views, UNION ALL, and how much of all that is read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adomnia.catalog.model import View
from adomnia.errors import Refusal
from adomnia.privacy import relations
from adomnia.privacy.expressions import Column
from adomnia.privacy.relations import Private, Union, Where
from adomnia.sql.lower import lower
from adomnia.sql.reading.parse import parse
from adomnia.sql.rows.blocks import MOST_TABLES, check_views, find_table, person_of, read_from, rows_of
from sql.hospital import CITY_TABLE, HOSPITAL, ITEMS, PEOPLE, VISITS


def rows(text):
    return rows_of(text, HOSPITAL)


def refused(text, catalog=HOSPITAL):
    with pytest.raises(Refusal) as refusal:
        lower(text, catalog)
    return refusal.value


def test_the_rows_of_a_select_have_the_columns_it_selects_under_their_names():
    found = rows("SELECT age AS years, salary / 12 AS monthly FROM people WHERE active")
    assert list(found.columns) == ["years", "monthly"]
    assert found.columns["years"] == PEOPLE.column("age")
    assert found.relation == Where(Private("people", 1, PEOPLE.columns), PEOPLE.column("active"))


def test_a_star_selects_all_columns_in_their_order():
    assert list(rows("SELECT * FROM people").columns) == [column.name for column in PEOPLE.columns]


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("SELECT * FROM people", "person_id"),
        ("SELECT age, person_id AS who FROM people", "who"),
        ("SELECT p.person_id AS a, v.person_id AS b FROM people p LEFT JOIN visits v USING (person_id)", "a"),
        ("SELECT v.person_id AS b, p.person_id AS a FROM people p LEFT JOIN visits v USING (person_id)", "a"),
    ],
)
def test_the_person_of_rows_is_the_one_whom_no_left_join_leaves_out(text, person):
    assert person_of(text, HOSPITAL) == person


@pytest.mark.parametrize("text", ["SELECT age FROM people", "SELECT * FROM items", "SELECT * FROM cities"])
def test_rows_without_their_person_are_told_so(text):
    with pytest.raises(Refusal, match="do not have the id of their person"):
        person_of(text, HOSPITAL)


def test_names_of_with_come_before_views_and_views_before_tables():
    assert lower("SELECT COUNT(*) FROM adults", HOSPITAL).relation.condition is not None
    with_name = "WITH adults AS (SELECT * FROM visits), visits AS (SELECT * FROM adults) SELECT COUNT(*) FROM visits"
    assert lower(with_name, HOSPITAL).relation.name == "visits"


def test_a_union_is_flat_however_it_is_nested():
    one = rows("SELECT age FROM people UNION ALL SELECT age FROM people UNION ALL SELECT age FROM people")
    assert isinstance(one.relation, Union)
    assert len(one.relation.parts) == 3
    assert one.tables == 4  # three tables, and the step that unites them


def views(**texts):
    return replace(HOSPITAL, views=tuple(View(name, text) for name, text in texts.items()))


def test_the_views_of_the_hospital_can_be_asked_about():
    check_views(HOSPITAL)


@pytest.mark.parametrize(
    ("catalog", "code"),
    [
        (views(a="SELECT * FROM a"), "recursion"),
        (views(a="SELECT * FROM b", b="SELECT * FROM a"), "recursion"),
        (views(a="SELECT * FROM b", b="SELECT * FROM c", c="SELECT * FROM a"), "recursion"),
        (views(a="SELECT * FROM people WHERE person_id IN (SELECT person_id FROM a)"), "recursion"),
        (views(a="SELECT COUNT(*) AS n FROM people"), "nested_aggregate"),
        (views(a="SELECT * FROM nothing"), "unknown_table"),
        (views(a="DROP TABLE people"), "statement_not_allowed"),
        (views(a="SELECT * FROM people; SELECT * FROM people"), "multiple_statements"),
        (views(a="SELECT * FROM people LIMIT 3"), "limit_below_aggregate"),
        (views(a="WITH RECURSIVE x AS (SELECT * FROM people) SELECT * FROM x"), "recursion"),
    ],
)
def test_a_view_that_nobody_could_ask_about_is_refused_by_its_name(catalog, code):
    with pytest.raises(Refusal, match="View a: ") as refusal:
        check_views(catalog)
    assert refusal.value.code == code
    assert refused("SELECT COUNT(*) FROM a", catalog).code == code


def test_views_that_double_are_not_read_without_end():
    doubling = {f"v{n}": f"SELECT * FROM v{n - 1} UNION ALL SELECT * FROM v{n - 1}" for n in range(1, 40)}
    catalog = views(v0="SELECT person_id FROM people", **doubling)
    assert refused("SELECT COUNT(*) FROM v39", catalog).code == "too_complex"


def chain(count, text):
    """WITH a0, ..., each made of the one before."""
    named = ", ".join(f"a{n} AS ({text.format(f'a{n - 1}' if n else 'visits')})" for n in range(count))
    return f"WITH {named} SELECT COUNT(*) FROM a{count - 1}"


MANY = {
    "tables": "SELECT COUNT(*) FROM people p0{}".format(
        "".join(f", people p{n}" for n in range(1, MOST_TABLES + 1))
        + " WHERE "
        + " AND ".join(f"p0.person_id = p{n}.person_id" for n in range(1, MOST_TABLES + 1))
    ),
    "parts of UNION ALL": "SELECT COUNT(*) FROM (SELECT age FROM people{})".format(
        " UNION ALL SELECT age FROM people" * MOST_TABLES
    ),
    "subqueries in WITH": chain(MOST_TABLES + 1, "SELECT * FROM {}"),
    "lookups": "SELECT COUNT(*) FROM people WHERE "
    + " AND ".join(f"person_id IN (SELECT person_id FROM visits WHERE cost > {n})" for n in range(MOST_TABLES + 1)),
    "joins that double": chain(7, "SELECT x.person_id FROM {0} x JOIN {0} y ON x.person_id = y.person_id"),
    "unions that double": chain(7, "SELECT person_id FROM {0} UNION ALL SELECT person_id FROM {0}"),
    "lookups that double": chain(
        7,
        "SELECT person_id FROM {0} WHERE person_id IN (SELECT person_id FROM {0} "
        "WHERE person_id IN (SELECT person_id FROM {0}))",
    ),
    "steps": chain(MOST_TABLES, "SELECT person_id FROM {0} GROUP BY person_id UNION ALL SELECT person_id FROM {0}"),
}


@pytest.mark.parametrize("text", MANY.values(), ids=MANY)
def test_too_much_to_read_is_refused(text):
    assert refused(text).code == "too_complex"


def test_as_much_as_is_allowed_is_answered():
    union = "SELECT COUNT(*) FROM (SELECT age FROM people{})".format(
        " UNION ALL SELECT age FROM people" * (MOST_TABLES - 2)
    )
    assert lower(union, HOSPITAL).relation.rows_per_person == MOST_TABLES - 1
    assert lower(chain(MOST_TABLES - 1, "SELECT * FROM {0} WHERE cost > 3"), HOSPITAL).relation.rows_per_person == 10


def test_a_column_without_meaning_here_or_around_is_unknown():
    text = (
        "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.person_id = p.person_id AND x > 3)"
    )
    assert refused(text).code == "unknown_column"


def test_an_id_that_is_not_kept_is_still_a_column():
    found = rows("SELECT item_id, kind FROM items UNION ALL SELECT item_id, kind FROM items")
    assert isinstance(found.columns["item_id"], Column)


def test_what_is_no_select_has_no_rows():
    for text in ("SELECT COUNT(*) FROM (people)", "SELECT COUNT(*) FROM (people JOIN visits USING (person_id))"):
        assert refused(text).why == "stands in brackets"
    assert refused("SELECT COUNT(*) FROM people JOIN (DESCRIBE people) t ON TRUE").fix


def long(times):
    return " OR ".join(f"a.cost > {n} AND b.cost < {n}" for n in range(times))


def test_conditions_over_many_pairs_of_rows_are_short():
    text = "SELECT COUNT(*) FROM visits a JOIN visits b USING (person_id) JOIN visits c USING (person_id) WHERE {}"
    assert lower(text.format(long(3)), HOSPITAL).relation.rows_per_person == 1000
    assert refused(text.format(long(300))).why == "computes too much for every row, or for every pair of rows"
    once = "SELECT COUNT(*) FROM visits a JOIN (SELECT person_id, MAX(cost) AS cost FROM visits GROUP BY person_id) b "
    assert lower(f"{once} USING (person_id) WHERE {long(300)}", HOSPITAL).relation.rows_per_person == 10


def test_steps_that_become_too_long_together_are_refused():
    times = " + ".join(["cost"] * 20)
    text = f"SELECT person_id, {times} AS cost FROM {{0}} GROUP BY person_id, {times}"
    assert lower(chain(2, text), HOSPITAL).relation.rows_per_person == 10
    assert refused(chain(4, text)).why == "becomes too long"


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
