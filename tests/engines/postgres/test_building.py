"""The schema of an index beside whatever else is in a database: names, roles, locks, and tables that change."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from unittest.mock import patch

import psycopg
import pytest

from adomnia.catalog.model import Table
from adomnia.engines.duckdb import DuckDB
from adomnia.engines.postgres import building
from adomnia.engines.postgres import engine as engine_module
from adomnia.engines.postgres.building import name_schema
from adomnia.engines.postgres.engine import Postgres
from adomnia.errors import Refusal, Unavailable
from adomnia.privacy.expressions import Column, call
from adomnia.privacy.kinds import Boolean, Day, Moment, Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Where
from adomnia.privacy.scans import Rows
from adomnia.privacy.units import Unit
from engines.databases import PERSON, catalog, category, constant, number, people, relation
from engines.postgres.kept import list_schemas, open_index, read_index
from kit.filled_postgres import filled, run
from kit.postgres import Server, server
from kit.waiting import wait_until

CREATE = "CREATE TABLE people (person_id int, fare float8, name text, day date, at timestamp)"
INSERT = "INSERT INTO people SELECT i / 2, i, 'n' || i, date '2024-01-01' + i, now() FROM generate_series(0, 99) i"
FARE, NAME, DAY = number("fare", 0, 1000), Column("name", Text()), Column("day", Day())


def declared(url, *columns, **options):
    given = {"source": url, "source_table": "people", "rows_per_person": 2, **options}
    return people(*(columns or (FARE, NAME, DAY)), **given)


def read_rows(tmp_path, table):
    with closing(open_index(tmp_path, table)) as engine:
        return read_index(engine, "people")


# Names.


@pytest.mark.parametrize("name", ["float8", "text", "date", "timestamp", "numeric", "user", "x" * 63])
def test_a_table_may_be_called_like_a_type(tmp_path, name):
    """Every table makes a type of its name, which must not be taken for one of the server's."""
    table = Table(name, "", (PERSON, FARE, NAME, DAY, Column("at", Moment(zone="UTC"))), source_table="people")
    conditions = (
        call(">", call("*", FARE, FARE), constant(1)),
        call("starts_with", call("number as text", call("length", NAME)), constant("2")),
        call("=", call("year", call("shift", DAY, constant(1))), constant(2024)),
        call("<>", call("format", DAY, constant("%Y")), constant("1999")),
    )
    with filled(CREATE, INSERT) as url:
        world = catalog(replace(table, source=url), folder=tmp_path, unit=Unit(name, "person_id"))
        with closing(Postgres.open(world, tmp_path / "state")) as engine:
            for condition in conditions:
                query = Query(Where(relation(table), condition), (), Rows())
                (found,) = engine.run(engine.render((query,)), (query,))
                assert 0 < int(found) <= 50


def test_a_table_that_is_called_like_those_of_the_server_is_refused(tmp_path):
    table = Table("pg_class", "", (PERSON, FARE), source_table="people")
    with filled(CREATE, INSERT) as url:
        world = catalog(replace(table, source=url), folder=tmp_path, unit=Unit("pg_class", "person_id"))
        with pytest.raises(Refusal, match="begins with pg_"):
            Postgres.open(world, tmp_path / "state")
        assert list_schemas(url) == []


def test_long_names_of_columns_keep_their_values_apart(tmp_path):
    first, second = (category("c" * 53 + end, *(f"{end}{place}" for place in range(60))) for end in ("_a", "_b"))
    create = f"CREATE TABLE people (person_id int, {first.name} text, {second.name} text)"
    with filled(create, "INSERT INTO people VALUES (1, '_a3', '_b4')") as url:
        (row,) = read_rows(tmp_path, declared(url, first, second))
    assert (row[first.name], row[second.name]) == (3, 4)


def test_declared_values_may_be_as_long_as_they_like(tmp_path):
    long = "".join(chr(0x4E00 + place * 7919 % 20000) for place in range(5000))  # which cannot be packed
    values = (*(f"v{place}" for place in range(60)), long)
    with filled("CREATE TABLE people (person_id int, x text)", "INSERT INTO people VALUES (1, 'v7')") as url:
        with psycopg.connect(url) as connection:
            connection.execute("INSERT INTO people VALUES (2, %s)", [long])
        with closing(open_index(tmp_path, declared(url, category("x", *values)))) as engine:
            assert sorted(row["x"] for row in read_index(engine, "people")) == [7, 60]


def test_datasets_whose_names_begin_alike_leave_each_other_alone(tmp_path):
    with filled(CREATE, INSERT) as url:
        names = ("hospital_admissions_2023", "hospital_admissions_2024", "hospital", "hospital_admissions 2023")
        for name in names:
            world = replace(catalog(declared(url), folder=tmp_path), name=name)
            Postgres.open(world, tmp_path / name).close()
        assert len(list_schemas(url)) == len(names)
        assert max(map(len, list_schemas(url))) <= 63


def test_an_index_belongs_to_the_functions_that_it_was_built_with(tmp_path):
    """A newer release may have repaired one: what lies in the schema would still be called."""
    world = catalog(declared("postgresql:///x"), folder=tmp_path)
    before = name_schema(world, {})
    with patch.object(building, "render_library", lambda _: ("CREATE FUNCTION another",)):
        assert name_schema(world, {}) != before


def test_more_columns_than_a_row_has_room_for_are_refused_in_words(tmp_path):
    columns = [number(f"c{place}", 0, 1) for place in range(900)]
    create = f"CREATE TABLE people (person_id int, {', '.join(f'{column.name} float8' for column in columns)})"
    with filled(create, "INSERT INTO people (person_id) VALUES (1)") as url:
        with pytest.raises(Refusal, match="has no room for so many columns"):
            open_index(tmp_path, declared(url, *columns))
        assert list_schemas(url) == []


def test_as_many_columns_as_a_table_can_have_are_kept(tmp_path):
    columns = [Column(f"c{place}", Boolean()) for place in range(1590)]
    create = f"CREATE TABLE people (person_id int, {', '.join(f'{column.name} bool' for column in columns)})"
    with filled(create, "INSERT INTO people (person_id, c7) VALUES (1, TRUE)") as url:
        (row,) = read_rows(tmp_path, declared(url, *columns))
    assert row["c7"] is True
    assert row["c8"] is None


# Roles.


def test_default_privileges_open_the_index_to_nobody(tmp_path):
    run(server().url(), "DROP ROLE IF EXISTS reporting", "CREATE ROLE reporting")
    with filled(CREATE, INSERT) as url:
        run(
            url,
            "ALTER DEFAULT PRIVILEGES GRANT USAGE, CREATE ON SCHEMAS TO reporting",
            "ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO PUBLIC",
            "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO reporting",
        )
        with closing(open_index(tmp_path, declared(url))) as engine, psycopg.connect(url) as connection:
            connection.execute("SET ROLE reporting")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f'SELECT * FROM {engine._place.quoted}."people"')
        run(url, "DROP OWNED BY reporting")
    run(server().url(), "DROP ROLE reporting")


@pytest.mark.parametrize("opened", [Postgres, DuckDB])
def test_keys_that_a_collation_takes_for_others_are_refused(tmp_path, opened):
    """To the database 'A' and 'a' are one person: two of ours would have twice the rows that one may have."""
    collation = "CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
    create = "CREATE DOMAIN key AS text COLLATE any_case", "CREATE TABLE people (person_id key, fare float8)"
    with filled(collation, *create, "INSERT INTO people VALUES ('a', 1), ('A', 2)") as url:
        world = catalog(declared(url, FARE), folder=tmp_path)
        with pytest.raises(Refusal, match=r"(?i)holds text of which different ones count as equal"):
            opened.open(world, tmp_path / "state")


# Locks, and tables that change meanwhile.


def test_a_table_cannot_be_emptied_while_the_index_is_built(tmp_path):
    """TRUNCATE shows an empty table even to those who began before: links would break in the middle of a build."""
    refused = []

    def empty(run_there, source):
        with psycopg.connect(url, options="-c lock_timeout=200") as other:
            try:
                other.execute("TRUNCATE visits")
            except psycopg.errors.LockNotAvailable:
                refused.append(source.name)
        return fingerprint(run_there, source)

    fingerprint = building._fingerprint
    visits = Table("visits", "", (PERSON, FARE), source_table="visits")
    with filled(CREATE, INSERT, "CREATE TABLE visits AS SELECT * FROM people") as url:
        tables = declared(url), replace(visits, source=url)
        with patch.object(building, "_fingerprint", empty), closing(open_index(tmp_path, *tables)) as engine:
            assert len(read_index(engine, "visits")) == 100
    assert refused == ["people", "visits"]


@pytest.mark.parametrize("kind", ["VIEW", "MATERIALIZED VIEW"])
def test_views_are_read_like_tables(tmp_path, kind):
    with filled(CREATE, INSERT, f"CREATE {kind} folk AS SELECT * FROM people") as url:
        assert len(read_rows(tmp_path, declared(url, source_table="folk"))) == 100


@pytest.mark.parametrize("comment", ["NULL", "'some words'", "'3'"])
def test_a_schema_that_says_nothing_of_its_rows_is_refused_with_the_way_out(tmp_path, comment):
    with filled(CREATE, INSERT) as url:
        open_index(tmp_path, declared(url)).close()
        (name,) = list_schemas(url)
        run(url, f'COMMENT ON SCHEMA "{name}" IS {comment}')
        with pytest.raises(Refusal, match="does not say which rows") as refused:
            open_index(tmp_path, declared(url))
        run(url, refused.value.fix.split(",")[0])
        open_index(tmp_path, declared(url)).close()


def test_a_standby_says_what_it_is(tmp_path):
    """An index that is there is used; none is built where nothing can be written."""
    head = Server("fsync=off", "hot_standby=on")
    try:
        run(head.url(), CREATE, INSERT)
        world = catalog(declared(head.url()), folder=tmp_path)
        Postgres.open(world, tmp_path / "state").close()
        head.stop()
        (head.data / "standby.signal").touch()
        head.start()
        with closing(Postgres.open(world, tmp_path / "state")) as engine:
            assert engine.is_open()
        with pytest.raises(Unavailable, match="is a standby that can only be read"):
            Postgres.open(replace(world, version=2), tmp_path / "state")
    finally:
        head.remove()


def test_whoever_holds_a_lock_of_ours_keeps_nobody_waiting_for_ever(tmp_path):
    """The numbers of such locks are no secret: any role of the database can take them."""
    with filled(CREATE, INSERT) as url:
        with closing(open_index(tmp_path, declared(url))) as engine:
            place = engine._place
        with psycopg.connect(url, autocommit=True) as other:
            other.execute("SELECT pg_advisory_lock(%s)", [place.lock("use")])
            with patch.object(engine_module, "_LOCK_MILLISECONDS", 300), pytest.raises(Unavailable):
                open_index(tmp_path, declared(url))
            busy = "SELECT pid FROM pg_stat_activity WHERE application_name = 'adomnia'"
            wait_until(lambda: other.execute(busy).fetchall() == [])  # no connection is left behind
        open_index(tmp_path, declared(url)).close()


def test_prints_are_those_of_the_declared_columns_alone(tmp_path):
    with filled(CREATE, INSERT) as url:
        open_index(tmp_path, declared(url)).close()
        (first,) = json.loads((tmp_path / "state" / "index.json").read_text())["databases"].values()
        run(url, "ALTER TABLE people ADD COLUMN more int DEFAULT 5", "VACUUM FULL people")
        run(url, *(f'DROP SCHEMA "{name}" CASCADE' for name in list_schemas(url)))
        open_index(tmp_path, declared(url)).close()
        (again,) = json.loads((tmp_path / "state" / "index.json").read_text())["databases"].values()
    assert first == again
