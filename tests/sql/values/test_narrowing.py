"""WHERE leaves only values of keys that a row may have; an engine that reads the same text is the judge."""

from __future__ import annotations

from datetime import date, timedelta

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.plans.descriptions import describe_key
from adomnia.privacy.keys import key_values, widen_key
from adomnia.sql.lower import lower
from kit.searches import examples
from sql.hospital import HOSPITAL

FIRST, LAST = date(1900, 1, 1), date(2030, 12, 31)


def keys(text):
    return lower(text, HOSPITAL).keys


def labels(key, where, source="people"):
    (found,) = keys(f"SELECT {key} AS k, COUNT(*) FROM {source} WHERE {where} GROUP BY k")
    return key_values(found)


@pytest.mark.parametrize(
    ("key", "where", "expected"),
    [
        ("sex", "sex = 'F'", ("F",)),
        ("sex", "sex <> 'F'", ("M", "X")),
        ("sex", "NOT sex IN ('F', 'X') AND age > 3", ("M",)),
        ("sex", "sex IS NOT NULL AND sex LIKE '%X%'", ("X",)),
        ("sex", "sex = 'F' OR age > 3", ("F", "M", "X")),
        ("sex", "(sex = 'F' OR sex = 'M') AND (sex = 'M' OR age > 3)", ("F", "M")),
        ("UPPER(LEFT(sex, 1))", "sex = 'F'", ("F",)),
        ("COALESCE(sex, 'none')", "sex IS NULL", ("none",)),
        ("active", "active", (True,)),
        ("active", "NOT active", (False,)),
        ("age >= 18", "age > 20", (True,)),
        ("age", "age IN (1, 3, 5)", (1, 3, 5)),
        ("age", "age BETWEEN 1.5 AND 4", (2, 3, 4)),
        ("FLOOR(age / 10) * 10", "age < 30", (0, 10, 20)),
        ("age % 10", "age BETWEEN 18 AND 21", (0, 1, 8, 9)),
        ("CASE WHEN age < 18 THEN 'child' ELSE 'adult' END", "age >= 18", ("adult",)),
        ("FLOOR(salary / 10000) * 10000", "salary >= 20000 AND salary < 40000", (20000, 30000)),
        ("FLOOR(salary / 10000) * 10000", "salary >= 20000 AND salary <= 40000", (20000, 30000, 40000)),
        ("-FLOOR(salary / 100000)", "salary / 12 > 30000", (-5, -4, -3)),
        ("YEAR(born)", "born >= '2029-06-01'", (2029, 2030)),
        ("MONTH(born)", "born BETWEEN '2023-11-05' AND '2024-01-03'", (1, 11, 12)),
        ("DATE_TRUNC('month', born)", "born >= DATE '2030-11-15'", (date(2030, 11, 1), date(2030, 12, 1))),
        ("DATE_TRUNC('month', born)", "YEAR(born) = 2024 AND MONTH(born) = 2", (date(2024, 2, 1),)),
        ("DATE_TRUNC('quarter', born)", "DATE_TRUNC('month', born) = '2024-05-01'", (date(2024, 4, 1),)),
        ("DATE_TRUNC('year', born)", "NOT (born < '2029-01-01' OR age = 3)", (date(2029, 1, 1), date(2030, 1, 1))),
        ("LEFT(name, 1)", "LEFT(name, 1) IN ('A', 'B') AND LEFT(name, 1) <> 'A'", ("B",)),
    ],
)
def test_values_that_no_row_has_are_left_out(key, where, expected):
    assert labels(key, where) == expected


@pytest.mark.parametrize(
    "where",
    [
        "sex = 'Z'",  # nobody: an answer without rows would look like a finding
        "sex ~ '^F'",  # of which engines know more than we do
        "sex = 'F' OR name = 'Ann'",
        "name = 'F'",
        "sex IS NOT NULL",
    ],
)
def test_what_leaves_none_or_is_not_understood_leaves_all(where):
    assert labels("sex", where) == ("F", "M", "X")
    (key,) = keys(f"SELECT sex, COUNT(*) FROM people WHERE {where} GROUP BY sex")
    assert widen_key(key) is key


def test_texts_of_days_are_left_out_too():
    assert labels("STRFTIME(day, '%Y-%m')", "day >= '2024-11-01'", "visits") == ("2024-11", "2024-12")


def test_conditions_further_inside_count_as_well():
    inside = "(SELECT DATE_TRUNC('year', born) AS y, sex FROM people WHERE born < '1901-06-01')"
    assert labels("y", "sex = 'F'", inside) == (date(1900, 1, 1), date(1901, 1, 1))
    joined = "people AS p JOIN (SELECT person_id, hospital FROM visits WHERE hospital = 'H1') AS v USING (person_id)"
    assert labels("v.hospital", "p.sex = 'F'", joined) == ("H1",)
    outer = (
        "people AS p LEFT JOIN (SELECT person_id, hospital FROM visits WHERE hospital = 'H1') AS v USING (person_id)"
    )
    assert len(labels("COALESCE(v.hospital, 'H2')", "p.sex = 'F'", outer)) > 1
    own = "(SELECT person_id, hospital, COUNT(*) AS n FROM visits WHERE hospital = 'H1' GROUP BY person_id, hospital)"
    assert labels("hospital", "n > 1", own) == ("H1",)
    looked_up = (
        "people AS p LEFT JOIN (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) AS o USING (person_id)"
    )
    assert labels("p.sex", "p.sex = 'F' AND o.n > 1", looked_up) == ("F",)


def test_a_narrowed_key_says_which_values_it_has():
    (key,) = keys("SELECT sex, COUNT(*) FROM people WHERE sex <> 'F' GROUP BY sex")
    assert describe_key(key) == "sex among 'M', 'X'"
    assert key_values(widen_key(key)) == ("F", "M", "X")
    (key,) = keys("SELECT MONTH(born) AS m, COUNT(*) FROM people WHERE MONTH(born) IN (1, 12) GROUP BY m")
    assert describe_key(key) == "MONTH(born) among 1, 12"


def test_many_values_that_are_no_range_become_one():
    odd = " OR ".join(f"age = {age}" for age in range(1, 120, 2))
    assert labels("age", odd) == tuple(range(1, 120, 2))
    assert labels("FLOOR(ABS(age - 60 + ROUND(age / 7)) * 3) + age", odd)[0] < 60  # the place of each takes too long


def test_order_and_names_and_conditions_on_groups_stay_as_they_are():
    having = "HAVING sex <> 'X' ORDER BY sex"
    text = f"SELECT sex, active, COUNT(*) AS n FROM people WHERE sex <> 'F' GROUP BY sex, active {having}"
    plan = lower(text, HOSPITAL)
    assert [key_values(key) for key in plan.keys] == [("M", "X"), (False, True)]
    assert plan.outputs[0].source is plan.order[0].by is plan.keys[0]


# What follows is judged by an engine: every row that there can be, or many of them.

SEXES, TRUTHS = ("F", "M", "X", None), (True, False, None)
AGES = (*range(0, 121, 3), 17, 18, 19, None)
EDGES = [FIRST, LAST, date(2024, 2, 29), date(2023, 12, 31), date(2024, 1, 1)]


@pytest.fixture(scope="module")
def people():
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people (sex TEXT, active BOOLEAN, age BIGINT, born DATE, salary DOUBLE)")
        rows, place = [], 0
        for sex in SEXES:
            for active in TRUTHS:
                for age in AGES:
                    place += 1
                    day = EDGES[place % 7] if place % 7 < len(EDGES) else FIRST + timedelta(place * 7919 % 47847)
                    salary = (
                        None if place % 31 == 0 else min(500_000.0, (place * 104729 % 5001) * 100 + place % 3 * 0.25)
                    )
                    rows.append((sex, active, age, None if place % 29 == 0 else day, salary))
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
        yield connection


def comparisons(value, constants):
    return st.builds("{} {} {}".format, st.just(value), st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), constants)


days = st.dates(FIRST, LAST).map("DATE '{}'".format)
ages = st.integers(-2, 123).map(str)
amounts = st.integers(0, 50).map(lambda each: str(10_000 * each))
atoms = st.one_of(
    comparisons("age", ages),
    comparisons("FLOOR(age / 10)", st.integers(0, 12).map(str)),
    comparisons("born", days),
    comparisons("YEAR(born)", st.integers(1899, 2031).map(str)),
    comparisons("MONTH(born)", st.integers(1, 12).map(str)),
    comparisons("DATE_TRUNC('month', born)", days),
    comparisons("salary", amounts),
    comparisons("salary / 12", amounts),
    comparisons("500000 - salary", amounts),
    comparisons("sex", st.sampled_from(["'F'", "'M'", "'Q'"])),
    st.sampled_from(["active", "sex IN ('F', 'X')", "sex IS NULL", "age IS NULL", "sex LIKE 'M%'", "active IS NULL"]),
    st.builds("age BETWEEN {} AND {}".format, ages, ages),
    st.builds("born BETWEEN {} AND {}".format, days, days),
)
conditions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("NOT ({})".format, inner),
    ),
    max_leaves=5,
)
KEYS = (
    *("sex", "active", "age", "age >= 40", "FLOOR(age / 10) * 10", "age % 7", "120 - age", "FLOOR(salary / 25000)"),
    *("YEAR(born)", "MONTH(born)", "DATE_TRUNC('quarter', born)", "DATE_TRUNC('week', born)", "born"),
    "CASE WHEN age < 18 THEN 'child' WHEN sex = 'F' THEN 'woman' ELSE 'other' END",
)


def execute(people, key, where):
    """The values of a key that some row has."""
    read = f"CAST({key} AS DATE)" if "DATE_TRUNC" in key else key
    rows = people.execute(f"SELECT DISTINCT {read} FROM people WHERE {where}").fetchall()
    return {value for (value,) in rows} - {None}


@settings(max_examples=examples(300))
@given(key=st.sampled_from(KEYS), where=conditions)
def test_no_row_for_which_the_conditions_are_true_has_a_value_that_is_left_out(people, key, where):
    assert execute(people, key, where) <= set(labels(key, where))


only_sex = st.one_of(
    comparisons("sex", st.sampled_from(["'F'", "'M'", "'Q'"])), st.sampled_from(["sex IS NULL", "sex IN ('F', 'X')"])
)
plain = st.recursive(
    only_sex | st.sampled_from(["active", "active IS NULL"]),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["AND", "OR"]), inner)
        | st.builds("NOT ({})".format, inner)
    ),
    max_leaves=5,
)


@settings(max_examples=examples(200))
@given(key=st.sampled_from(["sex", "active", "COALESCE(sex, 'none')", "CASE WHEN active THEN sex END"]), where=plain)
def test_every_value_that_is_left_is_that_of_some_row_where_all_its_columns_were_tried(people, key, where):
    found = execute(people, key, where)
    (one,) = keys(f"SELECT {key} AS k, COUNT(*) FROM people WHERE {where} GROUP BY k")
    assert set(key_values(one)) == found or not found
