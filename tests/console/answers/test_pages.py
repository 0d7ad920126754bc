from __future__ import annotations

import csv
import io
import json
from itertools import product
from unittest.mock import patch

import pyarrow.parquet as pq
import pytest

from adomnia.console.answers import pages
from adomnia.console.answers.pages import fill_form
from kit.house import API, CANARY, COUNT, DATASET

GROUPS = "SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY sex"


@pytest.fixture(scope="module")
def paid(shared_house):
    """The request id of an answer of alice."""
    return shared_house.query("alice", GROUPS, epsilon=1).json()["receipt"]["request_id"]


def get(house, path, name="alice", **headers):
    return house.ask(name, "GET", path, headers=headers)


def test_an_answer_is_a_page_with_rows_bill_and_receipt(shared_house, paid):
    reply = get(shared_house, f"/answers/{paid}")
    assert reply.status_code == 200
    for words in ("paid ε 1", "95% interval", "The bill", "In all", "Receipt", paid, "GROUP BY sex", "entry "):
        assert words in reply.text
    assert CANARY not in reply.text


def test_a_script_gets_the_answer_alone(shared_house, paid):
    part = get(shared_house, f"/answers/{paid}", **{"X-Part": "answer"}).text
    assert "answer-head" in part
    assert "<html" not in part


@pytest.mark.parametrize("path", ["", "/figure.svg", "/export"])
def test_answers_of_others_and_answers_that_are_not_there_look_the_same(shared_house, paid, path):
    foreign, missing = (get(shared_house, f"/answers/{each}{path}", "bob") for each in (paid, "none-such"))
    assert foreign.status_code == missing.status_code == 404
    assert foreign.text.replace(paid, "ID") == missing.text.replace("none-such", "ID")


def test_reading_again_spends_nothing(shared_house, paid):
    def left():
        return shared_house.ask("alice", "GET", f"{DATASET}/budget").json()

    before = left()
    for query in ("", "?simultaneous=1", "?confidence=0.99", "?checked=1", "?from=101", "?again=1"):
        assert get(shared_house, f"/answers/{paid}{query}").status_code == 200
    assert left() == before


def test_the_receipt_can_be_checked(shared_house, paid):
    assert "both are unchanged" in get(shared_house, f"/answers/{paid}?checked=1").text
    assert "both are unchanged" not in get(shared_house, f"/answers/{paid}").text


def test_a_place_of_a_batch_is_chosen_by_the_address(shared_house):
    asked = {"questions": [COUNT, GROUPS], "epsilon": 1}
    reply = shared_house.ask("alice", "POST", f"{DATASET}/batch", json=asked).json()
    request_id = reply["answers"][0]["receipt"]["request_id"]
    assert "GROUP BY sex" in get(shared_house, f"/answers/{request_id}?place=1").text
    assert "GROUP BY sex" not in get(shared_house, f"/answers/{request_id}").text
    assert get(shared_house, f"/answers/{request_id}?place=2").status_code == 404


def test_a_request_id_may_hold_slashes_and_signs(shared_house):
    request_id = 'a/b "c" <i>?'
    assert shared_house.query("alice", COUNT, epsilon=0.375, request_id=request_id).status_code == 200
    address = f"/answers/{pages.AnswerReading().address(request_id)[9:]}"
    page = get(shared_house, address)
    assert page.status_code == 200
    assert "<i>" not in page.text
    assert get(shared_house, f"{address}/figure.svg").headers["content-type"] == "image/svg+xml"


@pytest.mark.parametrize("query", ["?confidence=2", "?from=x", "?place=-1", "?confidence=nan"])
def test_an_address_that_means_nothing_is_refused(shared_house, paid, query):
    assert get(shared_house, f"/answers/{paid}{query}").status_code == 422


def test_the_figure_is_drawn_once_for_each_paper_and_each_reader(shared_house, paid):
    with patch.object(pages, "draw", side_effect=lambda _answer, *look: repr(look).encode()) as drawn:
        for _ in range(3):
            for look in product(("light", "dark"), ("wide", "narrow")):
                address = f"/answers/{paid}/figure.svg?theme={look[0]}&size={look[1]}&confidence=0.9"
                reply = get(shared_house, address)
                assert reply.content == repr(look).encode()
    assert drawn.call_count == 4
    assert reply.headers["cache-control"] == "no-store"
    assert get(shared_house, f"/answers/{paid}/figure.svg?theme=dark&confidence=0.9", "bob").status_code == 404
    assert get(shared_house, f"/answers/{paid}/figure.svg?theme=pink").status_code == 422


def test_figures_are_as_many_as_confidences_are_offered(shared_house, paid):
    assert get(shared_house, f"/answers/{paid}/figure.svg?confidence=0.91").status_code == 422
    assert "Figures are drawn for 90%, 95%, 99% alone." in get(shared_house, f"/answers/{paid}?confidence=0.91").text
    kept = shared_house.app.state.figures
    before = [get(shared_house, f"/answers/{paid}/figure.svg").content, len(kept._replies)]
    for reading in ("from=2", "again=1", "checked=1"):
        assert [get(shared_house, f"/answers/{paid}/figure.svg?{reading}").content, len(kept._replies)] == before


def test_the_figure_is_a_file_with_a_plain_name(shared_house, paid):
    reply = get(shared_house, f"/answers/{paid}/figure.svg?download=1")
    assert reply.text.startswith("<svg")
    assert reply.headers["content-disposition"] == f'attachment; filename="figure-{paid[:16]}.svg"'


def test_without_the_extra_the_page_says_what_to_install(shared_house, paid):
    with patch("adomnia.figures.files.find_spec", return_value=None):
        page = get(shared_house, f"/answers/{paid}")
    assert page.status_code == 200
    assert "pip install &#39;.[plot]&#39; in a checkout" in page.text
    assert "figure.svg" not in page.text


def test_exports_hold_all_digits(shared_house, paid):
    told = get(shared_house, f"{API}/datasets/hospital/answers/{paid}").json()
    wanted = dict(zip(told["columns"][0]["values"], told["columns"][2]["values"], strict=True))
    replies = {form: get(shared_house, f"/answers/{paid}/export?form={form}") for form in ("csv", "json", "parquet")}
    rows = csv.DictReader(io.StringIO(replies["csv"].text))
    assert {row["sex"]: float(row["age"]) for row in rows} == wanted
    assert json.loads(replies["json"].text)["columns"] == told["columns"]
    table = pq.read_table(io.BytesIO(replies["parquet"].content))
    assert dict(zip(table["sex"].to_pylist(), table["age"].to_pylist(), strict=True)) == wanted
    assert {"age_lower", "age_upper"} <= set(table.column_names)
    for form, reply in replies.items():
        assert reply.headers["content-disposition"] == f'attachment; filename="hospital-{paid[:16]}.{form}"'
    assert get(shared_house, f"/answers/{paid}/export?form=exe").status_code == 422


def test_exports_have_the_intervals_that_are_read(shared_house, paid):
    def width(query):
        rows = csv.DictReader(io.StringIO(get(shared_house, f"/answers/{paid}/export?form=csv{query}").text))
        return next(float(row["n_upper"]) - float(row["n_lower"]) for row in rows)

    assert width("") < width("&simultaneous=1")
    assert width("") < width("&confidence=0.999")
    assert width("&confidence=0.5") < width("")


def test_pages_are_for_analysts(shared_house, paid):
    assert get(shared_house, f"/answers/{paid}", "olga").status_code == 403
    assert get(shared_house, f"/answers/{paid}", None).headers["location"] == "/sign-in"


@pytest.mark.parametrize(
    ("name", "named", "fields"),
    [
        ("alice", {"epsilon": 0.3, "rows": 500}, ("epsilon", "0.3", {"rows": "500"})),
        ("alice", {"error": 30.5}, ("error", "30.5", {})),
        ("bob", {"rho": 0.0625, "effort": "high"}, ("rho", "0.0625", {"effort": "high"})),
        (
            "alice",
            {"epsilon": 0.3, "replay": False, "confidence": 0.9},
            ("epsilon", "0.3", {"confidence": "0.9", "replay": "false"}),
        ),
    ],
)
def test_a_question_is_asked_again_as_it_was(shared_house, name, named, fields):
    reply = shared_house.query(name, COUNT, **{"epsilon": None, **named}).json()
    with shared_house.services.dataset.curator() as curator:
        recalled = curator.session(name).recall(reply["receipt"]["request_id"])
    form = fill_form(recalled)
    assert (form.sql, (form.pay, form.amount, form.options)) == (COUNT, fields)


def test_a_question_that_found_values_is_asked_again_with_its_delta(shared_house):
    sql = "SELECT eye_color, COUNT(*) AS n FROM people GROUP BY eye_color"
    reply = shared_house.query("bob", sql, epsilon=5, delta="1e-9").json()
    with shared_house.services.dataset.curator() as curator:
        recalled = curator.session("bob").recall(reply["receipt"]["request_id"])
    assert fill_form(recalled).options["delta"] == "0.000000001"


def test_one_of_a_batch_has_its_own_price(shared_house):
    asked = {
        "questions": [{"sql": COUNT, "epsilon": 1}, {"sql": "SELECT MEDIAN(age) AS a FROM people", "epsilon": 0.5}]
    }
    reply = shared_house.ask("alice", "POST", "/api/v1/datasets/hospital/batch", json=asked).json()
    with shared_house.services.dataset.curator() as curator:
        recalled = curator.session("alice").recall(reply["answers"][0]["receipt"]["request_id"], 1)
    assert fill_form(recalled).amount == "0.5"
