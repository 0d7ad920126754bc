"""Every cell of the table: each kind of caller at each route."""

from __future__ import annotations

import pytest

from adomnia.api.access import Role
from adomnia.api.openapi import describe_api
from adomnia.api.roles import ANYBODY, API, PAGES, READING, ROUTES, roles_of
from adomnia.serving.app import ENDPOINTS, PAGE_HANDLERS

CALLERS = {"nobody": None, "owner": "olga", "analyst": "alice", "auditor": "audrey"}
CELLS = [(caller, *route) for caller in CALLERS for route in ROUTES | PAGES]


def filled(path: str) -> str:
    parts = {
        "dataset": "hospital",
        "token_id": "0" * 16,
        "name": "nobody-of-that-name",
        "request_id": "none-such",
        "share_id": "0" * 16,
        "code": "none",
        "older": "none.toml",
    }
    for name, part in parts.items():
        path = path.replace(f"{{{name}}}", part)
    return path


def may(caller: str, method: str, path: str) -> bool:
    roles = roles_of(method, path)
    return roles is ANYBODY or (CALLERS[caller] is not None and Role(caller) in roles)


@pytest.mark.parametrize(("caller", "method", "path"), CELLS)
def test_a_caller_gets_past_the_gate_just_if_the_table_says_so(shared_house, caller, method, path):
    response = shared_house.ask(CALLERS[caller], method, filled(path))
    if path.startswith(API):
        code = None if response.is_success else response.json()["error"]["code"]
        stopped = code in {"signed_out", "role"}
    else:
        led = response.headers.get("location", "").partition("?")[0]
        stopped = led == "/sign-in" or "This page is for the" in response.text
    assert stopped is not may(caller, method, path)


@pytest.mark.parametrize(("caller", "method", "path"), [cell for cell in CELLS if cell[2].startswith(API)])
def test_who_is_kept_out_is_told_by_status_and_reason(shared_house, caller, method, path):
    if may(caller, method, path):
        return
    response = shared_house.ask(CALLERS[caller], method, filled(path))
    wanted = (401, "signed_out") if caller == "nobody" else (403, "role")
    assert (response.status_code, response.json()["error"]["code"]) == wanted


def test_only_health_readiness_signing_in_and_its_page_are_open_to_anybody():
    opened = {route for route, roles in (ROUTES | PAGES).items() if roles is ANYBODY}
    assert opened == {
        ("GET", "/api/v1/health"),
        ("GET", "/api/v1/ready"),
        ("POST", "/api/v1/sign-in"),
        ("POST", "/api/v1/sign-in/link"),
        ("GET", "/sign-in"),
        ("POST", "/sign-in"),
        ("GET", "/static/{name}"),
    }


def test_the_openapi_document_has_just_the_routes_of_the_table(shared_house):
    document = describe_api(shared_house.app)
    told = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert told == set(ROUTES)


def test_the_app_serves_just_the_routes_of_the_tables(shared_house):
    served = {(method, route.path_format) for route in shared_house.app.routes for method in route.methods}
    assert served == ROUTES.keys() | PAGES.keys() == ENDPOINTS.keys() | PAGE_HANDLERS.keys()
    assert (ROUTES | PAGES).keys() >= READING


def test_the_document_says_of_each_route_how_to_sign_in(shared_house):
    document = describe_api(shared_house.app)
    assert set(document["components"]["securitySchemes"]) == {"token", "visit", "csrf"}
    for (method, path), roles in ROUTES.items():
        visit = {"visit": []} if method == "GET" else {"visit": [], "csrf": []}
        wanted = [] if roles is ANYBODY else [{"token": []}, visit]
        assert document["paths"][path][method.lower()]["security"] == wanted


def test_a_route_that_the_table_does_not_know_has_no_roles():
    with pytest.raises(KeyError):
        roles_of("GET", "/api/v1/secrets")
