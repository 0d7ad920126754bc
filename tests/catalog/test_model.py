"""A catalog finds what it holds by name, and nothing else."""

from __future__ import annotations

from catalog.catalogs import CLINIC, reading


def test_tables_columns_and_analysts_are_found_by_their_exact_names(tmp_path):
    catalog = reading(tmp_path, CLINIC)
    assert catalog.table("people").column("age").name == "age"
    assert catalog.analyst("alice").name == "alice"


def test_what_is_not_declared_is_not_found(tmp_path):
    catalog = reading(tmp_path, CLINIC)
    assert catalog.table("People") is None
    assert catalog.table("people").column("rowid") is None
    assert catalog.analyst("mallory") is None
