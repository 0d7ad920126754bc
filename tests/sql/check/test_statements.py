"""The second look catches every wrong statement planted here, and whatever it lets pass is measured."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

import adomnia.sql.check
from adomnia.privacy.sensitivity import Sensitivity
from sql.check.looks import check, is_measured, mutants_of, refused
from sql.check.test_aggregates import CENTRED, CLAMP, CLAMPED, GUARDED
from sql.hospital import VISITS

SOURCES = sorted(Path(adomnia.sql.check.__file__).parent.glob("*.py"))


def test_sensitivities_are_read_off_the_text_alone():
    rows = 'FROM "visits" WHERE "rank" <= 3'
    assert check(f"SELECT COUNT(*) AS m0 {rows}") == (Sensitivity(l1=3, monotone=True),)
    assert check(f'SELECT CAST(SUM("cost grid") AS DECIMAL(38, 0)) AS m0 {rows}') == (
        Sensitivity(l1=3 * 1_600_000, monotone=True),
    )
    assert check(f"SELECT CAST(SUM({CLAMP}) AS BIGINT) AS m0 {rows}") == (Sensitivity(l1=48, monotone=True),)
    assert check(f"SELECT CAST(SUM({GUARDED}) AS BIGINT) AS m0 {rows}") == (Sensitivity(l1=48, monotone=True),)
    centred = f"SUM({CLAMP}) - CAST(8 AS HUGEINT) * COUNT({CLAMP})"
    assert check(f"SELECT CAST({centred} AS BIGINT) AS m0 {rows}") == (Sensitivity(l1=24),)
    people = 'SELECT "hospital" AS k0, COUNT(DISTINCT "person") AS m0'
    assert check(f'{people} {rows} GROUP BY "hospital"') == (Sensitivity(l1=3, l2_squared=3, linf=1, monotone=True),)
    assert check('SELECT COUNT(DISTINCT "person") AS m0 FROM "visits"') == (Sensitivity(l1=1, monotone=True),)


RIGHT = 'SELECT "hospital" AS k0, COUNT(*) AS m0, CAST(SUM("cost grid") AS DECIMAL(38, 0)) AS m1 '
RIGHT += 'FROM "visits" WHERE "rank" <= 10 AND ("diagnosis" = $1) GROUP BY "hospital"'

PLANTED = {
    "no cap": ('"rank" <= 10 AND ', "", "a cap"),
    "cap above what the catalog allows": ("<= 10", "<= 11", "the cap"),
    "cap of zero": ("<= 10", "<= 0", "the cap"),
    "cap the wrong way round": ('"rank" <= 10', '"rank" >= 10', "a stored column"),
    "cap that is not strict about its operand": ('"rank" <= 10', '"rank" + 0 <= 10', "a stored column"),
    "cap under an alternative": ('"rank" <= 10 AND', '"rank" <= 10 OR', "a stored column"),
    "cap inside brackets": ('"rank" <= 10', '("rank" <= 10 OR TRUE)', "a stored column"),
    "cap from a parameter": ("<= 10", "<= $1", "a number"),
    "cap from text": ("<= 10", "<= '10'", "a number"),
    "cap from a fraction": ("<= 10", "<= 10.5", "a whole number"),
    "sum over the raw column": ('"cost grid"', '"cost"', "a stored grid"),
    "sum of doubles": ('SUM("cost grid")', 'SUM(CAST("cost" AS DOUBLE))', "a stored grid"),
    "sum of something times a thousand": ('SUM("cost grid")', 'SUM("cost grid" * 1000)', "a stored grid"),
    "sum of the persons' numbers": ('"cost grid"', '"person"', "a stored grid"),
    "sum of different values": ('SUM("cost grid")', 'SUM(DISTINCT "cost grid")', "a stored grid"),
    "average by the engine": ('SUM("cost grid")', 'AVG("cost grid")', "an exact sum"),
    "largest value": ('CAST(SUM("cost grid") AS DECIMAL(38, 0))', 'MAX("cost grid")', "an exact sum"),
    "sum without a width": ('CAST(SUM("cost grid") AS DECIMAL(38, 0))', 'SUM("cost grid")', "an exact sum"),
    "sum too wide for its type": ("DECIMAL(38, 0)", "BIGINT", "the width of a result"),
    "sum as a double": ("DECIMAL(38, 0)", "DOUBLE", "the width of a result"),
    "sum that may silently vanish": ("CAST(SUM", "TRY_CAST(SUM", "an exact sum"),
    "count of different values": ("COUNT(*)", 'COUNT(DISTINCT "cost")', "COUNT(DISTINCT person)"),
    "count of different pairs": ("COUNT(*)", 'COUNT(DISTINCT "person", "cost")', "COUNT(DISTINCT person)"),
    "filtered count": ("COUNT(*)", 'COUNT(*) FILTER (WHERE "cost" IS NULL)', "an exact sum"),
    "count of nothing": ("COUNT(*)", "COUNT()", "a value"),
    "window": ("COUNT(*)", "COUNT(*) OVER ()", "an exact sum"),
    "product of counts": ("COUNT(*)", "COUNT(*) * 5", "an exact sum"),
    "another join": ('FROM "visits"', 'FROM "visits" JOIN "people" USING ("person")', "a name for each side"),
    "comma join": ('FROM "visits"', 'FROM "visits", "people"', "a name for each side"),
    "subquery as the table": ('FROM "visits"', 'FROM (SELECT * FROM "visits") AS "visits"', "a stored column"),
    "subquery in a condition": ('("diagnosis" = $1)', '("cost" = (SELECT 1))', "no "),
    "existence of others": ('("diagnosis" = $1)', 'EXISTS (SELECT 1 FROM "people")', "no "),
    "another table": ('FROM "visits"', 'FROM "people"', "the cap"),
    "unknown table": ('FROM "visits"', 'FROM "ledger"', "a declared table"),
    "public table": ('FROM "visits"', 'FROM "cities"', "the cap"),
    "another schema": ('FROM "visits"', 'FROM other."visits"', "Table without db"),
    "table function": ('FROM "visits"', "FROM read_csv('x')", "a declared table"),
    "sample of the table": ('FROM "visits"', 'FROM "visits" TABLESAMPLE 10 PERCENT', "Table without sample"),
    "aliased table": ('FROM "visits"', 'FROM "visits" AS v', "Table without alias"),
    "no table": ('FROM "visits" ', "", "a declared table"),
    "no GROUP BY": (' GROUP BY "hospital"', "", "GROUP BY"),
    "GROUP BY another key": ('GROUP BY "hospital"', 'GROUP BY "diagnosis"', "GROUP BY"),
    "GROUP BY more than the keys": ('GROUP BY "hospital"', 'GROUP BY "hospital", "day"', "GROUP BY"),
    "GROUP BY everything": ('GROUP BY "hospital"', "GROUP BY ALL", "Group without all"),
    "key that is not declared": ('"hospital"', '"diagnosis"', "a key with declared values"),
    "key that is a number": ('"hospital"', '"cost"', "a key with declared values"),
    "key that is the person": ('"hospital"', '"person"', "a key with declared values"),
    "key that is computed": ('"hospital"', 'LOWER("hospital")', "a stored column"),
    "output without a name": (" AS m0", "", "a name for each output"),
    "output under another name": (" AS m0", " AS n0", "the names of outputs"),
    "outputs in another order": ("AS m0", "AS m1", "the names of outputs"),
    "HAVING": ('GROUP BY "hospital"', 'GROUP BY "hospital" HAVING COUNT(*) > 1', "Select without having"),
    "LIMIT": ('GROUP BY "hospital"', 'GROUP BY "hospital" LIMIT 1', "Select without limit"),
    "DISTINCT": ("SELECT", "SELECT DISTINCT", "Select without distinct"),
    "two statements": ('GROUP BY "hospital"', 'GROUP BY "hospital"; SELECT 1', "one SELECT"),
    "something else than a question": ("SELECT", "EXPLAIN SELECT", "one SELECT"),
    "something unreadable": ("SELECT", "SELECT SELECT (", "one SELECT"),
    "text in the statement": ("$1", "'flu'", "parts of EQ of one type"),
    "parameter that is not bound": ("$1", "$2", "no Placeholder"),
    "parameter without a number": ("$1", "?", "no Placeholder"),
    "column that is not stored": ('"diagnosis" = $1', '"person_id" = 1', "a stored column"),
    "id that is looked at": ('"diagnosis" = $1', '"person" = 1', "parts of EQ of one type"),
    "column of a table": ('"diagnosis" = $1', '"visits"."diagnosis" = $1', "a stored column"),
    "volatile function": ('("diagnosis" = $1)', "(RANDOM() < 0.5e0)", "no Rand"),
    "unknown function": ('("diagnosis" = $1)', '(error("diagnosis") = $1)', "no Anonymous"),
    "regular expression": ('("diagnosis" = $1)', '("diagnosis" ~ $1)', "no RegexpLike"),
    "number as it is stored": ('("diagnosis" = $1)', '("cost" > 5.0e0)', "parts of GT of one type"),
    "cast that a row can make fail": ('("diagnosis" = $1)', '(CAST("diagnosis" AS DOUBLE) > 5.0e0)', "a cast"),
    "cast to an integer": ('("diagnosis" = $1)', '(CAST("cost" AS SMALLINT) = 5)', "a cast"),
    "cast of a constant that is none": ('("diagnosis" = $1)', "(CAST('x' AS DATE) IS NULL)", "a cast"),
    "integer arithmetic": ('("diagnosis" = $1)', '("hospital" + 1 = 2)', "parts of Add of one type"),
    "condition that is none": ('("diagnosis" = $1)', "(5.0e0)", "a condition"),
    "number that is neither": ('("diagnosis" = $1)', '("hospital" = 1.5)', "a number"),
    "negated LIKE of another engine": ('"diagnosis" = $1', '"diagnosis" NOT LIKE $1', "Like without negate"),
    "IN with a query": ('"diagnosis" = $1', '"hospital" IN (SELECT 1)', "no "),
    "CASE over text": ('"diagnosis" = $1', 'CASE "diagnosis" WHEN $1 THEN TRUE END', "a CASE"),
    "CASE of two types": ('"diagnosis" = $1', "CASE WHEN TRUE THEN TRUE ELSE 1.0e0 END", "outcomes of one type"),
    "CASE of nothing": ('"diagnosis" = $1', "CASE WHEN TRUE THEN NULL END IS NULL", "outcomes of one type"),
    "lateral alias": ("COUNT(*) AS m0", "COUNT(*) AS m0(x)", ""),
}


def test_the_statement_that_is_spoiled_below_is_right():
    assert check(RIGHT, ["flu"], (5,)) == (
        Sensitivity(l1=10, monotone=True),
        Sensitivity(l1=16_000_000, monotone=True),
    )


@pytest.mark.parametrize(("right", "wrong", "reason"), PLANTED.values(), ids=PLANTED)
def test_a_planted_wrong_plan_is_caught(right, wrong, reason):
    assert right in RIGHT
    assert reason in refused(RIGHT.replace(right, wrong), ["flu"])


def test_another_number_of_cells_is_caught():
    assert "the number of cells" in refused(RIGHT, ["flu"], (4,))
    assert "the number of cells" in refused(RIGHT, ["flu"], ())


@pytest.mark.parametrize(
    "text", ["", ";", "SELECT 1", "DROP TABLE people", "(" * 3000, 'SELECT COUNT(*) AS m0 FROM "people" UNION SELECT 1']
)
def test_what_is_no_statement_of_ours_is_caught(text):
    assert refused(text)


def test_a_person_in_many_groups_needs_a_cap():
    text = 'SELECT "hospital" AS k0, COUNT(DISTINCT "person") AS m0 FROM "visits" GROUP BY "hospital"'
    assert "a cap on the rows of a person" in refused(text)


def test_the_least_of_several_caps_counts():
    text = 'SELECT COUNT(*) AS m0 FROM "visits" WHERE "rank" <= 10 AND "rank" <= 2'
    assert check(text) == (Sensitivity(l1=2, monotone=True),)


def test_check_is_a_derivation_of_its_own():
    imported = {
        name for path in SOURCES for name in re.findall(r"^(?:from|import) (.*)", path.read_text(), re.MULTILINE)
    }
    assert {name for name in imported if name.startswith("adomnia.") and not name.startswith("adomnia.sql.check.")} == {
        "adomnia.catalog.model import Catalog",
        "adomnia.catalog.model import Catalog, Table",
        "adomnia.engines.contract import PERSON",
        "adomnia.engines.contract import PERSON, RANK",
        "adomnia.engines.contract import Statement",
        "adomnia.errors import Failure",
        "adomnia.privacy.domains import Numbers",
        "adomnia.privacy.expressions import Column",
        "adomnia.privacy.kinds import LONGEST_TEXT",
        "adomnia.privacy.kinds import Day, Identity, Quantity, Text, Truth",
        "adomnia.privacy.relations import MOST_PEOPLE, MOST_ROWS",
        "adomnia.privacy.relations import MOST_ROWS",
        "adomnia.privacy.sensitivity import Sensitivity",
        "adomnia.privacy.units import ROW",
    }


COLUMNS = {
    "rank": "INTEGER",
    "person": "INTEGER",
    "hospital": "UTINYINT",
    "day": "DATE",
    "diagnosis": "VARCHAR",
    "cost": "DOUBLE",
    "cost grid": "INTEGER",
}


@pytest.fixture(scope="module")
def databases():
    """Pairs of connections to neighbouring indexes: the second lacks person 7, who has up to thirty rows."""
    pairs = []
    for variant in range(3):
        pair = []
        for absent in (None, 7):
            connection = duckdb.connect()
            columns = ", ".join(f'"{name}" {kind}' for name, kind in COLUMNS.items())
            connection.execute(f"CREATE TABLE visits ({columns})")
            rows = [row for row in rows_of(variant) if row[1] != absent]
            connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            pair.append(connection)
        pairs.append(pair)
    yield pairs
    for pair in pairs:
        for connection in pair:
            connection.close()


def rows_of(variant):
    for person in range(12):
        for rank in range(1, (31 if person == 7 else 1 + (person * 5 + variant) % 13)):
            cost = [100_000.0, 0.0, 3.25 * rank][(rank + variant) % 3]
            hospital = [rank % 5, 2, None][variant] if rank % 4 else 1
            kept = None if variant == 2 and rank == 3 else cost
            diagnosis = ["flu", "cold", None][rank % 3]
            yield (
                rank,
                person,
                hospital,
                f"2024-01-{rank:02}",
                diagnosis,
                kept,
                None if kept is None else int(kept * 16),
            )


TRAPS = ("0", "1", "10", '"rank"', '"person"', '"cost"', '"cost grid"')

NEAR = {
    "counts and sums by a key": RIGHT,
    "centred sum": CENTRED,
    "clamped sum": CLAMPED,
    "condition": CLAMPED + ' AND NOT ("day" IS NULL) AND ((CAST("cost" AS DOUBLE) / NULLIF(3.0e0, 0e0)) > 1.0e0)',
    "people by a key": 'SELECT "hospital" AS k0, COUNT(DISTINCT "person") AS m0 FROM "visits" '
    'WHERE "rank" <= 10 AND (CASE WHEN "hospital" IS NULL THEN NULL ELSE TRUE END) GROUP BY "hospital"',
}


@pytest.mark.parametrize("text", NEAR.values(), ids=NEAR)
def test_whatever_passes_the_second_look_moves_by_no_more_than_it_says(text, databases):
    """Thousands of statements near a right one: most are caught, and the others are measured on neighbours."""
    assert sum(is_measured(mutant, ["flu"], databases) for mutant in mutants_of(text, TRAPS)) >= 5


def test_the_measured_table_is_the_declared_one():
    assert set(COLUMNS) - {"rank", "person", "cost grid"} <= {column.name for column in VISITS.columns}


@pytest.mark.parametrize(
    ("condition", "parameters"),
    [
        ("""("diagnosis" || $1) = $1""", ("x",)),
        ("""SUBSTRING(("diagnosis" || $1), CAST(1e0 AS BIGINT), CAST(2048e0 AS BIGINT)) = $1""", ("x",)),
        ("""UPPER(("diagnosis" || $1)) = $1""", ("x",)),
        ("""CAST(EXTRACT(week FROM TRY_CAST(REGEXP_EXTRACT("diagnosis", '.*', 0) AS DATE)) AS DOUBLE) > 1e0""", ()),
        ("""("day" = CAST('2020-02-31' AS DATE))""", ()),
        ("""("diagnosis" = $2)""", ("x",)),
        ("""("diagnosis" = $1)""", ("x" * 2000,)),
        ("""IF("cost" IS NULL, TRUE, FALSE)""", ()),
    ],
)
def test_what_could_grow_or_fail_is_not_proved(condition, parameters):
    text = f'SELECT COUNT(*) AS m0 FROM "visits" WHERE "rank" <= 3 AND ({condition})'
    assert refused(text, parameters)


def test_texts_that_are_cut_and_days_of_the_calendar_are_proved():
    cut = """SUBSTRING(("diagnosis" || $1), CAST(1e0 AS BIGINT), CAST(1024e0 AS BIGINT)) = $1"""
    for condition, parameters in ((cut, ("x",)), ("""("day" = CAST('2020-02-29' AS DATE))""", ())):
        text = f'SELECT COUNT(*) AS m0 FROM "visits" WHERE "rank" <= 3 AND ({condition})'
        assert check(text, parameters)[0].l1 == 3
