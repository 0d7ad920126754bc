"""The second look at shortened vectors: the right text proves its bound, and every change to it proves nothing."""

from __future__ import annotations

from math import isqrt

import pytest

from adomnia.privacy.sensitivity import Sensitivity
from engines.check.looks import check, refused

PARTS = 1024
OWN = (
    "CAST(SUM(CASE WHEN n0 <= 9 THEN v0 * 1024 ELSE TRY_CAST(TRUNC(CAST(v0 AS DOUBLE) * "
    "(3071.999999997206e0 / SQRT(CAST(n0 AS DOUBLE)))) AS BIGINT) END) AS DECIMAL(38, 0)) AS m0"
)
BY_ROWS = (
    "CAST(SUM(CASE WHEN n0 <= 9 THEN v1 * 1024 ELSE TRY_CAST(TRUNC(CAST(v1 AS DOUBLE) * "
    "(3071.999999997206e0 / SQRT(CAST(n0 AS DOUBLE)))) AS BIGINT) END) AS DECIMAL(38, 0)) AS m1"
)
SQUARES = 'SUM(CAST(v0 AS HUGEINT) * CAST(v0 AS HUGEINT)) OVER (PARTITION BY "person") AS n0'
ENTRIES = (
    'CAST(COUNT(*) AS BIGINT) AS v0, CAST(SUM("cost grid") - CAST(8 AS HUGEINT) * COUNT("cost grid") AS BIGINT) AS v1'
)
ROWS = 'FROM "visits" WHERE "rank" <= 10'
INNER = f'SELECT "person" AS "person", "hospital" AS k0, {ENTRIES} {ROWS} GROUP BY 1, 2'
MIDDLE = f'SELECT k0, v0, v1, {SQUARES} FROM ({INNER}) AS "rows" WHERE k0 IS NOT NULL'
RIGHT = f'SELECT k0, {OWN}, {BY_ROWS} FROM ({MIDDLE}) AS "rows" GROUP BY 1'


def rounded_up(squares):
    return isqrt(squares - 1) + 1


def test_sensitivities_are_read_off_the_text_alone():
    one_row = 1_600_000 - 8
    own, by_rows = check(RIGHT, shape=(range(5),))
    length = 3 * PARTS
    assert own == Sensitivity(rounded_up(5 * length**2), length**2, length, monotone=True)
    length *= one_row
    assert by_rows == Sensitivity(rounded_up(5 * length**2), length**2, length)


def test_without_keys_there_is_one_cell():
    inner = f'SELECT "person" AS "person", CAST(COUNT(*) AS BIGINT) AS v0 {ROWS} GROUP BY 1'
    text = f'SELECT {OWN} FROM (SELECT v0, {SQUARES} FROM ({inner}) AS "rows") AS "rows"'
    assert check(text, shape=()) == (Sensitivity(3 * PARTS, monotone=True),)


def test_a_person_is_in_no_more_cells_than_rows():
    (own, _) = check(RIGHT.replace('"rank" <= 10', '"rank" <= 2'))
    assert own.l1 == rounded_up(2 * (3 * PARTS) ** 2)


def test_the_cells_are_those_that_were_planned():
    assert "the cells of the keys" in refused(RIGHT, shape=(range(4),))


WRONG = {
    "a bound that is larger than its numerator says": ("n0 <= 9 THEN v0", "n0 <= 4 THEN v0", "a factor below"),
    "a bound that is no square": ("n0 <= 9 THEN v0", "n0 <= 10 THEN v0", "a factor below"),
    "a bound of zero": ("n0 <= 9 THEN v0", "n0 <= 0 THEN v0", "a factor below"),
    "a numerator at the bound": (
        "3071.999999997206e0 / SQRT(CAST(n0 AS DOUBLE)))) AS BIGINT) END) AS D",
        "3072.0e0 / SQRT(CAST(n0 AS DOUBLE)))) AS BIGINT) END) AS D",
        "a factor below",
    ),
    "a numerator above what rounding allows": (
        "(3071.999999997206e0 / SQRT(CAST(n0 AS DOUBLE)))) AS BIGINT) END) AS D",
        "(3071.9999999972064e0 / SQRT(CAST(n0 AS DOUBLE)))) AS BIGINT) END) AS D",
        "a factor below",
    ),
    "more parts where the length fits": ("v0 * 1024", "v0 * 2048", "shortened sums"),
    "no truncation": (
        "TRUNC(CAST(v0 AS DOUBLE) * (3071.999999997206e0 / SQRT(CAST(n0 AS DOUBLE))))",
        "(CAST(v0 AS DOUBLE) * (3071.999999997206e0 / SQRT(CAST(n0 AS DOUBLE))))",
        "shortened sums",
    ),
    "rounding up": ("TRUNC(CAST(v0", "CEIL(CAST(v0", "shortened sums"),
    "another entry where it is shortened": ("CAST(v0 AS DOUBLE) *", "CAST(v1 AS DOUBLE) *", "shortened sums"),
    "another entry where it fits": ("THEN v0 * 1024", "THEN v1 * 1024", "shortened sums"),
    "another length in the factor": (
        "SQRT(CAST(n0 AS DOUBLE)))) AS BIGINT) END) AS D",
        "SQRT(CAST(n1 AS DOUBLE)))) AS BIGINT) END) AS D",
        "shortened sums",
    ),
    "a root that is missing": (
        "/ SQRT(CAST(n0 AS DOUBLE)))) AS BIGINT) END) AS D",
        "/ CAST(n0 AS DOUBLE))) AS BIGINT) END) AS D",
        "shortened sums",
    ),
    "a comparison the other way round": ("n0 <= 9 THEN v0", "n0 >= 9 THEN v0", "shortened sums"),
    "a cast that can fail": ("TRY_CAST(TRUNC(CAST(v0", "CAST(TRUNC(CAST(v0", "shortened sums"),
    "an average": ("CAST(SUM(CASE WHEN n0 <= 9 THEN v0", "CAST(AVG(CASE WHEN n0 <= 9 THEN v0", "shortened sums"),
    "a second sum in one output": (" AS m0", " + 1 AS m0", "shortened sums"),
    "outputs in another order": ("AS m0", "AS m2", "the names of outputs"),
    "a square that is missing": ("CAST(v0 AS HUGEINT) * CAST(v0 AS HUGEINT)", "CAST(v0 AS HUGEINT)", "squares by"),
    "a square of two entries": ("* CAST(v0 AS HUGEINT)", "* CAST(v1 AS HUGEINT)", "squares by person"),
    "squares that may overflow": ("CAST(v0 AS HUGEINT) * CAST(v0 AS HUGEINT)", "v0 * v0", "squares by person"),
    "squares of everybody": ('OVER (PARTITION BY "person")', "OVER ()", "squares by person"),
    "squares by another column": ('PARTITION BY "person"', "PARTITION BY k0", "squares by person"),
    "squares by person and cell": ('PARTITION BY "person"', 'PARTITION BY "person", k0', "squares by person"),
    "squares of the rows so far": ('PARTITION BY "person"', 'PARTITION BY "person" ORDER BY v0', "squares by person"),
    "the largest square": ("SUM(CAST(v0 AS HUGEINT)", "MAX(CAST(v0 AS HUGEINT)", "squares by person"),
    "a square under a filter": ("OVER (", "FILTER (WHERE v0 < 3) OVER (", "squares by person"),
    "cells left out after the squares": ("WHERE k0 IS NOT NULL) AS", "WHERE k0 IS NOT NULL AND v0 > 3) AS", "cells"),
    "rows without a cell": (" WHERE k0 IS NOT NULL", "", "cells"),
    "no grouping": (') AS "rows" GROUP BY 1', ') AS "rows"', "GROUP BY"),
    "grouping by something else": ('AS "rows" GROUP BY 1', 'AS "rows" GROUP BY 1, 2', "GROUP BY"),
    "a choice among cells": ('AS "rows" GROUP BY 1', 'AS "rows" GROUP BY 1 HAVING COUNT(*) > 1', "GROUP BY"),
    "entries by the key alone": ("GROUP BY 1, 2)", "GROUP BY 2)", "GROUP BY the person"),
    "entries by the person alone": ("GROUP BY 1, 2)", "GROUP BY 1)", "GROUP BY the person"),
    "entries of every row": (" GROUP BY 1, 2)", ")", "GROUP BY the person"),
    "entries by more than the cells": ("GROUP BY 1, 2)", "GROUP BY 1, 2, 3)", "GROUP BY the person"),
    "a person who is none": ('SELECT "person" AS "person"', 'SELECT "hospital" AS "person"', "the person, keys"),
    "entries in another order": ("AS v0, CAST(SUM", "AS v2, CAST(SUM", "the person, keys"),
    "a key more than the outputs have": ('"hospital" AS k0', '"hospital" AS k0, "hospital" AS k1', "the person, keys"),
    "no cap": ('"rank" <= 10', "TRUE", "a cap"),
    "a cap above the declared one": ('"rank" <= 10', '"rank" <= 11', "the cap"),
    "entries of 128 bits": ("CAST(COUNT(*) AS BIGINT)", "CAST(COUNT(*) AS HUGEINT)", "entries of 64 bits"),
    "entries that may be missing": ("CAST(COUNT(*) AS BIGINT)", "TRY_CAST(COUNT(*) AS BIGINT)", "entries of 64 bits"),
    "entries that are not cast": ("CAST(COUNT(*) AS BIGINT)", "COUNT(*)", "entries of 64 bits"),
    "people of a cell": ("COUNT(*)", 'COUNT(DISTINCT "person")', "no Distinct"),
    "lengths that do not count every row": ("COUNT(*)", 'COUNT("cost")', "a length of"),
    "lengths of other sums": ("CAST(COUNT(*) AS BIGINT)", 'CAST(SUM("cost grid") AS BIGINT)', "a length of"),
    "sums too wide for their type": ("DECIMAL(38, 0)) AS m1", "BIGINT) AS m1", "the width of a result"),
    "a public table": ('FROM "visits" WHERE "rank" <= 10', 'FROM "cities"', ""),
    "text behind it": ("GROUP BY 1", "GROUP BY 1; SELECT 1", "one SELECT"),
    "a remark that hides the rest": ("GROUP BY 1, 2)", "GROUP BY 1, 2 --)", "one SELECT"),
}


@pytest.mark.parametrize(("right", "wrong", "reason"), WRONG.values(), ids=WRONG)
def test_a_wrong_statement_is_caught(right, wrong, reason):
    spoiled = RIGHT.replace(right, wrong, 1)
    assert spoiled != RIGHT
    assert reason in refused(spoiled)


def test_a_last_grouping_is_not_the_inner_one():
    spoiled = RIGHT[: -len(" GROUP BY 1")]
    assert "GROUP BY" in refused(spoiled)
    assert "GROUP BY" in refused(f"{spoiled} GROUP BY 2")


def test_entries_beyond_what_a_double_holds_are_not_proved():
    """Ten rows of 2**50 each: as doubles, two different ones could be the same."""
    wide = (
        'CASE WHEN CAST("cost" AS DOUBLE) < 0.0e0 THEN 0 WHEN CAST("cost" AS DOUBLE) > 1125899906842624.0e0 '
        'THEN 1125899906842624 ELSE TRY_CAST(FLOOR(CAST("cost" AS DOUBLE) / 1.0e0 + 0.5e0) AS BIGINT) END'
    )
    grid = '"cost grid") - CAST(8 AS HUGEINT) * COUNT("cost grid")'
    assert "entries that are doubles" in refused(RIGHT.replace(grid, f"{wide})"))
    smaller = wide.replace("1125899906842624", "112589990684262")
    assert check(RIGHT.replace(grid, f"{smaller})"))


def test_windows_elsewhere_are_not_this_form():
    assert refused(
        f'SELECT COUNT(*) AS m0 FROM (SELECT "person" AS "person", COUNT(*) OVER () AS "x" {ROWS}) AS "rows"'
    )
    assert "one SELECT" in refused(RIGHT.replace(INNER, f"{INNER} UNION ALL {INNER}"))
