"""Steps in Python write SQL that means the same."""

from __future__ import annotations

import pytest

from adomnia.errors import Refusal
from adomnia.sql.lower import lower
from adomnia.sql.reading.select_builder import SelectBuilder
from sql.hospital import HOSPITAL

PEOPLE, VISITS = SelectBuilder("people", "people"), SelectBuilder("visits", "visits")


def relation(rows):
    return lower(rows.question("COUNT(*)", ()), HOSPITAL).relation


def same(rows, text):
    assert relation(rows) == lower(f"SELECT COUNT(*) {text}", HOSPITAL).relation


def refused(step):
    with pytest.raises(Refusal) as refusal:
        step()
    return refusal.value.code


def test_a_table_is_all_its_rows():
    assert PEOPLE.text == "SELECT * FROM people"
    assert PEOPLE.side == "people"
    same(PEOPLE, "FROM people")


def test_conditions_add_up():
    same(PEOPLE.where("age > 3").where("active OR age > 90"), "FROM people WHERE age > 3 AND (active OR age > 90)")


def test_rows_are_joined_by_a_condition_or_by_the_name_of_a_column():
    same(PEOPLE.join(VISITS, "person_id", "inner"), "FROM people JOIN visits USING (person_id)")
    on = "people.person_id = visits.person_id AND cost > 3"
    same(PEOPLE.join(VISITS, on, "left"), f"FROM people LEFT JOIN visits ON {on}")
    assert refused(lambda: PEOPLE.join(VISITS, "person_id", "full")) == "join"


def test_conditions_hold_before_a_join_that_comes_after_them():
    adults = PEOPLE.where("age >= 18")
    same(
        VISITS.where("cost > 3").join(adults, "person_id", "left").where("age IS NULL"),
        "FROM (SELECT * FROM visits WHERE cost > 3) AS visits "
        "LEFT JOIN (SELECT * FROM people WHERE age >= 18) AS people USING (person_id) WHERE age IS NULL",
    )


def test_columns_and_expressions_are_selected_under_names_and_can_be_asked_about_then():
    rows = PEOPLE.where("active").select(("sex",), {"monthly": "salary / 12"}).where("monthly > 100")
    same(rows, "FROM (SELECT sex, salary / 12 AS monthly FROM people WHERE active) AS t WHERE monthly > 100")
    assert lower(rows.question("AVG(monthly)", ("sex",)), HOSPITAL).keys[0].name == "sex"


def test_rows_are_united():
    one, other = PEOPLE.select(("person_id",), {}), VISITS.select(("person_id",), {})
    same(one.union(other), "FROM (SELECT person_id FROM people UNION ALL SELECT person_id FROM visits)")


def test_rows_are_grouped_and_groups_are_kept():
    often = VISITS.group_by(("person_id",), {"n": "COUNT(*)"}, "COUNT(*) > 3")
    same(often, "FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id HAVING COUNT(*) > 3)")
    same(
        PEOPLE.join(VISITS.group_by(("person_id",), {"n": "COUNT(*)"}, None), "person_id", "inner"),
        "FROM people JOIN (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) AS v USING (person_id)",
    )


def test_rows_may_be_called_otherwise():
    same(
        PEOPLE.alias("a").join(PEOPLE.where("active").alias("b"), "a.person_id = b.person_id", "inner"),
        "FROM people AS a JOIN (SELECT * FROM people WHERE active) AS b ON a.person_id = b.person_id",
    )


@pytest.mark.parametrize("name", ["", "a b", "1a", 'a"b', "x" * 64, "rank", "a;b", 3])
def test_a_name_is_a_name(name):
    assert refused(lambda: PEOPLE.alias(name)) == "bad_alias"
    assert refused(lambda: PEOPLE.select((), {name: "age"})) == "bad_alias"


def test_something_is_selected():
    assert refused(lambda: PEOPLE.select((), {})) == "bad_alias"


@pytest.mark.parametrize(
    "text",
    [
        "age > 3) OR (TRUE",
        "age > 3 GROUP BY sex",
        "age > 3; DROP TABLE people",
        "age > 3 UNION ALL SELECT 1",
        "age > 3 FROM people",
        "age AS x",
        "age, sex",
        "",
        "/* age",
    ],
)
def test_a_condition_is_one_whole_expression_and_reaches_no_further(text):
    with pytest.raises(Refusal):
        PEOPLE.where(text)
    with pytest.raises(Refusal):
        PEOPLE.select((), {"x": text})
    with pytest.raises(Refusal):
        PEOPLE.group_by(("person_id",), {}, text)
    with pytest.raises(Refusal):
        PEOPLE.question("COUNT(*)", (text,))


def test_a_comment_ends_with_its_condition():
    same(PEOPLE.where("age > 3 -- adults").where("active"), "FROM people WHERE age > 3 AND active")
    assert refused(lambda: PEOPLE.select(("age -- hi", "sex"), {})) == "syntax_not_allowed"
    assert refused(lambda: PEOPLE.question("COUNT(*)", ("sex /* x */",))) == "syntax_not_allowed"


def test_expressions_are_text():
    with pytest.raises(TypeError, match="Expressions are text such as 'age >= 18', got int"):
        PEOPLE.where(3)
