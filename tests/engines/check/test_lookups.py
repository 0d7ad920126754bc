"""What is looked up for a row is one row at most: only where the text compares all keys, and NULL like NULL."""

from __future__ import annotations

import pytest

from engines.check.looks import check, refused
from engines.check.wards import WARDS

SAME = '("visits"."visit_id" IS NOT DISTINCT FROM "found"."g0")'
DAY = '("visits"."day" IS NOT DISTINCT FROM "found"."g1")'
PERSON = '"visits"."person" = "found"."person"'
GROUPS = '"person" AS "person", "visit_id" AS "g0", "day" AS "g1" FROM "items" WHERE "rank" <= 6'
FOUND = f'(SELECT {GROUPS} GROUP BY "person", "visit_id", "day") AS "found"'
LOOKUP = (
    'SELECT COUNT(*) AS m0 FROM (SELECT * FROM "visits" WHERE "rank" <= 4) AS "visits" '
    f"LEFT JOIN {FOUND} ON {PERSON} AND {SAME} AND {DAY}"
)
PUBLIC = '(SELECT CAST("ward" AS DOUBLE) AS "g0" FROM "places" GROUP BY CAST("ward" AS DOUBLE)) AS "found"'
WARD = '(CAST("visits"."ward" AS DOUBLE) IS NOT DISTINCT FROM CAST("found"."g0" AS DOUBLE))'
IN_PUBLIC = (
    f'SELECT COUNT(*) AS m0 FROM (SELECT * FROM "visits" WHERE "rank" <= 4) AS "visits" LEFT JOIN {PUBLIC} ON {WARD}'
)
ONE_ROW = '(SELECT CAST(COUNT(*) AS DOUBLE) * 1e0 AS "v0" FROM "places") AS "found"'
BESIDE = (
    f'SELECT COUNT(*) AS m0 FROM (SELECT * FROM "visits" WHERE "rank" <= 4) AS "visits" LEFT JOIN {ONE_ROW} ON TRUE'
)

MORE = {
    "as it is": (LOOKUP, LOOKUP, 4),
    "turned round": (SAME, '("found"."g0" IS NOT DISTINCT FROM "visits"."visit_id")', 4),
    "without a key": (f" AND {DAY}", "", 24),
    "a key under an alternative": (DAY, f"({DAY} OR TRUE)", 24),
    "a key that must differ": (DAY, f"(NOT {DAY})", 24),
    "a key compared with itself": (DAY, '("found"."g1" IS NOT DISTINCT FROM "found"."g1")', 24),
    "a key compared by order": (DAY, '("visits"."day" <= "found"."g1")', 24),
    "groups of more": ('"visit_id", "day")', '"visit_id", "day", "kind")', 24),
    "joined, and not looked up": ("LEFT JOIN", "JOIN", 4),
}


@pytest.mark.parametrize(("right", "other", "rows"), MORE.values(), ids=MORE)
def test_a_lookup_finds_one_row_only_if_all_keys_are_compared(right, other, rows):
    assert right in LOOKUP
    text = LOOKUP.replace(right, other)
    if "kind" in other:
        text = text.replace('"day" AS "g1" FROM', '"day" AS "g1", "kind" AS "g2" FROM')
    assert check(text, catalog=WARDS)[0].l1 == rows


WRONG = {
    "no person": (f"{PERSON} AND ", "", "sides of one person"),
    "groups without the person": ('GROUP BY "person", "visit_id"', 'GROUP BY "visit_id"', "GROUP BY the person"),
    "codes of two lists": (SAME, '("visits"."hospital" IS NOT DISTINCT FROM "found"."g0")', "of one type"),
}


@pytest.mark.parametrize(("right", "wrong", "reason"), WRONG.values(), ids=WRONG)
def test_a_wrong_lookup_is_caught(right, wrong, reason):
    assert right in LOOKUP
    assert reason in refused(LOOKUP.replace(right, wrong), catalog=WARDS)


def test_public_groups_are_looked_up_by_the_doubles_that_they_are_grouped_by():
    assert check(IN_PUBLIC, catalog=WARDS)[0].l1 == 4
    # Different integers may be the same double: then a row could find several groups.
    whole = IN_PUBLIC.replace('CAST("ward" AS DOUBLE) AS', '"ward" AS').replace(
        'BY CAST("ward" AS DOUBLE)', 'BY "ward"'
    )
    assert "an equality with a column" in refused(whole, catalog=WARDS)


def test_codes_that_a_case_leaves_out_are_all_null_and_found_all_at_once():
    groups = '(SELECT "city" AS "g0" FROM "places" GROUP BY "city") AS "found"'
    some = 'CASE "found"."g0" WHEN 0 THEN $1 END'
    on = f'("people"."town" IS NOT DISTINCT FROM {some})'
    text = f'SELECT COUNT(*) AS m0 FROM "people" AS "people" LEFT JOIN {groups} ON {on}'
    assert "an equality with a column" in refused(text, ("Bergen",), catalog=WARDS)


def test_one_row_of_public_tables_stands_beside_every_row():
    assert check(BESIDE, catalog=WARDS)[0].l1 == 4
    several = BESIDE.replace('"v0" FROM "places"', '"v0" FROM "places" GROUP BY "ward"')
    assert "GROUP BY" in refused(several, catalog=WARDS)
    rows = BESIDE.replace('CAST(COUNT(*) AS DOUBLE) * 1e0 AS "v0"', '"ward" AS "v0"')
    assert "an equality with a column" in refused(rows, catalog=WARDS)


AREA = 'CAST("area" AS DOUBLE)'
SUMS = {
    "a sum of doubles": f'CASE WHEN ABS(SUM({AREA})) <= 1.7976931348623157e+308 THEN SUM({AREA}) END AS "v0"',
    "a mean of doubles": 'AVG("area") AS "v0"',
    "any value": 'ANY_VALUE("area") AS "v0"',
}


@pytest.mark.parametrize("output", SUMS.values(), ids=SUMS)
def test_beside_rows_of_people_nothing_is_public_that_depends_on_the_order_of_rows(output):
    assert refused(BESIDE.replace('CAST(COUNT(*) AS DOUBLE) * 1e0 AS "v0"', output), catalog=WARDS)


OWN = (
    'SELECT CAST(SUM("v grid") AS BIGINT) AS m0 FROM (SELECT "person" AS "person", {} AS "v grid" '
    'FROM "visits" WHERE "rank" <= 4 GROUP BY "person") AS "rows"'
)
CHOSEN = 'ARG_MIN(CASE WHEN "day" IS NULL THEN NULL ELSE "cost grid" END, ROW("day", "cost grid"))'
WRONG_CHOICES = {
    "no order of equal ones": (', "cost grid"))', "))"),
    "another value decides": (', "cost grid"))', ', "ward"))'),
    "no guard": ('CASE WHEN "day" IS NULL THEN NULL ELSE "cost grid" END', '"cost grid"'),
    "another guard": ('WHEN "day" IS NULL', 'WHEN "ward" IS NULL'),
    "something else where it is missing": ("THEN NULL", 'THEN "ward"'),
    "a list": ("ROW(", "LIST_VALUE("),
    "an order of texts": ('"day"', '"hospital"'),
    "an id": ('"cost grid"', '"visit_id"'),
    "a limit": ('"cost grid"))', '"cost grid"), 2)'),
}


def test_a_value_that_is_chosen_by_an_order_is_within_its_bounds():
    assert check(OWN.format(CHOSEN), catalog=WARDS)[0].l1 == 400


@pytest.mark.parametrize(("right", "wrong"), WRONG_CHOICES.values(), ids=WRONG_CHOICES)
def test_a_choice_that_the_place_of_a_row_could_decide_is_caught(right, wrong):
    assert right in CHOSEN
    assert refused(OWN.format(CHOSEN.replace(right, wrong)), catalog=WARDS)


DOUBLES = OWN.replace('CAST(SUM("v grid") AS BIGINT)', "COUNT(*)")
GRID = 'CAST("cost grid" AS HUGEINT) - CAST(200 AS HUGEINT)'
SPREAD = f"SQRT(GREATEST(CAST(SUM(({GRID}) * ({GRID})) AS DOUBLE) - 1e0, 0e0)) * 1e0"
WRONG_SPREADS = {
    "a root of what may be below zero": ("GREATEST(", "("),
    "not below something else": (", 0e0))", ", 1e0))"),
    "squares that overflow": ("CAST(200 AS", f"CAST({2**100} AS"),
    "narrow squares": ("AS HUGEINT", "AS BIGINT"),
    "sums of something else": (f"({GRID}) * ({GRID})", f"({GRID}) + ({GRID})"),
    "no grid": ('"cost grid"', '"cost"'),
}


def test_a_spread_is_a_double_that_is_made_of_integers():
    assert check(DOUBLES.format(SPREAD), catalog=WARDS)[0].l1 == 1


@pytest.mark.parametrize(("right", "wrong"), WRONG_SPREADS.values(), ids=WRONG_SPREADS)
def test_a_spread_that_could_fail_is_caught(right, wrong):
    assert right in SPREAD
    text = (
        SPREAD.replace(right, wrong).replace("- 1e0, 0e0)", "- 1e0)") if wrong == "(" else SPREAD.replace(right, wrong)
    )
    assert refused(DOUBLES.format(text), catalog=WARDS)


MEDIAN = (
    'CASE WHEN ABS(MEDIAN(CAST("cost" AS DOUBLE))) <= 1.7976931348623157e+308 THEN MEDIAN(CAST("cost" AS DOUBLE)) END'
)
WRONG_MEDIANS = {
    "another limit": ("1.7976931348623157e+308", "1e3"),
    "two numbers": ('THEN MEDIAN(CAST("cost"', 'THEN MEDIAN(CAST("ward"'),
    "an order of rows": ("MEDIAN(", "FIRST("),
    "of dates": ('CAST("cost" AS DOUBLE)', '"day"'),
    "an outcome else": (" END", " ELSE 1e0 END"),
}


def test_a_median_is_remembered_of_rows_that_are_capped():
    assert check(DOUBLES.format(MEDIAN), catalog=WARDS)[0].l1 == 1
    assert "a cap on what" in refused(DOUBLES.format(MEDIAN).replace(' WHERE "rank" <= 4', ""), catalog=WARDS)


@pytest.mark.parametrize(("right", "wrong"), WRONG_MEDIANS.values(), ids=WRONG_MEDIANS)
def test_a_median_that_is_none_is_caught(right, wrong):
    assert right in MEDIAN
    assert refused(DOUBLES.format(MEDIAN.replace(right, wrong)), catalog=WARDS)
