"""A hundred analysts, two processes that answer, and a budget for a hundred answers: that many are given."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from adomnia.api.ledger_view import open_snapshot, read_entries
from adomnia.ledger.chain import Anchor
from kit.example import write_example
from kit.ledgers import find_ledger
from kit.serving import calling, request, served, tokens, with_analysts

ANALYSTS = [f"analyst_{number:03d}" for number in range(100)]
COST, GRANTED, QUESTIONS_EACH, AT_ONCE = Fraction(1, 100), 100, 2, 48


@pytest.fixture
def folder(tmp_path):
    return write_example(tmp_path / "hospital", people=1_000, indexed=True)


def questions(keys):
    """Different questions, because equal ones are shared: the dataset pays for those once."""
    for number in range(QUESTIONS_EACH * len(ANALYSTS)):
        analyst = ANALYSTS[number % len(ANALYSTS)]
        text = f"SELECT COUNT(*) FROM people WHERE salary > {number}"
        body = {"sql": text, "epsilon": str(COST), "request_id": f"question {number}"}
        yield request("/datasets/hospital/query", keys[analyst], body, analyst=analyst)


def spend_it_all(folder):
    """What everybody was told, once all have asked."""
    with_analysts(folder, ANALYSTS, epsilon=1, each=1)
    asked = list(questions(tokens(folder, ANALYSTS)))
    with served(folder, "--workers", 2, "--bucket", 0) as serving:
        serving.all_workers(2)
        return calling(serving.port, lambda callers: callers.press(asked, AT_ONCE))


def test_exactly_as_many_answers_are_granted_as_the_budget_pays_for(folder):
    replies = spend_it_all(folder)
    assert Counter(reply.status for reply in replies) == {200: GRANTED, 402: len(replies) - GRANTED}
    assert {reply.content["error"]["code"] for reply in replies if reply.status == 402} == {"budget"}
    assert_ledger_has(folder, replies)


@pytest.mark.soak
@pytest.mark.parametrize("turn", range(10))
def test_exactly_as_many_answers_are_granted_every_time(folder, turn):
    replies = spend_it_all(folder)
    assert Counter(reply.status for reply in replies) == {200: GRANTED, 402: len(replies) - GRANTED}
    assert_ledger_has(folder, replies)


def assert_ledger_has(folder, replies) -> None:
    """One debit and one answer for each reply, and totals that are their sum."""
    path = find_ledger(folder)
    with open_snapshot(path) as connection:
        found = list(read_entries(connection))
    paid = {(entry.analyst, entry.request_id): entry for entry in found if entry.kind == "reserve"}
    kept = {(entry.analyst, entry.request_id) for entry in found if entry.kind == "commit"}
    told = {reply.content["receipt"]["hash"] for reply in replies if reply.status == 200}
    assert {entry.hash for entry in paid.values()} == told
    assert kept == set(paid)
    last = max(paid.values(), key=lambda entry: entry.sequence)
    assert last.totals["dataset"].epsilon == str(GRANTED * COST)
    assert Anchor(path).read().sequence == found[-1].sequence
