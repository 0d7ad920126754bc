"""Expressions over the people of the hospital, read from their text."""

from __future__ import annotations

import pytest

from adomnia.errors import Refusal
from adomnia.sql.reading.parse import parsed_expression
from adomnia.sql.values.scalars import expression
from adomnia.sql.values.scope import Scope, Source
from sql.hospital import PEOPLE

SCOPE = Scope((Source("people", {column.name: column for column in PEOPLE.columns}),))


def read(text):
    return expression(parsed_expression(text), SCOPE)


def code_of(text):
    with pytest.raises(Refusal) as refusal:
        read(text)
    return refusal.value.code
