"""Every form of every page, sent as another site or somebody else would send it: nothing changes, nothing is spent."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from urllib.parse import urlencode

import pytest

from adomnia.api.access import Role
from adomnia.api.access.store import ACCESS
from adomnia.api.actions.accounts import identify_budget
from adomnia.api.catalog_edits.catalog_file import CatalogFile
from adomnia.api.roles import ANYBODY, PAGES
from adomnia.session.curator import LEDGER, STATE
from kit import hospital
from kit.house import COUNT, PASSWORD, PEOPLE, opened

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
CHANGING = {
    "/sign-out": {},
    "/account/tokens": {"label": "forged"},
    "/account/tokens/revoke": {"token": "TOKEN"},
    "/account/password": {"old": PASSWORD, "new": "another horse entirely", "again": "another horse entirely"},
    "/answers/share": {"request_id": "paid"},
    "/answers/share/end": {"link": "LINK"},
    "/shared/CODE": {},
    "/ask/price": {"sql": COUNT, "amount": "0.5"},
    "/ask/mock": {"sql": COUNT, "amount": "0.5"},
    "/ask": {"sql": COUNT, "amount": "0.5"},
    "/owner/catalog/preview": {"text": hospital.CATALOG},
    "/owner/catalog/save": {"text": f"{hospital.CATALOG}# forged\n", "base": "BASE", "password": PASSWORD},
    "/owner/ledger/verify": {},
    "/owner/budgets/top-up": {
        "account": "dataset",
        "epsilon": "1",
        "reason": "forged",
        "seen": "SEEN",
        "password": PASSWORD,
    },
    "/owner/people/add": {"name": "mallory", "role": "auditor"},
    "/owner/people/link": {"name": "audrey"},
    "/owner/people/role": {"name": "bob", "role": "auditor"},
    "/owner/people/remove": {"name": "audrey", "sure": "yes"},
    "/owner/people/tokens/revoke": {"token": "TOKEN"},
    "/methods/summary/price": {"table": "people", "arg-columns:age": "on", "amount": "0.5"},
    "/methods/summary": {"table": "people", "arg-columns:age": "on", "amount": "0.5"},
}
POSTS = [path for (method, path), roles in PAGES.items() if method == "POST" and roles is not ANYBODY]
HARMLESS = {
    "/ask/price",
    "/ask/mock",
    "/owner/catalog/preview",
    "/methods/{name}/price",
}  # change nothing, even sent well


class Forger:
    """A house in which there is something to change, and everything in it that a form could change."""

    def __init__(self, house, folder):
        self.house, self.folder = house, folder
        access = house.services.access
        for name in PEOPLE:
            access.set_password(name, PASSWORD)
        house.query("bob", request_id="paid")
        house.query("alice", "SELECT COUNT(*) AS n FROM visits", request_id="paid")
        code, _ = access.create_share("bob", "paid")
        _, link = access.create_share("alice", "paid")
        self.texts = {"CODE": code, "LINK": link.id}
        self.visits = {name: house.visit(name) for name in ("olga", "alice", "bob")}

    def who(self, path: str) -> str:
        return "olga" if Role.OWNER in PAGES["POST", path] else "alice"

    def send(self, path: str, headers: dict[str, str], csrf: str | None):
        address = path.replace("{code}", "CODE").replace("{name}", "summary")
        fields = CHANGING[address] | ({} if csrf is None else {"csrf": csrf})
        token = self.house.services.access.tokens(self.who(path))[0].id
        texts = self.texts | {"TOKEN": token, "BASE": CatalogFile(self.folder).identify(), "SEEN": self.budget()}
        sent = {name: texts.get(value, value) for name, value in fields.items()}
        address = address.replace("CODE", self.texts["CODE"])
        return self.house.client.request("POST", address, headers=FORM | headers, content=urlencode(sent))

    def budget(self) -> str:
        with self.house.services.dataset.curator() as curator:
            return identify_budget(curator.ledger.account().budget)

    def look(self):
        """Everything that is stored: who there is and what they sign in with, what was paid, and the catalog."""
        tables = ("users", "tokens", "links", "visits", "shares", "attempts")
        with closing(sqlite3.connect(self.folder / STATE / ACCESS)) as access:
            stored = [access.execute(f"SELECT * FROM {table}").fetchall() for table in tables]
        with closing(sqlite3.connect(self.folder / STATE / LEDGER)) as ledger:
            entries = ledger.execute("SELECT COUNT(*) FROM entries").fetchone()
        verified = (self.folder / STATE / "verified.json").exists()
        return stored, entries, verified, (self.folder / "catalog.toml").read_bytes()


@pytest.fixture(scope="module")
def forger(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forged")
    with opened(folder) as house:
        yield Forger(house, folder)


def test_every_form_of_the_table_is_forged():
    named = {path.replace("{code}", "CODE").replace("{name}", "summary") for path in POSTS}
    assert named == CHANGING.keys()


@pytest.mark.parametrize("path", POSTS)
def test_a_forged_form_changes_nothing_and_spends_nothing(forger, path):
    before, name = forger.look(), forger.who(path)
    cookie, csrf = forger.visits[name]
    other = forger.visits["bob"][1]
    token = {"Authorization": f"Bearer {forger.house.tokens[name]}"}
    sent = {
        "without its csrf": forger.send(path, cookie, None),
        "with an empty csrf": forger.send(path, cookie, ""),
        "with that of another visit": forger.send(path, cookie, other),
        "with a token": forger.send(path, token, csrf),
        "with a token and a cookie": forger.send(path, cookie | token, csrf),
        "from another site": forger.send(path, cookie | {"Origin": "https://evil.example"}, csrf),
        "from nowhere": forger.send(path, cookie | {"Origin": "null"}, csrf),
        "under another name": forger.send(path, cookie | {"Host": "evil.example"}, csrf),
        "as another type": forger.send(path, cookie | {"Content-Type": "text/plain"}, csrf),
        "by nobody": forger.send(path, {}, csrf),
    }
    assert {how: reply.status_code for how, reply in sent.items() if reply.status_code not in {403, 415, 303}} == {}
    assert sent["by nobody"].headers["location"].startswith("/sign-in")
    assert all(reply.status_code != 303 for how, reply in sent.items() if how != "by nobody")
    assert forger.look() == before


@pytest.mark.parametrize("path", [path for path in POSTS if path not in HARMLESS])
def test_the_same_form_sent_by_its_own_page_changes_something(tmp_path, path):
    with opened(tmp_path) as house:
        forger = Forger(house, tmp_path)
        before = forger.look()
        reply = forger.send(path, *forger.visits[forger.who(path)])
        assert reply.status_code in {200, 303}
        assert forger.look() != before
