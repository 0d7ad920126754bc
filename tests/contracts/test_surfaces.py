"""Every method by its own example: priced, explained, asked and asked again on every surface, which all tell the same.

It is paid for once, in process; every other surface gets the same answer for nothing.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote as percent_encoded

import httpx
import pytest
from typer.main import get_command

from adomnia.api.replies import encode_answer
from adomnia.cli import answers, bills, opening
from adomnia.cli.app import app
from adomnia.client.connection import Connection, check_address
from adomnia.client.session import RemoteSession
from adomnia.console.ask.expectations import list_errors
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import show_all
from adomnia.methods.registry import METHODS
from adomnia.pricing.bills import noise_in_words
from adomnia.pricing.payment import needs_delta
from adomnia.sql.lower import lower
from kit import hospital
from kit.house import ADDRESS, DATASET, PASSWORD, opened
from kit.methods import PEOPLE, VISITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adomnia.pricing.bills import Quote
    from adomnia.session.answer import Answer
    from adomnia.session.explanation import Explanation
    from adomnia.session.session import LocalSession
    from kit.house import Client, House

every_method = pytest.mark.parametrize("name", METHODS)
NAME, TIMEOUT = "bob", 60.0
WIDE = '{ type = "number", lower = -1e160, upper = 1e160 }'


@dataclass(frozen=True)
class Told:
    """What a session in process says of a method's example."""

    text: str
    payment: dict[str, str]
    quote: Quote
    explanation: Explanation
    first: Answer
    again: Answer


def read_amounts(payment: dict[str, str]) -> dict[str, float]:
    return {name: float(amount) for name, amount in payment.items()}


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Iterator[House]:
    """The server's app, which every surface but the one in process asks."""

    def write(folder, text):
        return hospital.write(folder, PEOPLE, VISITS, text)

    with opened(tmp_path_factory.mktemp("surfaces"), write=write) as found:
        yield found


@pytest.fixture(scope="module")
def session(house) -> Iterator[LocalSession]:
    """In process."""
    with house.services.dataset.curator() as curator:
        yield curator.session(NAME)


@pytest.fixture(scope="module")
def tell(session) -> Callable[[str], Told]:
    """What is said of a method; it is paid for once."""

    @cache
    def ask(name: str) -> Told:
        text = METHODS[name].example
        delta = {"delta": "1e-9"} if needs_delta(lower(text, session.catalog())) else {}
        paid = {"epsilon": "1", **delta}
        exact = read_amounts(paid)
        quote, explanation = session.price(text, **exact), session.explain(text, **exact)
        first, again = session.sql(text, **exact), session.sql(text, **exact)
        return Told(text, paid, quote, explanation, first, again)

    return ask


@pytest.fixture(scope="module")
def client(house) -> Iterator[RemoteSession]:
    """The client, whose requests go to the app at once."""
    way = InProcess(house.client)
    with RemoteSession(
        Connection(check_address(ADDRESS, insecure=False), house.tokens[NAME], TIMEOUT, way), "hospital", NAME
    ) as connected:
        yield connected


@pytest.fixture(scope="module")
def command_line() -> Callable[..., Any]:
    """The commands, whose options are read once."""
    return get_command(app)


@pytest.fixture
def type_in(session, command_line, monkeypatch, capsys) -> Callable[..., Any]:
    """The JSON that a command prints, which opens the dataset that is open already."""

    @contextmanager
    def open_dataset(_folder: object) -> Iterator[Any]:
        yield session._curator

    @contextmanager
    def open_for_quotes(_folder: object, analyst: str) -> Iterator[LocalSession]:
        yield session._curator.session(analyst)

    monkeypatch.setattr(opening, "open_dataset", open_dataset)
    monkeypatch.setattr(opening, "open_for_quotes", open_for_quotes)

    def run(command: str, told: Told) -> Any:
        options = [part for key, amount in told.payment.items() for part in (f"--{key}", amount)]
        line = [command, "hospital", told.text, *options, "--analyst", NAME, "--format", "json"]
        command_line(line, standalone_mode=False)
        printed, complained = capsys.readouterr()
        assert not complained
        return json.loads(printed)

    return run


@pytest.fixture(scope="module")
def browse(house) -> Callable[..., httpx.Response]:
    """A page of the console, asked for by somebody who signed in."""
    house.services.access.set_password(NAME, PASSWORD)
    cookie, csrf = house.visit(NAME)

    def send(method: str, path: str, **fields: str) -> httpx.Response:
        form = {"data": {**fields, "csrf": csrf}} if method == "POST" else {}
        return house.client.request(method, path, headers=cookie, **form)

    return send


class InProcess(httpx.BaseTransport):
    """The client's requests, handed to the app without a socket."""

    def __init__(self, app: Client) -> None:
        self._app = app

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        sent = self._app.request(
            request.method, request.url.raw_path.decode(), headers=request.headers, content=request.read()
        )
        return httpx.Response(sent.status_code, headers=sent.headers, content=sent.content)


@every_method
def test_it_is_paid_for_once_and_replayed_in_process(tell, name):
    told = tell(name)
    assert not told.first.replayed
    assert told.again.replayed
    assert facts(told.again) == facts(told.first)
    assert told.first.cost == told.quote.event
    assert told.quote.measurements


@every_method
def test_http_tells_the_same(tell, house, name):
    told = tell(name)
    body = {"sql": told.text, **told.payment}
    price, explained, answered = (
        house.ask(NAME, "POST", f"{DATASET}/{route}", json=body).json() for route in ("price", "explain", "query")
    )
    noises = list(map(noise_in_words, told.quote.measurements))
    assert [line["noise"]["says"] for line in price["measurements"]] == noises
    assert [line["error"] for line in price["outputs"]] == [line.error for line in told.quote.outputs]
    assert price["notes"] == list(show_all(told.quote.notes, Surface.JSON))
    assert price["cost"] == answered["cost"]
    assert explained["tree"] == told.explanation.tree.in_words(Surface.JSON).record()
    assert without_left(answered) == encoded(told.again)
    by_id = house.ask(NAME, "GET", f"{DATASET}/answers/{told.first.receipt.request_id}")
    assert without_left(by_id.json()) == encoded(told.again)


@every_method
def test_the_client_tells_the_same(tell, client, name):
    told = tell(name)
    paid = read_amounts(told.payment)
    assert client.price(told.text, **paid) == told.quote
    assert client.explain(told.text, **paid).tree == told.explanation.tree
    answer = client.sql(told.text, **paid)
    assert answer.replayed
    assert facts(answer) == facts(told.first)
    assert facts(client.answer(answer.receipt.request_id)) == facts(told.first)


@every_method
def test_the_command_line_tells_the_same(tell, type_in, name):
    told = tell(name)
    assert type_in("price", told) == as_json(bills.as_record(bills.in_words(told.quote, Surface.COMMAND_LINE)))
    assert type_in("explain", told) == told.explanation.tree.in_words(Surface.COMMAND_LINE).record()
    worded = replace(told.again, notes=show_all(told.again.notes, Surface.COMMAND_LINE))
    assert without_left(type_in("sql", told)) == without_left(as_json(answers.as_record(worded)))


@every_method
def test_the_console_tells_the_same(tell, browse, name):
    told = tell(name)
    form = {
        "sql": told.text,
        "pay": "epsilon",
        "amount": told.payment["epsilon"],
        "delta": told.payment.get("delta", ""),
    }
    panel = browse("POST", "/ask/price", **form)
    assert panel.status_code == 200
    expected = [
        *show_all(told.quote.notes, Surface.PAGE),
        *(line.error for line in list_errors(told.quote.outputs)),
    ]
    assert all(line in unescape(panel.text) for line in expected)
    assert "See it again, free" in panel.text
    asked = browse("POST", "/ask", **form)
    request_id = percent_encoded(told.first.receipt.request_id, safe="")
    assert (asked.status_code, asked.headers["location"]) == (303, f"/answers/{request_id}?again=1")
    page = browse("GET", asked.headers["location"])
    assert page.status_code == 200
    assert all(note in unescape(page.text) for note in show_all(told.first.notes, Surface.PAGE))
    assert told.first.receipt.hash in page.text
    assert without_left(browse("GET", f"/answers/{request_id}/export?form=json").json()) == encoded(told.again)
    past = browse("GET", f"/answers?q={name}(")
    assert f"/answers/{request_id}" in past.text
    assert browse("POST", "/ask", **form | {"sql": f"EXPLAIN {told.text}"}).status_code == 200


@pytest.fixture(scope="module")
def wide_house(tmp_path_factory) -> Iterator[House]:
    """A server whose catalog has bounds that no method computes with."""

    def write(folder, text):
        wide = re.sub(r'\{ type = "(integer|number)", lower = [^}]*\}', WIDE, text)
        return hospital.write(folder, PEOPLE[:20], VISITS[:20], wide)

    with opened(tmp_path_factory.mktemp("wide"), write=write) as found:
        yield found


@every_method
def test_bounds_that_are_no_use_are_refused_by_http_too(wide_house, name):
    """They were an internal error, or a failure after payment."""
    body = {"sql": METHODS[name].example, "epsilon": "1"}
    if needs_delta(lower(body["sql"], hospital._catalog(hospital.CATALOG))):
        body["delta"] = "1e-9"
    sent = [wide_house.ask(NAME, "POST", f"{DATASET}/{route}", json=body) for route in ("price", "explain", "query")]
    assert len({each.status_code for each in sent}) == 1
    if sent[0].status_code != 200:
        assert sent[0].status_code == 400
        assert {each.json()["error"]["code"] for each in sent} <= {"scale_out_of_range", "bad_argument"}
        assert "has a bound beyond 1e+37" in sent[0].text


def facts(answer: Answer) -> dict[str, Any]:
    """What a user sees of an answer, but for whether it was paid before, and what is left by now."""
    return {
        "records": repr(answer.records()),  # with intervals
        "caps": answer.caps,
        "notes": answer.notes,
        "rest": (answer.confidence, answer.cost, answer.receipt.hash, answer.figure, answer.model),
    }


def encoded(answer: Answer) -> Any:
    """The answer in JSON."""
    return without_left(json.loads(b"".join(encode_answer(answer))))


def without_left(record: dict[str, Any]) -> dict[str, Any]:
    """Other methods are paid for meanwhile."""
    return {name: part for name, part in record.items() if name != "left"}


def as_json(record: object) -> Any:
    return json.loads(json.dumps(record, default=str))
