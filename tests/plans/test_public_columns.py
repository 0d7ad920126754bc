"""Rows of public tables: exact, free, and read by statements that read nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from sys import getsizeof
from threading import Timer

import pytest

from adomnia import Question
from adomnia.catalog.model import View
from adomnia.engines.check import check_public
from adomnia.engines.contract import Statement
from adomnia.engines.duckdb import DuckDB, engine
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.errors import Failure, Refusal
from adomnia.plans import public_columns as public
from adomnia.plans.columns import KeyColumn
from adomnia.plans.public_columns import read_public_columns
from adomnia.sql.lower import plan_question
from adomnia.sql.reading.parse import parse
from adomnia.work import Abandoned, Work, limit
from kit.altering import alter
from kit.hospital import LINKED, curated, declare, person, visit

EAST = View("east", "SELECT city, population FROM cities WHERE region = 'East'")
SHADOWED = "WITH people AS (SELECT * FROM cities) SELECT * FROM people"


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    return replace(declare(tmp_path_factory.mktemp("linked") / "hospital", LINKED), views=(EAST,))


@pytest.fixture
def curator(linked):
    with curated(linked, [person(1, city="Oslo")], [visit(1, cost=5.0)]) as fresh:
        alter(fresh, engine=fresh.engine.inner)
        yield fresh


@pytest.fixture
def alice(curator):
    return curator.session("alice")


ANSWERS = {
    "SELECT region, COUNT(*) AS n, SUM(population) AS all_of_them FROM cities GROUP BY region ORDER BY n DESC, 1": [
        {"region": "East", "n": 2, "all_of_them": 700},
        {"region": "North", "n": 1, "all_of_them": 78},
        {"region": "West", "n": 1, "all_of_them": 290},
    ],
    "SELECT COUNT(*), COUNT(population), COUNT(DISTINCT region), MIN(population), AVG(population) FROM cities": [
        {"count": 4, "count_population": 3, "count_distinct_region": 3, "min_population": 78, "avg_population": 356.0},
    ],
    "SELECT MEDIAN(area), VAR_POP(area), BOOL_OR(area > 9) AS a, BOOL_AND(area > 9) AS b, MAX(since) FROM zones": [
        {
            "median_area": 17.5,
            "var_pop_area": 2251.6875,
            "a": True,
            "b": False,
            "max_since": date(2020, 1, 2),
        },
    ],
    "SELECT SUM(population) FROM cities WHERE population > 9999": [{"sum_population": None}],
    "SELECT SUM(population * 1e308 * 10) AS s, AVG(1 / (population - population)) AS q FROM cities": [
        {"s": None, "q": None}
    ],
    "SELECT region FROM cities GROUP BY region HAVING SUM(population) > (SELECT AVG(population) FROM cities)": [
        {"region": "East"}
    ],
    "SELECT city FROM cities c WHERE population = (SELECT MAX(d.population) FROM cities d WHERE d.region = c.region)"
    " ORDER BY city": [{"city": "Bergen"}, {"city": "Oslo"}, {"city": "Tromso"}],
    "SELECT city FROM cities WHERE city IN (SELECT city FROM zones) ORDER BY city": [
        {"city": "Bergen"},
        {"city": "Oslo"},
    ],
    "SELECT city FROM cities WHERE city NOT IN (SELECT city FROM zones)": [],  # one of them is NULL
    "SELECT city FROM cities WHERE city NOT IN (SELECT city FROM zones WHERE area > 0) ORDER BY city": [
        {"city": "Hamar"},
        {"city": "Tromso"},
    ],
    "SELECT city FROM zones WHERE city NOT IN (SELECT city FROM cities WHERE population > 9999) ORDER BY 1 LIMIT 2": [
        {"city": "Atlantis"},
        {"city": "Bergen"},
    ],
    "SELECT city FROM cities c WHERE NOT EXISTS (SELECT 1 FROM zones z WHERE z.city = c.city) ORDER BY city": [
        {"city": "Hamar"},
        {"city": "Tromso"},
    ],
    "SELECT DISTINCT zone FROM zones ORDER BY zone": [{"zone": "inner"}, {"zone": "outer"}, {"zone": None}],
    "SELECT city FROM cities ORDER BY population DESC LIMIT 1": [{"city": "Oslo"}],
    "SELECT city FROM cities ORDER BY population NULLS FIRST LIMIT 2": [{"city": "Hamar"}, {"city": "Tromso"}],
    "SELECT city FROM cities ORDER BY population DESC NULLS FIRST LIMIT 2": [{"city": "Hamar"}, {"city": "Oslo"}],
    # Behind the name of its table, a name is that of a column, whatever outputs are called.
    "SELECT -population AS population FROM cities c ORDER BY c.population LIMIT 1": [{"population": -78}],
    "SELECT -population AS population FROM cities c ORDER BY population LIMIT 1": [{"population": -700}],
    "SELECT -population AS population FROM cities c GROUP BY c.population ORDER BY c.population LIMIT 1": [
        {"population": -78}
    ],
    "SELECT DISTINCT z.zone FROM zones z ORDER BY z.zone DESC LIMIT 1": [{"zone": "outer"}],
    "SELECT city, COUNT(*) AS n FROM zones GROUP BY city HAVING city IN (SELECT city FROM cities) ORDER BY city": [
        {"city": "Bergen", "n": 1},
        {"city": "Oslo", "n": 2},
    ],
    "SELECT city FROM zones z GROUP BY city"
    " HAVING NOT EXISTS (SELECT 1 FROM cities c WHERE c.city = z.city) ORDER BY 1": [
        {"city": "Atlantis"},
        {"city": None},
    ],
    "SELECT city FROM zones GROUP BY city HAVING COUNT(*) IN (SELECT 2 FROM cities)": [{"city": "Oslo"}],
    # A subquery knows its own columns, and no outputs around it.
    "SELECT UPPER(city) AS region FROM zones GROUP BY UPPER(city)"
    " HAVING COUNT(*) = (SELECT COUNT(*) FROM cities WHERE region = 'East')": [{"region": "OSLO"}],
    "SELECT city, COUNT(*) AS k FROM zones GROUP BY city"
    " HAVING k >= (SELECT MAX(k) FROM (SELECT city, COUNT(*) AS k FROM zones GROUP BY city) t)": [
        {"city": "Oslo", "k": 2}
    ],
    "SELECT MAX(n) FROM (SELECT city, COUNT(*) AS n FROM zones GROUP BY city)": [{"max_n": 2}],
    "WITH people AS (SELECT region, AVG(population) AS m FROM cities GROUP BY region) SELECT MAX(m) FROM people": [
        {"max_m": 700.0}
    ],
    "SELECT * FROM cities ORDER BY population": [
        {"city": "Tromso", "region": "North", "population": 78},
        {"city": "Bergen", "region": "West", "population": 290},
        {"city": "Oslo", "region": "East", "population": 700},
        {"city": "Hamar", "region": "East", "population": None},
    ],
    "SELECT city, population / 100 AS hundreds FROM cities ORDER BY 2 DESC LIMIT 2": [
        {"city": "Oslo", "hundreds": 7.0},
        {"city": "Bergen", "hundreds": 2.9},
    ],
    "SELECT population * 2 AS twice FROM cities WHERE city = 'Oslo'": [{"twice": 1400}],
    "SELECT region, city FROM cities ORDER BY region DESC, city DESC": [
        {"region": "West", "city": "Bergen"},
        {"region": "North", "city": "Tromso"},
        {"region": "East", "city": "Oslo"},
        {"region": "East", "city": "Hamar"},
    ],
    "SELECT zone, area, since FROM zones ORDER BY since DESC, zone": [
        {"zone": "outer", "area": 0, "since": date(2020, 1, 2)},
        {"zone": "inner", "area": 17, "since": date(2020, 1, 1)},
        {"zone": "outer", "area": 120, "since": date(2019, 12, 31)},
        {"zone": "inner", "area": 18, "since": date(1950, 1, 1)},
        {"zone": None, "area": None, "since": None},
    ],
    "SELECT c.city, zone, area > 100 AS large FROM cities c JOIN zones z ON c.city = z.city ORDER BY 1, 2": [
        {"city": "Bergen", "zone": "inner", "large": False},
        {"city": "Oslo", "zone": "inner", "large": False},
        {"city": "Oslo", "zone": "outer", "large": True},
    ],
    "SELECT c.city, zone FROM cities c LEFT JOIN zones z USING (city) WHERE zone IS NULL ORDER BY city": [
        {"city": "Hamar", "zone": None},
        {"city": "Tromso", "zone": None},
    ],
    "SELECT name FROM (SELECT city AS name FROM cities UNION ALL SELECT zone FROM zones) ORDER BY name LIMIT 3": [
        {"name": "Bergen"},
        {"name": "Hamar"},
        {"name": "Oslo"},
    ],
    "SELECT * FROM east ORDER BY city": [{"city": "Hamar", "population": None}, {"city": "Oslo", "population": 700}],
    f"{SHADOWED} ORDER BY city LIMIT 1": [{"city": "Bergen", "region": "West", "population": 290}],
    "SELECT city FROM cities WHERE population > 1000000": [],
}


@pytest.mark.parametrize("text", ANSWERS)
def test_public_rows_are_exact(alice, text):
    assert alice.sql(text).records() == ANSWERS[text]


def test_they_cost_nothing_and_leave_no_trace(alice, curator):
    before = curator.ledger.verify()
    answer = alice.sql(SHADOWED, epsilon=1, request_id="mine")
    assert (answer.cost, answer.receipt, answer.replayed) == (None, None, False)
    assert answer.left == curator.ledger.left("alice")
    assert curator.ledger.verify() == before
    assert curator.dataset.kernel.bits.requests == []
    assert alice.answers() == []


def test_they_do_not_depend_on_anybody(linked, alice):
    with curated(linked, [], []) as empty:
        alter(empty, engine=empty.engine.inner)
        assert empty.session("alice").sql(SHADOWED).records() == alice.sql(SHADOWED).records()


def test_whole_numbers_are_whole_and_others_are_not(alice):
    answer = alice.sql("SELECT population, population + 0.5 AS half FROM cities WHERE city = 'Oslo'")
    assert [type(value) for name in ("population", "half") for value in answer[name]] == [int, float]


def test_an_answer_without_rows_still_has_its_columns(alice):
    answer = alice.sql("SELECT city, region FROM cities WHERE FALSE")
    assert len(answer) == 0
    assert answer.to_arrow().column_names == ["city", "region"]
    assert repr(answer).startswith("city")


@pytest.mark.parametrize("ask", ["price", "batch"])
def test_what_is_free_has_no_price(alice, ask):
    with pytest.raises(Refusal, match="costs nothing and has no price") as refused:
        if ask == "price":
            alice.price(SHADOWED, epsilon=1)
        else:
            alice.batch([Question(SHADOWED, epsilon=1), Question("SELECT COUNT(*) FROM people", epsilon=1)])
    assert refused.value.code == "public_table"
    assert alice.budget().personal.spent.epsilon_units == 0


# ------------------------------------------------------------------------------------------------ the second look


FINITE = 'CASE WHEN ABS({0}(CAST("area" AS DOUBLE))) <= 1.7976931348623157e+308 THEN {0}(CAST("area" AS DOUBLE)) END'
ALLOWED = [
    'SELECT "city" AS "c0" FROM "cities"',
    (
        'SELECT "a"."city" AS "c0" FROM "cities" AS "a" JOIN "zones" AS "b" '
        'ON CAST("a"."population" AS DOUBLE) = CAST("b"."area" AS DOUBLE)'
    ),
    'SELECT "c" AS "c0" FROM (SELECT "city" AS "c" FROM "cities" UNION ALL SELECT "city" AS "c" FROM "cities") AS "r"',
    'SELECT "region" AS "c0", CAST(COUNT(*) AS DOUBLE) AS "c1" FROM "cities" GROUP BY "region"',
    f'SELECT {FINITE.format("SUM")} AS "c0", MAX("since") AS "c1" FROM "zones"',
]
FORBIDDEN = [
    'SELECT COUNT(*) AS "c0" FROM "people"',
    'SELECT CAST(COUNT(*) AS BIGINT) AS "c0" FROM "cities"',
    'SELECT MAX("city") AS "c0" FROM "cities"',
    'SELECT MAX("population") AS "c0" FROM "cities"',
    'SELECT SUM(CAST("population" AS DOUBLE)) AS "c0" FROM "cities"',
    'SELECT "region" AS "c0", "city" AS "c1" FROM "cities" GROUP BY "region"',
    f'SELECT {FINITE.format("MODE")} AS "c0" FROM "zones"',
    'SELECT LIST("city") AS "c0" FROM "cities"',
    'SELECT getenv(\'HOME\') AS "c0" FROM "cities"',
    'SELECT "city" AS "c0" FROM "cities" ORDER BY (SELECT COUNT(*) FROM "people")',
    'SELECT "city" AS "c0" FROM "cities" LIMIT (SELECT COUNT(*) FROM "people")',
    'SELECT "name" FROM "people"',
    'SELECT "city" FROM "cities" WHERE EXISTS (SELECT 1 FROM "people")',
    'SELECT "city" FROM "cities" WHERE "city" = (SELECT "city" FROM "people" LIMIT 1)',
    'SELECT "city" FROM "cities" AS "a" LEFT JOIN "visits" AS "b" ON TRUE',
    'WITH "cities" AS (SELECT * FROM "people") SELECT * FROM "cities"',
    'SELECT "city" FROM "cities" UNION ALL SELECT "name" FROM "people"',
    'SELECT "city" FROM "main"."cities"',
    'SELECT "city" FROM "other"."main"."cities"',
    "SELECT * FROM 'people.parquet'",
    "SELECT * FROM read_parquet('people.parquet')",
    "SELECT * FROM query('SELECT * FROM people')",
    'SELECT * FROM (SUMMARIZE "people")',
    'SELECT * FROM (PIVOT "people" ON "sex" USING COUNT(*))',
    'SELECT * FROM "Cities"',
    "SELECT 1",
    'FROM "people"',
    'DELETE FROM "cities"',
    'SELECT "city" FROM "cities"; SELECT "name" FROM "people"',
    "SELECT (",
    "",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_a_statement_over_public_tables_alone_is_let_through(linked, text):
    check_public(Statement(text, ()), linked, DUCKDB)


@pytest.mark.parametrize("text", FORBIDDEN)
def test_a_statement_that_might_read_anything_else_is_not(linked, text):
    with pytest.raises(Failure):
        check_public(Statement(text, ()), linked, DUCKDB)


def test_a_statement_that_reads_people_by_the_rules_is_not_let_through(linked):
    people = 'SELECT "person" AS "person", CAST("age" AS DOUBLE) AS "c0" FROM "people" WHERE "rank" <= 1'
    with pytest.raises(Failure) as failed:
        check_public(Statement(people, ()), linked, DUCKDB)
    assert "public tables alone" in str(failed.value.__cause__)


def test_null_equals_nothing_where_something_is_looked_up(alice):
    text = "SELECT zone FROM zones z WHERE {}EXISTS (SELECT 1 FROM zones y WHERE y.city = z.city) ORDER BY zone"
    assert [row["zone"] for row in alice.sql(text.format("")).records()] == ["inner", "inner", "outer", None]
    assert [row["zone"] for row in alice.sql(text.format("NOT ")).records()] == ["outer"]
    counted = "SELECT zone FROM zones z WHERE (SELECT COUNT(*) FROM zones y WHERE y.city = z.city) = 0"
    assert [row["zone"] for row in alice.sql(counted).records()] == ["outer"]


def test_a_statement_too_deep_to_look_at_is_not_let_through(linked):
    with pytest.raises(Failure):
        check_public(Statement(f'SELECT {"(" * 20_000}1{")" * 20_000} FROM "cities"', ()), linked, DUCKDB)


def test_what_takes_too_long_is_refused_and_the_engine_goes_on(alice, curator, monkeypatch):
    monkeypatch.setattr(engine, "PUBLIC_SECONDS", 0.05)
    slow = Statement("SELECT SUM(a.range * b.range) AS c0 FROM range(1000000) a, range(1000000) b", ())
    monkeypatch.setattr(DuckDB, "render_rows", lambda *_: slow)
    monkeypatch.setattr(public, "check_public", lambda *_: None)
    with pytest.raises(Refusal, match="more time or memory") as refused:
        alice.sql("SELECT city FROM cities")
    assert refused.value.code == "too_complex"
    assert curator.engine.is_open()


def test_what_takes_too_much_memory_is_refused_as_soon_as_that_is_known(alice, curator, monkeypatch):
    text = "SELECT city || city AS twice, population FROM cities"
    size = sum(
        getsizeof(row) + sum(map(getsizeof, row)) for row in map(tuple, map(dict.values, alice.sql(text).records()))
    )
    monkeypatch.setattr(engine, "_BATCH", 1)
    monkeypatch.setattr(engine, "PUBLIC_BYTES", 2 * size)
    assert len(alice.sql(text)) == 4
    monkeypatch.setattr(engine, "PUBLIC_BYTES", size // 2)
    with pytest.raises(Refusal, match="more time or memory") as refused:
        alice.sql(text)
    assert refused.value.code == "too_complex"
    assert len(alice.sql(f"{text} LIMIT 1")) == 1


def test_what_nobody_waits_for_any_more_is_ended(alice, monkeypatch):
    slow = Statement("SELECT SUM(a.range * b.range) AS c0 FROM range(1000000) a, range(1000000) b", ())
    monkeypatch.setattr(DuckDB, "render_rows", lambda *_: slow)
    monkeypatch.setattr(public, "check_public", lambda *_: None)
    work = Work()
    Timer(0.2, work.abandon).start()
    with pytest.raises(Abandoned), limit(work):
        alice.sql("SELECT city FROM cities")


def test_an_engine_that_is_closed_fails(alice, curator):
    curator.engine.close()
    with pytest.raises(Failure):
        alice.sql("SELECT city FROM cities")


def test_what_the_second_look_refuses_is_never_read(alice, curator, monkeypatch):
    def never(_):
        raise AssertionError("It was read.")

    monkeypatch.setattr(curator.engine, "render_rows", lambda _: Statement('SELECT "name" FROM "people"', ()))
    monkeypatch.setattr(curator.engine, "read", never)
    with pytest.raises(Failure):
        alice.sql(SHADOWED)


def test_the_columns_are_keys_in_the_order_of_the_question(curator, linked):
    asked = plan_question(parse("SELECT region, city FROM cities ORDER BY city LIMIT 1"), linked)
    assert read_public_columns(asked, curator.engine, linked) == (
        KeyColumn("region", ("West",)),
        KeyColumn("city", ("Bergen",)),
    )


def test_rows_beyond_a_million_are_refused_and_a_limit_reads_no_more_than_it_shows(curator, alice, monkeypatch):
    monkeypatch.setattr("adomnia.plans.public_columns.MOST_ROWS", 2)
    with pytest.raises(Refusal) as refused:
        alice.sql("SELECT city FROM cities")
    assert refused.value.code == "too_complex"
    with pytest.raises(Refusal):
        alice.sql("SELECT city FROM cities ORDER BY city LIMIT 1")
    asked = []
    read = curator.engine.read
    monkeypatch.setattr(curator.engine, "read", lambda statement, most: asked.append(most) or read(statement, most))
    assert len(alice.sql("SELECT city FROM cities LIMIT 1")) == 1
    assert asked == [1]
    assert alice.sql("SELECT city FROM cities LIMIT 1 OFFSET 1").records() != []
    assert asked == [1, 2]


def test_offset_leaves_out_the_first_rows(alice):
    cities = alice.sql("SELECT city FROM cities ORDER BY city")["city"]
    assert len(cities) >= 3
    for rest, expected in {
        "OFFSET 1": cities[1:],
        "LIMIT 1 OFFSET 1": cities[1:2],
        "LIMIT 9 OFFSET 2": cities[2:],
        "OFFSET 99": [],
    }.items():
        assert alice.sql(f"SELECT city FROM cities ORDER BY city {rest}")["city"] == expected
