"""Hosts that share a ledger: one catalog, one key and one set of data, or a refusal that says what differs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import psycopg
import pytest

from adomnia.errors import Refusal, Unavailable
from adomnia.session.agreement import Deployment, agree, agreeing, check_current, describe_deployment
from adomnia.session.curator import STATE, open_folder, read_catalog
from kit.example import write_example
from kit.postgres import database

FIRST = Deployment("hospital", 1, "first text", "a key", {"people": "some data"})


@pytest.fixture(scope="module")
def shared_url():
    with database() as url:
        yield url


@pytest.fixture
def url(shared_url):
    """A database without a record."""
    with psycopg.connect(shared_url, autocommit=True) as connection:
        connection.execute('DROP SCHEMA IF EXISTS "adomnia-hosts" CASCADE')
    return shared_url


def refusal_of(ask, *arguments) -> Refusal:
    with pytest.raises(Refusal) as refused:
        ask(*arguments)
    assert refused.value.code == "disagreement"
    return refused.value


def test_hosts_that_start_at_once_with_the_same_agree(url):
    with ThreadPoolExecutor(6) as hosts:
        assert sorted(hosts.map(lambda _: agree(url, FIRST), range(6))) == [False] * 5 + [True]


def test_another_key_is_refused_under_the_same_version(url):
    agree(url, FIRST)
    refusal = refusal_of(agree, url, replace(FIRST, key="another"))
    assert refusal.what == "The file .adomnia/index.key"
    assert "copy index.key from one of them" in refusal.fix
    assert refusal_of(agree, url, replace(FIRST, key="another", text="second text")).what == refusal.what
    agree(url, replace(FIRST, key="another", text="second text", version=2))


def test_other_data_is_refused_under_the_same_version_and_new_tables_are_not(url):
    agree(url, FIRST)
    assert refusal_of(agree, url, replace(FIRST, data={"people": "other data"})).what == "The data of table people"
    agree(url, replace(FIRST, text="second text", data={"people": "some data", "visits": "more"}))
    refusal_of(agree, url, replace(FIRST, text="third text", data={"visits": "less"}))
    agree(url, replace(FIRST, text="third text", version=2, data={"visits": "less"}))


def test_a_catalog_that_was_replaced_is_refused_until_it_is_changed(url):
    second = replace(FIRST, text="second text")
    agree(url, FIRST)
    agree(url, second)
    refusal = refusal_of(agree, url, FIRST)
    assert refusal.why == "was replaced by a newer one on another host"
    agree(url, second)
    agree(url, replace(FIRST, text="first text, and a comment"))


def test_an_older_version_is_refused(url):
    agree(url, replace(FIRST, version=3))
    refusal = refusal_of(agree, url, replace(FIRST, text="second text"))
    assert refusal.why == "has version 1, and other hosts serve version 3"


def test_datasets_of_one_database_do_not_meet(url):
    agree(url, replace(FIRST, version=3))
    agree(url, replace(FIRST, dataset="school", key="another"))


def test_a_database_that_is_away_is_unavailable_and_names_nobody(tmp_path):
    with pytest.raises(Unavailable) as told:
        agree(f"postgresql://alice@/secret_database?host={tmp_path}", FIRST)
    assert told.value.__cause__ is None
    assert "secret" not in str(told.value)


def test_a_folder_offers_hashes_that_its_key_makes(tmp_path, url):
    one, two = (write_example(tmp_path / name, people=20) for name in ("one", "two"))
    with open_folder(one), open_folder(two):
        pass
    deployments = [describe_deployment(read_catalog(folder), folder / STATE) for folder in (one, two)]
    assert deployments[0].text == deployments[1].text
    assert deployments[0].key != deployments[1].key
    assert deployments[0].data.keys() == {"people", "visits", "items", "cities"}
    assert deployments[0].data != deployments[1].data  # of the same files
    agree(url, deployments[0])
    assert refusal_of(agree, url, deployments[1]).what == "The file .adomnia/index.key"
    (two / STATE / "index.key").write_bytes((one / STATE / "index.key").read_bytes())
    with open_folder(two):
        agree(url, describe_deployment(read_catalog(two), two / STATE))
    key = (one / STATE / "index.key").read_bytes()
    assert key.hex() not in repr(deployments)


def test_who_only_reads_budgets_needs_a_catalog_that_was_not_replaced(tmp_path, url):
    folder = write_example(tmp_path / "hospital", people=20)
    catalog = read_catalog(folder)
    check_current(url, catalog)
    agree(url, describe_deployment(catalog, tmp_path))
    check_current(url, catalog)
    with (folder / "catalog.toml").open("a") as file:
        file.write("# another day\n")
    check_current(url, read_catalog(folder))
    agree(url, describe_deployment(read_catalog(folder), tmp_path))
    text = (folder / "catalog.toml").read_text()
    (folder / "catalog.toml").write_text(text.replace("# another day\n", ""))
    refusal_of(check_current, url, read_catalog(folder))


def test_a_catalog_that_is_refused_afterwards_has_replaced_nothing(url):
    second = replace(FIRST, text="second text")
    agree(url, FIRST)
    with pytest.raises(Refusal, match="no anchor"), agreeing(url, second):
        raise Refusal("The ledger", "has no anchor", "join it")
    assert not agree(url, FIRST)
    with agreeing(url, second):
        pass
    with pytest.raises(Refusal, match="no anchor"), agreeing(url, second):  # it was served before
        raise Refusal("The ledger", "has no anchor", "join it")
    with pytest.raises(Refusal, match="was replaced"):
        agree(url, FIRST)
    with pytest.raises(Unavailable), agreeing(url, replace(FIRST, text="third text")):
        raise Unavailable("The ledger", "is away", "wait")
    with pytest.raises(Refusal, match="was replaced"):  # whether budgets were declared is not known
        agree(url, second)
