"""PostgreSQL as the engine: opened over real tables, and whatever can happen to its server while it is asked."""

from __future__ import annotations

import json
import logging
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from threading import Thread
from time import sleep
from unittest.mock import patch
from urllib.parse import urlsplit

import numpy as np
import psycopg
import pyarrow as pa
import pytest

from adomnia.engines.contract import Statement
from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.limits import Limits
from adomnia.engines.postgres import engine as engine_module
from adomnia.engines.postgres.engine import Postgres
from adomnia.engines.postgres.library import list_own
from adomnia.engines.postgres.stored_functions import ONCE
from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.privacy.expressions import Column, call
from adomnia.privacy.keys import Bucket, Names
from adomnia.privacy.kinds import Quantity, Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Public, Select, Selected, Where
from adomnia.privacy.scans import Histogram, People, Rows
from engines.databases import catalog, category, constant, number, people, relation
from engines.postgres.kept import list_schemas, open_index, read_index
from kit.engines import make_ready
from kit.filled_postgres import filled, run
from kit.postgres import Server, server
from kit.waiting import HANG_SECONDS, wait_until

CREATE = "CREATE TABLE people (person_id int, city text, fare float8, name text)"
INSERT = (
    "INSERT INTO people SELECT i / 3, CASE i % 3 WHEN 0 THEN 'Oslo' ELSE 'Rome' END, i, 'n' || i "
    "FROM generate_series(0, 299) i"
)
CITY, FARE, NAME = category("city", "Oslo", "Rome"), number("fare", 0, 1000), Column("name", Text())


def declared(url, columns=(CITY, FARE, NAME), **options):
    given = {"source": url, "source_table": "people", "rows_per_person": 2, **options}
    return people(*columns, **given)


@contextmanager
def opened(tmp_path, limits=None, **options):
    """The engine over 300 rows of 100 people."""
    with filled(CREATE, INSERT) as url:
        world = catalog(declared(url, **options), folder=tmp_path)
        with closing(Postgres.open(world, tmp_path / "state", limits=limits or Limits())) as engine:
            yield engine, url


def count(engine, aggregate=None, *keys):
    query = Query(relation(declared("")), keys, aggregate or Rows())
    return engine.run(engine.render((query,)), (query,))[0].tolist()


def test_a_table_in_the_database_is_asked_where_it_is(tmp_path):
    with opened(tmp_path) as (engine, _):
        assert count(engine) == 200
        assert sum(count(engine, Rows(), CITY)) == 200
        assert count(engine, People()) == 100
        kept = read_index(engine, "people")
    assert {row["rank"] for row in kept} == {1, 2, 3}
    assert [row["rank"] for row in kept] == sorted(row["rank"] for row in kept)


def test_ranks_are_those_of_other_engines_under_the_same_key(tmp_path):
    with opened(tmp_path) as (engine, url):
        kept = read_index(engine, "people")
        other = DuckDB.open(catalog(declared(url), folder=tmp_path), tmp_path / "state")
        with closing(other), other._connection.cursor() as cursor:
            ranked = cursor.execute('SELECT name, "rank" FROM people').fetchall()
    assert {row["name"]: row["rank"] for row in kept} == dict(ranked)


def test_an_index_is_built_once_for_a_version_and_former_ones_go(tmp_path):
    with opened(tmp_path) as (engine, url):
        first = list_schemas(url)
        steps = []
        world = catalog(declared(url), folder=tmp_path)
        with closing(Postgres.open(world, tmp_path / "state", lambda *step: steps.append(step))) as again:
            assert count(again) == 200
        assert (list_schemas(url), steps) == (first, [])
        run(url, "INSERT INTO people VALUES (1000, 'Oslo', 1, 'new')")
        newer = replace(world, version=2)
        with closing(Postgres.open(newer, tmp_path / "state", lambda *step: steps.append(step))) as again:
            assert count(again) == 201
            assert count(engine) == 200
            assert len(list_schemas(url)) == 2  # somebody uses the former one
        assert [name for name, _ in steps][-1] == "done"
        shares = [share for _, share in steps]
        assert shares == sorted(shares)
        engine.close()
        newest = replace(world, version=3)
        Postgres.open(newest, tmp_path / "state").close()
        assert len(list_schemas(url)) == 1


def test_rows_that_changed_under_a_version_are_refused_when_its_index_is_built_again(tmp_path):
    with opened(tmp_path) as (engine, url):
        engine.close()
        run(url, f'DROP SCHEMA "{list_schemas(url)[0]}" CASCADE')
        open_index(tmp_path, declared(url)).close()
        run(url, f'DROP SCHEMA "{list_schemas(url)[0]}" CASCADE', "UPDATE people SET fare = 7 WHERE name = 'n7'")
        open_index(tmp_path, declared(url)).close()  # the same multiset of rows
        run(url, f'DROP SCHEMA "{list_schemas(url)[0]}" CASCADE', "UPDATE people SET fare = 8 WHERE name = 'n7'")
        with pytest.raises(Refusal, match="The data of table people changed, and version 1 stands for what it was"):
            open_index(tmp_path, declared(url))
        assert list_schemas(url) == []  # nothing is left of it


def test_an_index_that_lost_a_table_is_built_again(tmp_path, caplog):
    with opened(tmp_path) as (engine, url):
        schemas, rows = list_schemas(url), read_index(engine, "people")
        run(url, f'DROP TABLE {engine._place.quoted}."people"')
        with closing(open_index(tmp_path, declared(url))) as again:
            assert count(again) == 200
            assert read_index(again, "people") == rows
            assert count(engine) == 200
        assert list_schemas(url) == schemas
    assert [record.getMessage() for record in caplog.records] == ["The index is damaged and is built again."]


@pytest.mark.parametrize("host", ["state", "another"])
def test_an_index_that_lost_a_table_is_not_built_from_other_rows_under_its_version(tmp_path, host):
    """A host that never opened it knows from the schema itself which rows it was built from."""
    with opened(tmp_path) as (engine, url):
        engine.close()
        schemas = list_schemas(url)
        run(url, f'DROP TABLE {engine._place.quoted}."people"', "DELETE FROM people WHERE name = 'n7'")
        with pytest.raises(Refusal, match="The data of table people changed, and version 1 stands for what it was"):
            Postgres.open(catalog(declared(url), folder=tmp_path), tmp_path / host)
        assert list_schemas(url) == schemas


def test_a_schema_of_somebody_else_is_not_believed(tmp_path):
    with opened(tmp_path) as (engine, url):
        engine.close()
        (name,) = list_schemas(url)
        run(url, "DROP ROLE IF EXISTS thief", "CREATE ROLE thief", f'ALTER SCHEMA "{name}" OWNER TO thief')
        with pytest.raises(Refusal, match="that another role made"):
            open_index(tmp_path, declared(url))


def test_nobody_else_may_read_the_index(tmp_path):
    with opened(tmp_path) as (engine, url):
        run(url, "DROP ROLE IF EXISTS curious", "CREATE ROLE curious")
        with psycopg.connect(url) as connection:
            connection.execute("SET ROLE curious")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f'SELECT * FROM {engine._place.quoted}."people"')


def test_the_key_of_the_order_is_nowhere_in_the_database(tmp_path):
    with opened(tmp_path) as (engine, url):
        key = (tmp_path / "state" / "index.key").read_bytes().hex()
        with psycopg.connect(url) as connection:
            described = connection.execute("SELECT description FROM pg_description").fetchall()
            bodies = connection.execute("SELECT prosrc, pg_get_functiondef(oid) FROM pg_proc WHERE prokind = 'f'")
            assert key not in repr(described) + repr(bodies.fetchall())
        assert key not in repr(read_index(engine, "people"))
    assert key not in (server().folder / "log").read_text()
    assert set(json.loads((tmp_path / "state" / "index.json").read_text())["databases"]["1"]) == {"people"}


def test_columns_are_looked_at_before_anything_is_opened():
    with filled(CREATE) as url:
        Postgres.check_header(url, declared(url))
        with pytest.raises(Refusal, match="height"):
            Postgres.check_header(url, declared(url, columns=(CITY, number("height", 0, 3))))
        assert list_schemas(url) == []


def test_a_role_that_may_make_no_schema_gets_an_index_beside_the_ledger(tmp_path):
    with filled(CREATE, INSERT) as url:
        run(url, "DROP ROLE IF EXISTS reader", "CREATE ROLE reader LOGIN", "GRANT SELECT ON people TO reader")
        as_reader = url.replace("postgres@", "reader@")
        Postgres.check_header(as_reader, declared(as_reader))
        with closing(open_index(tmp_path, declared(as_reader))) as engine:
            assert isinstance(engine, DuckDB)
            assert count(engine) == 200
        assert list_schemas(url) == []
        assert list((tmp_path / "state").glob("index-*"))
        run(url, f'GRANT CREATE ON DATABASE "{urlsplit(url).path[1:]}" TO reader')
        with closing(open_index(tmp_path, declared(as_reader))) as engine:
            assert isinstance(engine, Postgres)
            assert count(engine) == 200
        assert not list((tmp_path / "state").glob("index-*"))  # rows of people are in the database alone
        run(url, f'DROP TABLE {engine._place.quoted}."people"')
        run(url, f'REVOKE CREATE ON DATABASE "{urlsplit(url).path[1:]}" FROM reader')
        with pytest.raises(Refusal, match="has an index that lost a table, and its role may not make another"):
            open_index(tmp_path, declared(as_reader))
        run(url, "DROP OWNED BY reader", "DROP ROLE reader")


def test_rows_that_a_policy_hides_are_refused(tmp_path):
    policy = ("ALTER TABLE people ENABLE ROW LEVEL SECURITY", "CREATE POLICY few ON people USING (person_id = 1)")
    with filled(CREATE, INSERT, *policy) as url:
        name = urlsplit(url).path[1:]
        run(url, "DROP ROLE IF EXISTS maker", "CREATE ROLE maker LOGIN", f'GRANT CREATE ON DATABASE "{name}" TO maker')
        run(url, "GRANT SELECT ON people TO maker")
        with pytest.raises(Refusal, match="does not let its role read all rows"):
            open_index(tmp_path, declared(url.replace("postgres@", "maker@")))
        assert list_schemas(url) == []
        run(url, "DROP OWNED BY maker", "DROP ROLE maker")


def test_two_who_open_at_once_build_one_index(tmp_path):
    with filled(CREATE, INSERT) as url:
        found = []

        def open_one(folder):
            with closing(Postgres.open(catalog(declared(url), folder=tmp_path), tmp_path / folder)) as engine:
                found.append((engine._place.schema, count(engine)))

        hosts = [Thread(target=open_one, args=(folder,)) for folder in ("one", "two", "three")]
        for host in hosts:
            host.start()
        for host in hosts:
            host.join()
        assert len(set(found)) == 1
        assert len(found) == 3


# What may happen to the server.


@contextmanager
def own_server(tmp_path, limits=None):
    """A server that may be stopped, paused and killed, with the engine over it."""
    head = Server("fsync=off", "max_connections=20")
    try:
        run(head.url(), CREATE, INSERT)
        world = catalog(declared(head.url()), folder=tmp_path)
        engine = Postgres.open(world, tmp_path / "state", limits=limits or Limits(seconds=HANG_SECONDS))
        yield head, engine
        engine.close()
    finally:
        head.remove()


def test_a_server_that_is_gone_is_noticed_and_one_that_comes_back_is_used_again(tmp_path, caplog):
    with own_server(tmp_path) as (head, engine), caplog.at_level(logging.DEBUG):
        assert count(engine) == 200
        head.stop("immediate")
        with pytest.raises(Failure) as failure:
            count(engine)
        assert failure.value.__cause__ is None
        assert failure.value.__context__ is None
        assert not engine.is_reachable()
        assert engine.is_open()  # it needs no other in its place
        head.start()
        assert engine.is_open()
        wait_until(engine.is_reachable)
        assert count(engine) == 200
    assert caplog.text == ""


def test_a_server_that_hangs_ends_in_a_failure_and_not_in_a_wait(tmp_path, monkeypatch):
    monkeypatch.setattr("adomnia.engines.postgres.running.GRACE_SECONDS", 0.5)
    monkeypatch.setattr(engine_module, "_ASKING_SECONDS", 0.5)
    monkeypatch.setattr("adomnia.postgres._CONNECT_SECONDS", 2)
    with own_server(tmp_path, Limits(seconds=0.5)) as (head, engine):
        head.pause()
        try:
            with pytest.raises(Failure):
                count(engine)
            assert not engine.is_reachable()
        finally:
            head.resume()
        wait_until(engine.is_reachable)
        wait_until(lambda: counts(engine))


def counts(engine):
    """Whether a question gets its answer, within the little time that it has."""
    with suppress(Failure):
        return count(engine) == 200
    return False


SLOW = "SELECT COUNT(*) AS m0 FROM generate_series(1, 1000000000)"


def run_text(engine, text):
    query = Query(relation(declared("")), (), Rows())
    return engine.run(Statement(text, ()), (query,))


def test_a_statement_that_takes_too_long_fails_and_the_next_one_runs(tmp_path):
    with opened(tmp_path, Limits(seconds=0.3)) as (engine, _):
        with pytest.raises(Failure):
            run_text(engine, SLOW)
        wait_until(lambda: counts(engine))


def test_closing_ends_what_runs(tmp_path):
    with opened(tmp_path) as (engine, _):
        failed = []

        def ask():
            try:
                run_text(engine, SLOW)
            except Failure as failure:
                failed.append(failure)

        asking = Thread(target=ask)
        asking.start()
        sleep(0.5)
        engine.close()
        asking.join(HANG_SECONDS)
        assert len(failed) == 1
        with pytest.raises(Failure):
            count(engine)
        assert not engine.is_open()


@pytest.mark.parametrize(
    "text",
    [
        'DELETE FROM "people"',
        'CREATE TABLE "more" (x int)',
        "SELECT 1 AS m0; SELECT 2 AS m0",
        "SELECT 1 / 0 AS m0",
        "SELECT 1 AS other",
        "SELECT * FROM public.nobody",
    ],
)
def test_whatever_is_wrong_with_a_statement_is_a_constant_failure(tmp_path, text):
    with opened(tmp_path) as (engine, _):
        with pytest.raises(Failure) as failure:
            run_text(engine, text)
        assert str(failure.value) == "The request failed."
        assert failure.value.__cause__ is None
        assert count(engine) == 200


def test_an_index_that_is_dropped_or_taken_away_is_no_longer_open(tmp_path):
    with opened(tmp_path) as (engine, url):
        run(url, f'DROP TABLE {engine._place.quoted}."people"')
        assert not engine.is_open()
        assert not engine.is_reachable()
        with pytest.raises(Failure):
            count(engine)


def test_settings_that_somebody_changes_are_pinned(tmp_path):
    with filled(CREATE, INSERT) as url:
        name = urlsplit(url).path[1:]
        for setting in ("search_path = public", "TimeZone = 'Asia/Tokyo'", "extra_float_digits = -15"):
            run(url, f'ALTER DATABASE "{name}" SET {setting}')
        run(url, "ALTER ROLE postgres SET standard_conforming_strings = off")
        try:
            with closing(open_index(tmp_path, declared(url))) as engine:
                assert count(engine) == 200
                with engine._running.transaction() as connection:
                    shown = {
                        name: connection.execute(f"SHOW {name}").fetchone()[0]
                        for name in (
                            "TimeZone",
                            "extra_float_digits",
                            "standard_conforming_strings",
                            "transaction_read_only",
                        )
                    }
        finally:
            run(url, "ALTER ROLE postgres RESET standard_conforming_strings")
    assert list(shown.values()) == ["UTC", "1", "on", "on"]


def test_functions_of_which_the_server_computes_other_bits_are_refused_by_name(tmp_path):
    strange = patch.object(engine_module, "expect_bits", lambda name: name)
    with filled(CREATE, INSERT) as url, strange, closing(open_index(tmp_path, declared(url))) as engine:
        assert {"ln", "exp", "power", "log10"} <= engine.dialect.refused.keys()
        asked = Where(relation(declared("")), call(">", call("ln", FARE), constant(1)))
        with pytest.raises(Refusal, match="the C library of this server"):
            engine.render((Query(asked, (), Rows()),))


def test_only_functions_of_ours_lie_in_the_schema(tmp_path):
    with opened(tmp_path) as (engine, url), psycopg.connect(url) as connection:
        listed = "SELECT proname FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace WHERE nspname = %s"
        found = connection.execute(listed, [engine._place.schema]).fetchall()
    twins = {own.called + ONCE for own in list_own() if own.twin}
    assert {name for (name,) in found} == {own.called for own in list_own()} | twins | {"ao_wide"}


NAMED = Query(relation(declared("")), (Bucket(NAME, Names(("",), most=1000), NAME),), People())


def test_values_of_many_people_are_read_within_the_memory_there_is(tmp_path):
    with opened(tmp_path) as (engine, _):
        people_of, at = engine.keys(engine.render((NAMED,)), NAMED)
        assert len(people_of) == 200
        assert all(name.startswith("n") for (name,) in at(np.arange(200)))
        engine._most_bytes = 1000
        with pytest.raises(Failure):
            engine.keys(engine.render((NAMED,)), NAMED)
        found = replace(NAMED, keys=(Bucket(NAME, Names(("n1", "n2")), NAME),), aggregate=Rows())
        with pytest.raises(Failure):
            engine.run(engine.render((found,)), (found,))
        assert count(engine) == 200


def test_a_table_without_rows_has_no_values_and_empty_cells(tmp_path):
    with filled(CREATE) as url, closing(open_index(tmp_path, declared(url))) as engine:
        people_of, at = engine.keys(engine.render((NAMED,)), NAMED)
        assert (people_of.tolist(), at(np.arange(0))) == ([], [])
        ranked = Query(
            relation(declared("")), (CITY,), Histogram(FARE, FARE.domain, (Fraction(1, 2),), Fraction(19, 20))
        )
        assert engine.run(engine.render((ranked,)), (ranked,))[0].shape == (3, 0)


def test_public_rows_are_read_to_the_most_and_within_their_memory(tmp_path, monkeypatch):
    make_ready("postgres")
    column = Column("n", Quantity())
    table = replace(people(), name="numbers", columns=(column,), public=True, repeats=(1,))
    rows = Select(Public("numbers", (column,), (1,)), (Selected("c0", column, stored=False),))
    frames = {"numbers": pa.table({"n": [float(n) for n in range(5000)]}), "people": pa.table({"person_id": [1]})}
    with closing(Postgres.load(catalog(people(), table), frames, limits=Limits(threads=2, memory="1.5 GiB"))) as engine:
        statement = engine.render_rows(rows)
        assert len(engine.read(statement, 10)) == 10
        assert len(engine.read(statement, 10**6)) == 5000
        monkeypatch.setattr(engine_module, "PUBLIC_BYTES", 1000)
        with pytest.raises(Failure):
            engine.read(statement, 10**6)
        assert engine._most_bytes == int(1.5 * 2**30)


@pytest.mark.parametrize(
    ("state", "fault", "says"),
    [
        ("42501", Refusal, "does not let its role read all rows"),
        ("53100", Unavailable, "has no room left for the index"),
        ("57P01", Unavailable, "ended the connection"),
        (None, Unavailable, "ended the connection"),
        ("XX000", Failure, "The request failed."),
    ],
)
def test_what_goes_wrong_while_an_index_is_built_is_said_in_words_of_ours(tmp_path, state, fault, says):
    class Fault(psycopg.Error):
        sqlstate = state

    with (
        filled(CREATE, INSERT) as url,
        patch("adomnia.engines.postgres.building.build_table", side_effect=Fault("CANARY")),
    ):
        with pytest.raises(fault) as raised:
            open_index(tmp_path, declared(url))
        assert says in str(raised.value)
        assert raised.value.__cause__ is None
        assert list_schemas(url) == []


def test_an_index_that_goes_while_it_is_opened_is_not_available(tmp_path):
    broken = patch.object(engine_module, "render_same_bits", lambda _: "SELECT 1/0")
    with filled(CREATE, INSERT) as url, broken, pytest.raises(Unavailable, match="ended the connection"):
        open_index(tmp_path, declared(url))


def test_a_column_is_found_by_its_name_in_another_case(tmp_path):
    with filled('CREATE TABLE people ("PERSON_ID" int, "City" text, fare float8, name text)') as url:
        open_index(tmp_path, declared(url)).close()
