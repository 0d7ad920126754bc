"""Clamps and centres: what one row adds to a sum is read off the text."""

from __future__ import annotations

import re

import pytest

from adomnia.privacy.sensitivity import Sensitivity
from engines.check.looks import check, refused

CLAMP = (
    'CASE WHEN (CAST("cost" AS DOUBLE) * 2.0e0) < 0.0e0 THEN 0 WHEN (CAST("cost" AS DOUBLE) * 2.0e0) > 8.0e0 THEN 16 '
    'ELSE TRY_CAST(FLOOR((CAST("cost" AS DOUBLE) * 2.0e0) / 0.5e0 + 0.5e0) AS BIGINT) END'
)
GUARDED = CLAMP.replace("CASE ", "CASE WHEN (CAST(\"cost\" AS DOUBLE) * 2.0e0) = CAST('NaN' AS DOUBLE) THEN NULL ", 1)

CLAMPED = f'SELECT CAST(SUM({GUARDED}) AS BIGINT) AS m0 FROM "visits" WHERE "rank" <= 10'
VALUE = '(CAST("cost" AS DOUBLE) * 2.0e0)'

WRONG_CLAMPS = {
    "no lower clamp": (f"WHEN {VALUE} < 0.0e0 THEN 0 ", "", "a clamp"),
    "clamp too early": (f"WHEN {VALUE} > 8.0e0", 'WHEN CAST("cost" AS DOUBLE) > 8.0e0', "a clamp of the value itself"),
    "clamp of another value": (
        f"FLOOR({VALUE}",
        'FLOOR((CAST("cost" AS DOUBLE) * 3.0e0)',
        "a clamp of the value itself",
    ),
    "clamps the wrong way round": (f"{VALUE} < 0.0e0", f"{VALUE} > 0.0e0", "a clamp"),
    "clamp to a fraction": ("THEN 16", "THEN 16.5", "a whole number"),
    "clamp to a column": ("THEN 16", 'THEN "cost grid"', "a number"),
    "clamp at infinity": ("> 8.0e0", "> CAST('Infinity' AS DOUBLE)", "a number"),
    "clamp beyond the doubles": ("> 8.0e0", "> 8.0e999", "a finite clamp"),
    "clamp beyond the width of its type": ("THEN 16", f"THEN {2**64}", "the width of a clamp"),
    "clamp so wide that the sum overflows": ("THEN 16", f"THEN {2**40}", "the width of a result"),
    "NaN as a number": ("THEN NULL", "THEN 5", "NULL for NaN"),
    "guard that a row can make fail": ("CAST('NaN' AS DOUBLE)", 'CAST("day" AS DOUBLE)', "a cast"),
    "guard that is no comparison": (f"{VALUE} = CAST('NaN' AS DOUBLE)", VALUE, "a clamp of the value itself"),
    "no rounding": (f"FLOOR({VALUE} / 0.5e0 + 0.5e0)", VALUE, "rounding"),
    "rounding up": ("FLOOR(", "CEIL(", "rounding"),
    "another rounding": ("+ 0.5e0)", "+ 0.6e0)", "rounding"),
    "step of zero": ("/ 0.5e0", "/ 0.0e0", "a step"),
    "negative step": ("/ 0.5e0", "/ (-0.5e0)", "a step"),
    "step from a column": ("/ 0.5e0", '/ CAST("cost" AS DOUBLE)', "a number"),
    "cast that may fail": ("TRY_CAST", "CAST", "rounding"),
    "no else": (f"ELSE TRY_CAST(FLOOR({VALUE} / 0.5e0 + 0.5e0) AS BIGINT) ", "", "rounding"),
    "CASE of something": ("CASE WHEN", 'CASE "hospital" WHEN', "Case without this"),
    "value that is no double": (VALUE, '"hospital"', "a double to clamp"),
    "floor of two arguments": ("+ 0.5e0)", "+ 0.5e0, 2)", "Floor without"),
}


@pytest.mark.parametrize(("right", "wrong", "reason"), WRONG_CLAMPS.values(), ids=WRONG_CLAMPS)
def test_a_wrong_clamp_is_caught(right, wrong, reason):
    assert right in CLAMPED
    assert reason in refused(CLAMPED.replace(right, wrong))


@pytest.mark.parametrize(("wrong", "found"), [("THEN 17", 170), ("THEN 1000", 10_000), ("> 9.0e0", 180)])
def test_a_wrong_literal_in_a_clamp_is_seen_in_the_sensitivity(wrong, found):
    planned = Sensitivity(l1=160, monotone=True)
    assert check(CLAMPED) == (planned,)
    (derived,) = check(
        re.sub(r"THEN 16|> 8.0e0", lambda match: wrong if match.group()[0] == wrong[0] else match.group(), CLAMPED)
    )
    assert derived.l1 == found > planned.l1


CENTRED = 'SELECT CAST(SUM("cost grid") - CAST(800000 AS HUGEINT) * COUNT("cost grid") AS DECIMAL(38, 0)) AS m0 '
CENTRED += 'FROM "visits" WHERE "rank" <= 10'

WRONG_CENTRES = {
    "narrow": ("HUGEINT", "BIGINT", "a wide centre"),
    "no type": ("CAST(800000 AS HUGEINT)", "800000", "a centre"),
    "no count": ('COUNT("cost grid")', "5", "a centre"),
    "count of all rows": ('COUNT("cost grid")', "COUNT(*)", "a centre for each value"),
    "count of another column": ('COUNT("cost grid")', 'COUNT("day")', "a centre for each value"),
    "count of different values": ('COUNT("cost grid")', 'COUNT(DISTINCT "cost grid")', "a centre for each value"),
    "added": ("- CAST", "+ CAST", "an exact sum"),
    "far away": ("800000", str(2**100), "the width"),
    "a fraction": ("800000", "0.5", "a whole number"),
    "filtered": ('COUNT("cost grid")', 'COUNT("cost grid") FILTER (WHERE TRUE)', "a centre"),
    "several arguments": ('COUNT("cost grid")', 'COUNT("cost grid", "cost grid")', "Count without"),
}


@pytest.mark.parametrize(("right", "wrong", "reason"), WRONG_CENTRES.values(), ids=WRONG_CENTRES)
def test_a_wrong_centre_is_caught(right, wrong, reason):
    assert right in CENTRED
    assert reason in refused(CENTRED.replace(right, wrong))


def test_a_centre_off_the_middle_is_seen_in_the_sensitivity():
    assert check(CENTRED) == (Sensitivity(l1=8_000_000),)
    assert check(CENTRED.replace("800000", "(-800000)")) == (Sensitivity(l1=24_000_000, monotone=True),)


OWN = 'SELECT CAST(SUM("n") AS BIGINT) AS m0 '
OWN += 'FROM (SELECT "person" AS "person", {} AS "n" FROM "visits" GROUP BY "person") AS "rows"'
LIMITED = 'CAST(CASE WHEN SUM("cost grid") < (-2) THEN (-2) WHEN SUM("cost grid") > 9 THEN 9 '
LIMITED += 'ELSE SUM("cost grid") END AS BIGINT)'

WRONG_LIMITS = {
    "of another sum": ('ELSE SUM("cost grid")', "ELSE COUNT(*)", "a clamp of the value itself"),
    "of another sum below": ('WHEN SUM("cost grid") <', 'WHEN COUNT("cost grid") <', "a clamp of the value itself"),
    "of the average": ('SUM("cost grid")', 'AVG("cost grid")', "an exact sum"),
    "of a raw column": ('SUM("cost grid")', 'SUM("cost")', "a stored grid"),
    "of a sum of different values": ('SUM("cost grid")', 'SUM(DISTINCT "cost grid")', "a stored grid"),
    "of a sum of all sorts": ('SUM("cost grid")', 'SUM("cost grid") FILTER (WHERE TRUE)', "an exact sum"),
    "no limit below": ('WHEN SUM("cost grid") < (-2) THEN (-2) ', "", "a clamp"),
    "turned round": ('"cost grid") < ', '"cost grid") > ', "a clamp"),
    "a third": ("CASE WHEN", 'CASE WHEN SUM("cost grid") = 0 THEN 5 WHEN', "a clamp"),
    "at a fraction": ("> 9", "> 9.5", "a whole number"),
    "to a column": ("THEN 9", 'THEN "cost grid"', "a number"),
    "to nothing": ("THEN 9", "THEN NULL", "a number"),
    "no other value": (' ELSE SUM("cost grid")', "", "integers within limits"),
    "by a value": ("CASE WHEN", "CASE TRUE WHEN", "Case without this"),
    "too wide for its type": ("THEN 9", f"THEN {2**64}", "the width of a clamp"),
    "as a double": ("BIGINT", "DOUBLE", "the width of a clamp"),
    "as a decimal": ("BIGINT", "DECIMAL(38, 0)", "the width of a clamp"),
    "as whatever fits": ("CAST(CASE", "TRY_CAST(CASE", "an aggregate of one person"),
    "not at all": (LIMITED, 'SUM("cost grid")', "an aggregate of one person"),
    "of no aggregate": (LIMITED, '"hospital"', "an aggregate of one person"),
    "of a cast": (LIMITED, 'CAST(SUM("cost grid") AS BIGINT)', "integers within limits"),
    "of a double": (LIMITED, 'CAST(SUM("cost grid") AS DOUBLE) * 1.0e0', "a stored grid"),
}


@pytest.mark.parametrize(("right", "wrong", "reason"), WRONG_LIMITS.values(), ids=WRONG_LIMITS)
def test_wrong_limits_of_one_persons_sum_are_caught(right, wrong, reason):
    assert right in LIMITED
    assert reason in refused(OWN.format(LIMITED.replace(right, wrong)))


@pytest.mark.parametrize(
    ("right", "wrong", "found"),
    [("THEN 9", "THEN 90", 90), ("> 9", "> 70", 70), ("THEN (-2)", "THEN (-50)", 50), ("< (-2)", "< (-60)", 60)],
)
def test_a_wrong_limit_is_seen_in_the_sensitivity(right, wrong, found):
    assert check(OWN.format(LIMITED)) == (Sensitivity(l1=9),)
    assert check(OWN.format(LIMITED.replace(right, wrong))) == (Sensitivity(l1=found),)


NUMBER = 'CAST(SUM("cost grid") AS DOUBLE) / NULLIF(CAST(COUNT(DISTINCT "cost grid") AS DOUBLE), 0.0e0) * 0.5e0'
USED = f'SELECT COUNT("n") AS m0 FROM (SELECT "person" AS "person", {NUMBER} AS "n" FROM "visits" WHERE "rank" <= 3 '
USED += 'GROUP BY "person") '
USED += 'AS "rows" WHERE (CAST("n" AS DOUBLE) > 1.0e0)'

WRONG_NUMBERS = {
    "division by zero": ('NULLIF(CAST(COUNT(DISTINCT "cost grid") AS DOUBLE), 0.0e0)', "0.0e0", "a guarded division"),
    "guard against another number": ("0.0e0)", "1.0e0)", "a guarded division"),
    "integer division": ('CAST(SUM("cost grid") AS DOUBLE) /', 'SUM("cost grid") /', "a double"),
    "narrow cast": ('CAST(SUM("cost grid") AS DOUBLE) /', 'CAST(SUM("cost grid") AS INTEGER) /', "a double"),
    "another factor": ("* 0.5e0", '* CAST("cost" AS DOUBLE)', "a number"),
    "whole factor": ("* 0.5e0", "* 5", "a double"),
    "no factor": (" * 0.5e0", "", "an aggregate of one person"),
    "different pairs": ('DISTINCT "cost grid"', 'DISTINCT "cost grid", "day"', "one value to count"),
    "different ranks": ('DISTINCT "cost grid"', 'DISTINCT "rank"', "a stored column"),
    "different values of all rows": (' WHERE "rank" <= 3 ', " ", "no Distinct"),
    "some of all columns": ('COUNT(DISTINCT "cost grid")', 'COUNT(* EXCLUDE ("day"))', "Star without except"),
    "extreme of people": (NUMBER, 'MAX("person")', "an extreme of what may be looked at"),
    "extremes of two": (NUMBER, 'MAX("cost", 2)', "Max without count"),
    "a list": (NUMBER, 'LIST("cost")', "an aggregate of one person"),
    "the first": (NUMBER, 'FIRST("cost")', "an aggregate of one person"),
    "the middle": (NUMBER, 'MEDIAN("cost")', "an aggregate of one person"),
}


@pytest.mark.parametrize(("right", "wrong", "reason"), WRONG_NUMBERS.values(), ids=WRONG_NUMBERS)
def test_a_wrong_number_of_one_person_is_caught(right, wrong, reason):
    assert right in USED
    assert reason in refused(USED.replace(right, wrong))


@pytest.mark.parametrize("aggregate", [NUMBER, 'MIN("day")', 'MAX("diagnosis")', f"CAST({LIMITED} AS DOUBLE) * 1.0e0"])
def test_what_one_person_has_may_be_counted(aggregate):
    counted = USED.replace(NUMBER, aggregate).split(' WHERE (CAST("n"')[0]
    assert check(counted) == (Sensitivity(l1=1, monotone=True),)


def test_sums_of_one_person_cannot_overflow():
    wide = CLAMP.replace("THEN 16", f"THEN {2**79}").replace("BIGINT", "HUGEINT")
    assert "the width of a sum" in refused(OWN.format(LIMITED.replace('"cost grid"', wide)))
    assert check(OWN.format(LIMITED.replace('"cost grid"', wide.replace(str(2**79), str(2**77)))))
