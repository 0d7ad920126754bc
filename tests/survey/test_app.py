"""The survey over HTTP: one report for each token, whatever is sent, and a sentence where that cannot be."""

from __future__ import annotations

import asyncio
import json
from fractions import Fraction

import httpx
import pytest

from adomnia.api.settings import Settings
from adomnia.survey.app import create_survey_app
from adomnia.survey.store import STORE, ReportStore
from adomnia.survey.subset import SubsetSelection
from adomnia.survey.survey import Survey, draw_token

EVIL = "</title><script>hacked=1</script>\"'{{7*7}}"
SURVEY = Survey("12" * 16, f"Why {EVIL}?", ("yes", "no", EVIL), SubsetSelection(3, Fraction(3), 2))


@pytest.fixture
def store(tmp_path):
    with ReportStore.open(tmp_path, SURVEY) as opened:
        yield opened


class Client:
    """Calls an app without a network, one request at a time."""

    def __init__(self, app) -> None:
        self._transport = httpx.ASGITransport(app, raise_app_exceptions=False)

    def request(self, method: str, path: str, **options) -> httpx.Response:
        async def send() -> httpx.Response:
            async with httpx.AsyncClient(transport=self._transport, base_url="http://127.0.0.1") as client:
                return await client.request(method, path, **options)

        return asyncio.run(send())

    def get(self, path: str, **options) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options) -> httpx.Response:
        return self.request("POST", path, **options)


def client_of(store, tmp_path, **settings) -> Client:
    return Client(create_survey_app(SURVEY, store, Settings(tmp_path, **settings)))


@pytest.fixture
def client(store, tmp_path):
    return client_of(store, tmp_path)


def body(**changes) -> dict:
    return {"survey": SURVEY.id, "token": draw_token(), "report": [0, 2], **changes}


def test_a_report_counts_once_and_the_same_again_is_no_fault(client, store):
    sent = body()
    assert client.post("/reports", json=sent).status_code == 201
    again = client.post("/reports", json=sent)
    assert (again.status_code, again.json()) == (200, {"first": False})
    other = client.post("/reports", json={**sent, "report": [0, 1]})
    assert (other.status_code, other.json()["error"]["code"]) == (409, "reported")
    assert store.counts() == {(0, 2): 1}


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (body(report=[0]), 422),
        (body(report=[2, 0]), 422),
        (body(report=[0, 3]), 422),
        (body(report=[0, True]), 422),
        (body(report=[0, 1.0]), 422),
        (body(report="0"), 422),
        (body(report=list(range(2000))), 422),
        (body(token="x"), 422),
        (body(token=None), 422),
        (body(survey="34" * 16), 422),
        (body(answer="yes"), 422),
        ([], 422),
        ({}, 422),
    ],
)
def test_what_is_no_report_is_refused_and_nothing_is_kept(client, store, sent, status):
    reply = client.post("/reports", json=sent)
    assert reply.status_code == status
    assert set(reply.json()["error"]) >= {"what", "why", "fix", "code"}
    assert store.counts() == {}


def test_bodies_are_small_json_of_this_site(client, store):
    sent = json.dumps(body())
    kind = {"Content-Type": "application/json"}
    assert client.post("/reports", content=sent, headers={"Content-Type": "text/plain"}).status_code == 415
    assert client.post("/reports", content=sent + " " * 2**15, headers=kind).status_code == 413
    assert client.post("/reports", content="{", headers=kind).status_code == 422
    twice = client.post("/reports", content=sent[:-1] + ', "report": [0, 2]}', headers=kind)
    assert (twice.status_code, "'report' twice" in twice.json()["error"]["why"]) == (422, True)
    foreign = {**kind, "Origin": "https://evil.example"}
    assert client.post("/reports", content=sent, headers=foreign).status_code == 403
    assert client.post("/reports", content=sent, headers={**kind, "Host": "evil.example"}).status_code == 403
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 403
    assert store.counts() == {}


def test_one_address_may_not_send_without_end(store, tmp_path):
    client = client_of(store, tmp_path, rate=0.001, burst=3)
    statuses = [client.post("/reports", json=body()).status_code for _ in range(5)]
    assert statuses == [201, 201, 201, 429, 429]
    assert client.get("/").status_code == 200


def test_every_reply_has_the_headers_that_keep_a_page_alone(client):
    for path in ("/", "/survey.json", "/static/survey.js", "/nowhere", "/static/../app.py"):
        headers = client.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
    policy = client.get("/").headers["Content-Security-Policy"]
    assert "form-action 'none'" in policy
    assert "Set-Cookie" not in client.get("/").headers
    assert client.get("/nowhere").status_code == 404
    assert client.get("/reports").status_code == 405
    assert client.get("/static/editor.js").status_code == 404


def test_what_the_owner_wrote_is_text_and_nothing_else(client):
    page = client.get("/").text
    assert "<script>hacked" not in page
    assert "&lt;script&gt;hacked=1&lt;/script&gt;" in page
    assert "49" not in page.split("<section")[1]


def test_the_page_has_no_form_and_no_script_of_its_own(client):
    page = client.get("/").text
    assert "<form" not in page
    assert page.count("<script") == page.count('<script type="module" src="/static/survey.js">') == 1
    assert "style=" not in page
    assert "onclick" not in page


def test_the_page_says_what_is_sent_and_what_it_costs(client):
    page = " ".join(client.get("/").text.split())
    assert "sends 2 of the answers: yours is among them with probability 85.7%" in page
    assert "at most <b>75%</b> sure" in page
    assert "at most <b>3 times</b>" in page
    assert "local" in page
    assert "1.09862" in page
    assert "of each respondent" in page


def test_a_device_is_told_the_exact_design(client):
    told = client.get("/survey.json").json()
    assert Survey.from_record(told) == SURVEY
    assert told["design"] == {"name": "subset", "odds": "3", "size": "2"}


def test_a_store_that_is_gone_is_a_503_with_a_sentence_and_loses_nothing(client, store, tmp_path):
    (tmp_path / STORE).rename(tmp_path / "away")
    sent = body()
    reply = client.post("/reports", json=sent)
    assert reply.status_code == 503
    assert "removed or replaced" in reply.json()["error"]["why"]
    assert "Retry-After" in reply.headers
    (tmp_path / "away").rename(tmp_path / STORE)
    assert client.post("/reports", json=sent).status_code == 201
    assert client.post("/reports", json=sent).status_code == 200
    assert store.counts() == {(0, 2): 1}


def test_a_store_that_is_full_is_a_503_and_the_report_can_be_sent_again(client, store):
    sent = body()
    store._file._connection.execute("PRAGMA max_page_count = 1")
    for _ in range(200):
        reply = client.post("/reports", json=body())
        if reply.status_code != 201:
            break
    assert reply.status_code in {429, 503}
    store._file._connection.execute("PRAGMA query_only = ON")
    assert client_of(store, store._file._path.parent).post("/reports", json=sent).status_code == 503
    fresh = client_of(store, store._file._path.parent)
    assert [fresh.post("/reports", json=sent).status_code for _ in range(2)] == [201, 200]


def test_an_error_that_nobody_expected_says_nothing(store, tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("secret")

    monkeypatch.setattr(store, "add", fail)
    reply = client_of(store, tmp_path).post("/reports", json=body())
    assert reply.status_code == 424
    assert "secret" not in reply.text


def test_under_tls_browsers_are_told_to_stay_there(store, tmp_path):
    client = client_of(store, tmp_path, behind_proxy=True, names=("survey.example",))
    assert "Strict-Transport-Security" in client.get("/").headers
    assert "Strict-Transport-Security" not in client_of(store, tmp_path).get("/").headers
