"""What an analyst was told of numbers of rows: noted as it is answered, and the same as the ledger tells."""

from __future__ import annotations

import pytest

from adomnia.asking.known_rows import MOST_READ, EarlierAnswers, EarlierCounts
from adomnia.pricing.questions import Question

COUNT = "SELECT COUNT(*) AS n FROM people"
GROUPED = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
TEXTS = [
    COUNT,
    GROUPED,
    "SELECT COUNT(*) AS n FROM people WHERE age > 30",
    "SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY sex",
    "SELECT COUNT(age) AS n FROM people",
    "SELECT COUNT(*) AS n FROM people LIMIT 1",
    "SELECT MEDIAN(age) AS m FROM people",
    "SELECT SUM(age) AS s, COUNT(*) AS n FROM people",
    f"SELECT COUNT(*) AS n FROM people WHERE age > 30 AND {' AND '.join(['salary > 10'] * 40)}",  # too long
]


def read_anew(session):
    """What a process knows that has just been started."""
    curator = session._curator
    return EarlierCounts().read(session.analyst, curator.ledger, curator.catalog, session._asker.recall)


def remembered(session):
    curator = session._curator
    return curator.dataset.counts.remember(session.analyst, curator.ledger, curator.catalog, session._asker.recall)


@pytest.fixture
def reads(curator, monkeypatch):
    """What was read of the ledger, for whom, after which answer."""
    asked, read = [], curator.ledger.latest_answers

    def count(analyst, limit, after=0):
        asked.append((analyst, after))
        return read(analyst, limit, after)

    monkeypatch.setattr(curator.ledger, "latest_answers", count)
    return asked


@pytest.mark.parametrize("text", TEXTS)
def test_an_answer_is_noted_as_it_would_be_read(alice, text):
    alice.sql("SELECT AVG(age) AS a FROM people", epsilon=1)
    alice.sql(text, epsilon=1)
    assert remembered(alice) == read_anew(alice)
    assert len(remembered(alice).numbers) == 2


def test_only_the_last_answers_tell_anything(alice):
    alice.sql(COUNT, epsilon=1)
    alice.sql(GROUPED, epsilon=1)
    for age in range(MOST_READ - 1):
        alice.sql(f"SELECT AVG(age) AS a FROM people WHERE age > {age}", epsilon=1)
        assert remembered(alice) == read_anew(alice)
    assert [each.rows for each in remembered(alice).counted.values()] != []
    alice.sql("SELECT AVG(age) AS a FROM people WHERE age > 99", epsilon=1)
    assert remembered(alice) == read_anew(alice)
    assert remembered(alice).counted == {}


def test_of_equal_counts_the_newest_tells(alice):
    for request in ("one", "two"):
        alice.sql(COUNT, epsilon=1, request_id=request, replay=False)
    ((counted),) = remembered(alice).counted.values()
    assert counted.request_id == "two"
    assert remembered(alice) == read_anew(alice)


def test_the_questions_of_a_batch_tell_nothing(alice):
    alice.sql(COUNT, epsilon=1)
    before = remembered(alice).counted
    alice.batch([Question(GROUPED, epsilon=1), Question("SELECT COUNT(*) AS m FROM people", epsilon=1)])
    assert remembered(alice).counted == before
    assert remembered(alice) == read_anew(alice)


def test_the_ledger_is_read_once_for_each_analyst(curator, reads):
    for analyst in ("alice", "bob"):
        for text in TEXTS:
            curator.session(analyst).sql(text, epsilon=1)
    # What alice has paid for bob is given as it is, and kept for him by the ledger itself.
    assert [each for each in reads if each[0] == "alice"] == [("alice", 0)]


def test_a_price_is_judged_by_what_is_in_the_ledger(alice, reads):
    alice.sql(COUNT, epsilon=1)
    newest = remembered(alice).newest
    alice.price(COUNT, epsilon=1)
    assert reads == [("alice", 0), ("alice", newest)]


def test_nothing_is_read_where_rows_are_given(alice, reads):
    alice.sql(COUNT, epsilon=1, rows=1000)
    alice.price(COUNT, epsilon=1, rows=1000)
    assert reads == []


def test_too_many_analysts_are_forgotten_and_read_again(curator, alice, reads, monkeypatch):
    monkeypatch.setattr("adomnia.asking.known_rows._MOST_KEPT", 1)
    for session in (alice, curator.session("bob"), alice):
        session.sql(COUNT, epsilon=1, replay=False)
    assert [analyst for analyst, _ in reads] == ["alice", "bob", "alice"]


def test_who_was_told_nothing_knows_nothing():
    assert EarlierAnswers().newest == 0
