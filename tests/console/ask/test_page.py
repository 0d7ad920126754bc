"""The routes of a question: seeing costs nothing, paying happens once, and strangers pay nothing."""

from __future__ import annotations

import re
from unittest.mock import patch

import pytest

from adomnia.errors import Failure, Unavailable
from console.ask.visiting import read_text, sign_in

COUNT = "SELECT COUNT(*) AS n FROM people"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def alice(shared_house):
    return sign_in(shared_house)


def test_the_address_may_name_a_question(alice):
    page = alice.get("/ask?sql=SELECT+AVG(age)+AS+a+FROM+people&amount=0.5&allow_uninformative=1")
    assert page.status_code == 200
    assert "SELECT AVG(age) AS a FROM people</textarea>" in page.text
    assert "Pay 0.5 and ask" in read_text(page)


def test_seeing_prices_refusals_and_made_up_rows_never_spends(alice):
    before = alice.spent()
    for sql in (COUNT, "SELECT AVG(salery) FROM people", "SELECT * FROM cities", f"EXPLAIN {COUNT}", "", "SELECT ("):
        for part, pay, amount in ((None, "epsilon", "0.5"), ("priced", "rho", "0.1"), ("price", "error", "20")):
            assert alice.post("/ask/price", part, sql=sql, pay=pay, amount=amount).status_code == 200
    assert alice.post("/ask/mock", sql=COUNT).status_code == 200
    assert alice.post("/ask/mock", sql="SELECT AVG(salery) FROM people").status_code == 400
    assert alice.spent() == before


def test_a_release_is_not_made_by_a_page_that_shows_no_price_of_it(alice):
    before = alice.spent()
    text = "CREATE TABLE releases.ages AS SELECT * FROM marginals((SELECT sex FROM people))"
    for path in ("/ask", "/ask/mock"):
        assert alice.post(path, sql=text, amount="0.5").status_code == 400
    assert alice.spent() == before


def test_a_price_part_brings_its_companions_and_no_page(alice):
    part = alice.post("/ask/price", "priced", sql=COUNT).text
    assert "<html" not in part
    assert part.count("<template data-for=") == 2
    assert "Reads as" in part


def test_sending_twice_pays_once(own_house):
    asker = sign_in(own_house)
    form = asker.get("/ask").text
    request_id = re.search(r'name="request_id" value="([^"]+)"', form)[1]
    replies = [asker.post("/ask", sql=COUNT, amount="0.5", request_id=request_id) for _ in range(3)]
    assert {each.status_code for each in replies} == {303}
    answer = f"/answers/{request_id}"
    assert [each.headers["location"] for each in replies] == [answer, f"{answer}?again=1", f"{answer}?again=1"]
    assert asker.spent()[0].epsilon_units == 5 * 10**11


def test_every_form_has_an_id_of_its_own(alice):
    ids = {re.search(r'name="request_id" value="([^"]+)"', alice.get("/ask").text)[1] for _ in range(3)}
    assert len(ids) == 3


def test_a_form_of_a_stranger_spends_nothing(own_house):
    asker = sign_in(own_house)
    before = asker.spent()
    for csrf in ("", "wrong", "0" * 64):
        for path in ("/ask", "/ask/price", "/ask/mock"):
            assert asker.post(path, csrf=csrf, sql=COUNT).status_code == 403
    assert asker.spent() == before


def test_a_refusal_when_asking_shows_the_page_with_its_status(alice):
    page = alice.post("/ask", sql="SELECT AVG(salery) FROM people")
    assert page.status_code == 400
    assert read_text(page).count("Not answered:") == 1


def test_more_than_is_left_is_refused_with_what_is(shared_house):
    carol = sign_in(shared_house, "carol")
    dear = carol.post("/ask", sql=COUNT, amount="3")
    assert dear.status_code == 402
    assert "Not answered: A spend of epsilon 3" in read_text(dear)
    assert "Ask it for 1" in read_text(dear)


def test_what_is_free_is_shown_at_once_and_costs_nothing(alice):
    before = alice.spent()
    assert alice.post("/ask", sql="SELECT city FROM cities").status_code == 200
    assert alice.spent() == before


@pytest.mark.parametrize(
    ("fault", "status", "words"),
    [
        (Failure("mine"), 424, "What was paid stays paid"),
        (Unavailable("The server", "is busy", "ask again"), 503, "nothing is paid twice"),
    ],
)
def test_trouble_says_what_was_paid_and_how_to_ask_again(alice, fault, status, words):
    with patch("adomnia.session.session.LocalSession.sql", side_effect=fault):
        page = alice.post("/ask", "answer", sql=COUNT, request_id="mine")
    assert page.status_code == status
    assert words in read_text(page)
    assert 'value="request_id=mine"' in page.text
    assert 'href="/answers/mine"' in page.text


@pytest.mark.parametrize(
    "sql",
    [
        SCRIPT,
        f"SELECT {SCRIPT} FROM people",
        f'SELECT COUNT(*) AS "{SCRIPT}" FROM people',
        f"SELECT COUNT(*) AS n FROM people WHERE name = '{SCRIPT}'",
        f'SELECT COUNT(*) FROM "{SCRIPT}"',
        "</textarea><script>alert(1)</script>",
    ],
)
def test_whatever_is_typed_is_shown_and_not_run(alice, sql):
    fields = {"amount": SCRIPT, "rows": SCRIPT, "delta": SCRIPT}
    for page in (
        alice.post("/ask/price", sql=sql),
        alice.post("/ask", sql=sql),
        alice.post("/ask/price", sql=sql, **fields),
    ):
        assert "<script>alert" not in page.text
        assert "</textarea><script" not in page.text


def test_no_more_is_paid_than_the_page_said(own_house):
    asker = sign_in(own_house)
    by_error = {"pay": "error", "amount": "20", "seen": "epsilon 0.15"}
    dearer = "SELECT COUNT(*) AS n, COUNT(age) AS m FROM people"
    for changed in ({"amount": "25", "seen": "epsilon 0.25"}, {**by_error, "sql": dearer}, {"seen": "epsilon 0"}):
        page = asker.post("/ask", **{"sql": COUNT, "amount": "0.25", **changed})
        assert page.status_code == 409, changed
        assert "and the page said epsilon" in read_text(page)
    assert asker.post("/ask", sql=COUNT, pay="rho", amount="0.1", seen="epsilon 0.25").status_code == 409
    assert not any(spent.rho_units for spent in asker.spent())
    assert asker.post("/ask", sql=COUNT, **by_error).status_code == 303
    before = asker.spent()
    assert asker.post("/ask", sql=f"{COUNT} ", **{**by_error, "seen": "epsilon 0"}).status_code == 303
    assert asker.spent() == before
    assert asker.post("/ask", sql=COUNT, amount="0.2", seen="epsilon 0.25").status_code == 303


def test_the_page_says_what_the_button_costs(own_house):
    asker = sign_in(own_house)
    assert 'name="seen" value="epsilon 0.25"' in asker.get(f"/ask?sql={COUNT}").text
    by_error = {"sql": COUNT, "pay": "error", "amount": "20"}
    seen = re.search(r'name="seen" value="(epsilon 0[.]1[^"]+)"', asker.post("/ask/price", **by_error).text)[1]
    assert asker.post("/ask", **by_error, seen=seen).status_code == 303
    assert 'name="seen" value="epsilon 0"' in asker.get("/ask?sql=SELECT * FROM cities").text
    assert 'name="seen" value=""' in asker.get("/ask?sql=SELECT").text


def test_an_amount_with_a_huge_exponent_takes_no_time(alice):
    for sql in ("", "SELECT (", COUNT):
        assert alice.get(f"/ask?sql={sql}&amount=1e99999999999").status_code == 200
