from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.engines.cells import (
    MOST_ROWS,
    are_counts,
    are_few,
    count_people,
    drop_missing_keys,
    number_found_keys,
    read_cells,
    read_counts,
    read_nothing,
    read_rows,
)
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, call
from adomnia.privacy.keys import Bucket, Names
from adomnia.privacy.kinds import Boolean, Day, Quantity, Text
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Histogram, Rows, Total
from adomnia.privacy.vectors import Variable, Vector, constant, variable
from engines.databases import category, people, relation, whole

CITY = category("city", "Oslo", "Bergen", "Voss")
MEMBER = Column("member", Boolean())
AGE = whole("age", 0, 120)
TABLE = relation(people(CITY, MEMBER, AGE))
WIDE = Total(AGE, Numbers.integers(0, 2**70))


def test_every_cell_is_there_and_those_without_rows_are_zero():
    result = pa.table({"k0": pa.array([2, 0], pa.uint8()), "k1": [True, False], "m0": pa.array([5, 7], pa.int64())})
    (exact,) = read_cells(result, (Query(TABLE, (CITY, MEMBER), Rows()),))
    assert exact.tolist() == [[7, 0], [0, 0], [0, 5]]
    assert exact.dtype == np.int64


def test_rows_whose_key_is_missing_belong_to_no_cell():
    result = pa.table({"k0": pa.array([None, 1, 2], pa.uint8()), "k1": [True, None, False], "m0": pa.array([5, 7, 9])})
    (exact,) = read_cells(result, (Query(TABLE, (CITY, MEMBER), Rows()),))
    assert exact.tolist() == [[0, 0], [0, 0], [9, 0]]


def test_counts_of_a_histogram_are_integers_whose_rows_without_a_key_or_value_are_left_out():
    histogram = Query(TABLE, (CITY,), Histogram(AGE, AGE.domain, (Fraction(1, 2),), Fraction(19, 20)))
    keys = np.ma.masked_array(np.array([2, 0, 1], dtype=np.uint8), [False, True, False])
    columns = {"k0": keys, "k1": np.array([7, 8, 9]), "m0": np.array([3, 4, 5])}
    assert are_counts((histogram,))
    (found,) = read_counts(columns, (histogram,))
    assert found.tolist() == [[2, 1], [7, 9], [3, 5]]
    with pytest.raises(ValueError, match="integers of 64 bits"):
        read_counts({**columns, "m0": np.array([3.0, 4.0, 5.0])}, (histogram,))


def test_a_sum_over_nothing_is_zero():
    nothing = pa.table({"m0": pa.array([None], pa.int64()), "m1": pa.array([None], pa.decimal128(38, 0))})
    narrow, wide = read_cells(nothing, (Query(TABLE, (), Total(AGE, AGE.domain)), Query(TABLE, (), WIDE)))
    assert (narrow.tolist(), wide.tolist()) == (0, 0)
    assert (narrow.dtype, wide.dtype, narrow.shape) == (np.int64, object, ())


def test_a_result_without_a_row_has_every_cell_and_no_place_of_a_histogram():
    histogram = Query(TABLE, (CITY,), Histogram(AGE, AGE.domain, (Fraction(1, 2),), Fraction(19, 20)))
    assert [exact.shape for exact in read_nothing((histogram,))] == [(3, 0)]
    counts, wide = read_nothing((Query(TABLE, (CITY,), Rows()), Query(TABLE, (CITY,), WIDE)))
    assert (counts.tolist(), wide.tolist(), wide.dtype) == ([0, 0, 0], [0, 0, 0], object)


@given(st.lists(st.integers(-(10**38) + 1, 10**38 - 1), max_size=3), st.integers(0, 3))
def test_wide_sums_arrive_as_the_same_python_integers(values, skipped):
    column = pa.chunked_array(
        [pa.array([Decimal(0)] * skipped + [Decimal(value) for value in values], pa.decimal128(38, 0))[skipped:]]
    )
    result = pa.table({"k0": pa.array(range(len(values)), pa.uint8()), "m0": column})
    (exact,) = read_cells(result, (Query(TABLE, (CITY,), WIDE),))
    assert exact.tolist() == values + [0] * (3 - len(values))
    assert all(type(value) is int for value in exact.tolist())


def test_a_count_is_read_as_what_it_is_however_large_public_facts_allow_it_to_be():
    """Read as halves of wide numbers, two counts became one, whose upper half no noise could hide."""
    many = Query(replace(TABLE, rows_per_person=2**40), (MEMBER,), Rows())
    assert many.largest >= 2**63
    (exact,) = read_cells(pa.table({"k0": [False, True], "m0": pa.array([20, 21], pa.int64())}), (many,))
    assert exact.tolist() == [20, 21]


def test_the_entries_of_a_vector_are_the_last_axis_and_others_stand_beside_them():
    vector = Vector((Variable(AGE, AGE.domain),), (variable(0, 1), constant(2, 1)))
    entries = {"m1": pa.array([6, None, 8], pa.int64()), "m2": pa.array([9, 2, None], pa.int64())}
    columns = {
        "k0": pa.array([2, 0, None], pa.uint8()),
        "m0": pa.array([1, 3, 5]),
        **entries,
        "m3": pa.array([4, 4, 4]),
    }
    asked = [Query(TABLE, (CITY,), aggregate) for aggregate in (Rows(), vector, Total(AGE, AGE.domain))]
    before, exact, after = read_cells(pa.table(columns), tuple(asked))
    assert (before.tolist(), after.tolist()) == ([3, 0, 1], [4, 0, 4])
    assert exact.tolist() == [[0, 2], [0, 0], [6, 9]]
    assert (exact.dtype, exact.shape) == (np.int64, asked[1].result_shape)


def test_wide_entries_of_a_vector_arrive_as_the_same_python_integers():
    vector = Vector((Variable(AGE, AGE.domain),), (constant(2**70, 1), constant(-(2**70), 1)))
    sums = [pa.array([Decimal(sign * 2**70)], pa.decimal128(38, 0)) for sign in (1, -1)]
    (exact,) = read_cells(pa.table({"m0": sums[0], "m1": sums[1]}), (Query(TABLE, (), vector),))
    assert exact.tolist() == [2**70, -(2**70)]
    assert {type(value) for value in exact} == {int}


def test_wide_numbers_of_another_type_are_not_guessed_at():
    result = pa.table({"m0": pa.array([Decimal(5)], pa.decimal256(50, 0))})
    with pytest.raises(ValueError, match="DECIMAL"):
        read_cells(result, (Query(TABLE, (), WIDE),))


def test_few_rows_are_read_as_python_objects_into_the_same_cells():
    queries = (Query(TABLE, (CITY, MEMBER), Rows()), Query(TABLE, (CITY, MEMBER), WIDE))
    rows = [(2, True, 5, Decimal(10**30)), (0, False, 7, None), (None, True, 9, Decimal(1)), (1, None, 9, Decimal(1))]
    counts, sums = read_rows(["k0", "k1", "m0", "m1"], rows, queries)
    assert counts.tolist() == [[7, 0], [0, 0], [0, 5]]
    assert sums.tolist() == [[0, 0], [0, 0], [0, 10**30]]
    assert (counts.dtype, sums.dtype) == (np.int64, object)
    assert {type(each) for each in sums.ravel()} == {int}


def test_the_type_of_integers_is_that_of_the_query_and_never_that_of_the_values():
    """Otherwise how many bits an answer is computed in would tell how large a sum is."""
    wide, narrow = Query(TABLE, (), WIDE), Query(TABLE, (), Total(AGE, AGE.domain))
    many = Query(replace(TABLE, rows_per_person=2**40), (), Rows())
    assert many.largest >= 2**63
    assert [read_rows(["m0"], [(5,)], (query,))[0].dtype for query in (wide, narrow, many)] == [
        object,
        np.int64,
        np.int64,
    ]
    with pytest.raises(OverflowError):
        read_rows(["m0"], [(2**63,)], (narrow,))
    with pytest.raises(TypeError):
        read_rows(["m0"], [(5.0,)], (narrow,))


def test_few_are_declared_cells_and_no_values_to_be_found():
    column = Column("name", Text())
    names = Bucket(column, Names(("a",)), column)
    sized = [whole("size", 1, size) for size in (MOST_ROWS, MOST_ROWS + 1)]
    buckets = [Bucket(each, each.domain, each) for each in sized]
    ranked = Histogram(AGE, AGE.domain, (Fraction(1, 2),), Fraction(19, 20))
    few = [Query(TABLE, keys, Rows()) for keys in ((), (CITY, MEMBER), (buckets[0],), (buckets[1],), (names,))]
    assert [are_few((query,)) for query in few] == [True, True, True, False, False]
    assert not are_few((Query(TABLE, (), ranked),))


def test_halves_that_stand_side_by_side_are_cells_of_the_last_key():
    condition = call("is null", AGE)
    missing = Bucket(condition, None, condition)
    queries = (Query(TABLE, (CITY, missing), Rows()), Query(TABLE, (CITY, missing), Total(AGE, AGE.domain)))
    names, rows = ["k0", "m0", "n0", "m1"], [(2, 5, 1, 70), (None, 8, 8, 8)]
    result = pa.table(dict(zip(names, zip(*rows, strict=True), strict=True)))
    for counts, sums in (read_rows(names, rows, queries), read_cells(result, queries)):
        assert counts.tolist() == [[0, 0], [0, 0], [5, 1]]
        assert sums.tolist() == [[0, 0], [0, 0], [70, 0]]
    vector = Query(TABLE, (CITY, missing), Vector((Variable(AGE, AGE.domain),), (variable(0, 1), constant(2**70, 1))))
    wide = [(2, 5, 1, Decimal(10), Decimal(-(2**70)), 70), (None, 8, 8, Decimal(8), None, 8)]
    names, queries = ["k0", "m0", "n0", "m1", "m2", "m3"], (queries[0], vector, queries[1])
    columns = dict(zip(names, zip(*wide, strict=True), strict=True))
    columns |= {name: pa.array(columns[name], pa.decimal128(38, 0)) for name in ("m1", "m2")}
    for counts, entries, sums in (read_rows(names, wide, queries), read_cells(pa.table(columns), queries)):
        assert (counts.tolist(), sums.tolist()) == ([[0, 0], [0, 0], [5, 1]], [[0, 0], [0, 0], [70, 0]])
        assert entries.tolist() == [[[0, 0]] * 2] * 2 + [[[10, -(2**70)], [0, 0]]]
        assert (counts.dtype, entries.dtype, sums.dtype) == (np.int64, object, np.int64)
    alone = (Query(TABLE, (missing,), Rows()),)
    assert read_rows(["m0", "n0"], [(3, 4)], alone)[0].tolist() == [3, 4]
    assert read_cells(pa.table({"m0": [3], "n0": [4]}), alone)[0].tolist() == [3, 4]


def test_a_histogram_is_its_cells_values_and_counts_without_those_that_are_missing():
    columns = {"k0": pa.array([2, 0, None], pa.uint8()), "k1": [False, True, True], "k2": [7, 9, 3], "m0": [5, 1, 2]}
    values = Query(TABLE, (CITY, MEMBER), Histogram(AGE, AGE.domain, (Fraction(1, 2),), Fraction(19, 20)))
    assert read_cells(pa.table(columns), (values,))[0].tolist() == [[4, 1], [7, 9], [5, 1]]


def test_rows_without_a_value_are_in_no_bucket():
    result = pa.table({"k0": pa.array([None, 4], pa.int64()), "m0": pa.array([5, 1], pa.int64())})
    values = Query(TABLE, (), Histogram(AGE, AGE.domain, (Fraction(1, 2),), Fraction(19, 20)))
    assert read_cells(result, (values,))[0].tolist() == [[0], [4], [1]]


NAME, DAY = Column("name", Text()), Column("day", Day())
WHOLE = Column("size", Quantity(whole=True))
TABLE_OF_FOUND_KEYS = relation(people(NAME, DAY, MEMBER, WHOLE))


def found(column, *labels):
    return Bucket(column, Names(labels), column)


@pytest.mark.parametrize(
    ("key", "values"),
    [
        (found(NAME, "ann", "bo"), pa.array(["bo", "cy", None, "ann"])),
        (found(WHOLE, -7, 2**53), pa.array([2**53, 3, None, -7], pa.int64())),
        (found(DAY, date(1, 1, 1), date(2020, 2, 29)), pa.array([date(2020, 2, 29), date(2021, 1, 1), None, date.min])),
    ],
    ids=["texts", "whole numbers", "days"],
)
def test_values_become_places_among_those_that_were_found(key, values):
    result = pa.table({"k0": values, "m0": pa.array([5, 6, 7, 8], pa.int64())})
    assert number_found_keys(result, (key,))["k0"].to_pylist() == [1, None, None, 0]
    (exact,) = read_cells(result, (Query(TABLE_OF_FOUND_KEYS, (key,), Rows()),))
    assert exact.tolist() == [8, 5]


def test_places_stand_beside_codes_of_declared_keys():
    result = pa.table({"k0": [True, False], "k1": ["bo", "cy"], "m0": pa.array([5, 6], pa.int64())})
    (exact,) = read_cells(result, (Query(TABLE_OF_FOUND_KEYS, (MEMBER, found(NAME, "ann", "bo")), Rows()),))
    assert exact.tolist() == [[0, 0], [0, 5]]


def test_rows_without_a_key_belong_to_no_group():
    result = pa.table({"k0": ["a", None, "b"], "k1": [1, 2, None], "m0": [1, 2, 3]})
    assert drop_missing_keys(result, (NAME, WHOLE))["m0"].to_pylist() == [1]
    assert drop_missing_keys(result, ()) is result


def test_values_are_told_by_place_and_those_of_nobody_are_none():
    result = pa.table({"k0": ["a", None, "b"], "k1": [1, 2, 3], "m0": pa.array([10, 20, 30], pa.int64())})
    counts, at = count_people(result, (found(NAME, ""), found(WHOLE, 0)))
    assert counts.tolist() == [10, 30]
    assert at(np.array([1])) == [("b", 3)]
    assert at(np.array([], dtype=np.intp)) == []
