"""Tokens, cookies, forged requests, names of hosts."""

from __future__ import annotations

import pytest

from adomnia.api.authorization import is_known_host
from kit import house

API = house.API
HOSTS = ("127.0.0.1", "localhost", "[::1]", "data.example.org")


@pytest.fixture(scope="module")
def visits(shared_house):
    """A visit of each role: cookie header and CSRF token."""
    for name in ("alice", "olga"):
        shared_house.services.access.set_password(name, house.PASSWORD)
    return {name: shared_house.visit(name) for name in ("alice", "olga")}


def code(response):
    return response.json()["error"]["code"]


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("127.0.0.1:8000", True),
        ("localhost", True),
        ("LocalHost:1", True),
        ("[::1]:8000", True),
        ("[::1]", True),
        ("data.example.org", True),
        ("evil.example.org", False),
        ("127.0.0.1.evil.org:8000", False),
        ("127.0.0.1:evil.org", False),
        ("evil.org:127.0.0.1", False),
        ("", False),
        (":8000", False),
        ("127.0.0.1:²", False),
    ],
)
def test_only_the_names_of_this_server_are_its_names(host, known):
    assert is_known_host(host, HOSTS) is known


def test_a_foreign_host_is_refused_whatever_is_asked(shared_house):
    for name, path in ((None, f"{API}/health"), ("alice", f"{API}/me"), (None, "/sign-in"), (None, "/nothing")):
        response = shared_house.ask(name, "GET", path, headers={"Host": "evil.example.org"})
        assert (response.status_code, code(response)) == (403, "host")


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Basic YTpi", "Bearer ao_x_y", "Bearer \xff\xfe", "Bearer " + "a" * 5000, "bearer ao_"],
)
def test_a_header_that_is_no_token_is_refused(shared_house, header):
    response = shared_house.ask(None, "GET", f"{API}/me", headers={"Authorization": header.encode("latin-1")})
    assert (response.status_code, code(response)) == (401, "signed_out")
    assert header[7:] == "" or header[7:] not in response.text


def test_the_word_bearer_may_be_written_in_any_case(shared_house):
    token = shared_house.tokens["alice"]
    assert shared_house.ask(None, "GET", f"{API}/me", headers={"Authorization": f"bEaReR  {token}"}).is_success


def test_a_wrong_token_is_refused_even_beside_a_good_cookie(shared_house, visits):
    cookie, _ = visits["alice"]
    assert shared_house.ask(None, "GET", f"{API}/me", headers=cookie).is_success
    response = shared_house.ask(None, "GET", f"{API}/me", headers={**cookie, "Authorization": "Bearer ao_1_2"})
    assert response.status_code == 401


def test_a_token_counts_before_a_cookie(shared_house, visits):
    cookie, _ = visits["olga"]
    told = shared_house.ask("alice", "GET", f"{API}/me", headers=cookie).json()
    assert (told["name"], told["csrf"]) == ("alice", None)


@pytest.mark.parametrize("cookie", ["%=", "%=visit_1_2", "%=\xff", "other=1", "%; %"])
def test_a_cookie_that_is_no_visit_is_refused(shared_house, cookie):
    named = cookie.replace("%", shared_house.services.settings.cookie)
    response = shared_house.ask(None, "GET", f"{API}/me", headers={"Cookie": named.encode("latin-1")})
    assert response.status_code == 401


def test_a_change_by_cookie_needs_the_csrf_token_of_that_visit(shared_house, visits):
    (cookie, own), (_, foreign) = visits["alice"], visits["olga"]
    for said in (None, "", foreign, own[:-1], "\xff"):
        headers = cookie if said is None else {**cookie, "X-CSRF-Token": said.encode("latin-1")}
        response = shared_house.ask(None, "POST", f"{API}/tokens", headers=headers, json={"label": "a"})
        assert response.status_code == 403
        assert code(response) == "csrf"
    headers = {**cookie, "X-CSRF-Token": own}
    assert shared_house.ask(None, "POST", f"{API}/tokens", headers=headers, json={"label": "a"}).status_code == 201


def test_reading_by_cookie_needs_none(shared_house, visits):
    cookie, csrf = visits["alice"]
    assert shared_house.ask(None, "GET", f"{API}/me", headers=cookie).json()["csrf"] == csrf


@pytest.mark.parametrize("origin", ["http://evil.example.org", "null", "http://127.0.0.1:8001", "http://[", ""])
def test_a_change_from_the_page_of_another_site_is_refused(shared_house, visits, origin):
    cookie, csrf = visits["alice"]
    headers = {**cookie, "X-CSRF-Token": csrf, "Origin": origin}
    for path in (f"{API}/tokens", f"{API}/sign-in"):
        response = shared_house.ask(None, "POST", path, headers=headers, json={})
        assert (response.status_code, code(response)) == (403, "origin")
    assert shared_house.ask(None, "GET", f"{API}/me", headers=headers).is_success


def test_a_change_from_the_server_s_own_page_is_not(shared_house, visits):
    cookie, csrf = visits["alice"]
    headers = {**cookie, "X-CSRF-Token": csrf, "Origin": house.ADDRESS}
    assert shared_house.ask(None, "POST", f"{API}/tokens", headers=headers, json={}).status_code == 201


def test_who_asks_too_fast_is_told_to_wait_and_others_are_not(tmp_path):
    with house.opened(tmp_path, rate=0.001, burst=2) as own:
        statuses = [own.ask("alice", "GET", f"{API}/me").status_code for _ in range(3)]
        assert statuses == [200, 200, 429]
        assert own.ask("bob", "GET", f"{API}/me").status_code == 200
        assert int(own.ask("alice", "GET", f"{API}/me").headers["retry-after"]) >= 1
        strangers = [own.ask(None, "GET", f"{API}/me").status_code for _ in range(3)]
        assert strangers == [401, 401, 429]
        assert own.ask(None, "POST", f"{API}/sign-in", json={}).status_code == 429
        assert all(own.ask(None, "GET", f"{API}/health").is_success for _ in range(5))
