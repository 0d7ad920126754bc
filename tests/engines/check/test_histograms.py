"""The second look at histograms: what is read of them, of which values, and nothing that is not proved."""

from __future__ import annotations

import pytest

from adomnia.engines.check import check_histogram
from adomnia.engines.contract import Statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.errors import Failure
from adomnia.privacy.sensitivity import Sensitivity
from engines.check.test_aggregates import CLAMP
from sql.hospital import HOSPITAL

VALUE = 'CAST("cost grid" AS BIGINT) - 0'
ROWS = 'FROM "visits" WHERE "rank" <= 3'
COARSE = f'SELECT "hospital" AS k0, ({VALUE}) >> 11 AS k1, COUNT(*) AS m0 {ROWS} GROUP BY 1, 2'
FINE = (
    f'SELECT "hospital" AS k0, {VALUE} AS k1, COUNT(*) AS m0 {ROWS} AND ((({VALUE}) >> 11) IN (3, 4, 9)) GROUP BY 1, 2'
)
NOTHING_ELSE = 'SELECT CAST("age" AS BIGINT) - 0 AS k0, COUNT(*) AS m0 FROM "people" WHERE '
ALONE = NOTHING_ELSE + '(((CAST("age" AS BIGINT) - 0) >> 0) IN (3)) GROUP BY 1'


def check(text, parameters=()):
    return check_histogram(Statement(text, parameters), HOSPITAL, DUCKDB)


def test_counts_buckets_and_values_are_read_off_the_text():
    moved, cells, reading = check(COARSE)
    assert moved == Sensitivity(l1=3, monotone=True)
    assert cells[1] == range(1_600_001)
    assert (reading.start, reading.shift, reading.buckets) == (0, 11, None)
    again, same, fine = check(FINE)
    assert (again, same, fine.start, fine.shift, fine.buckets) == (moved, cells, 0, 11, (3, 4, 9))
    assert fine.whole == reading.whole


def test_readings_of_other_rows_or_values_are_of_another_whole():
    whole = check(COARSE)[2].whole
    assert check(FINE.replace("<= 3", "<= 2"))[2].whole != whole
    assert check(FINE.replace('"rank" <= 3', '"rank" <= 3 AND ("diagnosis" IS NULL)'))[2].whole != whole
    assert check(COARSE.replace('"cost grid"', CLAMP))[2].whole != whole


PLANTED = {
    "no shift": (COARSE, f"({VALUE}) >> 11", VALUE, "buckets"),
    "another shift": (COARSE, ">> 11", ">> 63", "64 bits"),
    "a shift that is no number": (COARSE, ">> 11", '>> "rank"', "a number"),
    "a shift to the left": (COARSE, ">> 11", "<< 11", "buckets"),
    "another start": (COARSE, "- 0", "- 1", "one count for each value"),
    "a value as it is": (COARSE, 'CAST("cost grid" AS BIGINT)', '"cost grid"', "counted from the first"),
    "a narrow value": (COARSE, "AS BIGINT", "AS TINYINT", "64 bits"),
    "two counts": (COARSE, "COUNT(*) AS m0", "COUNT(*) AS m0, COUNT(*) AS m1", "buckets"),
    "no count": (COARSE, ", COUNT(*) AS m0", "", "buckets"),
    "not grouped": (COARSE, "GROUP BY 1, 2", "GROUP BY 1", "GROUP BY"),
    "no cap": (COARSE, 'WHERE "rank" <= 3', "", "a cap"),
    "buckets of another value": (
        FINE,
        f"((({VALUE}) >> 11) IN",
        '(((CAST("cost grid" AS BIGINT) - 1) >> 11) IN',
        "buckets of the values",
    ),
    "buckets that are no numbers": (FINE, "IN (3, 4, 9)", 'IN (3, "rank")', "a number"),
    "buckets of a subquery": (FINE, "IN (3, 4, 9)", 'IN (SELECT "rank" FROM "visits")', "In without"),
    "either condition": (FINE, " AND (((", " OR (((", "buckets"),
}


@pytest.mark.parametrize(("text", "right", "wrong", "reason"), PLANTED.values(), ids=PLANTED)
def test_a_wrong_histogram_is_caught(text, right, wrong, reason):
    assert right in text
    with pytest.raises(Failure) as failure:
        check(text.replace(right, wrong))
    assert reason in str(failure.value.__cause__)


def test_a_condition_that_stands_alone_is_removed_too():
    """Without a cap left, which people have by their one row, nothing is proved."""
    with pytest.raises(Failure, match="failed") as failure:
        check(ALONE)
    assert "a cap" in str(failure.value.__cause__)


def test_values_at_the_end_of_64_bits_are_not_proved():
    far = CLAMP.replace("THEN 16", f"THEN {2**62}")
    assert far != CLAMP
    with pytest.raises(Failure) as failure:
        check(f"SELECT (CAST({far} AS BIGINT) - 0) >> 11 AS k0, COUNT(*) AS m0 {ROWS} GROUP BY 1")
    assert "64 bits" in str(failure.value.__cause__)
