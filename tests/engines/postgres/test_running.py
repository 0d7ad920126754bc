"""Connections are bounded, kept and thrown away; what nobody waits for ends."""

from __future__ import annotations

from threading import Thread
from unittest.mock import patch

import psycopg
import pytest

from adomnia.engines.postgres import running
from adomnia.engines.postgres.running import ConnectionPool
from adomnia.errors import Failure
from adomnia.work import Work, limit
from kit.postgres import server
from kit.waiting import HANG_SECONDS, wait_until


@pytest.fixture
def made():
    return []


@pytest.fixture
def pool(made):
    url = server().url()  # here, and not in a thread of a test: where there is no server, it is skipped

    def connect():
        made.append(psycopg.connect(url))
        return made[-1]

    pool = ConnectionPool(connect, most=1)
    yield pool
    pool.close()


def test_a_connection_is_used_again_and_cannot_write(pool, made):
    for _ in range(3):
        with pool.transaction() as connection, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("CREATE TABLE more (x int)")
    assert len(made) == 1
    assert pool.has_kept()


def test_a_connection_that_broke_is_thrown_away(pool, made):
    with pool.transaction() as connection, psycopg.connect(server().url(), autocommit=True) as other:
        connection.execute("SELECT 1")
        other.execute("SELECT pg_terminate_backend(%s, 60000)", [connection.info.backend_pid])
    with pool.transaction() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert len(made) == 2


def test_no_more_connections_are_made_than_there_may_be(pool, monkeypatch):
    monkeypatch.setattr(running, "_WAIT_SECONDS", 0.05)
    with pool.transaction(), pytest.raises(Failure), pool.transaction():
        pass


def test_what_nobody_waits_for_is_cancelled(pool):
    work, failed = Work(), []

    def ask():
        with (
            limit(work),
            pytest.raises(psycopg.errors.QueryCanceled) as cancelled,
            pool.brief(10 * HANG_SECONDS) as connection,
        ):
            connection.execute("SELECT COUNT(*) FROM generate_series(1, 10000000000)")
        failed.append(cancelled.value)

    asking = Thread(target=ask)
    asking.start()
    with psycopg.connect(server().url(), autocommit=True) as other:
        runs = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT COUNT(*) FROM gen%'"
        wait_until(lambda: other.execute(runs).fetchone())
    work.abandon()
    asking.join(HANG_SECONDS)
    assert len(failed) == 1


def test_a_brief_statement_ends_after_its_seconds(pool):
    with pytest.raises(psycopg.errors.QueryCanceled), pool.brief(0.1) as connection:
        connection.execute("SELECT COUNT(*) FROM generate_series(1, 10000000000)")


def test_a_closed_pool_gives_nothing(pool):
    pool.close()
    with pytest.raises(Failure), pool.transaction():
        pass


def test_others_may_come_and_go_while_a_brief_statement_begins(pool):
    class Changing(set):
        def __iter__(self):
            raise RuntimeError("Set changed size during iteration")

    with patch.object(pool, "_busy", Changing()), pool.brief(5) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
