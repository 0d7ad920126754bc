"""Every private table leads to the unit, and the columns that name a person are marked."""

from __future__ import annotations

import pytest

from adomnia.catalog.document_keys import LINKED_TABLE, OWN_TABLE, PUBLIC_TABLE, ROW_TABLE
from adomnia.catalog.model import Link
from adomnia.catalog.people import read_link, section_of
from adomnia.errors import Refusal
from adomnia.privacy.kinds import Identity
from adomnia.privacy.units import ROW, Unit
from catalog.catalogs import CLINIC, changed, reading


@pytest.mark.parametrize("written", ["a -> b.c", "a->b.c", "  a  ->  b.c "])
def test_a_link_is_read_whatever_its_spaces(written):
    assert read_link(written) == Link("a", "b", "c")


def test_no_link_is_no_link():
    assert read_link(None) is None


def test_the_keys_of_a_table_follow_from_its_part():
    unit = Unit("people", "person_id")
    assert section_of({"public": True}, "people", unit) is PUBLIC_TABLE
    assert section_of({"public": True}, "people", ROW) is PUBLIC_TABLE
    assert section_of({}, "people", ROW) is ROW_TABLE
    assert section_of({"public": False}, "people", unit) is OWN_TABLE
    assert section_of({}, "visits", unit) is LINKED_TABLE


def test_a_column_names_the_person_only_if_its_values_are_those_of_the_unit(tmp_path):
    catalog = reading(tmp_path, CLINIC)
    persons = {
        (table.name, column.name)
        for table in catalog.tables
        for column in table.columns
        if column.kind == Identity(person=True)
    }
    assert persons == {("people", "person_id"), ("visits", "person_id")}


def kinds(catalog):
    return {
        f"{table.name}.{column.name}": column.kind
        for table in catalog.tables
        for column in table.columns
        if isinstance(column.kind, Identity)
    }


def test_ids_that_link_tables_are_marked_at_both_ends_unless_they_are_the_persons(tmp_path):
    text = changed("ward = { type", 'item_id = { type = "id" }\nward = { type')
    assert kinds(reading(tmp_path, text)) == {
        "people.person_id": Identity(person=True),
        "visits.visit_id": Identity(linked="visits.visit_id"),
        "visits.person_id": Identity(person=True),
        "items.visit_id": Identity(linked="visits.visit_id"),
        "items.item_id": Identity(),
    }


def test_an_id_that_nothing_is_linked_to_stays_plain(tmp_path):
    found = kinds(reading(tmp_path, changed("visit_id -> visits.visit_id", "visit_id -> people.person_id")))
    assert found["visits.visit_id"] == Identity()
    assert found["items.visit_id"] == Identity(person=True)


def test_a_chain_of_person_columns_names_the_person_all_along(tmp_path):
    text = changed("rows_per_person = 10", "rows_per_person = 1").replace(
        "visit_id -> visits.visit_id", "p -> visits.person_id"
    )
    catalog = reading(tmp_path, text.replace('visit_id = { type = "id" }\nward', 'p = { type = "id" }\nward'))
    assert catalog.table("items").column("p").kind == Identity(person=True)


def test_a_link_to_another_key_of_the_people_is_refused_because_the_chain_must_end_at_the_unit(tmp_path):
    text = changed('name = { type = "text" }', 'code = { type = "id" }')
    with pytest.raises(Refusal) as caught:
        reading(tmp_path, text.replace("person_id -> people.person_id", "person_id -> people.code"))
    assert caught.value.why == "must end at the unit, people.person_id"
    assert caught.value.fix == 'write person = "person_id -> people.person_id"'


def test_a_key_that_both_tables_have_is_not_proposed_as_the_people(tmp_path):
    text = changed('name = { type = "text" }', 'visit_id = { type = "id" }')
    with pytest.raises(Refusal) as caught:
        reading(tmp_path, text.replace("person_id -> people.person_id", "visit_id -> people.visit_id"))
    assert caught.value.why == "must end at the unit, people.person_id"
    assert "once more, as a table of people" in caught.value.fix


def test_a_circle_beside_the_way_to_the_unit_is_found_from_every_table_that_runs_into_it(tmp_path):
    text = changed("person_id -> people.person_id", "visit_id -> items.visit_id") + (
        '[tables.notes]\nsource = "n.csv"\nperson = "v -> visits.visit_id"\nrows_per_person = 1\n'
        'columns = { v = { type = "id" } }\n'
    )
    with pytest.raises(Refusal, match="visits -> items -> visits"):
        reading(tmp_path, text)
    first = text.index("[tables.notes]")
    moved = text[first:] + text[:first]
    with pytest.raises(Refusal, match="notes -> visits -> items -> visits"):
        reading(tmp_path, moved)
