from __future__ import annotations

import traceback
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from types import SimpleNamespace

import duckdb
import pyarrow as pa
import pytest

from adomnia.engines.contract import Engine, Statement
from adomnia.engines.duckdb import DuckDB
from adomnia.engines.duckdb import engine as engine_module
from adomnia.engines.limits import Limits
from adomnia.errors import AdomniaError, Failure, Refusal, Unavailable
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Where
from adomnia.privacy.scans import NonNull, People, Rows, Total
from engines.databases import (
    answer,
    applied,
    catalog,
    category,
    constant,
    frame,
    loaded,
    number,
    people,
    relation,
    whole,
)

FARE = number("fare", 0, 100)
AGE = whole("age", 0, 120)
CITY = category("city", "Oslo", "Bergen", "Voss")
NAME = Column("name", Text())
TRIPS = people(FARE, AGE, CITY, NAME, rows_per_person=4)
ROWS = [
    {
        "person_id": place % 37,
        "fare": place * 0.7 % 130,
        "age": place % 90,
        "city": ("Oslo", "Bergen", "Rome")[place % 3],
        "name": f"n{place % 11}",
    }
    for place in range(500)
]
TABLE = relation(TRIPS)
SAME = Query(TABLE, (), Rows())


@pytest.fixture
def engine():
    with loaded(catalog(TRIPS), people=ROWS) as engine:
        yield engine


@pytest.fixture
def on_disk(tmp_path):
    lines = (",".join(str(row[name]) for name in ("person_id", "fare", "age", "city", "name")) for row in ROWS)
    (tmp_path / "people.csv").write_text("\n".join(["person_id,fare,age,city,name", *lines]))
    (tmp_path / "canary.csv").write_text("bird\nCANARY\n")
    table = people(FARE, AGE, CITY, NAME, source="people.csv", rows_per_person=4)
    engine = DuckDB.open(catalog(table, folder=tmp_path), tmp_path / "state")
    yield engine
    engine.close()


def test_it_keeps_the_contract(engine):
    contract: Engine = engine
    queries = (Query(TABLE, (CITY,), Rows()), Query(TABLE, (CITY,), Total(FARE, FARE.domain)))
    counts, sums = contract.run(contract.render(queries), queries)
    assert counts.shape == sums.shape == (3,)
    assert counts[2] == sums[2] == 0


ESCAPES = [
    "SELECT * FROM read_csv('{folder}/canary.csv', auto_detect = true)",
    "SELECT * FROM '{folder}/canary.csv'",
    "SELECT * FROM read_text('{folder}/canary.csv')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM read_parquet('{folder}/canary.csv')",
    "ATTACH '{folder}/other.duckdb' AS other",
    "COPY people TO '{folder}/out.csv'",
    "EXPORT DATABASE '{folder}/out'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET memory_limit = '100GB'",
    "RESET lock_configuration",
    "PRAGMA enable_external_access = true",
    "SELECT * FROM rows_of_the_caller",
    "CREATE TABLE copied AS SELECT * FROM people",
    "CREATE TEMP TABLE copied AS SELECT * FROM people",
    "INSERT INTO people SELECT * FROM people",
    "UPDATE people SET rank = 1",
    "DELETE FROM people",
    "DROP TABLE people",
    "ALTER TABLE people DROP COLUMN age",
]


@pytest.mark.parametrize("statement", ESCAPES)
@pytest.mark.parametrize("where", ["engine", "on_disk"])
def test_nothing_but_the_index_can_be_read_and_nothing_can_be_written(request, tmp_path, where, statement):
    rows_of_the_caller = [1, 2, 3]  # what a replacement scan would find in this very frame
    engine = request.getfixturevalue(where)
    (tmp_path / "canary.csv").write_text("bird\nCANARY\n")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with pytest.raises(Failure) as failed:
        engine.run(Statement(statement.format(folder=tmp_path), ()), (SAME,))
    assert "CANARY" not in repr(failed.value)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    assert answer(engine, SAME) == [37 * 4]
    assert rows_of_the_caller


def test_the_canary_can_be_read_without_the_locks(tmp_path):
    (tmp_path / "canary.csv").write_text("bird\nCANARY\n")
    with duckdb.connect() as connection:
        assert connection.execute(ESCAPES[0].format(folder=tmp_path)).fetchall() == [("CANARY",)]


@pytest.mark.parametrize(
    "text",
    ["SELECT error('CANARY')", "SELECT CAST(name AS INTEGER) AS m0 FROM people", "SELECT nothing FROM people", "what"],
)
def test_whatever_goes_wrong_says_nothing(engine, text):
    """Few cells are read as rows, others and keys as columns."""
    for read in (lambda asked: engine.run(asked, (SAME,)), lambda asked: engine.keys(asked, SAME)):
        with pytest.raises(Failure, match=r"^The request failed\.$") as failed:
            read(Statement(text, ()))
        assert failed.value.__context__ is None


def test_a_constant_is_a_constant_whatever_it_says(engine):
    condition = applied("=", NAME, constant("n1' OR '1' = '1"))
    assert answer(engine, Query(Where(TABLE, condition), (), Rows())) == [0]
    assert answer(engine, Query(Where(TABLE, applied("=", NAME, constant("n1"))), (), People())) == [37]


def test_threads_may_share_an_engine(engine):
    queries = [Query(Where(TABLE, applied(">", FARE, constant(limit))), (CITY,), Rows()) for limit in range(20)]
    expected = [answer(engine, query) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda query: answer(engine, query), queries * 5))
    assert found == expected * 5


@pytest.mark.no_cover
@pytest.mark.parametrize("cut", [1, 123, 400])
def test_neither_the_order_of_rows_nor_threads_change_an_exact_aggregate(cut):
    expression = applied("/", applied("*", FARE, constant(3)), applied("+", AGE, constant(1)))
    aggregates = [
        Rows(),
        NonNull(FARE),
        Total(FARE, FARE.domain, FARE.domain.middle),
        Total(expression, FARE.domain),
        People(),
    ]
    queries = [Query(TABLE, (CITY,), aggregate) for aggregate in aggregates]
    found = []
    for start, threads in product((0, cut), (1, 2)):
        with loaded(
            catalog(TRIPS), limits=Limits(threads=threads), people=(ROWS[start:] + ROWS[:start])[:: -1 if start else 1]
        ) as engine:
            found.append(answer(engine, *queries))
    assert all(answers == found[0] for answers in found)


def test_queries_spill_inside_the_folder_or_fail_but_never_elsewhere(on_disk, tmp_path):
    with on_disk._connection.cursor() as cursor:
        settings = dict(cursor.execute("SELECT name, value FROM duckdb_settings()").fetchall())
    assert settings["temp_directory"] == str(tmp_path / "state" / "spill")
    assert settings["lock_configuration"] == "true"
    assert settings["enable_external_access"] == "false"
    assert settings["access_mode"].lower() == "read_only"
    assert settings["enable_progress_bar"] == "false"


def test_tables_in_memory_stay_there(engine):
    with engine._connection.cursor() as cursor:
        ((spill,),) = cursor.execute("SELECT current_setting('temp_directory')").fetchall()
        tables = cursor.execute(
            "SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal"
        ).fetchall()
    assert spill in ("", None)
    assert tables == [("people",)]


def test_nobodys_key_is_in_the_index(on_disk):
    with on_disk._connection.cursor() as cursor:
        columns = [
            name for (name,) in cursor.execute("SELECT column_name FROM duckdb_columns() WHERE NOT internal").fetchall()
        ]
    assert columns == ["rank", "person", "fare", "fare grid", "age", "city", "name"]


def fault_of(monkeypatch, fault):
    """What is said where the engine raises a fault while it builds."""

    def broken(*_):
        raise fault

    monkeypatch.setattr("adomnia.engines.duckdb.engine.build_table", broken)
    with pytest.raises(AdomniaError) as failed:
        DuckDB.load(catalog(TRIPS), {"people": frame([], TRIPS.columns)})
    assert failed.value.__context__ is None
    assert "CANARY" not in str(failed.value)
    return failed.value


def test_a_fault_of_the_engine_while_building_says_nothing(monkeypatch):
    assert isinstance(fault_of(monkeypatch, duckdb.InternalException("CANARY")), Failure)


def test_an_index_that_does_not_fit_says_so(monkeypatch):
    fault = fault_of(monkeypatch, duckdb.OutOfMemoryException("CANARY"))
    assert (type(fault), fault.code) == (Unavailable, "no_memory")


def test_rows_that_do_not_fit_into_memory_need_a_folder():
    rows = pa.table({"person_id": [f"person {who:0200}" for who in range(100_000)], "fare": [1.0] * 100_000})
    with pytest.raises(Unavailable, match="fits neither into memory nor into the room on disk"):
        DuckDB.load(catalog(people(FARE)), {"people": rows}, limits=Limits(threads=1, memory="20MB"))


def test_an_index_that_cannot_be_written_is_told_without_its_folder(tmp_path):
    says = "The index cannot be written to the disk of its folder"
    with duckdb.connect() as builder, pytest.raises(Unavailable, match=says) as trouble:
        engine_module._execute_on_disk(builder, f"ATTACH '{tmp_path}/missing/index.duckdb' AS own")
    assert str(tmp_path) not in "".join(traceback.format_exception(trouble.value))


@pytest.mark.parametrize(
    ("message", "kind"), [("Could not write: No space left on device", Unavailable), ("cannot read", Refusal)]
)
def test_a_full_disk_is_not_taken_for_a_file_that_cannot_be_read(message, kind):
    def build():
        raise duckdb.IOException(message)

    with pytest.raises(kind):
        engine_module._guard(SimpleNamespace(name="people.csv"), build)
