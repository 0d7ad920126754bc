"""Blocks of people in the text of a statement: by the person of every row, and by nothing else."""

from __future__ import annotations

import pytest

from adomnia.engines.check import check_blocks
from adomnia.engines.contract import Statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.errors import Failure
from adomnia.privacy.sensitivity import Sensitivity
from engines.check.looks import check, refused
from sql.hospital import HOSPITAL

BLOCK = '("person" % 16777216) % 200'
CAPPED = 'FROM "visits" WHERE "rank" <= 3 GROUP BY 1'
WHOLE = 'CAST(SUM("cost grid") AS DECIMAL(38, 0))'


BLOCKS = (
    f'(SELECT {BLOCK} AS "person", MAX("cost") AS "v0", MAX("cost grid") AS "v0 grid" FROM "visits" GROUP BY {BLOCK})'
)


def count(rows):
    return f'SELECT COUNT(*) AS m0 FROM {rows} AS "rows"'


def blocks(text):
    return check_blocks(Statement(text, ()), HOSPITAL, DUCKDB)


def test_the_rows_of_a_person_are_in_one_block_and_count_once_there():
    assert check(f"SELECT {BLOCK} AS k0, COUNT(*) AS m0 {CAPPED}", shape=(range(200),)) == (
        Sensitivity(l1=3, monotone=True).times(1),
    )
    people = f'SELECT {BLOCK} AS k0, COUNT(DISTINCT "person") AS m0 FROM "visits" GROUP BY 1'
    assert check(people) == (Sensitivity(l1=1, monotone=True),)


def test_beside_another_key_a_person_is_in_as_many_cells_as_that_has():
    counted = f'SELECT {BLOCK} AS k0, "hospital" AS k1, COUNT(DISTINCT "person") AS m0 FROM "visits"'
    (found,) = check(f'{counted} WHERE "rank" <= 10 GROUP BY 1, 2')
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
    assert blocks(text) == 200
    assert "a cap on the rows of a person" in refused(text)


def test_blocks_are_those_of_the_first_side_of_a_join_and_pass_through_selects():
    joined = (
        '"people" AS "p" LEFT JOIN (SELECT * FROM "visits" WHERE "rank" <= 3) AS "v" ON "p"."person" = "v"."person"'
    )
    assert blocks(f'SELECT ("p"."person" % 16777216) % 9 AS k0, COUNT(*) AS m0 FROM {joined} GROUP BY 1') == 9
    with pytest.raises(Failure):
        blocks(f'SELECT ("v"."person" % 16777216) % 9 AS k0, COUNT(*) AS m0 FROM {joined} GROUP BY 1')
    inner = '(SELECT "person" AS "person", "cost" AS "c" FROM "visits") AS "rows"'
    assert blocks(f"SELECT {BLOCK} AS k0, COUNT(*) AS m0 FROM {inner} GROUP BY 1") == 200


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


@pytest.mark.parametrize(
    "text",
    [
        'SELECT COUNT(*) AS m0 FROM "visits"',
        f'SELECT {BLOCK} AS k0, COUNT(*) AS m0 FROM "visits"',
        f'SELECT {BLOCK} AS k0, COUNT(*) AS m1 FROM "visits" GROUP BY 1',
        f'SELECT {BLOCK} AS k0, "hospital" AS k1, COUNT(*) AS m0 FROM "visits" GROUP BY 1, 2',
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
    (counted, added) = check(f'SELECT COUNT(*) AS m0, {summed} AS m1 FROM {BLOCKS} AS "rows"')
    assert (counted.l1, counted.l2_squared, counted.linf, counted.monotone) == (2, 4, 2, False)
    assert (added.l1, added.monotone) == (2 * 100_000 * 16, False)


def test_what_is_made_of_rows_of_blocks_does_not_rise_either():
    above = f'(SELECT "person" AS "person", "v0" AS "c" FROM {BLOCKS} AS "rows") AS "rows"'
    assert not check(f"SELECT COUNT(*) AS m0 FROM {above}")[0].monotone
    people = '(SELECT "person" AS "person", "cost" AS "c" FROM "visits" WHERE "rank" <= 3)'
    both = f'(SELECT "person" AS "person", "v0" AS "c" FROM {BLOCKS} AS "rows" UNION ALL {people[1:-1]}) AS "rows"'
    (found,) = check(f"SELECT COUNT(*) AS m0 FROM {both}")
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
        check(text)
