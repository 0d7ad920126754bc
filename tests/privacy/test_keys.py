"""Keys of groups: the integers that stand for their values, and the labels that people see."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, call, number, text
from adomnia.privacy.keys import Blocks, Bucket, key_cells, key_values, widen_key
from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text

AGE = Column("age", Quantity(0, 120, whole=True), Numbers.integers(0, 120))
NAME = Column("name", Text())
SEX = Column("sex", Text(("F", "M", "X")))
ACTIVE = Column("active", Boolean())
BORN = Column("born", Day(date(1900, 1, 1), date(2030, 12, 31)))


def bucket(value, among, shown="number"):
    return Bucket(value, among, value, shown)


def moments(*texts):
    return tuple(map(datetime.fromisoformat, texts))


@pytest.mark.parametrize(
    ("key", "cells", "labels"),
    [
        (SEX, range(3), ("F", "M", "X")),
        (Blocks(3), range(3), (0, 1, 2)),
        (ACTIVE, range(2), (False, True)),
        (bucket(call(">", AGE, number(18)), None), range(2), (False, True)),
        (bucket(NAME, ("Ann", "Bob")), range(2), ("Ann", "Bob")),
        (bucket(AGE, Numbers.integers(-1, 2)), range(-1, 3), (-1, 0, 1, 2)),
        (bucket(AGE, Numbers(-10, 20, 10)), range(-1, 3), (-10, 0, 10, 20)),
        (bucket(AGE, Numbers(0, 1, 0.5)), range(3), (0.0, 0.5, 1.0)),
        (bucket(BORN, Numbers.integers(0, 1), "day"), range(2), (date(1, 1, 1), date(1, 1, 2))),
        (bucket(BORN, Numbers.integers(0, 1), "hour"), range(2), moments("1970-01-01T00", "1970-01-01T01")),
        (bucket(BORN, Numbers.integers(-1, 0), "minute"), range(-1, 1), moments("1969-12-31T23:59", "1970-01-01T00")),
        (bucket(BORN, Numbers.integers(1, 1), "second"), range(1, 2), moments("1970-01-01T00:00:01")),
        (bucket(BORN, Numbers.integers(0, 1), "week"), range(2), (date(1, 1, 1), date(1, 1, 8))),
        (
            bucket(BORN, Numbers.integers(12 * 1999 + 11, 12 * 2000), "month"),
            range(23999, 24001),
            (date(1999, 12, 1), date(2000, 1, 1)),
        ),
        (
            bucket(BORN, Numbers.integers(4 * 1999 + 3, 4 * 2000), "quarter"),
            range(7999, 8001),
            (date(1999, 10, 1), date(2000, 1, 1)),
        ),
        (bucket(BORN, Numbers.integers(1999, 2000), "year"), range(1999, 2001), (date(1999, 1, 1), date(2000, 1, 1))),
    ],
)
def test_every_value_of_a_key_has_an_integer_and_a_label(key, cells, labels):
    assert key_cells(key) == cells
    assert key_values(key) == labels
    assert [type(label) for label in key_values(key)] == [type(label) for label in labels]


@pytest.mark.parametrize("key", [NAME, AGE, Column("person_id", Identity(person=True)), BORN])
def test_a_column_without_declared_values_is_no_key(key):
    with pytest.raises(ValueError, match=f"declared values, got {key.name}"):
        key_values(key)
    with pytest.raises(ValueError, match="declared values"):
        key_cells(key)


def test_weeks_begin_on_monday():
    assert {label.weekday() for label in key_values(bucket(BORN, Numbers.integers(0, 60), "week"))} == {0}


def test_keys_of_different_texts_differ():
    assert bucket(text("a"), ("a",)) != bucket(text("a"), ("b",))


@pytest.mark.parametrize("count", [-1, 0, 1, 2**17 + 1])
def test_blocks_are_at_least_two_and_far_fewer_than_hashes(count):
    with pytest.raises(ValueError, match=f"Blocks count must be from 2 to 131072, got {count}"):
        Blocks(count)


def test_values_that_are_left_remember_all():
    some = Bucket(call("case", call("=", SEX, text("M")), number(0), number(0)), ("M",), SEX, whole=SEX)
    assert key_values(some) == ("M",)
    assert widen_key(some) is SEX
    assert [widen_key(each) for each in (SEX, bucket(AGE, AGE.domain))] == [SEX, bucket(AGE, AGE.domain)]
