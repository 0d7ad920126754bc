"""Connections to PostgreSQL: no password anywhere, and what cannot be reached is said without a word of the driver."""

from __future__ import annotations

import subprocess
import sys
from traceback import format_exception
from urllib.parse import quote

import pytest

from adomnia.errors import Refusal, Unavailable
from adomnia.postgres import check_url, connect, describe
from kit.postgres import Server, server


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://alice:geheim@host/data",
        "postgresql://host/data?password=geheim",
        "postgresql://host/data?sslpassword=geheim",
        "postgresql://host/data?PASSWORD=geheim",
        "postgresql://host/data?pass%77ord=geheim",
        "postgresql://host/data?application_name=x&password=geheim",
        "postgresql://host/data?oauth_client_secret=geheim",
        "postgresql://host/data?scram_client_key=geheim",
        "postgresql://one,alice:geheim@two/data",
        "postgresql://alice:@host/data",
    ],
)
def test_a_url_with_a_password_is_refused_and_not_repeated(url):
    with pytest.raises(Refusal, match="has a password in it") as refused:
        check_url(url, "The source of people")
    assert "geheim" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "mysql://host/data",
        "postgresql://host:port/data",
        "postgresql://host/data#part",
        "postgresql://alice:12/geheim@host/data",  # a password with a / in it
        "postgresql://alice:1?geheim@host/data",
        "host=db password=geheim",
    ],
)
def test_what_is_no_url_of_postgresql_is_refused(url):
    with pytest.raises(Refusal, match="is no URL of PostgreSQL") as refused:
        check_url(url, "The source of people")
    assert "geheim" not in str(refused.value)


@pytest.mark.parametrize("url", ["postgresql://alice@host:5433/data", "postgres:///?service=main", "postgresql://"])
def test_usual_urls_are_accepted(url):
    check_url(url, "The source of people")


def test_a_message_names_the_host_or_the_service_and_no_role():
    assert describe("postgresql:///?service=main") == "PostgreSQL, service main"
    assert describe("postgresql://alice@/data") == "PostgreSQL at this machine, database data"


def test_settings_hold_from_the_first_statement_on():
    with connect(server().url(), program="a test", settings={"search_path": '"a b"', "jit": "off"}) as connection:
        told = connection.execute("SELECT current_setting('search_path'), current_setting('application_name')")
        assert told.fetchone() == ('"a b"', "a test")


def test_a_server_that_is_not_there_is_unavailable_without_the_drivers_words(monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "geheim")
    with pytest.raises(Unavailable, match="cannot be reached") as failed:
        connect("postgresql://nobody@127.0.0.1:1/data", program="a test")
    assert failed.value.__cause__ is None
    assert "refused" not in "".join(format_exception(failed.value))


@pytest.fixture(scope="module")
def guarded():
    """A server that asks everybody but its superuser for a password."""
    head = Server()
    try:
        with connect(head.url(), program="a test", autocommit=True) as connection:
            connection.execute("CREATE ROLE curator LOGIN PASSWORD 'geheim'")
        (head.data / "pg_hba.conf").write_text("local all postgres trust\nlocal all all scram-sha-256\n")
        head.stop()
        head.start()
        yield head
    finally:
        head.remove()


NO_PASSWORD = "asks for a password, and there is none for this role. Fix: write it into PGPASSFILE"


@pytest.mark.parametrize(
    ("address", "password", "words"),
    [
        ("curator@/postgres", None, NO_PASSWORD),
        ("curator@/postgres", "falsch", "does not let this role in. Fix: see that its password"),
        ("curator@/hospital", "geheim", "does not let this role in. Fix: see that its password"),
        ("postgres@/hospital", None, "does not let this role in. Fix: see that role and database are there"),
    ],
)
def test_why_a_role_is_not_let_in_is_told_without_the_servers_words(guarded, monkeypatch, address, password, words):
    monkeypatch.setenv("PGPASSFILE", str(guarded.folder / "none"))
    if password is not None:
        monkeypatch.setenv("PGPASSWORD", password)
    with pytest.raises(Unavailable, match=words) as failed:
        connect(f"postgresql://{address}?host={quote(str(guarded.folder))}", program="a test")
    told = "".join(format_exception(failed.value))
    assert failed.value.__context__ is None
    assert not any(word in told for word in ("FATAL", "geheim", "falsch", "authentication"))


def test_without_the_driver_every_command_says_how_to_install_it(tmp_path):
    """In a process of its own, where nothing has loaded it before."""
    catalog = """
        [dataset]
        name = "town"
        version = 1
        unit = "people.id"
        [budget]
        epsilon = 1
        [analysts.alice]
        epsilon = 1
        [tables.people]
        source = "postgresql://curator@127.0.0.1:1/town"
        table = "people"
        rows_per_person = 1
        columns = { id = { type = "id" } }
    """
    (tmp_path / "catalog.toml").write_text(catalog)
    begin = "import sys; sys.modules['psycopg'] = None; from adomnia.cli.app import main; main()"
    asked = ["sql", str(tmp_path), "SELECT COUNT(*) FROM people", "--epsilon", "1"]
    for arguments in (
        asked,
        ["check", str(tmp_path)],
        ["init", str(tmp_path / "new"), "postgresql://127.0.0.1:1/town"],
    ):
        done = subprocess.run([sys.executable, "-c", begin, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "pip install '.[postgres]' in a checkout" in done.stderr
        assert "Traceback" not in done.stderr
