from __future__ import annotations

from datetime import date
from fractions import Fraction
from itertools import product

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.index import order
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Day, Quantity, Text
from engines.databases import KEY, category, number, whole

WIDE = Numbers.integers(0, 2**62)
COLUMNS = (
    category("city", "Oslo", "Bergen"),
    Column("note", Text()),
    whole("age", -2, 3),
    number("fare", 0, 1, Fraction(1, 2)),
    Column("wide", Quantity(WIDE.lower, WIDE.upper, whole=True), WIDE),
    Column("member", Boolean()),
    Column("day", Day(date(2020, 1, 1), date(2020, 1, 3))),
    Column("memo", Text()),
    Column("open", Day()),
)
TEXT = st.none() | st.text("0:-a", max_size=4)
MESSAGES = st.tuples(
    st.integers(1, 12),  # the copy
    st.sampled_from([None, 0, 1]),
    TEXT,
    st.sampled_from([None, -2, 0, 3]),
    st.sampled_from([None, 0, 1, 2]),
    st.sampled_from([None, 0, 1, 2**62]),
    st.sampled_from([None, True, False]),
    st.sampled_from([None, date(2020, 1, 1), date(2020, 1, 3)]),
    TEXT,
    st.sampled_from([None, date(2020, 1, 1)]),
    st.integers(0, 11),  # the origin
    st.text("0:-1", max_size=3),  # the person
)
TYPES = {
    "copy": pa.int64(),
    "city": pa.uint8(),
    "note": pa.string(),
    "age": pa.int8(),
    "fare grid": pa.int8(),
    "wide": pa.int64(),
    "member": pa.bool_(),
    "day": pa.date32(),
    "memo": pa.string(),
    "open": pa.date32(),
    "origin": pa.int32(),
    "key": pa.string(),
}


def messages(rows, columns=COLUMNS):
    """What is hashed for each row: the digest without its last steps."""
    values = zip(TYPES.items(), zip(*rows, strict=True), strict=True)
    hashed = order.render_digest(KEY, "copy", columns, "origin, ':', key", DUCKDB)
    message = hashed.removeprefix("CAST(md5_number(").removesuffix(") >> 64 AS UBIGINT)")
    with duckdb.cursor() as connection:
        connection.register("rows", pa.table({name: pa.array(cells, kind) for (name, kind), cells in values}))
        return [text for (text,) in connection.execute(f"SELECT {message} FROM rows").fetchall()]


@settings(max_examples=150, deadline=None)
@given(st.lists(MESSAGES, min_size=2, max_size=40, unique=True))
def test_different_rows_copies_and_people_are_never_written_alike(rows):
    assert len(set(messages(rows))) == len(rows)


@settings(max_examples=150, deadline=None)
@given(first=MESSAGES, place=st.integers(0, len(TYPES) - 1), other=MESSAGES)
def test_one_field_is_enough_to_tell_two_messages_apart(first, place, other):
    second = (*first[:place], other[place], *first[place + 1 :])
    one, two = messages([first, second])
    assert (one == two) == (first == second)


def test_texts_made_to_look_like_other_fields_are_told_apart():
    texts = [None, "-", *("".join(letters) for size in range(6) for letters in product("1:", repeat=size))]
    rows = [
        (1, None, note, None, None, None, None, None, memo, None, 0, "p") for note, memo in product(texts, repeat=2)
    ]
    assert len(set(messages(rows, (COLUMNS[1], COLUMNS[7])))) == len(texts) ** 2


def test_every_combination_of_bounded_values_is_told_apart():
    cities, ages, fares, truths = (None, 0, 1), (None, *range(-2, 4)), (None, 0, 1, 2), (None, True, False)
    days = (None, *(date(2020, 1, day) for day in (1, 2, 3)))
    combined = list(product(cities, ages, fares, truths, days))
    rows = [
        (1, city, None, age, fare, None, truth, day, None, None, 0, "p") for city, age, fare, truth, day in combined
    ]
    assert len(set(messages(rows))) == len(combined)


def test_the_key_comes_first_and_the_person_last():
    ((message,)) = messages([(1, 1, "a", 0, 1, 5, True, date(2020, 1, 2), None, None, 0, "Ann")])
    assert message.startswith(KEY.hex() + ":1:")
    assert message.endswith(":0:Ann")


def test_bounded_columns_share_as_few_integers_as_hold_them():
    small = tuple(whole(f"c{place}", 0, 998) for place in range(7))  # radix 1000: six of them fit below 2**63
    assert order.render_digest(KEY, "1", small, "who", DUCKDB).count("AS VARCHAR") == 2
    assert order.render_digest(KEY, "1", (), "who", DUCKDB).count("AS VARCHAR") == 0


@pytest.mark.parametrize("width", [2**60, 2**61, 2**62, 2**77])
def test_numbers_of_any_size_can_be_hashed(width):
    domain = Numbers.integers(-width, width)
    column = Column("wide", Quantity(domain.lower, domain.upper, whole=True), domain)
    sql = order.render_digest(KEY, "1", (column,), "'who'", DUCKDB)
    with duckdb.cursor() as connection:
        rows = connection.execute(
            f"SELECT {sql} FROM (VALUES (CAST({-width} AS HUGEINT)), ({width}), (0), (NULL)) t(wide)"
        ).fetchall()
    assert len(set(rows)) == 4
