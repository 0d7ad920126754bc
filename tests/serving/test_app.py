"""The app as a whole."""

from __future__ import annotations

import pytest

from adomnia.api.openapi import describe_api
from adomnia.serving import app as apps
from kit import house

API = house.API


def test_an_address_that_names_nothing_is_not_found(shared_house):
    for path in ("/nothing", f"{API}/nothing", f"{API}/me/", f"{API}", "/docs", "/redoc", "/openapi.json", "/%00"):
        response = shared_house.ask("alice", "GET", path)
        assert response.status_code == 404
        if path.startswith(API):
            assert response.json()["error"]["code"] == "unknown_route"
        else:
            assert "There is no such page" in response.text


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "TRACE", "PUT", "CONNECT", "BREW", "get"])
def test_a_method_that_an_address_does_not_have_is_told_those_it_has(shared_house, method):
    response = shared_house.client.run(_raw(shared_house.app, method, f"{API}/tokens"))
    assert response == (405, "GET, POST")


async def _raw(app, method: str, path: str) -> tuple[int, str]:
    """Straight to the app: clients would write methods in capitals."""
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b""}
    scope |= {"headers": [(b"host", b"127.0.0.1:8000")], "scheme": "http", "http_version": "1.1", "client": None}
    scope |= {"server": ("127.0.0.1", 8000), "root_path": ""}
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"])[b"allow"].decode()


def test_no_telemetry_leaves_whatever_the_environment_says(shared_house, monkeypatch):
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    app = apps.create_app(shared_house.services)
    switches = ("tracing", "metrics", "logs", "operation_spans", "auto_configure")
    assert {name: app._telemetry[name] for name in switches} == dict.fromkeys(switches, False)
    assert not app._native_telemetry.enabled()


def test_a_route_that_only_one_table_knows_does_not_start(shared_house, monkeypatch):
    for table, route in ((apps.ENDPOINTS, ("GET", f"{API}/me")), (apps.PAGE_HANDLERS, ("GET", "/"))):
        monkeypatch.delitem(table, route)
        with pytest.raises(ValueError, match="table of roles"):
            apps.create_app(shared_house.services)
        monkeypatch.undo()


def test_a_route_may_break_and_says_nothing_of_why(own_house, monkeypatch):
    def broken(*_: object) -> None:
        raise ZeroDivisionError(house.CANARY)

    monkeypatch.setattr(own_house.services.access, "users", broken)
    response = own_house.ask("olga", "GET", f"{API}/users")
    assert response.status_code == 424
    assert response.json()["error"] == {
        "code": "failure",
        "what": "The request",
        "why": "failed",
        "fix": response.json()["error"]["fix"],
        "position": None,
        "request_id": response.headers["x-request-id"],
    }
    assert house.CANARY not in response.text + own_house.log.getvalue()
    assert '"fault": "ZeroDivisionError"' in own_house.log.getvalue()


def test_the_document_is_given_to_whoever_is_signed_in(shared_house):
    response = shared_house.ask("audrey", "GET", f"{API}/openapi.json")
    assert response.headers["content-type"] == "application/json"
    assert response.json() == describe_api(shared_house.app)
    assert response.json()["openapi"].startswith("3.")


def test_every_reply_of_the_document_has_one_shape_of_error(shared_house):
    for methods in describe_api(shared_house.app)["paths"].values():
        for operation in methods.values():
            for status, reply in operation["responses"].items():
                if not status.startswith("2"):
                    schema = reply["content"]["application/json"]["schema"]
                    assert schema == {"$ref": "#/components/schemas/ProblemReply"}


def test_the_document_forbids_fields_that_nobody_knows(shared_house):
    schemas = describe_api(shared_house.app)["components"]["schemas"]
    for name in ("Ask", "AskBatch", "NewUser", "SignIn", "NewToken"):
        assert schemas[name]["additionalProperties"] is False
