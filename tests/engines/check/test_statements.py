"""The second look catches every wrong statement planted here, and whatever it lets pass is measured."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

import adomnia.engines.check
from adomnia.engines.check import check_histogram
from adomnia.engines.contract import Statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.errors import Failure
from adomnia.privacy.relations import MOST_ROWS
from adomnia.privacy.sensitivity import Sensitivity
from engines.check.looks import check, is_measured, mutants_of, refused
from engines.check.test_aggregates import CENTRED, CLAMP, CLAMPED, GUARDED
from engines.check.wards import WARDS, neighbours
from sql.hospital import HOSPITAL, VISITS

SOURCES = sorted(Path(adomnia.engines.check.__file__).parent.glob("*.py"))


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
    assert check(f"{people} {rows} GROUP BY 1") == (Sensitivity(l1=3, l2_squared=3, linf=1, monotone=True),)
    assert check('SELECT COUNT(DISTINCT "person") AS m0 FROM "visits"') == (Sensitivity(l1=1, monotone=True),)


RIGHT = 'SELECT "hospital" AS k0, COUNT(*) AS m0, CAST(SUM("cost grid") AS DECIMAL(38, 0)) AS m1 '
RIGHT += 'FROM "visits" WHERE "rank" <= 10 AND ("diagnosis" = $1) GROUP BY 1'

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
    "sum of doubles": ('SUM("cost grid")', 'SUM(CAST("cost" AS DOUBLE))', "a wide integer"),
    "sum of something times a thousand": ('SUM("cost grid")', 'SUM("cost grid" * 1000)', "a stored grid"),
    "sum of the persons' numbers": ('"cost grid"', '"person"', "a stored grid"),
    "sum of different values": ('SUM("cost grid")', 'SUM(DISTINCT "cost grid")', "a stored grid"),
    "average by the engine": ('SUM("cost grid")', 'AVG("cost grid")', "an exact sum"),
    "largest value": ('CAST(SUM("cost grid") AS DECIMAL(38, 0))', 'MAX("cost grid")', "an exact sum"),
    "sum without a width": ('CAST(SUM("cost grid") AS DECIMAL(38, 0))', 'SUM("cost grid")', "an exact sum"),
    "sum too wide for its type": ("DECIMAL(38, 0)", "BIGINT", "the width of a result"),
    "sum as a double": ("DECIMAL(38, 0)", "DOUBLE", "the width of a result"),
    "sum that may silently vanish": ("CAST(SUM", "TRY_CAST(SUM", "an exact sum"),
    "count of different ids": ("COUNT(*)", 'COUNT(DISTINCT "visit_id")', "COUNT(DISTINCT person)"),
    "count of different pairs": ("COUNT(*)", 'COUNT(DISTINCT "person", "cost")', "one value to count"),
    "count of different rows": ("COUNT(*)", "COUNT(DISTINCT *)", "no Star"),
    "count of different unknown things": ("COUNT(*)", 'COUNT(DISTINCT "salary")', "a stored column"),
    "count of different values of all rows": ('"rank" <= 10 AND', "", "a cap"),
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
    "no GROUP BY": (" GROUP BY 1", "", "GROUP BY"),
    "GROUP BY another key": ("GROUP BY 1", 'GROUP BY "hospital"', "a number"),
    "GROUP BY more than the keys": ("GROUP BY 1", "GROUP BY 1, 2", "GROUP BY"),
    "GROUP BY everything": ("GROUP BY 1", "GROUP BY ALL", "Group without all"),
    "key that is not declared": ('"hospital"', '"diagnosis"', "a stored grid"),
    "key that is a number": ('"hospital"', '"cost"', "a stored grid"),
    "key that is the person": ('"hospital"', '"person"', "a stored grid"),
    "key that is computed": ('"hospital"', 'LOWER("hospital")', "a stored grid"),
    "output without a name": (" AS m0", "", "a name for each output"),
    "output under another name": (" AS m0", " AS n0", "the names of outputs"),
    "outputs in another order": ("AS m0", "AS m1", "the names of outputs"),
    "HAVING": ("GROUP BY 1", "GROUP BY 1 HAVING COUNT(*) > 1", "Select without having"),
    "LIMIT": ("GROUP BY 1", "GROUP BY 1 LIMIT 1", "Select without limit"),
    "DISTINCT": ("SELECT", "SELECT DISTINCT", "Select without distinct"),
    "two statements": ("GROUP BY 1", "GROUP BY 1; SELECT 1", "one SELECT"),
    "something else than a question": ("SELECT", "EXPLAIN SELECT", "one SELECT"),
    "something unreadable": ("SELECT", "SELECT SELECT (", "one SELECT"),
    "text in the statement": ("$1", "'flu'", "parts of EQ of one type"),
    "parameter that is not bound": ("$1", "$2", "no Placeholder"),
    "parameter without a number": ("$1", "?", "no Placeholder"),
    "column that is not stored": ('"diagnosis" = $1', '"person_id" = 1', "a stored column"),
    "id that is looked at": ('"diagnosis" = $1', '"person" = 1', "parts of EQ of one type"),
    "column of a table": ('"diagnosis" = $1', '"visits"."diagnosis" = $1', "a stored column"),
    "volatile function": ('("diagnosis" = $1)', "(RANDOM() < 0.5e0)", "no Rand"),
    "unknown function": ('("diagnosis" = $1)', '(error("diagnosis") = $1)', "a number of months"),
    "regular expression": ('("diagnosis" = $1)', '("diagnosis" ~ "diagnosis")', "a text that is bound"),
    "number as it is stored": ('("diagnosis" = $1)', '("cost" > 5.0e0)', "parts of GT of one type"),
    "cast that a row can make fail": ('("diagnosis" = $1)', '(CAST("diagnosis" AS DOUBLE) > 5.0e0)', "a cast"),
    "cast to an integer": ('("diagnosis" = $1)', '(CAST("cost" AS SMALLINT) = 5)', "a cast"),
    "cast of a constant that is none": ('("diagnosis" = $1)', "(CAST('x' AS DATE) IS NULL)", "a cast"),
    "integer arithmetic": ('("diagnosis" = $1)', '("hospital" + 1 = 2)', "parts of Add of one type"),
    "condition that is none": ('("diagnosis" = $1)', "(5.0e0)", "a condition"),
    "number that is neither": ('("diagnosis" = $1)', '("hospital" = 1.5)', "a number"),
    "negated LIKE of another engine": ('"diagnosis" = $1', '"diagnosis" NOT LIKE $1', "Like without negate"),
    "IN with a query": ('"diagnosis" = $1', '"hospital" IN (SELECT 1)', "no "),
    "CASE over a number": ('"diagnosis" = $1', 'CASE "cost" WHEN $1 THEN TRUE END', "a CASE"),
    "CASE of a text by a code": ('"diagnosis" = $1', 'CASE "diagnosis" WHEN 1 THEN TRUE END', "a CASE"),
    "key of places out of order": ('"hospital"', 'CASE "diagnosis" WHEN $1 THEN 1 END', "places in their order"),
    "key of a place for the rest": ('"hospital"', 'CASE "diagnosis" WHEN $1 THEN 0 ELSE 1 END', "places in a list"),
    "key of texts": ('"hospital"', 'CASE "diagnosis" WHEN $1 THEN $1 END', "places in a list"),
    "key of a condition without brackets": ('"hospital" AS', '"diagnosis" = $1 AS', "a stored grid"),
    "CASE of two types": ('"diagnosis" = $1', "CASE WHEN TRUE THEN TRUE ELSE 1.0e0 END", "outcomes of one type"),
    "CASE of nothing": ('"diagnosis" = $1', "CASE WHEN TRUE THEN NULL END IS NULL", "outcomes of one type"),
    "lateral alias": ("COUNT(*) AS m0", "COUNT(*) AS m0(x)", ""),
}


@pytest.mark.parametrize(
    ("counted", "groups", "moved"),
    [
        ('"diagnosis"', False, (3, 9, 3)),
        ('(CAST("cost" AS DOUBLE) + 1.0e0)', True, (3, 9, 3)),
        ('"hospital"', False, (3, 9, 3)),
        ('("diagnosis" IS NULL)', True, (3, 6, 2)),
        ('("diagnosis" IS NULL)', False, (2, 4, 2)),
    ],
)
def test_different_values_move_by_a_persons_rows_or_by_as_many_as_there_can_be(counted, groups, moved):
    keys, by = ('"hospital" AS k0, ', " GROUP BY 1") if groups else ("", "")
    text = f'SELECT {keys}COUNT(DISTINCT {counted}) AS m0 FROM "visits" WHERE "rank" <= 3{by}'
    assert check(text) == (Sensitivity(*moved, monotone=True),)


def test_categories_are_counted_no_further_than_there_are_any():
    rows = 'FROM "visits" WHERE "rank" <= 10'
    assert check(f'SELECT COUNT(DISTINCT "hospital") AS m0 {rows}') == (Sensitivity(5, 25, 5, monotone=True),)
    assert "a cap on the rows" in refused('SELECT COUNT(DISTINCT "hospital") AS m0 FROM "visits"')


def test_the_statement_that_is_spoiled_below_is_right():
    assert check(RIGHT, ["flu"], (range(5),)) == (
        Sensitivity(l1=10, monotone=True),
        Sensitivity(l1=16_000_000, monotone=True),
    )


@pytest.mark.parametrize(("right", "wrong", "reason"), PLANTED.values(), ids=PLANTED)
def test_a_planted_wrong_plan_is_caught(right, wrong, reason):
    assert right in RIGHT
    assert reason in refused(RIGHT.replace(right, wrong), ["flu"])


def test_another_number_of_cells_is_caught():
    assert "the cells of the keys" in refused(RIGHT, ["flu"], (range(4),))
    assert "the cells of the keys" in refused(RIGHT, ["flu"], (range(1, 4),))
    assert "the cells of the keys" in refused(RIGHT, ["flu"], ())


@pytest.mark.parametrize(
    ("key", "cells"),
    [
        ('CASE "diagnosis" WHEN $1 THEN 0 WHEN $2 THEN 1 END', range(2)),
        ('CAST(("diagnosis" = $1) AS UTINYINT)', range(2)),
        (CLAMP, range(17)),
        ("CAST((\"day\" > CAST('2020-01-01' AS DATE)) AS UTINYINT)", range(2)),
    ],
)
def test_keys_by_expressions_have_the_cells_that_their_text_says(key, cells):
    text = f'SELECT {key} AS k0, COUNT(DISTINCT "person") AS m0 FROM "visits" WHERE "rank" <= 3 GROUP BY 1'
    most = min(3, len(cells))
    assert check(text, ["a", "b"], (cells,)) == (Sensitivity(l1=most, l2_squared=most, linf=1, monotone=True),)
    assert "the cells of the keys" in refused(text, ["a", "b"], (range(cells.start, cells.stop + 1),))


@pytest.mark.parametrize(
    "key",
    [
        '("diagnosis" = $1)',
        'CAST(("diagnosis" = $1) AS INTEGER)',
        'CAST(("diagnosis") AS UTINYINT)',
        'CAST("cost" AS UTINYINT)',
        'TRY_CAST(("diagnosis" = $1) AS UTINYINT)',
    ],
)
def test_a_condition_is_a_key_only_as_a_small_integer(key):
    text = f'SELECT {key} AS k0, COUNT(DISTINCT "person") AS m0 FROM "visits" WHERE "rank" <= 3 GROUP BY 1'
    refused(text, ["a"], (range(2),))


@pytest.mark.parametrize(
    "text", ["", ";", "SELECT 1", "DROP TABLE people", "(" * 3000, 'SELECT COUNT(*) AS m0 FROM "people" UNION SELECT 1']
)
def test_what_is_no_statement_of_ours_is_caught(text):
    assert refused(text)


def test_a_person_in_many_groups_needs_a_cap():
    text = 'SELECT "hospital" AS k0, COUNT(DISTINCT "person") AS m0 FROM "visits" GROUP BY 1'
    assert "a cap on the rows of a person" in refused(text)


def test_the_least_of_several_caps_counts():
    text = 'SELECT COUNT(*) AS m0 FROM "visits" WHERE "rank" <= 10 AND "rank" <= 2'
    assert check(text) == (Sensitivity(l1=2, monotone=True),)


def test_check_is_a_derivation_of_its_own():
    imported = {
        name for path in SOURCES for name in re.findall(r"^(?:from|import) (.*)", path.read_text(), re.MULTILINE)
    }
    own = "adomnia.engines.check."
    assert {name for name in imported if name.startswith("adomnia.") and not name.startswith(own)} == {
        "adomnia.catalog.model import Catalog",
        "adomnia.catalog.model import Catalog, Link, Table",
        "adomnia.catalog.model import Catalog, Table",
        "adomnia.engines.backtracking import count_ways",  # of a pattern's time, which moves no answer
        "adomnia.engines.contract import PERSON",
        "adomnia.engines.contract import PERSON, index_name",
        "adomnia.engines.contract import PERSON, RANK",
        "adomnia.engines.contract import Statement",
        "adomnia.engines.dialect import Dialect",
        "adomnia.engines.dialect import Dialect, IntegerType",
        "adomnia.engines.dialect import Dialect, Types",
        "adomnia.errors import Failure",
        "adomnia.privacy.scans import Scan",
        "adomnia.privacy.transforms.contract import Transform",
        "adomnia.privacy.transforms.distances import Candidate, Distances",
        "adomnia.privacy.domains import Numbers",
        "adomnia.privacy.transforms.estimates import BlockEstimates, EstimateCounts, EstimateMoments",
        "adomnia.privacy.expressions import Column",
        "adomnia.privacy.kinds import LONGEST_TEXT",
        "adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text",
        "adomnia.privacy.transforms.matrices import Combination, Matrix",
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
    'WHERE "rank" <= 10 AND (CASE WHEN "hospital" IS NULL THEN NULL ELSE TRUE END) GROUP BY 1',
}


@pytest.mark.parametrize("text", NEAR.values(), ids=NEAR)
@pytest.mark.no_cover
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


OPEN = 'SELECT ("diagnosis") AS k0, COUNT(DISTINCT "person") AS m0 FROM "visits" WHERE "rank" <= 3 GROUP BY 1'


@pytest.mark.parametrize(
    "key", ['("diagnosis")', '("day")', '(LOWER("diagnosis"))', 'TRY_CAST(CAST("cost" AS DOUBLE) AS BIGINT)']
)
def test_of_keys_that_nobody_declared_a_person_has_as_many_as_rows(key):
    found = check(OPEN.replace('("diagnosis")', key))
    assert found == (Sensitivity(l1=3, l2_squared=3, linf=1, monotone=True),)


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ('"diagnosis"', "a stored grid"),  # a text that is not said to be open
        ('("person")', "parts of Paren"),
        ('("visit_id")', "parts of Paren"),
        ('TRY_CAST("person" AS BIGINT)', "an integer"),
        ('TRY_CAST("diagnosis" AS BIGINT)', "an integer"),
        ('CAST(CAST("cost" AS DOUBLE) AS BIGINT)', "a stored grid"),
        ('("diagnosis" || "diagnosis")', "a stored grid"),
    ],
)
def test_ids_and_values_that_can_fail_or_grow_are_no_open_keys(planted, found):
    assert found in refused(OPEN.replace('("diagnosis")', planted))


def test_people_with_open_keys_are_counted_over_capped_rows_alone():
    assert "a cap" in refused(OPEN.replace(' WHERE "rank" <= 3', ""))


def test_open_keys_are_not_taken_for_declared_ones():
    """They have as many values as rows: a list, or a plan that says so, is something else."""
    assert check(OPEN, shape=(range(MOST_ROWS),))
    assert "the cells" in refused(OPEN, shape=(range(5),))


ROWS = 'FROM "visits" WHERE "rank" <= 3'
HALVES = 'COUNT("cost grid") AS m0, COUNT(*) - COUNT("cost grid") AS n0'
RIGHT_OF_PRESENCE = f'SELECT "hospital" AS k0, {HALVES}, CAST(SUM("cost grid") AS BIGINT) AS m1 {ROWS} GROUP BY 1'
ALONE = f"SELECT {HALVES} {ROWS}"


def test_a_person_moves_both_halves_together_by_as_many_as_their_rows():
    once = Sensitivity(l1=1, monotone=True).times(3)
    assert check(ALONE, shape=(range(2),)) == (once,)
    assert check(RIGHT_OF_PRESENCE, catalog=WARDS, shape=(range(2), range(2)))[0] == once


def test_what_has_no_other_half_moves_as_it_does_alone():
    (plain,) = check(
        f'SELECT "hospital" AS k0, CAST(SUM("cost grid") AS BIGINT) AS m0 {ROWS} GROUP BY 1', catalog=WARDS
    )
    assert check(RIGHT_OF_PRESENCE, catalog=WARDS)[1] == plain


ENTRIES = ", ".join(
    f'CAST(CAST({factor} AS HUGEINT) * SUM(1 + 0 * CAST("cost grid" AS BIGINT)) AS BIGINT) AS m{place}'
    for place, factor in ((1, 2), (2, 5))
)


def test_a_vector_beside_two_halves_moves_as_it_does_alone():
    text = f"SELECT {HALVES}, {ENTRIES} {ROWS}"
    once, both = Sensitivity(l1=1, monotone=True), Sensitivity(7, 4 + 25, 5, monotone=True)
    found = check(text, catalog=WARDS, shape=(range(2),), columns=(1, 2))
    assert found == (once.times(3), both.times(3))


def test_no_entry_of_a_vector_has_another_half():
    text = f"SELECT {HALVES}, {ENTRIES} {ROWS}"
    assert "one count with its other half" in refused(text, catalog=WARDS, columns=(2, 1))
    second = text.replace(" AS m1,", ' AS m1, COUNT(*) - COUNT("cost grid") AS n1,')
    assert second != text
    assert "a count of a value" in refused(second, catalog=WARDS)
    assert "one count with its other half" in refused(second, catalog=WARDS, columns=(1, 2))


PRESENT, ABSENT = HALVES.split(", ")
PLANTED_OF_PRESENCE = {
    "another value is left": ('- COUNT("cost grid")', '- COUNT("day")', "without the value"),
    "all rows in the second half": (ABSENT, "COUNT(*) AS n0", "without the value"),
    "the first half again": (ABSENT, 'COUNT("cost grid") AS n0', "without the value"),
    "values of another column less these": ("COUNT(*) -", 'COUNT("day") -', "a count of all rows"),
    "all rows in both": (HALVES, "COUNT(*) AS m0, COUNT(*) - COUNT(*) AS n0", "a count of a value"),
    "different values": ('COUNT("cost grid")', 'COUNT(DISTINCT "cost grid")', "no Distinct"),
    "a sum": ('COUNT("cost grid") AS m0', 'SUM("cost grid") AS m0', "a count of a value"),
    "both added up": ("COUNT(*) -", "COUNT(*) +", "without the value"),
    "twice as many": ("COUNT(*) -", "2 * COUNT(*) -", "a count of all rows"),
    "no cap": (' WHERE "rank" <= 3', "", "a cap"),
    "a half of nothing": (" AS n0", " AS n1", "the names of outputs"),
    "a half too many": (" AS n0", " AS n0, COUNT(*) AS n0", "the names of outputs"),
    "a half of no output": ("SELECT", 'SELECT (SELECT MAX("cost") FROM "visits") AS "n-1",', "the names of outputs"),
    "a half before its other": (HALVES, f"{ABSENT}, {PRESENT}", "the names of outputs"),
    "an unknown value": ('"cost grid"', '"salary"', "a stored column"),
}


@pytest.mark.parametrize("name", PLANTED_OF_PRESENCE)
def test_what_is_only_like_two_halves_is_caught(name):
    before, after, why = PLANTED_OF_PRESENCE[name]
    assert before in ALONE
    assert why in refused(ALONE.replace(before, after))


@pytest.mark.parametrize("text", [RIGHT_OF_PRESENCE, ALONE], ids=["by hospital", "alone"])
def test_two_halves_are_one_more_key_of_two_values(text):
    assert "the cells of the keys" in refused(text, catalog=WARDS, shape=(range(2), range(3)))
    assert "the cells of the keys" in refused(text, catalog=WARDS, shape=())


def test_a_histogram_has_no_halves():
    grid = 'CAST("cost grid" AS BIGINT) - 0'
    text = f"SELECT ({grid}) >> 3 AS k0, {HALVES} {ROWS} GROUP BY 1"
    with pytest.raises(Failure):
        check_histogram(Statement(text, ()), HOSPITAL, DUCKDB)


def test_a_count_that_has_another_half_is_no_value_of_a_histogram():
    """Read as one, a single row moves all rows of the other half from one value to the next."""
    counted = PRESENT.replace('COUNT("cost grid")', '(CAST(COUNT("cost grid") AS BIGINT) - 0) >> 0')
    for keys, grouped in (("", ""), ('"hospital" AS k0, ', " GROUP BY 1")):
        with pytest.raises(Failure) as failure:
            check_histogram(Statement(f"SELECT {keys}{counted}, {ABSENT} {ROWS}{grouped}", ()), WARDS, DUCKDB)
        assert "without another half" in str(failure.value.__cause__)


def moved(text, before, after):
    """By how much each output and its other half move together, over all groups."""
    found = [connection.execute(text) for connection in (before, after)]
    names = [name for name, *_ in found[0].description]
    keys = sum(name.startswith("k") for name in names)
    cells = [{row[:keys]: row[keys:] for row in each.fetchall() if None not in row[:keys]} for each in found]
    moves: dict[str, list[int]] = {}
    for key in cells[0] | cells[1]:
        rows = [each.get(key, (0,) * (len(names) - keys)) for each in cells]
        for name, one, other in zip(names[keys:], *rows, strict=True):
            moves.setdefault(name[1:], []).append(abs(int(one or 0) - int(other or 0)))
    return moves


@pytest.mark.parametrize("text", [RIGHT_OF_PRESENCE, ALONE], ids=["by hospital", "alone"])
@pytest.mark.no_cover
def test_whatever_passes_moves_by_no_more_than_was_said_on_neighbours(text):
    pairs, passed = [neighbours(variant) for variant in range(3)], 0
    for mutant in [text, *mutants_of(text, ["rank", '"day"', "+", "2"])]:
        try:
            allowed = check(mutant, catalog=WARDS)
            moves = [moved(mutant, *pair) for pair in pairs]
        except (Failure, duckdb.ParserException, duckdb.BinderException):
            continue  # not run by us, or not by any database
        passed += 1
        for move in moves:
            for place, sensitivity in enumerate(allowed):
                assert sum(move.get(str(place), [])) <= sensitivity.l1, mutant
                assert max(move.get(str(place), [0])) <= sensitivity.linf, mutant
    assert passed > 1
