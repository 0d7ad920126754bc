"""Columns of an answer are plain values: equal ones are equal, and nothing in them can be changed."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from adomnia.session.columns import KeyColumn, ValueColumn


def test_keys_are_compared_by_what_they_hold():
    assert KeyColumn("sex", ("F", "M")) == KeyColumn("sex", ("F", "M"))
    assert KeyColumn("sex", ("F", "M")) != KeyColumn("sex", ("M", "F"))
    assert KeyColumn("sex", (None, True, 1.5)).values == (None, True, 1.5)


def test_a_column_cannot_be_changed(alice):
    key, value = alice.sql("SELECT sex, COUNT(*) FROM people GROUP BY sex", epsilon=1).columns
    assert (type(key), type(value)) == (KeyColumn, ValueColumn)
    for column in (key, value):
        with pytest.raises(FrozenInstanceError):
            column.name = "other"
