from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from adomnia.engines.sources.facts import find_facts
from adomnia.privacy.filters import Budget
from adomnia.privacy.kinds import Text
from adomnia.session.curator import read_catalog
from adomnia.session.declared import Declared
from adomnia.session.protect import protect_tables
from adomnia.wire.catalogs import CatalogReply, catalog_of
from kit.example import write_example
from kit.hospital import CATALOG, LINKED, declare


def sent(catalog):
    return catalog_of(CatalogReply.model_validate(json.loads(json.dumps(CatalogReply.record(catalog))), strict=True))


def without_files(catalog):
    return replace(catalog, folder=Path(), tables=tuple(replace(table, source="") for table in catalog.tables))


def test_timestamps_arrive_with_their_time_zone(tmp_path):
    bounds = ", lower = 2020-01-01T00:00:00, upper = 2020-12-31T23:59:59"
    for known in (bounds, ""):
        line = f'day = {{ type = "timestamp", timezone = "Europe/Oslo"{known} }}'
        catalog = declare(tmp_path / f"hospital{len(known)}", CATALOG.replace('day = { type = "date" }', line))
        assert sent(catalog) == without_files(catalog)


def test_a_catalog_with_profiles_and_policies_arrives_as_it_left(curator):
    assert any(table.profile for table in curator.catalog.tables)
    assert sent(curator.catalog) == without_files(curator.catalog)


def test_a_catalog_with_links_and_views_arrives_as_it_left(tmp_path):
    catalog = declare(tmp_path / "linked", LINKED)
    assert sent(catalog) == without_files(catalog)


def test_a_category_with_others_arrives_as_it_left(tmp_path):
    catalog = declare(tmp_path / "others", CATALOG.replace('"X"] }', '"X"], others = "Else" }'))
    column = catalog.table("people").column("sex")
    assert column.kind == Text(("F", "M", "X", "Else"), others=True)
    assert sent(catalog) == without_files(catalog)
    (told,) = (each for each in CatalogReply.record(catalog)["tables"][0]["columns"] if each["name"] == "sex")
    assert told == {"name": "sex", "type": "category", "values": ["F", "M", "X", "Else"], "others": "Else"}


def test_the_catalog_of_the_example_arrives_as_it_left(tmp_path):
    catalog = read_catalog(write_example(tmp_path / "example", people=100))
    assert sent(catalog) == without_files(catalog)


def test_the_catalog_of_a_table_in_memory_arrives_as_it_left():
    import pyarrow as pa

    table = pa.table({"x": [1, 2], "y": [0.5, 1.5]})
    declared = Declared("row", Budget(1), bounds={"x": (0, 10), "y": (-0.1, 0.3)})
    catalog = protect_tables(table, {}, declared, find_facts).catalog
    assert sent(catalog) == without_files(catalog)


def test_no_file_and_no_folder_is_named(tmp_path):
    catalog = read_catalog(write_example(tmp_path / "example", people=100))
    text = json.dumps(CatalogReply.record(catalog))
    assert "parquet" not in text
    assert str(tmp_path) not in text


def test_a_type_that_nobody_knows_is_refused(curator):
    record = CatalogReply.record(curator.catalog)
    record["tables"][0]["columns"][0]["type"] = "colour"
    with pytest.raises(ValueError, match="type"):
        CatalogReply.model_validate(record, strict=True)


@pytest.mark.parametrize(("kind", "lost"), [("id", "person"), ("timestamp", "timezone"), ("category", "values")])
def test_a_column_has_all_that_its_type_needs(curator, kind, lost):
    told = {"person": True, "linked": "", "timezone": "UTC", "values": ["a"], "name": "x", "type": kind}
    record = CatalogReply.record(curator.catalog)
    for columns, whole in ([told], True), ([{name: part for name, part in told.items() if name != lost}], False):
        record["tables"][0]["columns"] = columns
        reply = CatalogReply.model_validate(record, strict=True)
        if whole:
            assert str(catalog_of(reply).tables[0].columns[0].kind) == kind
        else:
            with pytest.raises(ValueError, match="must have all parts of its kind"):
                catalog_of(reply)
