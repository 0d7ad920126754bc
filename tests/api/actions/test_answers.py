"""Answers that were paid for: recalled whole, and shared with those who may have them."""

from __future__ import annotations

import pytest

from adomnia.api.actions.answers import (
    buy_shared,
    expect_shared,
    find_entry,
    find_shared,
    list_unanswered,
    make_share,
    recall_batch,
)
from adomnia.errors import Refusal
from console.ask.visiting import visiting
from kit import house

TEXTS = [house.COUNT, "SELECT COUNT(*) AS n FROM people WHERE age > 30"]


def code_of(ask, *given):
    with pytest.raises(Refusal) as refused:
        ask(*given)
    return refused.value.code


@pytest.fixture
def paid(own_house):
    """What alice has paid for: two questions together."""
    with visiting(own_house) as alice:
        yield alice, alice.session.batch(TEXTS, epsilon=0.25)


def test_a_batch_is_recalled_whole_and_by_its_own_analyst_alone(own_house, paid):
    alice, answers = paid
    request_id = answers[0].receipt.request_id
    assert [each.records() for each in recall_batch(alice, request_id)] == [each.records() for each in answers]
    with visiting(own_house, "bob") as bob:
        assert code_of(recall_batch, bob, request_id) == "unknown_answer"
        assert code_of(make_share, bob, request_id) == "unknown_answer"


def test_the_entry_of_a_receipt_is_its_debit(paid):
    alice, answers = paid
    entry = find_entry(alice, answers[0].receipt)
    assert (entry.kind, entry.request_id) == ("reserve", answers[0].receipt.request_id)
    assert list_unanswered(alice) == []


def test_whose_answer_it_is_and_who_has_it_is_told_apart(own_house, paid):
    alice, answers = paid
    code, _ = make_share(alice, answers[0].receipt.request_id)
    mine = find_shared(alice, code)
    assert (mine.own, mine.had_as) == (True, answers[0].receipt.request_id)
    with visiting(own_house, "bob") as bob:
        theirs = find_shared(bob, code)
        assert (theirs.own, theirs.had_as) == (False, "")
        assert [each.name for each in expect_shared(bob, theirs).outputs] == ["1: n", "2: n"]
        paid_as, bought = buy_shared(bob, code, "bought")
        assert [each.records() for each in bought] == [each.records() for each in answers]
        assert find_shared(bob, code).had_as == paid_as == "bought"
        spent = bob.curator.ledger.account("bob").spent
        assert buy_shared(bob, code, "again") == ("bought", None)
        assert bob.curator.ledger.account("bob").spent == spent


def test_what_cannot_be_shared_has_no_link(paid):
    alice, _ = paid
    fresh = alice.session.sql(house.COUNT, epsilon=0.125, replay=False)
    assert code_of(make_share, alice, fresh.receipt.request_id) == "not_shared"
    assert code_of(find_shared, alice, "none") == "unknown_link"


def test_a_link_that_was_ended_leads_nowhere(own_house, paid):
    alice, answers = paid
    code, share = make_share(alice, answers[0].receipt.request_id)
    own_house.services.access.end_share(share.id, "alice")
    assert code_of(find_shared, alice, code) == "unknown_link"
