"""Signing in and out over HTTP."""

from __future__ import annotations

import pytest

from kit import house

API = house.API


@pytest.fixture
def entered(own_house):
    """A house where alice has a password."""
    own_house.services.access.set_password("alice", house.PASSWORD)
    return own_house


def sign_in(own: house.House, name: str = "alice", password: str = house.PASSWORD):
    return own.ask(None, "POST", f"{API}/sign-in", json={"name": name, "password": password})


def cookie_of(response) -> dict[str, str]:
    return {"Cookie": response.headers["set-cookie"].partition(";")[0]}


def test_a_password_opens_a_visit_whose_cookie_no_script_and_no_other_site_can_use(entered):
    response = sign_in(entered)
    name, *flags = response.headers["set-cookie"].split("; ")
    assert name.startswith("adomnia-8000=visit_")
    assert {flag.lower() for flag in flags} == {"httponly", "path=/", "samesite=strict"}
    told = response.json()
    assert (told["name"], told["role"]) == ("alice", "analyst")
    assert entered.ask(None, "GET", f"{API}/me", headers=cookie_of(response)).json() == told


def test_under_tls_the_cookie_never_travels_in_the_open(tmp_path):
    with house.opened(tmp_path, behind_proxy=True, deployment="hospital") as own:
        own.services.access.set_password("alice", house.PASSWORD)
        response = sign_in(own)
        assert "Secure" in response.headers["set-cookie"]
        assert response.headers["set-cookie"].startswith("__Host-adomnia-hospital=visit_")
        assert own.ask(None, "GET", f"{API}/me", headers=cookie_of(response)).is_success
        assert "strict-transport-security" in response.headers


def test_wrong_names_and_passwords_are_told_the_same(entered):
    replies = [sign_in(entered, password="wrong wrong wrong"), sign_in(entered, name="nobody"), sign_in(entered, "")]
    assert {reply.status_code for reply in replies} == {401}
    assert len({str(house.error_of(reply)) for reply in replies}) == 1
    assert "set-cookie" not in replies[0].headers


def test_guessing_is_slowed_down_and_the_right_password_then_waits_too(entered):
    for _ in range(5):
        sign_in(entered, password="wrong wrong wrong")
    response = sign_in(entered)
    assert (response.status_code, response.json()["error"]["code"]) == (429, "too_many_attempts")
    assert response.headers["retry-after"] == "900"


def test_a_link_sets_the_password_once(own_house):
    code = own_house.services.access.create_link("carol")
    path = f"{API}/sign-in/link"
    short = own_house.ask(None, "POST", path, json={"code": code, "password": "short"})
    assert (short.status_code, short.json()["error"]["code"]) == (400, "weak_password")
    first = own_house.ask(None, "POST", path, json={"code": code, "password": house.PASSWORD})
    assert first.json()["name"] == "carol"
    assert own_house.ask(None, "GET", f"{API}/me", headers=cookie_of(first)).is_success
    again = own_house.ask(None, "POST", path, json={"code": code, "password": house.PASSWORD})
    assert (again.status_code, again.json()["error"]["code"]) == (401, "sign_in")
    assert sign_in(own_house, "carol").is_success


def test_signing_out_ends_the_visit_on_the_server_too(entered):
    response = sign_in(entered)
    headers = {**cookie_of(response), "X-CSRF-Token": response.json()["csrf"]}
    out = entered.ask(None, "POST", f"{API}/sign-out", headers=headers)
    assert out.status_code == 204
    assert 'adomnia-8000=""' in out.headers["set-cookie"]
    assert entered.ask(None, "GET", f"{API}/me", headers=headers).status_code == 401


def test_signing_out_with_a_token_ends_nothing(entered):
    assert entered.ask("alice", "POST", f"{API}/sign-out").status_code == 204
    assert entered.ask("alice", "GET", f"{API}/me").is_success


def test_a_changed_password_ends_other_visits_but_not_this_one(entered):
    here, there = sign_in(entered), sign_in(entered)
    headers = {**cookie_of(here), "X-CSRF-Token": here.json()["csrf"]}
    wrong = {"old": "wrong wrong wrong", "new": "another long password"}
    refused = entered.ask(None, "POST", f"{API}/password", headers=headers, json=wrong)
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "sign_in")
    change = {"old": house.PASSWORD, "new": "another long password"}
    assert entered.ask(None, "POST", f"{API}/password", headers=headers, json=change).status_code == 204
    assert entered.ask(None, "GET", f"{API}/me", headers=headers).is_success
    assert entered.ask(None, "GET", f"{API}/me", headers=cookie_of(there)).status_code == 401
    assert sign_in(entered, password="another long password").is_success


def test_a_visit_ends_with_time_and_stays_ended_when_the_clock_is_put_back(entered):
    headers = cookie_of(sign_in(entered))
    assert entered.ask(None, "GET", f"{API}/me", headers=headers).is_success
    entered.clock.pass_seconds(13 * 3600)
    assert entered.ask(None, "GET", f"{API}/me", headers=headers).status_code == 401
    entered.clock.time -= 13 * 3600
    assert entered.ask(None, "GET", f"{API}/me", headers=headers).status_code == 401


def test_no_secret_is_in_the_log(entered):
    response = sign_in(entered)
    secret = cookie_of(response)["Cookie"].partition("=")[2]
    log = entered.log.getvalue()
    assert secret not in log
    assert house.PASSWORD not in log
    assert response.json()["csrf"] not in log
