from __future__ import annotations

import tomllib

import pytest

from adomnia.errors import Refusal, Unavailable
from adomnia.inspection.checking import check_folder
from adomnia.inspection.drafts import draft
from adomnia.inspection.files import find_tables
from adomnia.inspection.reports import inspect_data
from inspection.catalogs import write_catalog
from kit.filled_postgres import filled

TABLES = (
    'CREATE TABLE people (person_id uuid, "Age" smallint, born date, seen timestamptz, extra jsonb)',
    "CREATE TABLE visits (person_id uuid, cost numeric(10, 2))",
    "INSERT INTO visits VALUES (NULL, 4242.42)",
    "CREATE SCHEMA ward",
    "CREATE TABLE ward.beds (bed int)",
)


def test_a_database_is_drafted_from_names_and_types_alone(tmp_path):
    with filled(*TABLES) as url:
        text = draft("d", find_tables(tmp_path, [url]))
    tables = tomllib.loads(text)["tables"]
    assert list(tables) == ["people", "visits"]
    assert (tables["people"]["source"], tables["people"]["table"]) == (url, "people")
    types = {name: column["type"] for name, column in tables["people"]["columns"].items()}
    assert types == {"person_id": "id", "age": "integer", "born": "date", "seen": "timestamp"}
    assert tables["people"]["columns"]["age"]["column"] == "Age"
    assert tables["visits"]["columns"]["cost"] == {"type": "number"}
    assert 'extra is left out: no type of column holds "JSONB"' in text
    assert "4242" not in text


def test_tables_of_a_database_may_be_chosen(tmp_path):
    with filled(*TABLES) as url:
        tables = tomllib.loads(draft("d", find_tables(tmp_path, [url], chosen=["ward.beds", "visits"])))["tables"]
    assert {name: table["table"] for name, table in tables.items()} == {"beds": "ward.beds", "visits": "visits"}


def test_a_database_without_tables_cannot_be_drafted_nor_looked_at(tmp_path):
    with filled() as url:
        with pytest.raises(Refusal, match="has no table in the schema public"):
            find_tables(tmp_path, [url])
        with pytest.raises(Refusal, match="--look is for files of texts"):
            find_tables(tmp_path, [url], look=True)
    with pytest.raises(Refusal, match="has a password in it"):
        find_tables(tmp_path, ["postgresql://a:geheim@host/b"])
    with pytest.raises(Unavailable, match="cannot be reached"):
        find_tables(tmp_path, ["postgresql://nobody@127.0.0.1:1/b"])


RIDES = """
[engine]
name = "duckdb"
[tables.rides]
source = "{}"
table = "rides"
rows_per_person = 1
[tables.rides.columns]
person_id = {{ type = "id" }}
day = {{ type = "date", lower = 2020-01-01, upper = 2029-12-31{} }}
city = {{ type = "category", values = ["Oslo"] }}
"""
FILL = (
    "CREATE TABLE rides (person_id int, day text, city text)",
    "INSERT INTO rides VALUES (1, '31.12.2024', 'Oslo'), (1, '30.12.2024', U&'\\FFFD'), (2, '13.01.1990', NULL)",
)


def test_rows_in_a_database_are_compared_with_the_catalog(tmp_path):
    with filled(*FILL) as url:
        folder = write_catalog(tmp_path, "rides.person_id", RIDES.format(url, ', format = "%d.%m.%Y"'))
        found = check_folder(folder)
        assert found.problems == ()
        report = inspect_data(found.catalog)
    assert [(each.column, each.kind, each.count) for each in report.mismatches] == [
        ("day", "clamped", 1),
        ("city", "undeclared", 1),
        (None, "over_cap", 1),
    ]
    assert [(each.rows, each.people) for each in report.people] == [(3, 2)]


def test_a_column_that_a_database_lacks_is_named_with_its_line(tmp_path):
    with filled(*FILL) as url:
        folder = write_catalog(tmp_path, "rides.person_id", RIDES.format(url, "").replace("day =", "days ="))
        (problem,) = check_folder(folder).problems
    assert problem.what.startswith("tables.rides.columns.days")
    assert 'write column = "day" in its line' in problem.fix


def test_a_table_that_a_database_lacks_is_named_with_its_line(tmp_path):
    with filled() as url:
        folder = write_catalog(tmp_path, "rides.person_id", RIDES.format(url, ""))
        (problem,) = check_folder(folder).problems
    assert problem.what.startswith("tables.rides.source")
    assert "has no table rides in the schema public" in problem.why
