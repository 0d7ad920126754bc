"""A catalog finds what it holds by name, and nothing else."""

from __future__ import annotations

import pytest

from adomnia.catalog.model import Link, Table
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text
from catalog.catalogs import CLINIC, changed, reading

NOTES = """
[tables.notes]
source = "notes.csv"
person = "v -> {}"
rows_per_person = 1
columns = {{ v = {{ type = "id" }} }}
"""


def test_tables_columns_and_analysts_are_found_by_their_exact_names(tmp_path):
    catalog = reading(tmp_path, CLINIC)
    assert catalog.table("people").column("age").name == "age"
    assert catalog.analyst("alice").name == "alice"


def test_what_is_not_declared_is_not_found(tmp_path):
    catalog = reading(tmp_path, CLINIC)
    assert catalog.table("People") is None
    assert catalog.table("people").column("rowid") is None
    assert catalog.analyst("mallory") is None


def test_the_keys_that_others_link_to_are_unique_and_the_units_own_need_not_be(tmp_path):
    catalog = reading(tmp_path, CLINIC)
    assert {table.name: catalog.unique_keys(table.name) for table in catalog.tables} == {
        "people": (),
        "visits": ("visit_id",),
        "items": (),
        "cities": (),
    }


def test_a_key_that_several_tables_link_to_is_listed_once(tmp_path):
    assert reading(tmp_path, CLINIC + NOTES.format("visits.visit_id")).unique_keys("visits") == ("visit_id",)


def test_a_link_that_is_shortened_says_nothing_of_the_keys_it_passes(tmp_path):
    text = changed("rows_per_person = 50", "rows_per_person = 1") + NOTES.format("items.visit_id")
    catalog = reading(tmp_path, text)
    assert catalog.resolve_link(catalog.table("notes").link) == Link("v", "visits", "visit_id")
    assert catalog.unique_keys("items") == ()
    assert catalog.unique_keys("visits") == ("visit_id",)


def test_a_link_that_ends_at_the_unit_through_another_table_leaves_no_unique_key(tmp_path):
    text = changed("rows_per_person = 10", "rows_per_person = 1") + NOTES.format("visits.person_id")
    catalog = reading(tmp_path, text)
    assert catalog.resolve_link(catalog.table("notes").link) == Link("v", "people", "person_id")
    assert catalog.unique_keys("people") == ()
    assert catalog.resolve_link(None) is None


@pytest.mark.parametrize(
    ("names", "rule"),
    [(("a", "A"), "columns of different names, got a, A"), (("a\n",), "got 'a\\\\n'"), ((" key",), "got ' key'")],
)
def test_a_table_cannot_have_columns_that_would_be_read_for_others(names, rule):
    with pytest.raises(ValueError, match=rule):
        Table("t", "t.csv", tuple(Column(name, Text()) for name in names))


@pytest.mark.parametrize("name", ["rank", "a b", "", "é"])
def test_a_table_has_a_plain_name(name):
    with pytest.raises(ValueError, match="must have a name of letters, digits and _, not a reserved one"):
        Table(name, "t.csv", (Column("a", Text()),))
