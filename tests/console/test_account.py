from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest

from kit import house

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
SECRET = re.compile(r"ao_[0-9a-f]{16}_[0-9a-f]{64}")


def posted(own: house.House, path: str, visit, **fields: str):
    cookie, csrf = visit
    return own.ask(None, "POST", path, content=urlencode({"csrf": csrf, **fields}), headers={**FORM, **cookie})


@pytest.fixture
def visit(own_house):
    own_house.services.access.set_password("alice", house.PASSWORD)
    return own_house.visit("alice")


def test_everybody_is_told_what_they_may_do(shared_house):
    for name, word in (("olga", "manage users"), ("alice", "ask questions"), ("audrey", "verify")):
        assert word in shared_house.ask(name, "GET", "/account").text


def test_the_form_makes_a_token_that_works_until_it_is_revoked(own_house, visit):
    page = posted(own_house, "/account/tokens", visit, label="laptop").text
    (secret,) = SECRET.findall(page)
    bearer = {"Authorization": f"Bearer {secret}"}
    assert own_house.ask(None, "GET", f"{house.API}/me", headers=bearer).json()["name"] == "alice"
    gone = posted(own_house, "/account/tokens/revoke", visit, token=secret.split("_")[1])
    assert "is revoked" in gone.text
    assert not SECRET.search(gone.text)
    assert own_house.ask(None, "GET", f"{house.API}/me", headers=bearer).status_code == 401


def test_a_label_that_cannot_be_shown_is_refused_in_place(own_house, visit):
    refused = posted(own_house, "/account/tokens", visit, label="a\nb")
    assert refused.status_code == 400
    assert "cannot be shown" in refused.text


def test_a_token_of_somebody_else_is_not_revoked(own_house, visit):
    token = own_house.tokens["bob"]
    refused = posted(own_house, "/account/tokens/revoke", visit, token=token.split("_")[1])
    assert refused.status_code == 404
    assert own_house.ask("bob", "GET", f"{house.API}/me").status_code == 200


def test_another_password_ends_all_other_visits(own_house, visit):
    other, new = own_house.visit("alice"), "a longer one than before"
    wrong = {"old": "not the old password", "new": new, "again": new}
    differs = {"old": house.PASSWORD, "new": new, "again": "another"}
    assert posted(own_house, "/account/password", visit, **wrong).status_code == 401
    assert posted(own_house, "/account/password", visit, **differs).status_code == 400
    right = posted(own_house, "/account/password", visit, old=house.PASSWORD, new=new, again=new)
    assert "is changed" in right.text
    assert own_house.ask(None, "GET", "/account", headers=visit[0]).status_code == 200
    assert own_house.ask(None, "GET", "/account", headers=other[0]).status_code == 303
