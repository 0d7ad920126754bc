"""Expressions over the people of the hospital, read from their text."""

from __future__ import annotations

import pytest

from adomnia.errors import Refusal
from adomnia.sql.reading.parse import parse_expression
from adomnia.sql.values.scalars import read_expression
from adomnia.sql.values.scope import Scope, ScopeTable
from sql.hospital import PEOPLE

SCOPE = Scope((ScopeTable("people", {column.name: column for column in PEOPLE.columns}),))


def read(text):
    return read_expression(parse_expression(text), SCOPE)


def code_of(text):
    with pytest.raises(Refusal) as refusal:
        read(text)
    return refusal.value.code
