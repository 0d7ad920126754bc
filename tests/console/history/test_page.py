from __future__ import annotations

import re
from fractions import Fraction
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from adomnia.asking.batch import Batch
from adomnia.console.history import page
from adomnia.console.history.page import link_again, link_sharper
from adomnia.pricing.questions import Question
from kit import house
from kit.house import CANARY

SCRIPT = "<script>alert('x')</script>"


@pytest.fixture(scope="module")
def asked(shared_house):
    """A house whose alice has asked seven questions, and bob one."""
    for k in range(7):
        sql = f"SELECT COUNT(*) AS n{k} FROM people WHERE age > {k}"
        assert shared_house.query("alice", sql, request_id=f"alice {k}").status_code == 200
    shared_house.query("bob", "SELECT COUNT(*) AS of_bob FROM people", rho=0.001, epsilon=None)
    return shared_house


def texts(reply) -> list[str]:
    return [unescape(text) for text in re.findall(r'<a class="q"[^>]*>([^<]*)</a>', reply.text)]


def test_what_was_paid_for_is_listed_newest_first_with_its_price_and_ways_on(asked):
    reply = asked.ask("alice", "GET", "/answers")
    assert reply.status_code == 200
    assert [re.search(r"n(\d)", text)[1] for text in texts(reply)] == list("6543210")
    assert 'href="/answers/alice%206"' in reply.text
    assert "&amp;amount=0.25" not in reply.text  # which is what the form has at first
    assert "/ask?sql=SELECT" in reply.text
    assert reply.text.count('</i><span class="hidden">epsilon </span>0.125</span>') == 7
    assert "version 1" in reply.text
    assert CANARY not in reply.text


def test_everybody_sees_their_own_alone(asked):
    assert texts(asked.ask("bob", "GET", "/answers")) == ["SELECT COUNT(*) AS of_bob FROM people"]
    assert "ρ" in asked.ask("bob", "GET", "/answers").text
    empty = asked.ask("carol", "GET", "/answers").text
    assert "Nothing was paid for yet" in empty


@pytest.mark.parametrize(
    ("query", "found"),
    [("n3", "3"), ("AGE+n4", "4"), ("n3+n4", ""), ("alice+5", "5"), ("of_bob", ""), ("count", "6543210")],
)
def test_words_find_questions(asked, query, found):
    reply = asked.ask("alice", "GET", f"/answers?q={query}")
    assert [re.search(r"n(\d)", text)[1] for text in texts(reply)] == list(found)


def test_a_script_gets_the_list_alone(asked):
    reply = asked.ask("alice", "GET", "/answers?q=n3", headers={"X-Part": "found"})
    assert "<html" not in reply.text
    assert len(texts(reply)) == 1


def test_pages_follow_each_other(asked, monkeypatch):
    monkeypatch.setattr(page, "_ROWS", 3)
    first, last = (asked.ask("alice", "GET", f"/answers?q=count&page={number}") for number in (1, 3))
    assert 'href="/answers?q=count&amp;page=2" rel="next"' in first.text
    assert 'rel="prev"' not in first.text
    assert [re.search(r"n(\d)", text)[1] for text in texts(last)] == ["0"]
    assert "7 to 7 of 7" in last.text
    assert 'rel="next"' not in last.text


@pytest.mark.parametrize("number", ["0", "-1", "x", "99999999999999999999", "4", "²"])
def test_a_page_that_there_is_not_is_the_nearest_one(asked, number):
    assert len(texts(asked.ask("alice", "GET", "/answers", params={"page": number}))) == 7


def test_nothing_of_a_question_or_of_a_search_runs(own_house):
    sql = f"SELECT COUNT(*) AS n FROM people WHERE sex = '{SCRIPT.replace(chr(39), chr(34))}'"
    own_house.query("alice", sql, request_id=SCRIPT)
    reply = own_house.ask("alice", "GET", "/answers", params={"q": "</input><script>"})
    assert "<script>" not in reply.text.replace('<script type="module"', "")
    reply = own_house.ask("alice", "GET", "/answers")
    assert texts(reply) == [sql]
    assert "<script>" not in reply.text


def test_what_came_from_another_process_is_seen(own_house):
    own_house.ask("alice", "GET", "/answers")
    with own_house.services.dataset.curator() as curator:
        curator.session("alice").sql(house.COUNT, epsilon=0.5)
    assert texts(own_house.ask("alice", "GET", "/answers")) == [house.COUNT]


def test_a_batch_is_one_line_with_all_of_its_questions(own_house):
    with own_house.services.dataset.curator() as curator:
        curator.session("alice").batch([house.COUNT, "SELECT COUNT(*) AS m FROM visits"], epsilon=0.5, request_id="two")
    reply = own_house.ask("alice", "GET", "/answers")
    assert len(texts(reply)) == 2
    assert 'href="/answers/two?place=1"' in reply.text


def batch(text, **named):
    return Batch((Question(text, **named),), 0.95, 1)


def fields(address: str) -> dict[str, str]:
    assert urlsplit(address).path == "/ask"
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


@pytest.mark.parametrize(
    ("payment", "wanted"),
    [
        ({"epsilon": Fraction(1, 4)}, {"amount": "0.5"}),
        ({"rho": Fraction(1, 100)}, {"pay": "rho", "amount": "0.04"}),
        ({"error": 50.0, "rows": 1000}, {"pay": "error", "amount": "25", "rows": "1000"}),
        ({}, {}),
        (
            {"epsilon": Fraction(1), "inference": "population", "effort": "high"},
            {"amount": "2", "inference": "population", "effort": "high"},
        ),
    ],
)
def test_a_sharper_question_is_the_same_at_a_price_that_halves_the_error(payment, wanted):
    text = "SELECT COUNT(*) AS n FROM people WHERE name = 'a&b=\"ü\"'"
    assert fields(link_sharper(batch(text, **payment))) == {"sql": text, **wanted}


def test_the_same_question_keeps_its_price():
    assert fields(link_again(batch("SELECT 1", epsilon=Fraction(1, 3))))["amount"] == "1/3"


def test_what_is_too_long_for_an_address_has_none():
    assert not link_again(batch("SELECT " + "x" * 5000, epsilon=1))
