"""What a real PostgreSQL shows of its tables, and what is said when it shows nothing."""

from __future__ import annotations

from urllib.parse import quote as escape

import psycopg
import pytest

from adomnia.catalog.model import Table
from adomnia.engines.duckdb import DuckDB
from adomnia.engines.sources import snapshots, streams
from adomnia.engines.sources.facts import check_header, find_facts, read_header
from adomnia.engines.sources.snapshots import Snapshots
from adomnia.errors import AdomniaError, Refusal, Unavailable
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity, Text
from engines.databases import catalog, category, contents, people, whole
from kit.filled_postgres import filled, run
from kit.postgres import server

PEOPLE = "CREATE TABLE people (person_id int, age int)"
FILL = "INSERT INTO people SELECT i, i % 90 FROM generate_series(1, 1000) AS i"


def declared(url, *columns, **options):
    return people(*(columns or (whole("age", 0, 120),)), source=url, source_table="people", **options)


def opening(tmp_path, *tables, version=1):
    return DuckDB.open(catalog(*tables, folder=tmp_path, version=version), tmp_path / "state")


def leftovers(tmp_path):
    return sorted(path.name for path in (tmp_path / "state").glob("*") if path.name not in {"index.lock", "index.key"})


def refused(tmp_path, table):
    """The words of a refusal, which leaves nothing behind and quotes nothing of the driver."""
    with pytest.raises(AdomniaError) as caught:
        opening(tmp_path, table)
    assert caught.value.__cause__ is None
    assert leftovers(tmp_path) == []
    return caught.value


@pytest.mark.no_cover
def test_the_header_of_a_table_has_the_engines_types_and_names_what_cannot_be_read():
    create = (
        "CREATE TABLE odd (a smallint, b numeric(10, 2), c jsonb, d int[], e bytea, f uuid, g timestamptz, h money, "
        'i interval, j "char")'
    )
    with filled("CREATE SCHEMA ward", create, 'ALTER TABLE odd SET SCHEMA ward; CREATE TABLE "O. ""dd" (x int)') as url:
        header = read_header(url, "ward.odd")
        assert read_header(url, 'public.O. "dd') == {"x": "INTEGER"}
    assert header == {
        "a": "SMALLINT", "b": "DECIMAL", "c": "JSONB", "d": "_INT4", "e": "BYTEA", "f": "UUID",
        "g": "TIMESTAMP WITH TIME ZONE", "h": "MONEY", "i": "INTERVAL", "j": "CHAR",
    }  # fmt: skip


@pytest.mark.parametrize("held", ["jsonb", "bytea", "int[]", "money", "xml", "point"])
def test_a_column_that_cannot_be_read_is_refused_before_a_row_is(tmp_path, held):
    with filled(f"CREATE TABLE people (person_id int, x {held})") as url:
        table = declared(url, Column("x", Text()))
        with pytest.raises(Refusal, match="is declared as text, and people holds"):
            check_header(url, table)
        assert "is declared as text, and people holds" in str(refused(tmp_path, table))


def test_a_type_of_a_user_is_not_taken_for_one_of_the_server(tmp_path):
    with filled(
        "CREATE SCHEMA own", "CREATE TYPE own.text AS (a int)", "CREATE TABLE people (person_id int, x own.text)"
    ) as url:
        assert "holds TEXT" in str(refused(tmp_path, declared(url, Column("x", Text()))))


def test_a_table_that_is_not_there_is_refused_with_those_that_are(tmp_path):
    with filled(PEOPLE.replace("people", "persons"), "CREATE VIEW folk AS SELECT * FROM persons") as url:
        fault = refused(tmp_path, declared(url))
        assert "has no table people in the schema public" in str(fault)
        assert "folk, persons" in fault.fix
        with pytest.raises(Refusal, match="name another schema"):
            read_header(url, "nowhere.people")


def test_a_role_that_may_not_read_is_told_so(tmp_path):
    with filled(PEOPLE, FILL, "CREATE ROLE guest LOGIN") as url:
        try:
            table = declared(url.replace("postgres@", "guest@"))
            fault = refused(tmp_path, table)
            with pytest.raises(Refusal, match="does not let its role read all rows of people"):
                check_header(table.source, table)  # before anything is opened
        finally:
            run(url, "DROP ROLE guest")
    assert "does not let its role read all rows of people" in str(fault)
    assert 'GRANT SELECT ON "public"."people"' in fault.fix


def test_rows_that_a_policy_hides_are_not_left_out_in_silence(tmp_path):
    policy = "CREATE POLICY few ON people USING (person_id < 10)"
    grants = ("CREATE ROLE limited LOGIN", "GRANT SELECT ON people TO limited")
    with filled(PEOPLE, FILL, "ALTER TABLE people ENABLE ROW LEVEL SECURITY", policy, *grants) as url:
        try:
            fault = refused(tmp_path, declared(url.replace("postgres@", "limited@")))
        finally:
            run(url, "DROP OWNED BY limited", "DROP ROLE limited")
    assert "keep no policy on its rows" in fault.fix


def test_a_table_that_is_locked_can_be_read_later(tmp_path, monkeypatch):
    monkeypatch.setitem(snapshots._SETTINGS, "lock_timeout", "100")
    with filled(PEOPLE) as url, psycopg.connect(url) as other:
        other.execute("LOCK TABLE people")
        fault = refused(tmp_path, declared(url))
        other.rollback()
        assert isinstance(fault, Unavailable)
        assert "has people locked for others" in str(fault)
        opening(tmp_path, declared(url)).close()


def test_a_view_that_fails_on_a_row_is_refused_without_that_row(tmp_path):
    view = "CREATE VIEW people AS SELECT person_id, 1 / (age - 77) AS age FROM raw"
    with filled(PEOPLE.replace("people", "raw"), "INSERT INTO raw VALUES (4711, 77)", view) as url:
        fault = refused(tmp_path, declared(url))
    assert "cannot read people" in str(fault)
    assert "4711" not in str(fault)


def test_a_server_that_goes_away_leaves_nothing_half_built(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "_BLOCK", 1000)
    monkeypatch.setattr(streams, "_MOST_BYTES", 0)
    with filled(PEOPLE, FILL.replace("1000", "200000")) as url:
        ended = []

        def end(step, _share):
            if not ended and "arriving" in step:
                ended.append(step)
                others = "pid <> pg_backend_pid() AND datname = current_database()"
                run(url, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")

        with pytest.raises(Unavailable, match="ended the connection") as caught:
            DuckDB.open(catalog(declared(url), folder=tmp_path), tmp_path / "state", end)
        assert caught.value.__cause__ is None
        assert ended
        assert leftovers(tmp_path) == []
        run(url, "DELETE FROM people WHERE person_id > 10")  # so many were needed to be under way, and take long
        opening(tmp_path, declared(url)).close()


def test_a_server_that_is_not_there_is_unavailable_but_the_index_opens(tmp_path):
    with filled(PEOPLE, FILL) as url:
        opening(tmp_path, declared(url)).close()
    engine = opening(tmp_path, declared(url))
    assert len(contents(engine, "people")) == 1000
    engine.close()
    with pytest.raises(Unavailable, match="does not let this role in"):
        opening(tmp_path, declared(url), version=2)


def test_all_tables_are_of_one_moment(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "_BLOCK", 1000)
    with filled(PEOPLE, FILL, PEOPLE.replace("people", "more"), FILL.replace("people", "more")) as url:
        changed = []

        def change(step, _share):
            if not changed and "arriving" in step:
                changed.append(step)
                run(url, "DELETE FROM people", "DELETE FROM more")

        more = Table("more", url, (whole("age", 0, 120),), public=True, repeats=(1000,), source_table="more")
        tables = (declared(url), more)
        engine = DuckDB.open(catalog(*tables, folder=tmp_path), tmp_path / "state", change)
    assert changed
    assert [len(contents(engine, name)) for name in ("people", "more")] == [1000, 1000]
    engine.close()


def test_the_fingerprint_of_a_table_tells_every_change_and_no_order():
    with filled(PEOPLE, FILL) as url:
        seen = [fingerprint(url)]
        run(url, "CREATE TABLE again AS SELECT * FROM people ORDER BY age DESC, person_id", "DROP TABLE people")
        run(url, "ALTER TABLE again RENAME TO people")
        assert fingerprint(url) == seen[0]
        changes = [
            "UPDATE people SET age = age + 1 WHERE person_id = 7",
            "UPDATE people SET age = NULL WHERE person_id = 7",
            "INSERT INTO people SELECT * FROM people WHERE person_id = 8",
            "UPDATE people SET age = CASE person_id WHEN 1 THEN 2 ELSE 1 END WHERE person_id IN (1, 2)",
            "DELETE FROM people",
        ]
        for change in changes:
            run(url, change)
            seen.append(fingerprint(url))
    assert len(set(seen)) == len(seen)


def fingerprint(url):
    with Snapshots() as now:
        return now.fingerprint(url, "people")


def test_nothing_can_be_written_and_names_are_those_of_the_server():
    settings = {}
    with filled(PEOPLE) as url, Snapshots() as now:
        for name in ("search_path", "transaction_read_only", "transaction_isolation", "row_security"):
            ((settings[name],),) = now.connection(url).execute(f"SHOW {name}").fetchall()
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            now.connection(url).execute("DELETE FROM public.people")
    assert settings == {
        "search_path": "pg_catalog,pg_temp",
        "transaction_read_only": "on",
        "transaction_isolation": "repeatable read",
        "row_security": "off",
    }


def test_a_function_or_cast_of_a_user_is_not_called(tmp_path):
    mine = "CREATE FUNCTION {} RETURNS {} LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''called''; END'"
    statements = (
        "CREATE TYPE mood AS ENUM ('sad')",
        "CREATE TABLE people (person_id int, x mood, y text, z date)",
        mine.format("public.left(text, int)", "text"),
        mine.format("public.length(text)", "int"),
        mine.format("spell(mood)", "text"),
        "CREATE CAST (mood AS text) WITH FUNCTION spell(mood) AS IMPLICIT",
        "INSERT INTO people VALUES (1, 'sad', 'y', '2024-01-01')",
    )
    with filled(*statements) as url:
        engine = opening(tmp_path, declared(url, category("x", "sad"), Column("y", Text())))
        assert [(row["x"], row["y"]) for row in contents(engine, "people")] == [(0, "y")]
        engine.close()


def test_a_database_in_an_encoding_that_has_no_way_to_unicode_is_refused(tmp_path):
    name = "plain_bytes"
    run(server().url(), f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' TEMPLATE template0")
    try:
        run(server().url(name), PEOPLE)
        fault = refused(tmp_path, declared(server().url(name)))
    finally:
        run(server().url(), f"DROP DATABASE {name} WITH (FORCE)")
    assert "keeps its texts as SQL_ASCII" in str(fault)


@pytest.mark.parametrize("name", ["child", "parent"])
def test_a_public_table_has_no_rows_in_common_with_its_parts(name):
    parent = "CREATE TABLE parent (person_id int, city text) PARTITION BY LIST (city)"
    with filled(parent, "CREATE TABLE child PARTITION OF parent FOR VALUES IN ('Oslo')") as url:
        table = people(Column("city", Text()), source=url, source_table=name, public=True)
        with pytest.raises(Refusal, match="is a part of another table, or has parts"):
            find_facts(url, table)
        check_header(url, people(Column("city", Text()), source=url, source_table=name))


def test_the_tables_of_a_schema_are_listed_without_partitions():
    parent = "CREATE TABLE parent (city text) PARTITION BY LIST (city)"
    part = "CREATE TABLE child PARTITION OF parent FOR VALUES IN ('Oslo')"
    others = ("CREATE VIEW a AS SELECT 1 AS x", "CREATE INDEX i ON parent (city)")
    with filled(parent, part, *others) as url, Snapshots() as now:
        assert now.list_tables(url, "public") == ["a", "parent"]
        assert now.list_tables(url, "nowhere") == []


def test_a_url_that_leads_nowhere_is_unavailable():
    with pytest.raises(Unavailable, match="PostgreSQL at this machine, database x cannot be reached"):
        read_header(f"postgresql://postgres@/x?host={escape('/nowhere', safe='')}", "people")


def test_the_facts_of_a_public_table_are_read_from_its_rows():
    with filled(
        "CREATE TABLE codes (code text, weight numeric)", "INSERT INTO codes VALUES ('a', 1), ('b', 2.5), ('a', 3)"
    ) as url:
        table = Table(
            "codes", url, (Column("code", Text()), Column("weight", Quantity())), public=True, source_table="codes"
        )
        code, weight = find_facts(url, table)
    assert (code.repeats, set(code.values)) == (2, {"a", "b"})
    assert (weight.lower, weight.upper) == (1.0, 3.0)
