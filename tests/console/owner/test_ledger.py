"""The page of the ledger: filtered, paged, live, as a file; quick however long it is, and true about changes."""

from __future__ import annotations

import csv
from html import unescape
from io import StringIO

import pytest

from adomnia.api.ledger_view import find_answer, open_snapshot, read_entries
from adomnia.console.owner.ledger import KINDS, describe_entry
from adomnia.privacy.filters import Budget
from console.owner.visitors import EVIL, Visitor
from kit import house
from kit.effort import do_within
from kit.ledgers import find_ledger
from kit.long_ledger import lengthen
from ledger.references import BUDGET, COST, answered, opened, plan, tamper

VISITS = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """1 open, 2-3 alice, 4-5 bob in rho, 6 a top-up."""
    with house.opened(tmp_path_factory.mktemp("asked")) as opened:
        opened.query("alice", request_id="first")
        opened.query("bob", sql=VISITS, epsilon=None, rho=0.01, request_id="=1+1")
        with opened.services.dataset.curator() as curator:
            curator.ledger.top_up("carol", "second year", epsilon=1)
        yield opened


def rows_of(page):
    return [int(row.split(">")[1].split("<")[0]) for row in page.split("<tr>")[2:]]


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("", [6, 5, 4, 3, 2, 1]),
        ("?kind=reserve", [4, 2]),
        ("?who=analyst:bob", [5, 4]),
        ("?q=FIRST", [3, 2]),
        ("?q=second+year&kind=top-up", [6]),
        ("?to=1999-12-31", []),
        ("?from=2026-01-01&kind=open", [1]),
        ("?before=3", [2, 1]),
    ],
)
@pytest.mark.parametrize("name", ["olga", "audrey"])
def test_entries_are_filtered_newest_first(asked, name, query, numbers):
    assert rows_of(Visitor.of(asked, name).see(f"/owner/ledger{query}").text) == numbers


def test_a_row_says_who_paid_what_in_its_own_currency_and_where_the_answer_is(asked):
    page = Visitor.of(asked).read("/owner/ledger?kind=reserve")
    bob, alice = page.split("<tr>")[2:]
    assert "rho </span>0.01<" in bob
    assert "answer kept as 5" in bob
    assert "epsilon </span>0.125<" in alice
    assert "alice" in alice


def test_no_question_answer_or_salt_is_shown_and_the_page_says_why(asked):
    page = Visitor.of(asked).read("/owner/ledger")
    assert "Questions and answers are not shown here" in page
    assert VISITS not in page
    assert house.COUNT not in page
    assert VISITS not in Visitor.of(asked).read("/owner/ledger/export")


@pytest.mark.parametrize("query", ["kind=made-up", "from=yesterday", "before=x", "before=-1", f"before={'9' * 40}"])
def test_what_cannot_be_looked_for_is_refused(asked, query):
    assert Visitor.of(asked).see(f"/owner/ledger?{query}").status_code == 422


def test_a_script_that_has_seen_the_newest_entry_gets_nothing_and_else_the_entries_alone(asked):
    olga = Visitor.of(asked)
    assert olga.see("/owner/ledger?seen=6", **{"X-Part": "entries"}).status_code == 204
    part = olga.see("/owner/ledger?seen=5", **{"X-Part": "entries"})
    assert part.status_code == 200
    assert "<html" not in part.text
    assert 'data-newest="6"' in part.text


def test_what_is_filtered_is_exported_and_no_cell_is_a_formula(asked):
    reply = Visitor.of(asked, "audrey").see("/owner/ledger/export?who=analyst:bob")
    rows = list(csv.DictReader(StringIO(reply.text)))
    assert reply.headers["content-type"] == "text/csv; charset=utf-8"
    assert [row["sequence"] for row in rows] == ["5", "4"]
    assert rows[1]["request_id"] == "'=1+1"
    assert rows[1]["cost_rho"] == "1/100"


def test_what_others_wrote_is_shown_escaped(own_house):
    own_house.query("alice", request_id=EVIL)
    with own_house.services.dataset.curator() as curator:
        curator.ledger.top_up(None, EVIL, epsilon=1)
    page = Visitor.of(own_house).see(f"/owner/ledger?q={EVIL}&who={EVIL}").text
    assert EVIL not in page
    page = Visitor.of(own_house).see("/owner/ledger").text
    assert EVIL not in page
    assert page.count("&lt;script&gt;alert(1)") >= 2


def test_a_changed_entry_is_told_where_it_would_be_shown(own_house):
    for sql in (house.COUNT, VISITS):
        own_house.query("alice", sql=sql)
    olga = Visitor.of(own_house)
    assert rows_of(olga.see("/owner/ledger").text) == [5, 4, 3, 2, 1]
    path = find_ledger(own_house.services.settings.folder)
    tamper(path, """UPDATE entries SET body = replace(body, '"1/8"', '"1/9"') WHERE sequence = 2""")
    for query in ("", "?kind=reserve"):
        reply = olga.see(f"/owner/ledger{query}")
        assert "was changed: entry 3 does not follow from the one before it" in unescape(reply.text)
        assert "<tbody>" not in reply.text
    assert rows_of(olga.see("/owner/ledger?before=2").text) == [1]


@pytest.mark.parametrize("entries", [40_000, pytest.param(100_000, marks=pytest.mark.soak)])
def test_a_page_of_a_long_ledger_takes_no_time_after_the_first(own_house, entries):
    """Of this process: how busy the machine is with others does not count."""
    lengthen(find_ledger(own_house.services.settings.folder), entries // 2)
    olga = Visitor.of(own_house)
    olga.see("/owner/ledger?q=nobody")
    for query in ("", "?q=id+of+77", "?kind=commit", "?from=2026-06-01&who=analyst:alice", f"?before={entries // 2}"):
        page = do_within(0.2, lambda query=query: olga.see(f"/owner/ledger{query}").text)
        assert len(rows_of(page)) == 50


@pytest.fixture
def rows(tmp_path):
    place = tmp_path / "ledger.sqlite"
    with opened(place) as ledger:
        answered(ledger)
        ledger.reserve("bob", "shared", plan("q"), COST)
        ledger.reserve("alice", "failed", plan("other"), COST)
        ledger.reserve(None, "dataset:profile", plan("profile"), COST)
        ledger.top_up(None, "board meeting", epsilon=2, delta=1e-7)
    opened(place, BUDGET, {"alice": Budget(epsilon=2)}).close()
    with open_snapshot(place) as connection:
        return [describe_entry(entry, find_answer(connection, entry.sequence)) for entry in read_entries(connection)]


def test_every_entry_says_who_and_what(rows):
    assert [(row.sequence, row.who, row.kind.says, row.says) for row in rows] == [
        (1, "owner", "budgets declared", "alice ε 1, bob ε 1, all together ε 1"),
        (2, "alice", "paid for a question", "answer kept as 3"),
        (3, "alice", "answer kept", ""),
        (4, "bob", "paid for a question", "seen of another, answer kept as 5"),
        (5, "bob", "answer kept", ""),
        (6, "alice", "paid for a question", "no answer is kept"),
        (7, "all together", "paid for a question", "no answer is kept"),
        (8, "all together", "budget raised", "plus ε 2 and δ 1e-7: board meeting"),
        (9, "owner", "budgets declared", "alice ε 2, bob nothing more"),
    ]


def test_paid_and_totals_are_in_the_currency_they_were_paid_in(rows):
    paid = rows[1]
    assert (paid.paid.sign, paid.paid.amount, paid.paid.delta) == ("ε", "0.01", "")
    assert (paid.own_total.amount, paid.whole_total.amount) == ("0.01", "0.01")
    assert rows[3].whole_total is None
    assert rows[6].own_total is None
    assert rows[2].paid is None


def test_all_kinds_that_ledgers_have_are_in_words(tmp_path):
    place = tmp_path / "ledger.sqlite"
    opened(place).close()
    lengthen(place, 2100)
    with opened(place) as ledger:
        ledger.top_up("bob", "more", epsilon=1)
    with open_snapshot(place) as connection:
        kinds = {describe_entry(entry, None).kind for entry in read_entries(connection, after=4190)}
    assert KINDS["checkpoint"] in kinds
