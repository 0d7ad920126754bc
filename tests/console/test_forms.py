from __future__ import annotations

from urllib.parse import urlencode

import pytest

from kit import house

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def visit(shared_house):
    shared_house.services.access.set_password("alice", house.PASSWORD)
    return shared_house.visit("alice")


def posted(own: house.House, path: str, headers: dict[str, str], **fields: str):
    return own.ask(None, "POST", path, content=urlencode(fields), headers={**FORM, **headers})


def test_a_form_without_its_csrf_token_changes_nothing(shared_house, visit):
    cookie, _ = visit
    for fields in ({}, {"csrf": "wrong"}, {"csrf": "é"}):
        response = posted(shared_house, "/account/tokens", cookie, label="mine", **fields)
        assert response.status_code == 403
        assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "mine" not in shared_house.ask(None, "GET", "/account", headers=cookie).text


def test_a_form_of_another_site_changes_nothing(shared_house, visit):
    cookie, csrf = visit
    for origin in ("http://evil.example.org", "null"):
        response = posted(shared_house, "/account/tokens", {**cookie, "Origin": origin}, csrf=csrf)
        assert response.status_code == 403
    assert posted(shared_house, "/account/tokens", {**cookie, "Origin": house.ADDRESS}, csrf=csrf).status_code == 200


def test_tokens_are_not_for_the_forms(shared_house):
    headers = {"Authorization": f"Bearer {shared_house.tokens['alice']}"}
    assert posted(shared_house, "/account/tokens", headers).status_code == 403


@pytest.mark.parametrize("content", [b"\xff=\xff", "&".join(f"a{number}=1" for number in range(500))])
def test_forms_that_are_none_are_refused(shared_house, visit, content):
    cookie, _ = visit
    response = shared_house.ask(None, "POST", "/account/tokens", content=content, headers={**FORM, **cookie})
    assert response.status_code == 422


@pytest.mark.parametrize("label", ["mine", "another"])
def test_a_form_with_a_field_twice_is_refused_and_changes_nothing(shared_house, visit, label):
    cookie, csrf = visit
    content = urlencode([("csrf", csrf), ("label", "mine"), ("label", label)])
    response = shared_house.ask(None, "POST", "/account/tokens", content=content, headers={**FORM, **cookie})
    assert response.status_code == 422
    assert "has the field &#39;label&#39; twice" in response.text
    assert "mine" not in shared_house.ask(None, "GET", "/account", headers=cookie).text


def test_json_is_not_a_form(shared_house):
    assert shared_house.ask(None, "POST", "/sign-in", json={"name": "alice"}).status_code == 415
