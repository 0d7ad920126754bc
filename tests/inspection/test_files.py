from __future__ import annotations

import sqlite3
import tomllib

import duckdb
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
TEXT = """;Nr;joined;paid;active;size;note;never
1;A1;31.12.2020;1.234,50 €;yes;3;"a; b";
2;A2;01.02.2021;7,25 €;no;NA;c;
3;A3;NA;NA;yes;12;"d
e";
"""


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


def look(path):
    return tomllib.loads(draft("d", find_tables(path.parent, [path], look=True)))["tables"]


def test_a_text_file_is_looked_at_for_types_and_how_values_are_written(tmp_path):
    (tmp_path / "t.csv").write_text(TEXT, encoding="utf-8")
    table = look(tmp_path / "t.csv")["t"]
    assert table["csv"] == {
        "delimiter": ";",
        "currency": "€",
        "decimal": ",",
        "thousands": ".",
        "null": ["NA"],
    }
    assert {name: column["type"] for name, column in table["columns"].items()} == {
        "nr": "id",
        "joined": "date",
        "paid": "number",
        "active": "boolean",
        "size": "integer",
        "note": "text",
        "never": "text",
    }
    assert table["columns"]["joined"]["format"] == "%d.%m.%Y"


def test_texts_with_a_time_of_day_are_timestamps(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n2024-01-31 12:30:00,2024-01-31T12:30Z,2024-01-31\n", encoding="utf-8")
    columns = look(tmp_path / "t.csv")["t"]["columns"]
    assert {name: column["type"] for name, column in columns.items()} == {
        "a": "timestamp",
        "b": "timestamp",
        "c": "date",
    }
    assert columns["a"]["timezone"] == "UTC"


def test_no_value_of_the_data_is_in_a_draft(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("name,age,city\nCanary,4711,Atlantis\n", encoding="utf-8")
    text = draft("d", find_tables(tmp_path, [path], look=True))
    assert not any(value in text for value in ("Canary", "4711", "Atlantis"))
    assert "are not looked up" in text


def test_tables_of_databases_are_drafted_one_by_one(tmp_path):
    with sqlite3.connect(tmp_path / "a.sqlite") as database:
        database.execute("CREATE TABLE people (person_id, born)")
        database.execute("INSERT INTO people VALUES (1, '1990-01-31'), (2, NULL)")
        database.execute("CREATE TABLE visits (person_id, cost)")
        database.execute("INSERT INTO visits VALUES (1, 2.5)")
    database.close()
    tables = look(tmp_path / "a.sqlite")
    assert {name: table["table"] for name, table in tables.items()} == {"people": "people", "visits": "visits"}
    assert tables["people"]["columns"]["born"] == {"type": "date"}
    assert tables["visits"]["columns"]["cost"] == {"type": "number"}
    with duckdb.connect(str(tmp_path / "b.duckdb")) as database:
        database.execute("CREATE TABLE people AS SELECT 1 AS person_id, 'x' AS name, DATE '2020-01-01' AS day")
    (table,) = look(tmp_path / "b.duckdb").values()
    assert {name: column["type"] for name, column in table["columns"].items()} == {
        "person_id": "id",
        "name": "text",
        "day": "date",
    }


def test_columns_of_one_name_are_not_looked_at(tmp_path):
    (tmp_path / "t.csv").write_text("a,a,b\n1,2,3\n", encoding="utf-8")
    assert look(tmp_path / "t.csv")["t"]["columns"] == {"b": {"type": "integer"}}


def test_days_that_parquet_holds_as_texts_get_their_format(tmp_path):
    duckdb.sql(f"COPY (SELECT '4/30/1992' AS born, 3 AS n) TO '{tmp_path}/p.parquet'")
    assert look(tmp_path / "p.parquet")["p"]["columns"] == {
        "born": {"type": "date", "format": "%m/%d/%Y"},
        "n": {"type": "integer"},
    }


def test_a_table_without_rows_or_texts_has_nothing_to_look_at(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n", encoding="utf-8")
    assert {column["type"] for column in look(tmp_path / "t.csv")["t"]["columns"].values()} == {"text"}
    duckdb.sql(f"COPY (SELECT 3 AS n) TO '{tmp_path}/p.parquet'")
    assert look(tmp_path / "p.parquet")["p"]["columns"] == {"n": {"type": "integer"}}


@pytest.mark.parametrize("name", ["none.sqlite", "empty.db"])
def test_a_database_without_tables_is_refused(tmp_path, name):
    (tmp_path / "empty.db").write_bytes(b"")
    with pytest.raises(Refusal, match="is not a database with tables"):
        find_tables(tmp_path, [tmp_path / name])


def test_where_texts_do_not_tell_the_month_from_the_day_the_owner_is_asked(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("born\n3/4/1992\n", encoding="utf-8")
    text = draft("d", find_tables(tmp_path, [path], look=True))
    assert 'format = "%m/%d/%Y"' in text
    assert '"%d/%m/%Y" would read as many of these days: say which is meant' in text
