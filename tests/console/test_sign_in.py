"""Signing in and out as a browser does it."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from kit import house

SCRIPT = "<script>alert(1)</script>"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def posted(own: house.House, path: str, headers: dict[str, str] | None = None, **fields: str):
    return own.ask(None, "POST", path, content=urlencode(fields), headers={**FORM, **(headers or {})})


def cookie_of(response) -> dict[str, str]:
    return {"Cookie": response.headers["set-cookie"].partition(";")[0]}


@pytest.mark.parametrize(("name", "start"), [("alice", "/ask"), ("olga", "/owner"), ("audrey", "/owner")])
def test_signing_in_by_the_form_leads_to_the_first_page(own_house, name, start):
    own_house.services.access.set_password(name, house.PASSWORD)
    assert "Password" in own_house.ask(None, "GET", "/sign-in").text
    response = posted(own_house, "/sign-in", name=name, password=house.PASSWORD)
    assert (response.status_code, response.headers["location"]) == (303, "/")
    assert "HttpOnly" in response.headers["set-cookie"]
    home = own_house.ask(None, "GET", "/", headers=cookie_of(response))
    assert (home.status_code, home.headers["location"]) == (303, start)


def test_who_came_by_a_link_of_somebody_is_led_there_and_nowhere_else(own_house):
    own_house.services.access.set_password("alice", house.PASSWORD)
    for to, place in (("/shared/abc", "/shared/abc"), ("//evil.org", "/"), ("https://evil.org", "/"), ("/owner", "/")):
        response = posted(own_house, "/sign-in", name="alice", password=house.PASSWORD, to=to)
        assert (response.status_code, response.headers["location"]) == (303, place)
    assert 'name="to" value="/shared/abc"' in own_house.ask(None, "GET", "/sign-in?to=/shared/abc").text


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
    assert "&#34;&gt;&lt;script&gt;" in page


def test_strangers_are_led_to_the_sign_in_page(shared_house):
    for method, path in (("GET", "/"), ("POST", "/sign-out"), ("POST", "/account/tokens")):
        response = shared_house.ask(None, method, path)
        assert (response.status_code, response.headers["location"]) == (303, "/sign-in")


def test_signing_out_ends_the_visit(own_house):
    own_house.services.access.set_password("alice", house.PASSWORD)
    cookie, csrf = own_house.visit("alice")
    response = posted(own_house, "/sign-out", cookie, csrf=csrf)
    assert (response.status_code, response.headers["location"]) == (303, "/sign-in")
    assert own_house.ask(None, "GET", "/", headers=cookie).headers["location"] == "/sign-in"


def test_an_address_that_does_not_exist_is_a_page_and_under_the_api_json(shared_house):
    page = shared_house.ask(None, "GET", "/nowhere")
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no such page" in page.text
    assert shared_house.ask(None, "GET", "/api/v1/nowhere").json()["error"]["code"] == "unknown_route"
    assert shared_house.ask("alice", "DELETE", "/account").headers["allow"] == "GET"
