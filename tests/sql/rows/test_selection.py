"""What a SELECT inside of a question selects."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column, columns_of
from adomnia.privacy.keys import MOST_BLOCKS, Blocks
from adomnia.privacy.kinds import Text
from adomnia.privacy.relations import PerPerson, Where
from adomnia.sql.lower import lower
from adomnia.sql.rows.blocks import rows_of
from adomnia.sql.rows.selection import MOST_COLUMNS
from sql.hospital import HOSPITAL


def rows(text):
    return rows_of(text, HOSPITAL)


def refused(text):
    with pytest.raises(Refusal) as refusal:
        rows(text)
    return refusal.value


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT age, (salary) AS pay, 1 AS one FROM people", ["age", "pay", "one"]),
        ("SELECT age + 1, (age), 3 FROM people", ["column_1", "age", "column_3"]),
        ("SELECT v.*, p.age FROM people p JOIN visits v USING (person_id)",
         ["visit_id", "person_id", "hospital", "day", "diagnosis", "cost", "age"]),
        ("SELECT c.*, c.region AS r FROM cities c", ["city", "region", "population", "r"]),
        ("SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id", ["person_id", "n"]),
        ("SELECT COUNT(*) AS n, hospital FROM visits GROUP BY hospital, person_id", ["n", "hospital"]),
        ("SELECT DISTINCT person_id AS who, hospital FROM visits", ["who", "hospital"]),
    ],
)  # fmt: skip
def test_columns_are_named_by_their_alias_their_own_name_or_their_place(text, names):
    assert list(rows(text).columns) == names


def test_the_same_person_twice_is_one_column():
    text = "SELECT * FROM people p JOIN visits v ON p.person_id = v.person_id"
    assert [name for name in rows(text).columns if name == "person_id"] == ["person_id"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT age, age FROM people", "duplicate_alias"),
        ("SELECT age AS a, salary AS A FROM people", "duplicate_alias"),
        ("SELECT p.*, q.* FROM people p JOIN people q USING (person_id)", "duplicate_alias"),
        ("SELECT x.* FROM people", "unknown_table"),
        ("SELECT * EXCLUDE (age) FROM people", "syntax_not_allowed"),
        ("SELECT hospital, COUNT(*) AS n FROM visits GROUP BY hospital", "nested_aggregate"),
        ("SELECT COUNT(*) AS n FROM visits", "nested_aggregate"),
        ("SELECT DISTINCT hospital FROM visits", "nested_aggregate"),
        ("SELECT DISTINCT ON (person_id) person_id, cost FROM visits", "syntax_not_allowed"),
        ("SELECT person_id, cost FROM visits GROUP BY person_id", "not_an_aggregate"),
        ("SELECT person_id, cost + COUNT(*) AS x FROM visits GROUP BY person_id", "not_an_aggregate"),
        ("SELECT person_id FROM visits GROUP BY person_id HAVING cost > 3", "not_an_aggregate"),
        ("SELECT person_id FROM visits GROUP BY person_id HAVING COUNT(*)", "type_error"),
        ("SELECT person_id FROM visits GROUP BY 2", "bad_literal"),
        ("SELECT person_id FROM visits GROUP BY ALL", "syntax_not_allowed"),
        ("SELECT person_id FROM visits GROUP BY ROLLUP (person_id)", "grouping_sets"),
        ("SELECT p.person_id FROM people p LEFT JOIN visits v USING (person_id) GROUP BY p.person_id, v.person_id",
         "identifier_column"),
        ("SELECT v.person_id, item_id FROM items JOIN visits v USING (visit_id) GROUP BY v.person_id, item_id",
         "identifier_column"),
        (f"SELECT {', '.join(f'age AS a{n}' for n in range(MOST_COLUMNS + 1))} FROM people", "too_complex"),
    ],
)  # fmt: skip
def test_what_cannot_be_selected_is_refused(text, code):
    assert refused(text).code == code


@pytest.mark.parametrize(
    ("text", "keys", "per_person"),
    [
        ("SELECT person_id FROM visits GROUP BY person_id", [], 1),
        ("SELECT person_id FROM visits GROUP BY person_id, person_id", [], 1),
        ("SELECT DISTINCT person_id FROM visits", [], 1),
        ("SELECT person_id, hospital FROM visits GROUP BY person_id, hospital", ["hospital"], 10),
        ("SELECT person_id, hospital AS h FROM visits GROUP BY 1, h", ["hospital"], 10),
        ("SELECT DISTINCT person_id, day, hospital FROM visits", ["day", "hospital"], 10),
        ("SELECT visit_id FROM visits GROUP BY person_id, visit_id", ["visit_id"], 10),
    ],
)
def test_keys_beside_the_person_make_as_many_rows_as_there_are(text, keys, per_person):
    relation = rows(text).relation
    assert isinstance(relation, PerPerson)
    assert [key.value.name for key in relation.keys] == keys
    assert relation.rows_per_person == per_person


def test_a_number_on_a_grid_is_a_key_as_a_number_and_a_category_as_it_is_stored():
    relation = rows("SELECT DISTINCT person_id, cost, hospital FROM visits").relation
    assert [key.stored for key in relation.keys] == [False, True]
    whole = rows("SELECT DISTINCT person_id, age FROM people").relation
    assert [key.stored for key in whole.keys] == [True]


def test_an_expression_of_keys_and_aggregates_may_be_selected():
    text = (
        "SELECT person_id, YEAR(day) + COUNT(*) AS x FROM visits GROUP BY person_id, YEAR(day) HAVING YEAR(day) > 2000"
    )
    found = rows(text)
    assert isinstance(found.relation, Where)
    assert {column.name for column in columns_of(found.columns["x"])} == {"g0", "v0"}


def test_an_expression_that_becomes_too_long_is_refused():
    named = ", ".join(f"a{n} AS (SELECT age + age AS age FROM a{n - 1})" for n in range(1, 16))
    text = f"WITH a0 AS (SELECT age FROM people), {named} SELECT age FROM a15"
    assert refused(text).code == "too_complex"


def test_distinct_beside_group_by_is_refused_because_it_would_have_to_join_groups_of_one_person():
    text = "SELECT COUNT(*) FROM (SELECT DISTINCT person_id FROM visits GROUP BY person_id, hospital) t"
    with pytest.raises(Refusal) as refused:
        lower(text, HOSPITAL)
    assert refused.value.code == "syntax_not_allowed"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(town) FROM {}",
        "SELECT COUNT(*) FROM (SELECT * FROM {}) t",
        "SELECT COUNT(*) FROM (SELECT person_id, town, COUNT(*) AS n FROM {} GROUP BY person_id, town) t",
        "SELECT COUNT(*) FROM (SELECT * FROM {0} UNION ALL SELECT * FROM {0}) t WHERE town = 'v7'",
    ],
)
def test_a_category_of_very_many_values_is_read_as_it_is_stored(text):
    town = Column("town", Text(tuple(f"v{place}" for place in range(100_000))))
    people = next(table for table in HOSPITAL.tables if table.name == "people")
    large = replace(HOSPITAL, tables=(replace(people, columns=(*people.columns, town)),), views=())
    assert lower(text.format("people"), large).relation.rows_per_person >= 1


def grouped(count):
    text = f"SELECT AVG(z) FROM (SELECT AVG(age) AS z FROM people GROUP BY BLOCK({count}))"
    return lower(text, HOSPITAL).relation


@pytest.mark.parametrize("count", ["2", "0200", "0" * 5000 + "7", str(MOST_BLOCKS)])
def test_blocks_are_as_many_as_is_written(count):
    assert grouped(count).blocks == Blocks(int(count.lstrip("0")))


@pytest.mark.parametrize(
    "count", ["", "0", "1", str(MOST_BLOCKS + 1), "9" * 5000, "2.0", "1e3", "-5", "'9'", "age", "2, 3"]
)
def test_any_other_number_of_blocks_is_refused(count):
    with pytest.raises(Refusal, match="BLOCK takes one whole number, from 2 to 131,072") as refused:
        grouped(count)
    assert refused.value.code == "blocks"
