"""Blocks of people: all rows of a person in one, and nothing of others in any."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from adomnia.session.people_blocks import cut_into_blocks
from kit.bits import SeededBits


def table(**columns):
    return pa.table(columns)


def test_all_rows_of_a_person_are_in_one_block_in_their_order():
    frame = table(who=[k % 40 for k in range(200)], place=list(range(200)))
    blocks = cut_into_blocks(frame, "who", 7, SeededBits(1))
    homes = {who: {n for n, block in enumerate(blocks) if who in block["who"].to_pylist()} for who in range(40)}
    assert all(len(home) == 1 for home in homes.values())
    assert sorted(row for block in blocks for row in block["place"].to_pylist()) == list(range(200))
    assert all(block["place"].to_pylist() == sorted(block["place"].to_pylist()) for block in blocks)


def test_where_every_row_is_a_person_rows_are_spread():
    blocks = cut_into_blocks(table(x=[1.0] * 4000), None, 4, SeededBits(2))
    # Binomial with deviation 27: beyond 8 of them with probability below 1e-14.
    assert sum(map(len, blocks)) == 4000
    assert all(abs(len(block) - 1000) < 220 for block in blocks)


@pytest.mark.parametrize(
    "keys", [["7", " 7", "7.0"], [7.0, 7.0, 7.0], [0.0, -0.0, 0.0], [np.float64(1e300)] * 3], ids=str
)
def test_keys_that_the_index_takes_for_one_person_are_one(keys):
    for chance in range(5):
        blocks = cut_into_blocks(table(who=keys), "who", 50, SeededBits(chance))
        assert max(map(len, blocks)) == 3


def test_rows_of_nobody_are_in_no_block():
    frame = table(who=[1.0, None, float("nan"), 2.0], x=[1, 2, 3, 4])
    found = [row for block in cut_into_blocks(frame, "who", 3, SeededBits(3)) for row in block["x"].to_pylist()]
    assert sorted(found) == [1, 4]


def test_a_block_does_not_carry_the_categories_or_the_length_of_the_whole_table():
    whole = pd.DataFrame(
        {"who": range(300), "city": pd.Categorical([f"c{k}" for k in range(300)])}, index=range(5, 305)
    )
    for block in cut_into_blocks(pa.Table.from_pandas(whole), "who", 60, SeededBits(4)):
        rows = block.to_pandas()
        assert block.schema.metadata is None
        assert rows["city"].dtype == object
        assert list(rows.index) == list(range(len(rows)))


def test_a_table_without_rows_is_as_many_empty_blocks():
    empty = table(who=pa.array([], pa.int64()), x=pa.array([], pa.float64()))
    assert [len(block) for block in cut_into_blocks(empty, "who", 3, SeededBits(5))] == [0, 0, 0]


def test_a_person_who_joins_changes_one_block_alone():
    people = [k % 50 for k in range(100)]
    before = cut_into_blocks(table(who=people, x=list(range(100))), "who", 9, SeededBits(6))
    joined = table(who=[*people, 99, 99, 99], x=list(range(103)))
    after = cut_into_blocks(joined, "who", 9, SeededBits(6))
    assert [block.equals(other) for block, other in zip(before, after, strict=True)].count(False) == 1
