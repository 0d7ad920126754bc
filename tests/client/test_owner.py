"""What owners and auditors do over HTTP, with a real server."""

from __future__ import annotations

from fractions import Fraction

import pytest

import adomnia
from adomnia.api.access import Role, open_access
from adomnia.errors import Refusal
from kit import hospital
from kit.house import PASSWORD, write_few
from kit.serving import HOST, served

CHANGED = hospital.CATALOG.replace("upper = 500_000", "upper = 400_000")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """An owner and an auditor of one server."""
    folder = write_few(tmp_path_factory.mktemp("owner") / "hospital", hospital.CATALOG)
    access, people = open_access(folder), {"olga": Role.OWNER, "audrey": Role.AUDITOR}
    for name, role in people.items():
        access.add_user(name, role, PASSWORD)
    keys = [access.create_token(name, "test", 1)[0] for name in people]
    access.close()
    with served(folder, "--workers", 1, "--bucket", 0) as server:
        url = f"http://{HOST}:{server.port}"
        with adomnia.connect_owner(url, keys[0]) as olga, adomnia.connect_owner(url, keys[1], "hospital") as audrey:
            yield olga, audrey


def code_of(ask, *given, **named):
    with pytest.raises(Refusal) as refused:
        ask(*given, **named)
    return refused.value.code


def test_a_budget_is_added_to_by_its_owner_alone_and_once(dataset):
    olga, audrey = dataset
    before = audrey.accounts()
    assert {None, "alice", "bob"} <= before.keys()
    account = olga.top_up("alice", "second year", Fraction(1, 4), password=PASSWORD)
    assert account.budget.epsilon == before["alice"].budget.epsilon + Fraction(1, 4)
    whole = olga.top_up(None, "second year", epsilon=1, password=PASSWORD)
    after = audrey.accounts()
    assert (after["alice"], after[None]) == (account, whole)
    assert after["bob"] == before["bob"]
    assert code_of(olga.top_up, "bob", "more", 1, password="wrong") == "sign_in"
    assert code_of(olga.top_up, "nobody", "more", 1, password=PASSWORD) == "unknown_analyst"
    assert code_of(audrey.top_up, "bob", "more", 1, password=PASSWORD) == "role"
    assert olga.accounts() == after


def test_a_budget_that_changed_meanwhile_is_not_added_to(dataset, monkeypatch):
    olga, _ = dataset
    stale = olga.accounts()
    now = olga.top_up("bob", "first", 1, password=PASSWORD)
    monkeypatch.setattr(olga, "accounts", lambda: stale)
    assert code_of(olga.top_up, "bob", "second", 1, password=PASSWORD) == "catalog_changed"
    monkeypatch.undo()
    assert olga.accounts()["bob"] == now


def test_a_text_is_checked_saved_and_read_when_it_was_replaced(dataset):
    olga, audrey = dataset
    told = audrey.catalog_text()
    assert (told.text, told.state, told.kept) == (hospital.CATALOG, "served", [])
    checked = olga.check_catalog(CHANGED)
    assert checked.problems == []
    assert any(each.about == "people.salary" for each in checked.changes)
    assert olga.check_catalog("[dataset").problems != []
    assert olga.catalog_text().text == hospital.CATALOG
    assert code_of(olga.save_catalog, CHANGED, told.identity, password="wrong") == "sign_in"
    saved = olga.save_catalog(CHANGED, told.identity, password=PASSWORD)
    assert code_of(olga.save_catalog, hospital.CATALOG, told.identity, password=PASSWORD) == "catalog_changed"
    now = olga.catalog_text()
    assert (now.text, now.identity) == (CHANGED, saved)
    (kept,) = now.kept
    assert audrey.older_text(kept.name) == hospital.CATALOG
    for name in ("none.toml", ".."):
        assert code_of(audrey.older_text, name) == "unknown_text"


def test_what_is_printed_shows_no_token(dataset):
    olga, _ = dataset
    assert repr(olga).startswith("RemoteOwner(olga looks after hospital at http://127.0.0.1:")


def test_a_dataset_that_is_not_there_is_refused(dataset):
    url = dataset[0]._connection.address.url
    assert code_of(adomnia.connect_owner, url, "ao_wrong") == "signed_out"
