"""Users in PostgreSQL: hosts that hang, a server that stops, and nothing that the driver says."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import sleep

import psycopg
import pytest

from adomnia.api.access import Access, Role
from adomnia.api.access import shared_database as module
from adomnia.api.access.shared_database import name_schema
from adomnia.errors import Unavailable
from api.access.trials import DATASET, HERE, PASSWORD, code_of
from kit.postgres import Server
from kit.waiting import HANG_SECONDS, wait_until


@pytest.fixture
def home(in_postgres):
    return in_postgres


@pytest.fixture(scope="module")
def own_server():
    """One that may be stopped."""
    server = Server("fsync=off")
    yield server
    server.remove()


@contextmanager
def another_transaction(url, dataset, *statements):
    """Somebody else's, which does not end."""
    with psycopg.connect(url, options=f'-c search_path="{name_schema(dataset)}"') as connection:
        for statement in statements:
            connection.execute(statement)
        yield connection
        connection.rollback()


def told_by(ask, *arguments) -> Unavailable:
    with pytest.raises(Unavailable) as refused:
        ask(*arguments)
    assert refused.value.__cause__ is None
    assert refused.value.what == "The shared database"
    return refused.value


def test_hosts_that_open_at_once_make_the_tables_once(shared_url):
    with ThreadPoolExecutor(6) as hosts:
        opened = list(hosts.map(lambda _: Access.open_shared(shared_url, "at_once"), range(6)))
    opened[0].add_user("olga", Role.OWNER)
    assert [[user.name for user in access.users()] for access in opened] == [["olga"]] * 6
    for access in opened:
        access.close()


def test_datasets_of_one_database_have_users_of_their_own(shared_url):
    with Access.open_shared(shared_url, "one") as one, Access.open_shared(shared_url, "two") as two:
        one.add_user("olga", Role.OWNER)
        assert two.users() == []


@pytest.mark.parametrize("length", [48, 49, 63])
def test_a_long_name_is_shortened_and_never_shared(length):
    first, second = (name_schema("x" * (length - 1) + end) for end in "ab")
    assert first != second
    assert max(len(first), len(second)) <= 63


def test_guesses_through_two_hosts_at_once_are_counted_together(access, time, tmp_path):
    with time.opened(tmp_path) as other, ThreadPoolExecutor(8) as guessers:
        hosts = [access, other] * 8
        ends = list(guessers.map(lambda host: code_of(host.sign_in, "alice", "a wrong one, surely", HERE), hosts))
    assert sorted(ends) == ["sign_in"] * 5 + ["too_many_attempts"] * 11


def test_one_link_opens_once_whichever_host_is_quicker(access, time, tmp_path):
    code = access.create_link("olga")
    with time.opened(tmp_path) as other, ThreadPoolExecutor(2) as hosts:
        ends = list(hosts.map(lambda host: code_of(host.redeem_link, code, PASSWORD, HERE), [access, other]))
    assert sorted(ends) == ["", "sign_in"]


def test_the_last_owner_stays_whichever_hosts_remove_them(access, time, tmp_path):
    access.add_user("otto", Role.OWNER)
    with time.opened(tmp_path) as other, ThreadPoolExecutor(2) as hosts:
        ends = hosts.map(lambda pair: code_of(pair[0].remove_user, pair[1]), [(access, "olga"), (other, "otto")])
        assert sorted(ends) == ["", "last_owner"]


def test_a_host_that_hangs_in_a_transaction_keeps_the_others_waiting_for_seconds_only(access, home):
    with pytest.raises(psycopg.Error):  # it is cut off, and undone
        hang_and_go_on(access, home)
    access.add_user("otto", Role.AUDITOR)
    assert len(access.users()) == 3


def hang_and_go_on(access, home) -> None:
    settings = "-c idle_in_transaction_session_timeout=300"
    path = f'"{name_schema(DATASET)}"'
    with psycopg.connect(home.url, options=f"{settings} -c search_path={path}") as hanging:
        hanging.execute("SELECT latest FROM clock FOR UPDATE")
        access.set_role("alice", Role.AUDITOR)
        hanging.execute("SELECT 1")


def test_who_cannot_write_in_time_is_told_to_try_again(access, home, time, tmp_path, monkeypatch):
    secret, _ = access.sign_in("alice", PASSWORD, HERE)
    monkeypatch.setitem(module._SETTINGS, "lock_timeout", "50ms")
    with (
        time.opened(tmp_path) as other,
        another_transaction(home.url, DATASET, "SELECT latest FROM clock FOR UPDATE"),
    ):
        assert told_by(other.add_user, "otto", Role.AUDITOR).code == "busy"
        assert other.identify_browser(secret)  # reads wait for nobody
    other = time.opened(tmp_path)
    other.add_user("otto", Role.AUDITOR)
    other.close()


def test_a_server_that_was_started_again_is_found_again(own_server):
    with Access.open_shared(own_server.url(), "again") as access:
        access.add_user("olga", Role.OWNER, PASSWORD)
        own_server.stop("immediate")
        assert told_by(access.users).why == "cannot be reached"
        own_server.start()
        sleep(module._REST_SECONDS)
        assert [user.name for user in access.users()] == ["olga"]
        access.add_user("alice", Role.ANALYST)


def test_a_server_that_hangs_keeps_nobody_for_long_and_the_next_not_at_all(own_server, monkeypatch, caplog):
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr(module, "_REST_SECONDS", HANG_SECONDS)
    with Access.open_shared(own_server.url(), "hanging") as access:
        access.add_user("olga", Role.OWNER)
        access.users()
        own_server.pause()
        try:
            assert told_by(access.users).why == "cannot be reached"
            with monkeypatch.context() as offline:
                offline.setattr(module._Line, "_open", lambda _: pytest.fail("It tried again at once."))
                assert told_by(access.users).why == "cannot be reached"
        finally:
            own_server.resume()
        access.shared._single._rests_until = 0.0
        assert len(access.users()) == 1
    assert set(caplog.messages) <= {
        "The shared database is in trouble: OperationalError",
        "The shared database cannot be reached.",
    }


def test_tables_of_another_version_are_refused(shared_url):
    Access.open_shared(shared_url, "newer").close()
    with psycopg.connect(shared_url) as connection:
        connection.execute(f"COMMENT ON SCHEMA \"{name_schema('newer')}\" IS 'Ad Omnia users 2'")
    assert "in a form that this version does not know" in str(told_by(Access.open_shared, shared_url, "newer"))


def test_a_pooler_that_forgets_where_the_tables_are_is_refused(home, monkeypatch):
    """All datasets would have their users in one place."""
    connect = module.postgres.connect
    forget = lambda url, **options: connect(url, **{**options, "settings": {}})  # noqa: E731
    monkeypatch.setattr(module.postgres, "connect", forget)
    assert told_by(Access.open_shared, home.url, "mine").why == "is behind a pooler that does not pass on settings"


def test_a_role_that_may_make_no_schema_is_told_so(home):
    with psycopg.connect(home.url, autocommit=True) as connection:
        connection.execute("CREATE ROLE weak LOGIN")
        url = home.url.replace("postgres@", "weak@")
        assert told_by(Access.open_shared, url, "mine").why == "does not let this role do that"
        connection.execute("DROP ROLE weak")


def test_a_bucket_is_the_same_for_all_hosts_and_fills_again(access, time, tmp_path):
    with time.opened(tmp_path) as other:
        hosts = [access.shared, other.shared] * 4
        assert [host.take_tokens(b"alice", 1, rate=1e-6, burst=5) for host in hosts] == [True] * 5 + [False] * 3
        assert access.shared.take_tokens(b"carol", 2, rate=20, burst=2)
        wait_until(lambda: other.shared.take_tokens(b"carol", 2, rate=20, burst=2))


def test_buckets_that_are_full_are_forgotten(access):
    access.shared.take_tokens(b"alice", 1, rate=1000, burst=5)
    sleep(0.01)
    access.shared.take_tokens(b"bob", 1, rate=0.1, burst=5)
    assert access._database.rows("SELECT key FROM rates") == [(b"bob",)]
