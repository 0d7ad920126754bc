"""A transaction is all or nothing: what a failed group wrote is gone, from the file and from memory."""

from __future__ import annotations

from functools import partial

import pytest

from adomnia.errors import Refusal
from adomnia.ledger.anchor import Anchor
from adomnia.ledger.journal import Journal
from adomnia.ledger.owner import declare
from adomnia.ledger.requests import Receipt, SpendRequest, find_filter, reserve
from ledger.references import ANALYSTS, BUDGET, COST, entries, plan, units_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def journal(path):
    journal = Journal(path)
    journal.open(partial(declare, dataset=BUDGET, analysts=ANALYSTS))
    yield journal
    journal.close()


def debit(name, event=COST):
    return partial(reserve, request=SpendRequest("alice", name, plan(name), event))


def spent(journal) -> int:
    return journal.run([lambda transaction: find_filter(transaction, None).spent.epsilon_units])[0]


def test_works_of_a_group_see_what_those_before_them_wrote(journal):
    first, second = journal.run([debit("one"), lambda transaction: find_filter(transaction, None).spent.epsilon_units])
    assert isinstance(first, Receipt)
    assert second == units_of(1)


def test_a_refused_work_leaves_nothing_behind_and_the_others_stand(journal, path):
    outcomes = journal.run([debit("one"), debit("too much", type(COST)(2)), debit("two")])
    assert [type(outcome) for outcome in outcomes] == [Receipt, Refusal, Receipt]
    assert spent(journal) == units_of(2)
    assert len(entries(path)) == 3


def test_an_unexpected_error_undoes_the_whole_group(journal, path):
    anchor = Anchor(path).read()

    def stumble(transaction):
        transaction.append("commit")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        journal.run([debit("one"), stumble, debit("two")])
    assert len(entries(path)) == 1
    assert Anchor(path).read() == anchor
    assert spent(journal) == 0
    assert isinstance(journal.run([debit("one")])[0], Receipt)
    assert spent(journal) == units_of(1)


def test_a_group_without_entries_moves_neither_the_chain_nor_the_anchor(journal, path):
    before = Anchor(path).path.stat().st_mtime_ns
    assert spent(journal) == 0
    assert Anchor(path).path.stat().st_mtime_ns == before
    assert len(entries(path)) == 1


def test_entries_of_another_process_are_read_before_anything_is_decided(journal, path):
    other = Journal(path)
    other.open(partial(declare, dataset=BUDGET, analysts=ANALYSTS))
    other.run([debit(str(number)) for number in range(100)])
    (outcome,) = journal.run([debit("one more")])
    assert isinstance(outcome, Refusal)
    assert spent(journal) == units_of(100)
    other.close()
