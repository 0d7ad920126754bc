"""SELECTs from the inside out: WITH, subqueries, views, UNION ALL, and how much of all that is read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adomnia.catalog.model import View
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.relations import Private, Union, Where
from adomnia.sql.lower import lower
from adomnia.sql.rows.blocks import MOST_TABLES, check_views, person_of, rows_of
from sql.hospital import HOSPITAL, PEOPLE


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
