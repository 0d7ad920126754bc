"""Users and tokens over HTTP."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from kit import house

API = house.API


@pytest.fixture
def visit(own_house):
    """The headers of alice's visit."""
    own_house.services.access.set_password("alice", house.PASSWORD)
    cookie, csrf = own_house.visit("alice")
    return {**cookie, "X-CSRF-Token": csrf}


def code(response):
    return response.status_code, response.json()["error"]["code"]


def test_a_token_is_made_by_a_visit_used_and_revoked(own_house, visit):
    made = own_house.ask(None, "POST", f"{API}/tokens", headers=visit, json={"label": "laptop", "days": 7})
    assert made.status_code == 201
    secret, token_id = made.json()["token"], made.json()["id"]
    bearer = {"Authorization": f"Bearer {secret}"}
    assert own_house.ask(None, "GET", f"{API}/me", headers=bearer).json()["name"] == "alice"
    listed = own_house.ask("alice", "GET", f"{API}/tokens")
    assert {token["label"] for token in listed.json()["tokens"]} == {"test", "laptop"}
    assert secret not in listed.text
    assert own_house.ask("alice", "DELETE", f"{API}/tokens/{token_id}").status_code == 204
    assert own_house.ask(None, "GET", f"{API}/me", headers=bearer).status_code == 401
    assert secret not in own_house.log.getvalue()


def test_a_token_cannot_make_tokens(own_house):
    assert code(own_house.ask("alice", "POST", f"{API}/tokens", json={"label": "a"})) == (403, "visit_needed")


def test_a_token_expires_and_stays_expired_when_the_clock_is_put_back(own_house, visit):
    secret = own_house.ask(None, "POST", f"{API}/tokens", headers=visit, json={"days": 1}).json()["token"]
    bearer = {"Authorization": f"Bearer {secret}"}
    own_house.clock.pass_seconds(86_399)
    assert own_house.ask(None, "GET", f"{API}/me", headers=bearer).is_success
    own_house.clock.pass_seconds(2)
    assert own_house.ask(None, "GET", f"{API}/me", headers=bearer).status_code == 401
    own_house.clock.time -= 86_400
    assert own_house.ask(None, "GET", f"{API}/me", headers=bearer).status_code == 401
    states = own_house.ask("alice", "GET", f"{API}/tokens").json()["tokens"]
    assert {token["label"]: token["state"] for token in states} == {"test": "valid", "": "expired"}


def test_the_token_of_somebody_else_is_not_there(own_house):
    (token,) = own_house.ask("bob", "GET", f"{API}/tokens").json()["tokens"]
    assert code(own_house.ask("alice", "DELETE", f"{API}/tokens/{token['id']}")) == (404, "unknown_token")
    assert own_house.ask("bob", "GET", f"{API}/me").is_success


@pytest.mark.parametrize(("body", "status"), [({"days": 0}, 400), ({"label": "a\nb"}, 400), ({"days": "7"}, 422)])
def test_a_strange_token_is_refused(own_house, visit, body, status):
    assert own_house.ask(None, "POST", f"{API}/tokens", headers=visit, json=body).status_code == status


def test_owners_see_everybody_and_no_secret(own_house):
    listed = own_house.ask("olga", "GET", f"{API}/users").json()["users"]
    assert {user["name"]: user["role"] for user in listed} == house.PEOPLE
    assert set(listed[0]) == {"name", "role", "has_password", "created"}


def test_an_owner_adds_somebody_who_signs_in_by_the_link(own_house):
    made = own_house.ask("olga", "POST", f"{API}/users", json={"name": "ann/other", "role": "auditor"})
    assert made.status_code == 201
    link = made.json()["link"]
    assert link["path"] == f"/sign-in?code={link['code']}"
    body = {"code": link["code"], "password": house.PASSWORD}
    assert own_house.ask(None, "POST", f"{API}/sign-in/link", json=body).json()["role"] == "auditor"
    assert code(own_house.ask("olga", "POST", f"{API}/users", json={"name": "ann/other", "role": "auditor"})) == (
        409,
        "user_exists",
    )
    path = f"{API}/users/{quote('ann/other', safe='')}"
    fresh = own_house.ask("olga", "POST", f"{path}/link")
    assert fresh.status_code == 201
    assert fresh.json()["code"] != link["code"]
    assert own_house.ask("olga", "PATCH", path, json={"role": "auditor"}).json()["role"] == "auditor"
    assert own_house.ask("olga", "DELETE", path).status_code == 204
    assert code(own_house.ask("olga", "DELETE", path)) == (404, "unknown_user")


def test_an_analyst_must_have_a_budget(own_house):
    assert code(own_house.ask("olga", "POST", f"{API}/users", json={"name": "zoe", "role": "analyst"})) == (
        400,
        "no_budget",
    )
    assert code(own_house.ask("olga", "PATCH", f"{API}/users/audrey", json={"role": "analyst"})) == (400, "no_budget")
    assert code(own_house.ask("olga", "PATCH", f"{API}/users/zoe", json={"role": "analyst"})) == (404, "unknown_user")


def test_an_analyst_of_the_catalog_who_was_removed_can_come_back(own_house):
    own_house.ask("olga", "DELETE", f"{API}/users/carol")
    made = own_house.ask("olga", "POST", f"{API}/users", json={"name": "carol", "role": "analyst"})
    assert (made.status_code, made.json()["role"]) == (201, "analyst")
    assert own_house.ask("carol", "GET", f"{API}/me").status_code == 401  # the token of before stays dead


def test_a_role_that_is_taken_away_is_gone_at_once(own_house):
    assert own_house.ask("audrey", "GET", f"{house.DATASET}/accounts").is_success
    own_house.ask("olga", "PATCH", f"{API}/users/bob", json={"role": "auditor"})
    own_house.ask("olga", "DELETE", f"{API}/users/audrey")
    assert own_house.ask("audrey", "GET", f"{house.DATASET}/accounts").status_code == 401
    assert own_house.ask("bob", "GET", f"{house.DATASET}/accounts").is_success
    assert code(own_house.ask("bob", "GET", f"{house.DATASET}/budget")) == (403, "role")


def test_owners_are_not_made_over_http(own_house):
    refused = (403, "owner_by_hand")
    assert code(own_house.ask("olga", "POST", f"{API}/users", json={"name": "eve", "role": "owner"})) == refused
    assert code(own_house.ask("olga", "PATCH", f"{API}/users/bob", json={"role": "owner"})) == refused
    assert code(own_house.ask("olga", "POST", f"{API}/users/olga/link")) == refused
    assert {user.name: user.role for user in own_house.services.access.users()} == house.PEOPLE


def test_the_last_owner_stays(own_house):
    assert code(own_house.ask("olga", "DELETE", f"{API}/users/olga")) == (409, "last_owner")
    assert code(own_house.ask("olga", "PATCH", f"{API}/users/olga", json={"role": "auditor"})) == (409, "last_owner")
