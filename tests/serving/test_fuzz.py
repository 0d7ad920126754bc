"""Whatever the OpenAPI document allows, and what it forbids, sent to every route by every kind of caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from adomnia.api.access import Role
from adomnia.api.openapi import describe_api
from adomnia.api.roles import ANYBODY, ROUTES
from kit import house

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemathesis import Case

POSITIVE, NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
CALLERS = {"nobody": None, "owner": "olga", "analyst": "alice", "auditor": "audrey"}
ALLOWED = [
    (caller, *route)
    for route, roles in ROUTES.items()
    for caller in CALLERS
    if roles is not ANYBODY and caller in roles
]
REFUSED = [(caller, *route) for route in ROUTES for caller in CALLERS if (caller, *route) not in ALLOWED]
TEXTS = [
    house.COUNT,
    "SELECT city, COUNT(*) AS n, AVG(salary) AS pay FROM people GROUP BY city ORDER BY n DESC LIMIT 3",
    "SELECT hospital, SUM(cost) FROM visits GROUP BY hospital",
    "SELECT MEDIAN(age) FROM people WHERE sex = 'F'",
    "SELECT eye_color, COUNT(*) FROM people GROUP BY eye_color",
    "SELECT city, population FROM cities",
    "EXPLAIN SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM people; DROP TABLE people",
]
# What is there, so that not every request ends at a name that nobody has.
KNOWN = {"dataset": ["hospital"], "name": ["spare", "bob"], "request_id": ["asked", "batch"]}


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory) -> Iterator[tuple[house.House, Any]]:
    """A house with some answers in it, and its document."""
    with house.opened(tmp_path_factory.mktemp("house")) as opened:
        opened.services.access.add_user("spare", Role.AUDITOR)
        opened.query("alice", TEXTS[1], request_id="asked")
        body = {"questions": TEXTS[:2], "epsilon": 1, "request_id": "batch"}
        assert opened.ask("alice", "POST", f"{house.DATASET}/batch", json=body).is_success
        schema = schemathesis.openapi.from_dict(describe_api(opened.app))
        schema.app = opened.app
        yield opened, schema


def by_token(fuzzed: tuple[house.House, Any], caller: str) -> dict[str, str]:
    name = CALLERS[caller]
    return {} if name is None else {"Authorization": f"Bearer {fuzzed[0].tokens[name]}"}


def known(case: Case, data: st.DataObject) -> None:
    """Put what is there where a name is asked for, and questions that can be answered where SQL is."""
    for name, values in KNOWN.items():
        if name in (case.path_parameters or {}) and data.draw(st.integers(0, 3)):
            case.path_parameters[name] = data.draw(st.sampled_from(values))
    if isinstance(case.body, dict) and data.draw(st.integers(0, 3)):
        for name, values in (("sql", TEXTS), ("questions", [TEXTS[:2], [{"sql": TEXTS[2], "epsilon": 1}]])):
            if name in case.body:
                case.body[name] = data.draw(st.sampled_from(values))


def attack(fuzzed: tuple[house.House, Any], headers: dict[str, str], route: tuple[str, str], examples: int) -> None:
    (own, schema), (method, path) = fuzzed, route
    operation = schema[path][method]
    open_ended = operation.body or operation.query or operation.path_parameters
    for mode in (POSITIVE, NEGATIVE) if open_ended else (POSITIVE,):
        _attack(operation, mode, headers, examples)
    assert '"fault"' not in own.log.getvalue()
    assert house.CANARY not in own.log.getvalue()


def _attack(operation: Any, mode: GenerationMode, headers: dict[str, str], examples: int) -> None:
    @settings(max_examples=examples, database=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(case=operation.as_strategy(mode), data=st.data())
    def send(case: Case, data: st.DataObject) -> None:
        if mode is POSITIVE:
            known(case, data)
        response = case.call(base_url=house.ADDRESS, headers=headers)
        # A body that is too large is refused for that, which the check does not count as refused.
        is_wrong = mode is NEGATIVE and response.status_code != 413
        case.validate_response(response, checks=[*CHECKS, negative_data_rejection] if is_wrong else CHECKS)
        assert response.status_code != 424, "Nothing that can be sent may be unforeseen."

    send()


@pytest.mark.parametrize(("caller", "method", "path"), ALLOWED)
def test_whatever_is_sent_gets_a_reply_that_the_document_describes(fuzzed, caller, method, path):
    attack(fuzzed, by_token(fuzzed, caller), (method, path), examples=10 if method == "POST" else 4)


@pytest.mark.parametrize(("caller", "method", "path"), REFUSED)
def test_who_may_not_gets_one_too(fuzzed, caller, method, path):
    attack(fuzzed, by_token(fuzzed, caller), (method, path), examples=2)


@pytest.mark.parametrize(("method", "path"), [("POST", f"{house.API}/tokens"), ("GET", f"{house.API}/tokens")])
def test_so_does_whoever_comes_with_a_cookie(fuzzed, method, path):
    fuzzed[0].services.access.set_password("alice", house.PASSWORD)
    cookie, csrf = fuzzed[0].visit("alice")
    attack(fuzzed, {**cookie, "X-CSRF-Token": csrf}, (method, path), examples=10)


@pytest.mark.soak
@pytest.mark.parametrize(("caller", "method", "path"), ALLOWED)
def test_so_does_much_more_of_it(fuzzed, caller, method, path):
    attack(fuzzed, by_token(fuzzed, caller), (method, path), examples=300)
