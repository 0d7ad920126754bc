"""Settings of a session are pinned and read back, and servers that cannot keep them are refused."""

from __future__ import annotations

from contextlib import closing
from unittest.mock import patch
from urllib.parse import urlsplit

import psycopg
import pytest

from adomnia import postgres
from adomnia.engines.postgres import settings
from adomnia.engines.postgres.engine import Postgres
from adomnia.engines.postgres.functions import BY_LIBRARY
from adomnia.engines.postgres.library import render_library
from adomnia.engines.postgres.settings import expect_bits, render_same_bits
from adomnia.engines.sources.snapshots import Snapshots
from adomnia.errors import Refusal, Unavailable
from adomnia.privacy.expressions import Column, call
from adomnia.privacy.kinds import Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Where
from adomnia.privacy.scans import Rows
from engines.databases import catalog, constant, number, people, relation
from kit.filled_postgres import filled, run
from kit.postgres import database, server


def open_session(url, **named):
    return settings.open_session(url, "test", {"statement_timeout": "1000", **named})


def test_settings_are_in_force_from_the_first_statement_on():
    with database() as url, open_session(url) as session:
        assert session.execute("SHOW statement_timeout").fetchone() == ("1s",)
        assert session.execute("SELECT $1::text", ["raw"]).fetchone() == ("raw",)


def test_a_setting_that_something_on_the_way_took_away_is_noticed():
    forgetful = patch.object(settings, "connect", lambda url, **_: psycopg.connect(url))
    with forgetful, pytest.raises(Refusal, match="does not keep the setting"):
        open_session(server().url())


def test_a_server_that_is_too_old_is_refused(monkeypatch):
    monkeypatch.setattr(settings, "OLDEST", 990000)
    with pytest.raises(Refusal, match="is older than version 14"):
        open_session(server().url())


def test_a_database_in_another_encoding_is_refused():
    head = server()
    with psycopg.connect(head.url(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS latin")
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    with pytest.raises(Refusal, match="another encoding than UTF8"):
        open_session(head.url("latin"))


def test_a_connection_that_ends_while_it_is_looked_at_says_nothing_of_why(monkeypatch):
    monkeypatch.setattr(postgres, "_READ_BACK", "SELECT 1/0, %s::text[]")
    with pytest.raises(Unavailable, match="ended the connection") as unavailable:
        open_session(server().url())
    assert unavailable.value.__cause__ is None
    assert unavailable.value.__context__ is None


@pytest.mark.parametrize(
    ("variable", "value", "setting"),
    [
        ("PGTZ", "Asia/Tokyo", "TimeZone"),
        ("PGDATESTYLE", "German", "DateStyle"),
        ("PGCLIENTENCODING", "LATIN1", "client"),
    ],
)
def test_what_the_environment_sets_in_their_place_is_noticed(monkeypatch, variable, value, setting):
    monkeypatch.setenv(variable, value)
    with pytest.raises(Refusal, match=f"does not keep the setting {setting}.*{variable}"):
        open_session(server().url())
    with Snapshots() as snapshots, pytest.raises(Refusal, match=f"does not keep the setting {setting}.*{variable}"):
        snapshots.connection(server().url())


def test_rows_are_not_read_where_settings_are_lost():
    """A policy would leave rows out in silence, and texts would come in another encoding."""
    forgetful = patch("adomnia.engines.sources.snapshots.connect", lambda url, **_: psycopg.connect(url))
    with forgetful, Snapshots() as snapshots, pytest.raises(Refusal, match="does not keep the setting"):
        snapshots.connection(server().url())


ODD = (
    "role = postgres",
    "bytea_output = escape",
    "IntervalStyle = iso_8601",
    "default_transaction_isolation = serializable",
    "default_transaction_deferrable = on",
    "transform_null_equals = on",
    "array_nulls = off",
    "backslash_quote = on",
    "quote_all_identifiers = on",
    "statement_timeout = 1",
    "idle_session_timeout = 1",
    "default_transaction_read_only = on",
    "enable_seqscan = off",
    "jit_above_cost = 0",
    "plpgsql.extra_errors = 'all'",
    "plpgsql.variable_conflict = use_column",
    "check_function_bodies = off",
    "work_mem = 64",
    "from_collapse_limit = 1",
)


def test_what_a_database_sets_for_everybody_changes_no_answer(tmp_path):
    rows = "INSERT INTO people SELECT i / 2, i, 'n' || i FROM generate_series(0, 99) i"
    with filled("CREATE TABLE people (person_id int, fare float8, name text)", rows) as url:
        run(url, *(f'ALTER DATABASE "{urlsplit(url).path[1:]}" SET {setting}' for setting in ODD))
        table = people(number("fare", 0, 99), Column("name", Text()), source=url, source_table="people")
        asked = Where(relation(table), call(">=", call("power", number("fare", 0, 99), constant(2)), constant(0)))
        query = Query(asked, (), Rows())
        with closing(Postgres.open(catalog(table, folder=tmp_path), tmp_path / "state")) as engine:
            (found,) = engine.run(engine.render((query,)), (query,))
    assert int(found) == 50


@pytest.fixture(scope="module")
def connection():
    with database() as url, psycopg.connect(url, autocommit=True) as made:
        made.execute("CREATE SCHEMA ix; SET search_path = ix, pg_catalog")
        for statement in render_library("ix"):
            made.execute(statement)
        yield made


@pytest.mark.parametrize("function", sorted(BY_LIBRARY))
def test_this_server_computes_the_same_bits(connection, function):
    ((found,),) = connection.execute(render_same_bits(function)).fetchall()
    assert found == expect_bits(function)
    assert len(set(found.split(","))) > 150


def test_another_last_bit_is_seen(connection):
    written = render_same_bits("ln").replace("ao_ln(x)", "ao_ln(x) * 1.0000000000000002")
    ((found,),) = connection.execute(written).fetchall()
    assert found != expect_bits("ln")
    same = sum(one == other for one, other in zip(found.split(","), expect_bits("ln").split(","), strict=True))
    assert same == 0
