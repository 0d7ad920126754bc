"""The document and the page about it say what the server does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adomnia.api.models import HealthReply
from adomnia.api.openapi import Endpoint, describe_api
from adomnia.api.problems import STATUSES
from adomnia.api.roles import ANYBODY, OWNER, ROUTES, SIGNED_IN

PAGE = (Path(__file__).parents[2] / "docs" / "http.md").read_text(encoding="utf-8")


def serve() -> None:
    """Nothing."""


def words(roles) -> str:
    if roles is ANYBODY:
        return "anybody"
    return "signed in" if roles == SIGNED_IN else ", ".join(sorted(roles, key=["owner", "analyst", "auditor"].index))


def test_the_page_has_the_table_of_roles():
    lines = re.findall(r"^\| `([A-Z]+) (/api/v1\S*)` \| ([^|]+) \|", PAGE, re.MULTILINE)
    assert {(method, path): said for method, path, said in lines} == {
        route: words(roles) for route, roles in ROUTES.items()
    }


def test_the_page_has_every_status_with_its_codes():
    lines = re.findall(r"^\| (\d{3}) \| [^|]+ \| ([^|]+) \|", PAGE, re.MULTILINE)
    told = {code: int(status) for status, codes in lines for code in re.findall(r"`(\w+)`", codes)}
    assert told == {**STATUSES, "unknown_column": 400, "failure": 424}


@pytest.mark.parametrize(
    ("endpoint", "route", "roles", "statuses"),
    [
        (Endpoint(serve, HealthReply), ("GET", "/a"), ANYBODY, {403, 424, 503}),
        (Endpoint(serve, HealthReply), ("GET", "/a"), OWNER, {401, 403, 424, 429, 503}),
        (Endpoint(serve, HealthReply), ("GET", "/{a}"), OWNER, {401, 403, 422, 424, 429, 503}),
        (Endpoint(serve, None, 204, (409,), True), ("POST", "/a"), ANYBODY, {403, 408, 409, 413, 415, 422, 424, 503}),
    ],
)
def test_a_route_is_said_to_refuse_as_it_may(endpoint, route, roles, statuses):
    assert set(endpoint.options(route, roles)["responses"]) == statuses


def test_a_reply_of_text_is_described_as_text():
    options = Endpoint(serve, "text/plain").options(("GET", "/a"), OWNER)
    assert options["responses"][200]["content"] == {"text/plain": {"schema": {"type": "string"}}}
    assert options["response_model"] is None


def test_the_document_is_made_once(shared_house):
    assert describe_api(shared_house.app) is describe_api(shared_house.app)


def test_the_document_names_every_form_of_an_answer(shared_house):
    paths = shared_house.ask("alice", "GET", "/api/v1/openapi.json").json()["paths"]
    forms = {"application/json", "application/vnd.apache.arrow.stream", "text/csv"}
    query = paths["/api/v1/datasets/{dataset}/query"]["post"]["responses"]["200"]
    again = paths["/api/v1/datasets/{dataset}/answers/{request_id}"]["get"]["responses"]["200"]
    batch = paths["/api/v1/datasets/{dataset}/batch"]["post"]["responses"]["200"]
    assert set(query["content"]) == set(again["content"]) == forms
    assert "$ref" in query["content"]["application/json"]["schema"]
    assert set(batch["content"]) == {"application/json"}
