"""Questions as they are written, beside a database that runs them as they are written.

On rows that no cap leaves out and no bound clamps, the exact aggregates of a question are what plain SQL gives. The
other gates compare the engine with the plan; this one holds the plan to the text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from itertools import product
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from adomnia.errors import Refusal
from adomnia.privacy.keys import Key, key_values, widen_key
from adomnia.privacy.kinds import Day, Quantity
from adomnia.sql.lower import lower
from kit.gate import aggregated, proved
from kit.grammar import plain_questions
from kit.hospital import LINKED, PUBLIC, curated, declare, frame, person, visit
from kit.rows import plain_databases

if TYPE_CHECKING:
    from adomnia.catalog.model import Catalog
    from adomnia.plans.plan import Plan
    from adomnia.session.curator import Curator

pytestmark = pytest.mark.no_cover  # other tests have one example of each branch

QUESTIONS = 40  # to each database
LEAST_ANSWERED = 0.8


def plain(catalog: Catalog, files: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """A database that holds the rows as they are; whole numbers are integers there."""
    connection = duckdb.connect()
    connection.execute("CREATE MACRO iif(condition, one, other) AS CASE WHEN condition THEN one ELSE other END")
    for table in catalog.tables:
        rows = frame(files[table.name], table)  # noqa: F841 - DuckDB finds it by its name
        whole = [each.name for each in table.columns if isinstance(each.kind, Quantity) and each.kind.whole]
        casts = ", ".join(f"CAST({name} AS BIGINT) AS {name}" for name in whole)
        replaced = f"REPLACE ({casts})" if casts else ""
        connection.execute(f"CREATE TABLE {table.name} AS SELECT * {replaced} FROM rows")
    for view in catalog.views:
        connection.execute(f"CREATE VIEW {view.name} AS {view.sql}")
    return connection


def cells(plan: Plan, rows: list[tuple[Any, ...]]) -> list[dict[tuple[Any, ...], int]]:
    """Of each statistic of a plan, its value in every cell of the keys, from the rows of a plain answer."""
    places = [[output.source for output in plan.outputs].index(key) for key in plan.keys]
    empty = dict.fromkeys(product(*map(key_values, plan.keys)), 0)
    found = []
    for place, output in enumerate(plan.outputs):
        if not isinstance(output.source, Key):
            given = {tuple(row[each] for each in places): int(row[place] or 0) for row in rows}
            found.append(empty | {cell: value for cell, value in given.items() if cell in empty})
    return found


def ours(plan: Plan, curator: Curator) -> list[dict[tuple[Any, ...], int]]:
    """The same from the exact aggregates of the engine."""
    queries = [output.source.query for output in plan.outputs if not isinstance(output.source, Key)]
    values = aggregated(curator, proved(curator, tuple(dict.fromkeys(queries))))
    everything = list(product(*map(key_values, plan.keys)))
    return [dict(zip(everything, flat(values[query], len(plan.keys)), strict=True)) for query in queries]


def flat(values: Any, depth: int) -> list[int]:
    return [each for part in values for each in flat(part, depth - 1)] if depth else [values]


def agrees(text: str, curator: Curator, connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether a question is answered; if so, as plain SQL answers it."""
    try:
        plan = lower(text, curator.catalog)
    except Refusal:
        return False
    try:
        expected = connection.execute(text).fetchall()
    except duckdb.Error:
        return False  # some questions mean something here and nothing to the engine by itself
    assert ours(plan, curator) == cells(plan, expected), text
    return True


def asked_often(catalog: Catalog, examples: int) -> None:
    outcomes: list[bool] = []

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(plain_databases, st.lists(plain_questions(), min_size=QUESTIONS, max_size=QUESTIONS, unique=True))
    def ask(files, asked):
        with curated(catalog, **files) as curator, plain(catalog, files | PUBLIC) as connection:
            outcomes.extend(agrees(text, curator, connection) for text in asked)

    ask()
    assert len(outcomes) >= examples * QUESTIONS
    assert sum(outcomes) >= LEAST_ANSWERED * len(outcomes)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("plain") / "hospital", LINKED)


def test_questions_are_answered_as_plain_sql_answers_them(catalog):
    asked_often(catalog, 3)


@pytest.mark.soak
def test_many_more_questions_are_answered_as_plain_sql_answers_them(catalog):
    asked_often(catalog, 300)


WORDS = (
    "SELECT AGE_YEARS AS years, COUNT(*) AS n FROM visits GROUP BY years",
    "SELECT age // 7 AS d, COUNT(*) AS n FROM people GROUP BY d",
    "SELECT (age - 35) // 4 AS d, COUNT(*) AS n FROM people GROUP BY d",
    "SELECT IFNULL(sex, '-') AS s, COUNT(*) AS n FROM people WHERE age ISNULL OR age > 30 GROUP BY s",
    "SELECT COUNT(*) AS n FROM visits WHERE DATE_ADD(day, INTERVAL 1 MONTH) > DATE '2023-06-30'",
    (
        "SELECT EXTRACT(EPOCH FROM (TIMESTAMP '2024-01-01' - CAST(day AS TIMESTAMP))) > 9000000 AS k, COUNT(*) AS n "
        "FROM visits GROUP BY k"
    ),
)


@pytest.mark.parametrize("text", WORDS)
def test_words_of_other_databases_mean_what_they_mean_there(tmp_path, text):
    catalog = with_bounded_days(declare(tmp_path / "hospital", LINKED))
    people = [person(place, age=None if place == 9 else 25.0 + place % 20, sex="FMX"[place % 3]) for place in range(40)]
    days = [date(2023, 1, 1) + timedelta(29 * place % 700) for place in range(1, 40)]
    files = {"people": people, "visits": [visit(place, day=day) for place, day in enumerate(days)], "items": []}
    text = text.replace("AGE_YEARS", "EXTRACT(YEAR FROM AGE(DATE '2024-06-15', day))")
    with curated(catalog, **files) as curator, plain(catalog, files | PUBLIC) as connection:
        assert agrees(text, curator, connection)


NARROWED = (
    "SELECT sex, COUNT(*) AS n FROM people WHERE sex <> 'F' GROUP BY sex",
    "SELECT member, COUNT(DISTINCT person_id) AS n FROM people WHERE NOT member GROUP BY member",
    "SELECT age, COUNT(*) AS n FROM people WHERE age IN (30, 33) OR age = 41 GROUP BY age",
    "SELECT FLOOR(salary / 1000) AS k, COUNT(*) AS n FROM people WHERE salary >= 2000 AND salary < 5000 GROUP BY k",
    "SELECT MONTH(day) AS m, COUNT(cost) AS n FROM visits WHERE day >= '2023-11-15' AND day < '2024-02-01' GROUP BY m",
    "SELECT day, COUNT(*) AS n FROM visits WHERE MONTH(day) = 2 AND hospital <> 'H1' GROUP BY day",
    (
        "SELECT hospital, sex, COUNT(*) AS n FROM visits JOIN people USING (person_id) "
        "WHERE hospital IN ('H2', 'H4') AND sex LIKE '%M%' GROUP BY hospital, sex"
    ),
    "SELECT UPPER(hospital) || '!' AS h, COUNT(*) AS n FROM visits WHERE hospital = 'H3' GROUP BY h",
    "SELECT CASE WHEN age < 35 THEN 'young' ELSE 'old' END AS k, COUNT(*) AS n FROM people WHERE age < 34 GROUP BY k",
)


def with_bounded_days(catalog):
    """The same catalog, whose visits are declared to be of two years."""
    day = Day(date(2023, 1, 1), date(2024, 12, 31))
    tables = [
        replace(each, columns=tuple(replace(one, kind=day) if one.name == "day" else one for one in each.columns))
        for each in catalog.tables
    ]
    return replace(catalog, tables=tuple(tables))


@pytest.mark.parametrize("text", NARROWED)
def test_groups_that_conditions_leave_are_all_that_plain_sql_has(tmp_path, text):
    catalog = with_bounded_days(declare(tmp_path / "hospital", LINKED))
    people = [
        person(place, age=30.0 + place % 15, sex="FMX"[place % 3], salary=250.0 * place, member=place % 2 == 0)
        for place in range(1, 40)
    ]
    visits = [
        visit(place, day=date(2023, 1, 1) + timedelta(17 * place), hospital=f"H{1 + place % 5}", cost=float(place))
        for place in range(1, 40)
    ]
    files = {"people": people, "visits": visits, "items": []}
    plan = lower(text, catalog)
    assert any(widen_key(key) is not key for key in plan.keys)
    with curated(catalog, **files) as curator, plain(catalog, files | PUBLIC) as connection:
        assert agrees(text, curator, connection)
        rows = connection.execute(text).fetchall()
    groups = {row[: len(plan.keys)] for row in rows}
    assert groups <= set(product(*map(key_values, plan.keys)))
    assert len(rows) > 0


# What is refused, and how plain SQL is to be asked the same where it differs from database to database.
ADVISED = {
    "SELECT COUNT(*) AS n FROM (SELECT person_id FROM people WHERE age > 35 "
    "INTERSECT SELECT person_id FROM visits)": None,
    "SELECT COUNT(*) AS n FROM (SELECT person_id FROM visits "
    "EXCEPT SELECT person_id FROM people WHERE sex = 'F')": None,
    "SELECT SUM(cost) AS n FROM (SELECT DISTINCT ON (person_id) person_id, cost FROM visits "
    "ORDER BY person_id, day)": None,
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT ON (person_id) person_id, cost FROM visits WHERE cost > 9 "
    "ORDER BY person_id, day DESC) WHERE cost > 20": None,
    "SELECT age / 10 * 10 AS d, COUNT(*) AS n FROM people GROUP BY d": "age // 10 * 10",
}


@pytest.mark.parametrize("text", ADVISED)
def test_the_advice_of_a_refusal_asks_the_same_where_it_rewrites_a_question(tmp_path, text):
    catalog = declare(tmp_path / "hospital", LINKED)
    people = [person(place, age=30.0 + place % 15, sex="FMX"[place % 3]) for place in range(1, 30)]
    visits = [
        visit(1 + place % 25, day=date(2023, 1, 1) + timedelta(17 * place % 365), cost=float(place))
        for place in range(1, 60)
    ]
    files = {"people": people, "visits": visits, "items": []}
    with pytest.raises(Refusal) as refused:
        lower(text, catalog)
    advised, original = refused.value.fix.partition(": ")[2], ADVISED[text]
    inside = re.search(r"\(SELECT (DISTINCT|person_id).*\)(?= WHERE|$)", text)
    followed = text.replace("age / 10 * 10", advised) if original else text.replace(inside[0], f"({advised})")
    with curated(catalog, **files) as curator, plain(catalog, files | PUBLIC) as connection:
        plan = lower(followed, curator.catalog)
        expected = connection.execute(text if original is None else text.replace("age / 10 * 10", original)).fetchall()
        assert exactly(plan, curator) == cells(plan, expected)


def exactly(plan, curator):
    """What a plan measures, sums in whole numbers."""
    steps = [output.source.query for output in plan.outputs if not isinstance(output.source, Key)]
    found = ours(plan, curator)
    size = [query.total.domain.step if query.aggregate.adds_up else 1 for query in steps]
    return [{cell: value * step for cell, value in each.items()} for each, step in zip(found, size, strict=True)]


def test_a_row_that_only_one_of_both_has_is_noticed(catalog):
    files = {"people": [person(1, age=30.0), person(2, age=40.0)], "visits": [visit(1, cost=1.0)], "items": []}
    text = "SELECT COUNT(*) FROM people WHERE person_id NOT IN (SELECT person_id FROM visits)"
    with curated(catalog, **files) as curator:
        with plain(catalog, files | PUBLIC) as same:
            assert agrees(text, curator, same)
        with plain(catalog, {**files, "visits": []} | PUBLIC) as other, pytest.raises(AssertionError):
            agrees(text, curator, other)
