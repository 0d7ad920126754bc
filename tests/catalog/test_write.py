"""Names, quoted texts and types in drafts of catalogs."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.catalog.document_keys import NAME
from adomnia.catalog.model import RESERVED
from adomnia.catalog.write import Draft, as_name, compose, toml_string, type_of


def test_a_draft_has_no_unit_and_no_budget_and_proposes_a_small_one():
    text = compose("my hospital", "# unit", [Draft("people", "people.csv", ["# key"], ["age = { type = 'integer' }"])])
    content = tomllib.loads(text)
    assert content["dataset"] == {"name": "my_hospital", "version": 1}
    assert content["budget"] == content["analysts"]["alice"] == {}
    assert "# epsilon = 1.0 " in text
    assert content["tables"]["people"] == {"source": "people.csv", "columns": {"age": {"type": "integer"}}}


@given(text=st.text())
def test_every_text_has_a_name(text):
    assert NAME.holds(as_name(text))
    assert as_name(text).lower() not in RESERVED


@given(text=st.text(st.characters(codec="utf-8")))
def test_a_quoted_text_is_read_back(text):
    assert tomllib.loads(f"key = {toml_string(text)}")["key"] == text


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("BIGINT", "integer"),
        ("DECIMAL(18, 3)", "number"),
        ("double", "number"),
        ("VARCHAR", "text"),
        ("DATE", "date"),
        ("TIMESTAMP_NS", "timestamp"),
        ("TIMESTAMPTZ_NS", "timestamp"),
        ("ENUM('a')", "category"),
        ("UUID", "id"),
        ("TIME", None),
        ("BLOB", None),
        ("INTEGER[]", None),
    ],
)
def test_the_types_of_other_systems_are_understood(written, kind):
    assert type_of(written) == kind
