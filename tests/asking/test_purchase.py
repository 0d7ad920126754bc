"""A question is judged by what its analyst was told up to the moment of payment, whichever process told it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adomnia.errors import Refusal
from adomnia.ledger import Ledger
from adomnia.session.curator import Curator
from kit.bits import SeededBits
from kit.hospital import declare, load, person

PEOPLE = [person(k, age=20.0 + k, sex="FM"[k % 2]) for k in range(30)]
COUNT = "SELECT COUNT(*) AS n FROM people"
ABOUT_AGE = "SELECT AVG(age) AS a FROM people"
ADULTS = "SELECT COUNT(*) AS n FROM people WHERE age > {}"


@pytest.fixture
def workers(tmp_path):
    """Two processes with one ledger, as far as anybody can tell."""
    catalog = replace(declare(tmp_path / "hospital"), vacuous_answers="refuse")
    budgets = {analyst.name: analyst.budget for analyst in catalog.analysts}
    curators = [
        Curator.open(
            catalog, load(catalog, PEOPLE, []), Ledger.open(tmp_path / "ledger", catalog.budget, budgets), bits
        )
        for bits in (SeededBits("one"), SeededBits("other"))
    ]
    yield [curator.session("alice") for curator in curators]
    for curator in curators:
        curator.close()


def test_what_another_process_has_answered_is_known_before_anything_is_paid(workers):
    one, other = workers
    one.sql(ABOUT_AGE, epsilon=1)
    other.sql(COUNT, epsilon=10, request_id="elsewhere")
    before = one.budget().personal.spent
    with pytest.raises(Refusal, match=r"rows, by your answer elsewhere"):
        one.sql(ADULTS.format(21), epsilon=0.05)
    assert one.budget().personal.spent == before


def test_what_another_process_has_answered_is_noted_in_the_answer(workers):
    one, other = workers
    one.sql(ABOUT_AGE, epsilon=1)
    other.sql(COUNT, epsilon=10, request_id="elsewhere")
    (note,) = one.sql(ADULTS.format(21), epsilon=0.05, allow_uninformative=True).notes[:1]
    assert "by your answer elsewhere" in note


def test_a_newer_answer_that_tells_of_more_rows_lets_a_question_be_answered(workers):
    one, other = workers
    one.sql(COUNT, epsilon=10, request_id="first")
    with pytest.raises(Refusal, match=r"by your answer first"):
        one.sql(ADULTS.format(21), epsilon=0.05)
    other.sql(COUNT, epsilon=0.001, allow_uninformative=True)  # at most thousands of rows, as far as can be seen
    assert not any("almost nothing" in note for note in one.sql(ADULTS.format(21), epsilon=0.05).notes)


def test_both_processes_go_on_in_turn(workers):
    """Each finds what the other has answered, and pays for each question once."""
    for number in range(6):
        workers[number % 2].sql(ADULTS.format(20 + number), epsilon=10)
    assert len(workers[0].answers()) == 6
    assert workers[0].budget().personal.spent.epsilon_units == 60 * 10**12


def test_what_was_paid_for_is_given_again_after_other_answers(workers):
    one, other = workers
    first = one.sql(COUNT, epsilon=10)
    other.sql(ABOUT_AGE, epsilon=1)
    again = one.sql(COUNT, epsilon=10)
    assert (again.replayed, again["n"]) == (True, first["n"])


def test_an_answer_between_two_others_is_not_overlooked(workers):
    """One process has judged its question before another one answered, and is paid for it later."""
    one, other = workers
    one.sql(ABOUT_AGE, epsilon=1, rows=1000)
    one.price(ABOUT_AGE, epsilon=1)
    other.sql(COUNT, epsilon=10, request_id="between")
    one.sql(ABOUT_AGE, epsilon=2, rows=1000)  # for which nobody looks at earlier answers
    with pytest.raises(Refusal, match=r"by your answer between"):
        one.sql(ADULTS.format(21), epsilon=0.05)


def test_a_question_is_answered_while_others_of_its_analyst_are_answered_all_the_time(workers, monkeypatch):
    """Before each payment of one process, another one answers: the question is judged once more, and then paid."""
    one, other = workers
    one.sql(ABOUT_AGE, epsilon=1)
    reserve, tries = Ledger.reserve, []

    def answer_before(ledger, *given, **named):
        tries.append(named["seen"])
        monkeypatch.setattr(Ledger, "reserve", reserve)
        other.sql(ADULTS.format(20 + len(tries)), epsilon=1)
        if len(tries) < 5:
            monkeypatch.setattr(Ledger, "reserve", answer_before)
        return reserve(ledger, *given, **named)

    monkeypatch.setattr(Ledger, "reserve", answer_before)
    assert not one.sql(COUNT, epsilon=10).replayed
    assert len(tries) == 2
    assert one.budget().personal.spent.epsilon_units == 13 * 10**12
