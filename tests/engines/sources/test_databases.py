from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date

import duckdb
import pytest

from adomnia.catalog.model import SourceColumn, Table
from adomnia.engines.duckdb import DuckDB
from adomnia.engines.limits import Limits
from adomnia.engines.sources.facts import check_header, read_header
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Day, Identity, Text
from engines.databases import catalog, contents, number, people, whole

ODD = 'the "odd" one'
COLUMNS = (whole("age", 0, 120), number("pay", 0, 100, 0.25), Column("name", Text()), Column("day", Day()))
CALLED = (("name", SourceColumn(ODD)),)


def write_duckdb(path):
    with duckdb.connect(str(path)) as database:
        database.execute(
            "CREATE TABLE \"People\" AS SELECT * FROM (VALUES (1, 40, 1.5, 'Ada', DATE '2024-12-31'), "
            '(2, NULL, 2.5, \'Bo\', NULL)) AS t(person_id, age, pay, "the ""odd"" one", day)'
        )


def write_sqlite(path):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute('CREATE TABLE "People" (person_id, age INTEGER, pay, "the ""odd"" one", day TEXT)')
        rows = [(1, 40, 1.5, "Ada", "2024-12-31"), (2.0, None, "2.5", b"Bo", "soon")]
        database.executemany('INSERT INTO "People" VALUES (?, ?, ?, ?, ?)', rows)


WRITERS = {"a.duckdb": write_duckdb, "a.db": write_sqlite, "it's.sqlite": write_sqlite, "b.db": write_duckdb}


def declared(source, table="people"):
    return people(*COLUMNS, source=source, source_table=table, source_columns=CALLED)


@pytest.mark.parametrize("source", WRITERS)
def test_a_table_of_a_database_is_read(tmp_path, source):
    WRITERS[source](tmp_path / source)
    engine = DuckDB.open(catalog(declared(source), folder=tmp_path), tmp_path / "state")
    found = sorted(([row[column.name] for column in COLUMNS] for row in contents(engine, "people")), key=str)
    assert found == [[40, 1.5, "Ada", date(2024, 12, 31)], [None, 2.5, "Bo", None]]
    with pytest.raises(duckdb.Error), engine._connection.cursor() as cursor:
        cursor.execute(f"ATTACH '{tmp_path / 'a.duckdb'}'")
    engine.close()
    assert list(read_header(tmp_path / source, "people")) == ["person_id", "age", "pay", ODD, "day"]
    check_header(tmp_path / source, declared(source))


@pytest.mark.parametrize("source", ["a.duckdb", "a.db"])
def test_an_engine_over_frames_is_left_without_access_to_the_databases_of_public_tables(tmp_path, source):
    WRITERS[source](tmp_path / source)
    known = Table("known", source, COLUMNS, public=True, repeats=(2,) * 4, source_table="People", source_columns=CALLED)
    private = people()
    engine = DuckDB.load(catalog(private, known, folder=tmp_path), {"people": {"person_id": [1]}}, limits=Limits())
    with engine._connection.cursor() as cursor:
        names = {name for (name,) in cursor.execute("SELECT database_name FROM duckdb_databases()").fetchall()}
        tables = {name for (name,) in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    engine.close()
    assert names == {"memory", "system", "temp"}
    assert tables == {"people", "known"}


@pytest.mark.parametrize("source", ["a.duckdb", "a.db"])
def test_a_table_that_is_not_there_is_refused_with_those_that_are(tmp_path, source):
    WRITERS[source](tmp_path / source)
    with pytest.raises(Refusal, match=rf'Source {source} has no table visits. Fix: write table = "..." .* People'):
        DuckDB.open(catalog(declared(source, "visits"), folder=tmp_path), tmp_path / "state")


@pytest.mark.parametrize(
    ("source", "beside"), [("a.duckdb", "a.duckdb.wal"), ("a.db", "a.db-wal"), ("a.db", "a.db-journal")]
)
def test_a_database_that_is_not_closed_is_refused(tmp_path, source, beside):
    WRITERS[source](tmp_path / source)
    (tmp_path / beside).touch()
    DuckDB.open(catalog(declared(source), folder=tmp_path), tmp_path / "empty").close()
    (tmp_path / beside).write_text("CANARY")
    with pytest.raises(Refusal, match=f"Source {source} is not closed: {beside} holds a part of it"):
        DuckDB.open(catalog(declared(source), folder=tmp_path), tmp_path / "state")


@pytest.mark.parametrize("text", [b"CANARY", b"SQLite format 3\x00CANARY"])
def test_a_file_that_is_no_database_is_refused_without_quoting_it(tmp_path, text):
    (tmp_path / "a.db").write_bytes(text)
    with pytest.raises(Refusal, match=r"Source a\.db cannot be read") as refused:
        DuckDB.open(catalog(declared("a.db"), folder=tmp_path), tmp_path / "state")
    assert "CANARY" not in str(refused.value)
    assert refused.value.__context__ is None


def test_a_broken_page_of_a_database_is_refused_without_quoting_it(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.db")) as database, database:
        database.execute("CREATE TABLE people (person_id)")
        database.executemany("INSERT INTO people VALUES (?)", [("CANARY" * 100,)] * 100)
    whole_file = (tmp_path / "a.db").read_bytes()
    (tmp_path / "a.db").write_bytes(whole_file[:8192] + b"\xff" * (len(whole_file) - 8192))
    table = Table("people", "a.db", (Column("person_id", Identity(person=True)),), source_table="people")
    with pytest.raises(Refusal, match=r"Source a\.db cannot be read") as refused:
        DuckDB.open(catalog(table, folder=tmp_path), tmp_path / "state")
    assert "CANARY" not in str(refused.value)
