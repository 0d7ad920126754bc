"""The pages as a browser meets them."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest

from kit import house

SCRIPT = "<script>alert(1)</script>"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def posted(own: house.House, path: str, headers: dict[str, str] | None = None, **fields: str):
    return own.ask(None, "POST", path, content=urlencode(fields), headers={**FORM, **(headers or {})})


def cookie_of(response) -> dict[str, str]:
    return {"Cookie": response.headers["set-cookie"].partition(";")[0]}


@pytest.fixture(scope="module")
def visit(shared_house):
    """The cookie of alice's visit."""
    shared_house.services.access.set_password("alice", house.PASSWORD)
    return shared_house.visit("alice")


def test_signing_in_by_the_form_leads_to_the_first_page(own_house):
    own_house.services.access.set_password("alice", house.PASSWORD)
    assert "Password" in own_house.ask(None, "GET", "/sign-in").text
    response = posted(own_house, "/sign-in", name="alice", password=house.PASSWORD)
    assert (response.status_code, response.headers["location"]) == (303, "/")
    assert "HttpOnly" in response.headers["set-cookie"]
    home = own_house.ask(None, "GET", "/", headers=cookie_of(response))
    assert home.status_code == 200
    for part in ("alice", "analyst", "hospital, version 1", "adomnia.connect(&quot;http://127.0.0.1:8000&quot;"):
        assert part in home.text


def test_a_wrong_password_shows_the_form_again(own_house):
    response = posted(own_house, "/sign-in", name=SCRIPT, password="wrong wrong wrong")
    assert response.status_code == 401
    assert "The sign-in was refused" in response.text
    assert SCRIPT not in response.text
    assert "wrong wrong" not in response.text


def test_a_link_is_not_used_up_by_looking_at_it(own_house):
    code = own_house.services.access.create_link("carol")
    for _ in range(3):
        assert f'value="{code}"' in own_house.ask(None, "GET", f"/sign-in?code={code}").text
    different = posted(own_house, "/sign-in", code=code, password=house.PASSWORD, again="something else")
    assert different.status_code == 400
    assert f'value="{code}"' in different.text
    response = posted(own_house, "/sign-in", code=code, password=house.PASSWORD, again=house.PASSWORD)
    assert (response.status_code, response.headers["location"]) == (303, "/")
    again = posted(own_house, "/sign-in", code=code, password=house.PASSWORD, again=house.PASSWORD)
    assert again.status_code == 401
    assert code not in own_house.log.getvalue()


def test_a_code_is_shown_escaped(shared_house):
    page = shared_house.ask(None, "GET", "/sign-in", params={"code": f'">{SCRIPT}'}).text
    assert SCRIPT not in page
    assert "&quot;&gt;&lt;script&gt;" in page


def test_everybody_is_told_what_they_may_do(shared_house):
    for name, word in (("olga", "manage users"), ("alice", "ask questions"), ("audrey", "verify")):
        assert word in shared_house.ask(name, "GET", "/").text


def test_strangers_are_led_to_the_sign_in_page(shared_house):
    for method, path in (("GET", "/"), ("POST", "/sign-out"), ("POST", "/token")):
        response = shared_house.ask(None, method, path)
        assert (response.status_code, response.headers["location"]) == (303, "/sign-in")


def test_a_form_without_its_csrf_token_changes_nothing(shared_house, visit):
    cookie, _ = visit
    for path in ("/sign-out", "/token"):
        for fields in ({}, {"csrf": "wrong"}, {"csrf": "é"}):
            response = posted(shared_house, path, cookie, **fields)
            assert response.status_code == 403
            assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert shared_house.ask(None, "GET", "/", headers=cookie).status_code == 200


def test_a_form_of_another_site_changes_nothing(shared_house, visit):
    cookie, csrf = visit
    for origin in ("http://evil.example.org", "null"):
        response = posted(shared_house, "/token", {**cookie, "Origin": origin}, csrf=csrf)
        assert response.status_code == 403
    own = posted(shared_house, "/token", {**cookie, "Origin": house.ADDRESS}, csrf=csrf)
    assert own.status_code == 200


def test_the_form_makes_a_token_that_works(shared_house, visit):
    cookie, csrf = visit
    page = posted(shared_house, "/token", cookie, csrf=csrf, label="laptop").text
    (secret,) = re.findall(r"ao_[0-9a-f]{16}_[0-9a-f]{64}", page)
    bearer = {"Authorization": f"Bearer {secret}"}
    assert shared_house.ask(None, "GET", f"{house.API}/me", headers=bearer).json()["name"] == "alice"
    assert "cannot be shown" in posted(shared_house, "/token", cookie, csrf=csrf, label="a\nb").text


def test_tokens_are_not_for_the_forms(shared_house):
    headers = {"Authorization": f"Bearer {shared_house.tokens['alice']}"}
    assert posted(shared_house, "/token", headers).status_code == 403


def test_signing_out_ends_the_visit(own_house):
    own_house.services.access.set_password("alice", house.PASSWORD)
    cookie, csrf = own_house.visit("alice")
    response = posted(own_house, "/sign-out", cookie, csrf=csrf)
    assert (response.status_code, response.headers["location"]) == (303, "/sign-in")
    assert own_house.ask(None, "GET", "/", headers=cookie).headers["location"] == "/sign-in"


@pytest.mark.parametrize(
    ("content", "status"),
    [(b"\xff=\xff", 422), ("&".join("a=1" for _ in range(50)), 422), ("", 401), (b"name=%ff&password=%00", 401)],
)
def test_forms_that_are_none_are_refused(own_house, content, status):
    response = own_house.ask(None, "POST", "/sign-in", content=content, headers=FORM)
    assert response.status_code == status


def test_json_is_not_a_form(shared_house):
    assert shared_house.ask(None, "POST", "/sign-in", json={"name": "alice"}).status_code == 415


def test_the_stylesheet_is_a_stylesheet(shared_house):
    response = shared_house.ask(None, "GET", "/style.css")
    assert response.headers["content-type"] == "text/css; charset=utf-8"
    assert "main {" in response.text
