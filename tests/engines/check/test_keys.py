"""The second look at histograms: what is read of them, of which values, and nothing that is not proved."""

from __future__ import annotations

import pytest

from adomnia.engines.check import check_cells_of_blocks, check_histogram
from adomnia.engines.contract import Statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.errors import Failure
from adomnia.privacy.sensitivity import Sensitivity
from engines.check.looks import check as check_of_blocks
from engines.check.looks import refused
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


BLOCK = '("person" % 16777216) % 200'
CAPPED = 'FROM "visits" WHERE "rank" <= 3 GROUP BY 1'
WHOLE = 'CAST(SUM("cost grid") AS DECIMAL(38, 0))'


BLOCKS = (
    f'(SELECT {BLOCK} AS "person", MAX("cost") AS "v0", MAX("cost grid") AS "v0 grid" FROM "visits" GROUP BY {BLOCK})'
)


def count(rows):
    return f'SELECT COUNT(*) AS m0 FROM {rows} AS "rows"'


def blocks(text):
    return check_cells_of_blocks(Statement(text, ()), HOSPITAL, DUCKDB)


def test_the_rows_of_a_person_are_in_one_block_and_count_once_there():
    assert check_of_blocks(f"SELECT {BLOCK} AS k0, COUNT(*) AS m0 {CAPPED}", shape=(range(200),)) == (
        Sensitivity(l1=3, monotone=True).times(1),
    )
    people = f'SELECT {BLOCK} AS k0, COUNT(DISTINCT "person") AS m0 FROM "visits" GROUP BY 1'
    assert check_of_blocks(people) == (Sensitivity(l1=1, monotone=True),)


def test_beside_another_key_a_person_is_in_as_many_cells_as_that_has():
    counted = f'SELECT {BLOCK} AS k0, "hospital" AS k1, COUNT(DISTINCT "person") AS m0 FROM "visits"'
    (found,) = check_of_blocks(f'{counted} WHERE "rank" <= 10 GROUP BY 1, 2')
    assert (found.l1, found.l2_squared, found.linf) == (5, 5, 1)
    assert (
        refused(f"{counted} GROUP BY 1, 2")
        == "Statement must have a cap on the rows of a person; nothing else is proved."
    )


@pytest.mark.parametrize(
    "output",
    [
        "COUNT(*)",
        'COUNT("cost")',
        WHOLE,
        'CAST(CAST(2 AS HUGEINT) * SUM(CAST("cost grid" AS HUGEINT)) AS DECIMAL(38, 0))',
    ],
)
def test_sums_of_one_block_need_no_cap_where_only_the_block_is_asked_for(output):
    text = f'SELECT {BLOCK} AS k0, {output} AS m0 FROM "visits" GROUP BY 1'
    assert blocks(text) == (range(200),)
    assert "a cap on the rows of a person" in refused(text)


def test_blocks_are_those_of_the_first_side_of_a_join_and_pass_through_selects():
    joined = (
        '"people" AS "p" LEFT JOIN (SELECT * FROM "visits" WHERE "rank" <= 3) AS "v" ON "p"."person" = "v"."person"'
    )
    assert blocks(f'SELECT ("p"."person" % 16777216) % 9 AS k0, COUNT(*) AS m0 FROM {joined} GROUP BY 1') == (range(9),)
    with pytest.raises(Failure):
        blocks(f'SELECT ("v"."person" % 16777216) % 9 AS k0, COUNT(*) AS m0 FROM {joined} GROUP BY 1')
    inner = '(SELECT "person" AS "person", "cost" AS "c" FROM "visits") AS "rows"'
    assert blocks(f"SELECT {BLOCK} AS k0, COUNT(*) AS m0 FROM {inner} GROUP BY 1") == (range(200),)


@pytest.mark.parametrize(
    "key",
    [
        '"person" % 200',
        '("person" % 16777215) % 200',
        '("person" % 16777216) % 1',
        '("person" % 16777216) % 131073',
        '("person" % 16777216) % "age"',
        '("rank" % 16777216) % 200',
        '("visit_id" % 16777216) % 200',
        '("person" + 1) % 200',
        '(("person" + 1) % 16777216) % 200',
        '("person" % 16777216 + "cost grid") % 200',
        '(-"person" % 16777216) % 200',
        '("cost grid" % 16777216) % 200',
        '"hospital"',
    ],
)
def test_nothing_else_is_a_block_of_people(key):
    with pytest.raises(Failure):
        blocks(f'SELECT {key} AS k0, COUNT(*) AS m0 FROM "visits" GROUP BY 1')


def test_further_keys_divide_the_rows_of_a_block():
    text = f'SELECT {BLOCK} AS k0, "hospital" AS k1, COUNT(*) AS m0 FROM "visits" GROUP BY 1, 2'
    assert blocks(text) == (range(200), range(5))


@pytest.mark.parametrize(
    "text",
    [
        'SELECT COUNT(*) AS m0 FROM "visits"',
        f'SELECT {BLOCK} AS k0, COUNT(*) AS m0 FROM "visits"',
        f'SELECT {BLOCK} AS k0, COUNT(*) AS m1 FROM "visits" GROUP BY 1',
        f'SELECT "hospital" AS k0, {BLOCK} AS k1, COUNT(*) AS m0 FROM "visits" GROUP BY 1, 2',
        f'SELECT {BLOCK} AS k0, SUM("cost") AS m0 FROM "visits" GROUP BY 1',
        f'SELECT {BLOCK} AS k0, "cost" AS m0 FROM "visits" GROUP BY 1',
        f'SELECT {BLOCK} AS k0, COUNT(DISTINCT "cost") AS m0 FROM "visits" GROUP BY 1',
        f'SELECT {BLOCK} AS k0, COUNT(*) AS m0 FROM "regions" GROUP BY 1',
    ],
)
def test_only_counts_and_exact_sums_of_blocks_are_given(text):
    with pytest.raises(Failure):
        blocks(text)


def test_the_row_of_a_block_is_taken_away_and_another_put_in_its_place():
    summed = 'CAST(SUM("v0 grid") AS DECIMAL(38, 0))'
    (counted, added) = check_of_blocks(f'SELECT COUNT(*) AS m0, {summed} AS m1 FROM {BLOCKS} AS "rows"')
    assert (counted.l1, counted.l2_squared, counted.linf, counted.monotone) == (2, 4, 2, False)
    assert (added.l1, added.monotone) == (2 * 100_000 * 16, False)


def test_what_is_made_of_rows_of_blocks_does_not_rise_either():
    above = f'(SELECT "person" AS "person", "v0" AS "c" FROM {BLOCKS} AS "rows") AS "rows"'
    assert not check_of_blocks(f"SELECT COUNT(*) AS m0 FROM {above}")[0].monotone
    people = '(SELECT "person" AS "person", "cost" AS "c" FROM "visits" WHERE "rank" <= 3)'
    both = f'(SELECT "person" AS "person", "v0" AS "c" FROM {BLOCKS} AS "rows" UNION ALL {people[1:-1]}) AS "rows"'
    (found,) = check_of_blocks(f"SELECT COUNT(*) AS m0 FROM {both}")
    assert (found.l1, found.monotone) == (5, False)


@pytest.mark.parametrize(
    "text",
    [
        f'SELECT COUNT(DISTINCT "person") AS m0 FROM {BLOCKS} AS "rows"',
        f'SELECT {BLOCK} AS k0, COUNT(*) AS m0 FROM {BLOCKS} AS "rows" GROUP BY 1',
        count(f'(SELECT "person" AS "person", COUNT(*) AS "n" FROM {BLOCKS} AS "rows" GROUP BY "person")'),
        f'SELECT COUNT(*) AS m0 FROM {BLOCKS} AS "b" JOIN "people" AS "p" ON "b"."person" = "p"."person"',
        f'SELECT COUNT(*) AS m0 FROM {BLOCKS} AS "b" JOIN {BLOCKS} AS "c" ON "b"."person" = "c"."person"',
        count(BLOCKS.replace(f"GROUP BY {BLOCK}", f'GROUP BY {BLOCK}, "hospital"')),
        count(BLOCKS.replace(f"GROUP BY {BLOCK}", 'GROUP BY ("person" % 16777216) % 7')),
        count(BLOCKS.replace('AS "person"', 'AS "block"')),
        count(BLOCKS.replace('MAX("cost")', 'SUM("cost")')),
        count(BLOCKS.replace('MAX("cost grid")', 'MAX("rank")')),
    ],
)
def test_rows_of_blocks_are_nobodys_and_made_of_exact_aggregates(text):
    with pytest.raises(Failure):
        check_of_blocks(text)
