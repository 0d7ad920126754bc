"""Sums are carried in what so many rows cannot overflow."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render.aggregates import render_sum

ROWS = 2**48
NARROW = replace(DUCKDB, types=replace(DUCKDB.types, sum=DUCKDB.types.long))
LAST = 2**15 - 1  # what so many rows add up to in 64 bits


def test_a_sum_of_the_engine_is_taken_where_it_holds_all_rows():
    assert render_sum("x", ROWS, LAST, NARROW) == "SUM(x)"
    assert render_sum("x", ROWS, 2**70, DUCKDB) == "SUM(x)"


def test_wide_integers_are_added_up_as_such():
    assert render_sum("x", ROWS, 2**64, NARROW) == "SUM(CAST(x AS HUGEINT))"
    assert render_sum("CAST(x AS HUGEINT)", ROWS, LAST + 1, NARROW) == "SUM(CAST(CAST(x AS HUGEINT) AS HUGEINT))"
    assert render_sum("x", 2**56, LAST, NARROW) == "SUM(CAST(x AS HUGEINT))"  # pieces would have few bits


def test_others_are_added_up_in_pieces_of_their_bits():
    two = "(CAST(SUM((x) & 32767) AS HUGEINT) + CAST(SUM((x) >> 15) AS HUGEINT) * 32768)"
    assert render_sum("x", ROWS, LAST + 1, NARROW) == two
    three = "CAST(SUM(((x) >> 15) & 32767) AS HUGEINT) * 32768 + CAST(SUM((x) >> 30) AS HUGEINT) * 1073741824)"
    assert render_sum("x", ROWS, 2**30, NARROW) == two.split("CAST(SUM((x) >>", maxsplit=1)[0] + three


@pytest.mark.parametrize("size", [LAST + 1, 2**20, 2**30 - 2**15, 2**30, 2**31 - 1, 2**45, 2**62, 2**63 - 1])
@pytest.mark.parametrize("rows", [ROWS, 2**40, 2**54])
def test_pieces_add_up_to_the_integer_and_none_is_too_wide(size, rows):
    draw = random.Random(size)
    text = render_sum("x", rows, size, NARROW).replace("CAST(", "(").replace(" AS HUGEINT", "").replace("SUM", "piece")
    found = []

    def piece(value):
        found.append(value)
        return value

    for x in (0, 1, -1, size, -size, *(draw.randint(-size, size) for _ in range(50))):
        assert eval(text, {"piece": piece, "x": x}) == x
    assert all(rows * abs(value) <= 2**63 - 1 for value in found)
