"""Questions to a dataset in PostgreSQL, end to end: what is lost before the debit costs nothing, what is lost after it
is paid for once, and nothing runs twice."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import psycopg
import pytest

from adomnia import postgres
from adomnia.engines.postgres import engine as engine_module
from adomnia.engines.postgres import running
from adomnia.engines.postgres.engine import Postgres
from adomnia.errors import Failure, Unavailable
from adomnia.session.curator import open_folder
from kit.filled_postgres import filled, run
from kit.postgres import Server
from ledger.proxies import Proxy

CATALOG = """
[dataset]
name = "trips"
version = 1
unit = "people.person_id"

[budget]
epsilon = 100

[analysts.bob]
epsilon = 100

[tables.people]
source = "{url}"
table = "people"
rows_per_person = 2

[tables.people.columns]
person_id = {{ type = "id" }}
city = {{ type = "category", values = "cities.city" }}
fare = {{ type = "number", lower = 0, upper = 1000 }}

[tables.cities]
source = "cities.csv"
public = true

[tables.cities.columns]
city = {{ type = "text" }}
zone = {{ type = "text" }}
"""
ROWS = (
    "CREATE TABLE people (person_id int, city text, fare float8)",
    "INSERT INTO people SELECT i / 3, CASE i % 3 WHEN 0 THEN 'Oslo' ELSE 'Rome' END, i FROM generate_series(0, 2999) i",
)
CITIES = "city,zone\nOslo,north\nRome,south\n"


def write_dataset(folder, url):
    (folder / "catalog.toml").write_text(CATALOG.format(url=url))
    (folder / "cities.csv").write_text(CITIES)
    return folder


@pytest.fixture(scope="module")
def head():
    """A server that may be stopped, and is started again."""
    made = Server("fsync=off")
    run(made.url(), *ROWS)
    yield made
    made.remove()


@pytest.fixture
def curator(head, tmp_path):
    with open_folder(write_dataset(tmp_path, head.url())) as opened:
        yield opened
    if not head.is_running():
        head.start()


def test_a_question_is_answered_where_the_rows_are(tmp_path):
    with filled(*ROWS) as url, open_folder(write_dataset(tmp_path, url)) as curator:
        assert isinstance(curator.engine, Postgres)
        session = curator.session("bob")
        answer = session.sql("SELECT city, COUNT(*), SUM(fare) FROM people GROUP BY city", epsilon=10)
        assert len(answer) == 2
        joined = session.sql(
            "SELECT z.zone, COUNT(*) FROM people p JOIN cities z ON p.city = z.city GROUP BY z.zone", epsilon=10
        )
        assert len(joined) == 2
        public = session.sql("SELECT city, zone FROM cities ORDER BY zone")
        assert [list(public["city"]), list(public["zone"])] == [["Oslo", "Rome"], ["north", "south"]]


def test_a_server_that_is_lost_before_the_debit_costs_nothing(curator, head):
    session = curator.session("bob")
    session.sql("SELECT COUNT(*) FROM people", epsilon=1)
    before = curator.ledger.spent("bob")
    head.stop("immediate")
    with pytest.raises(Unavailable, match="nothing was paid"):
        session.sql("SELECT COUNT(*) FROM people WHERE fare > 5", epsilon=1)
    assert curator.ledger.spent("bob") == before
    head.start()
    session.sql("SELECT COUNT(*) FROM people WHERE fare > 5", epsilon=1)


def test_a_server_that_is_lost_after_the_debit_is_paid_once_and_asked_once(curator, head):
    session = curator.session("bob")
    session.sql("SELECT COUNT(*) FROM people", epsilon=1)
    sent, reserve = [], curator.ledger.reserve

    def stop_after(*arguments, **named):
        held = reserve(*arguments, **named)
        head.stop("immediate")
        return held

    execute = psycopg.Connection.execute

    def note(self, query, *arguments, **named):
        sent.append(query)
        return execute(self, query, *arguments, **named)

    before = curator.ledger.spent("bob")
    stopped = patch.object(curator.ledger, "reserve", stop_after)
    noted = patch.object(psycopg.Connection, "execute", note)
    with stopped, noted, pytest.raises(Failure) as failure:
        session.sql("SELECT COUNT(*) FROM people WHERE fare > 7", epsilon=1)
    assert failure.value.__cause__ is None
    assert len([text for text in sent if '"people"' in text]) == 1
    assert curator.ledger.spent("bob") != before
    once = curator.ledger.spent("bob")
    head.start()
    session.sql("SELECT COUNT(*) FROM people", epsilon=1, replay=True)
    assert curator.ledger.spent("bob") == once


class Mute(Proxy):
    """Connections are made, and what is asked through them is not passed on."""

    muted = False

    def _step(self, source, target, client):
        data = source.recv(65536)
        if not (self.muted and source is client and data[:1] in (b"P", b"Q")):
            target.sendall(data)
        return bool(data)


@contextmanager
def behind(head, folder):
    """A curator over a server that can fall silent."""
    proxy = Mute(head)
    try:
        with open_folder(write_dataset(folder, proxy.url())) as curator:
            yield curator, proxy
    finally:
        proxy.close()


@contextmanager
def silent(proxy, monkeypatch):
    """For as long as the block runs the server says nothing, and nobody waits for it for long."""
    with monkeypatch.context() as hurried:
        for module, name in ((engine_module, "_ASKING_SECONDS"), (running, "GRACE_SECONDS")):
            hurried.setattr(module, name, 0.3)
        hurried.setattr(postgres, "_ASKING_SECONDS", 0.5)
        proxy.muted = True
        yield
        proxy.muted = False


@pytest.mark.parametrize("kept", [0, 1, 5])
def test_a_server_that_falls_silent_before_the_debit_is_not_waited_for(head, tmp_path, monkeypatch, kept):
    """Neither on a connection that was used before, nor on a new one, and not once for each of them."""
    with behind(head, tmp_path) as (curator, proxy):
        session, pool = curator.session("bob"), curator.engine._running
        session.sql("SELECT COUNT(*) FROM people", epsilon=1)
        with ExitStack() as opened:
            for _ in range(kept):
                opened.enter_context(pool.transaction())
        while len(pool._free) > kept:
            pool._free.pop().connection.close()
        before = curator.ledger.spent("bob")
        with silent(proxy, monkeypatch), pytest.raises(Unavailable, match="nothing was paid"):
            session.sql("SELECT COUNT(*) FROM people WHERE fare > 5", epsilon=1)
        assert curator.ledger.spent("bob") == before
        session.sql("SELECT COUNT(*) FROM people WHERE fare > 5", epsilon=1)


def test_a_server_that_falls_silent_after_the_debit_is_paid_once(head, tmp_path, monkeypatch):
    with behind(head, tmp_path) as (curator, proxy):
        session, reserve = curator.session("bob"), curator.ledger.reserve

        def mute_after(*arguments, **named):
            held = reserve(*arguments, **named)
            curator.engine._seconds = 0.5
            falls_silent.enter_context(silent(proxy, monkeypatch))
            return held

        before = curator.ledger.spent("bob")
        with ExitStack() as falls_silent, pytest.raises(Failure), patch.object(curator.ledger, "reserve", mute_after):
            session.sql("SELECT COUNT(*) FROM people", epsilon=1)
        assert curator.ledger.spent("bob") != before


def test_connections_that_were_all_killed_are_no_reason_to_refuse(head, tmp_path, monkeypatch):
    with behind(head, tmp_path) as (curator, _):
        session, pool = curator.session("bob"), curator.engine._running
        with ExitStack() as opened:
            for _ in range(running.MOST_CONNECTIONS):
                opened.enter_context(pool.transaction())
        assert len(pool._free) == running.MOST_CONNECTIONS
        run(
            head.url(),
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = 'adomnia'",
        )
        session.sql("SELECT COUNT(*) FROM people", epsilon=1)


def test_looking_whether_the_index_is_there_ends_whatever_happens(tmp_path, monkeypatch):
    """A statement that fails on a connection that stays good must not be sent for ever."""
    with filled(*ROWS) as url, open_folder(write_dataset(tmp_path, url)) as curator:
        sent = []
        monkeypatch.setattr(engine_module, "_READABLE", "SELECT 1/0, $1::text")
        execute = psycopg.Connection.execute

        def note(self, query, *arguments, **named):
            sent.append(query)
            return execute(self, query, *arguments, **named)

        with patch.object(psycopg.Connection, "execute", note):
            assert not curator.engine.is_reachable()
        assert 0 < sent.count(engine_module._READABLE) <= running.MOST_CONNECTIONS + 1
