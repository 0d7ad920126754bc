"""A transaction is all or nothing, and a chain is read from a checkpoint only where the anchor vouches for it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from functools import partial

import pytest

from adomnia.errors import Refusal
from adomnia.ledger import file_store
from adomnia.ledger import journal as journals
from adomnia.ledger.accounts import decode_accounts, encode_accounts
from adomnia.ledger.chain import GENESIS, Anchor, Head, digest, encode_entry
from adomnia.ledger.journal import Journal
from adomnia.ledger.ledger_places import find_place
from adomnia.ledger.owner import declare
from adomnia.ledger.requests import Receipt, SpendRequest, find_filter, reserve
from adomnia.ledger.sqlite_records import SqliteRecords
from adomnia.privacy.events import Concentrated
from adomnia.privacy.filters import Budget
from ledger.references import ANALYSTS, BUDGET, COST, answered, entries, opened, plan, rewrite, tamper, units_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


def open_journal(place) -> Journal:
    journal = Journal(find_place(place).open_store())
    journal.open(partial(declare, dataset=BUDGET, analysts=ANALYSTS))
    return journal


@pytest.fixture
def journal(place):
    journal = open_journal(place)
    yield journal
    journal.close()


def anchor_of(place) -> Anchor:
    return find_place(place).anchor


def debit(name, event=COST):
    return partial(reserve, request=SpendRequest("alice", name, plan(name), event))


def spent(journal) -> int:
    return journal.run([lambda transaction: find_filter(transaction, None).spent.epsilon_units])[0]


def test_works_of_a_group_see_what_those_before_them_wrote(journal):
    first, second = journal.run([debit("one"), lambda transaction: find_filter(transaction, None).spent.epsilon_units])
    assert isinstance(first, Receipt)
    assert second == units_of(1)


def test_a_refused_work_leaves_nothing_behind_and_the_others_stand(journal, place):
    outcomes = journal.run([debit("one"), debit("too much", type(COST)(2)), debit("two")])
    assert [type(outcome) for outcome in outcomes] == [Receipt, Refusal, Receipt]
    assert spent(journal) == units_of(2)
    assert len(entries(place)) == 3


def test_an_unexpected_error_undoes_the_whole_group(journal, place):
    anchor = anchor_of(place).read()

    def stumble(transaction):
        transaction.append("commit")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        journal.run([debit("one"), stumble, debit("two")])
    assert len(entries(place)) == 1
    assert anchor_of(place).read() == anchor
    assert spent(journal) == 0
    assert isinstance(journal.run([debit("one")])[0], Receipt)
    assert spent(journal) == units_of(1)


def test_a_group_without_entries_moves_neither_the_chain_nor_the_anchor(journal, place):
    before = anchor_of(place).path.stat().st_mtime_ns
    assert spent(journal) == 0
    assert anchor_of(place).path.stat().st_mtime_ns == before
    assert len(entries(place)) == 1


def test_entries_of_another_process_are_read_before_anything_is_decided(journal, place):
    other = open_journal(place)
    other.run([debit(str(number)) for number in range(100)])
    (outcome,) = journal.run([debit("one more")])
    assert isinstance(outcome, Refusal)
    assert spent(journal) == units_of(100)
    other.close()


@pytest.fixture
def often(monkeypatch):
    """A checkpoint after every six entries: at least as many as there are accounts."""
    monkeypatch.setattr(journals, "_CHECKPOINT_EVERY", 6)


@pytest.fixture
def long(path, often):
    """open, six questions with a checkpoint in the third (7) and in the sixth (14), one more question."""
    with opened(path) as ledger:
        for number in range(7):
            answered(ledger, name=number)
    return path


def kinds(path) -> list[str]:
    return [json.loads(body)["kind"] for body in entries(path)]


def statements_of_opening(path, monkeypatch) -> list[str]:
    made, real = [], sqlite3.connect

    def connect(*arguments, **options):
        connection = real(*arguments, **options)
        connection.set_trace_callback(made.append)
        return connection

    with monkeypatch.context() as traced:
        traced.setattr(sqlite3, "connect", connect)
        opened(path).close()
    return made


def test_accounts_are_stated_again_and_again(long):
    assert [number for number, kind in enumerate(kinds(long), start=1) if kind == "checkpoint"] == [7, 14]
    stated = decode_accounts(json.loads(entries(long)[13])["accounts"])
    assert stated["dataset"].spent.epsilon_units == stated["analyst:alice"].spent.epsilon_units == units_of(6)
    assert stated["analyst:bob"].spent.epsilon_units == 0
    with opened(long) as ledger:
        assert ledger.spent().epsilon_units == units_of(7)
        assert ledger.verify().sequence == 17


def test_checkpoints_weigh_no_more_than_entries(place, monkeypatch):
    monkeypatch.setattr(journals, "_CHECKPOINT_EVERY", 1)
    with opened(place, analysts={f"analyst {number}": Budget(epsilon=1) for number in range(9)}) as ledger:
        for number in range(12):
            answered(ledger, "analyst 1", name=number)
    assert [number for number, kind in enumerate(kinds(place), start=1) if kind == "checkpoint"] == [11, 22]


def test_what_a_checkpoint_states_comes_back_as_it_was(place, often):
    dataset = Budget(epsilon=1, delta=1e-6, approximate=True)
    with opened(place, dataset, {"alice": dataset}) as ledger:
        ledger.top_up("alice", "more", epsilon=0.25, delta=1e-7)
        answered(ledger, event=Concentrated(0.01, 1e-9))
    with opened(place, dataset, {}) as ledger:  # alice is gone
        accounts = ledger._writer.submit(lambda transaction: transaction.accounts)
    assert accounts["analyst:alice"].declared is None
    assert decode_accounts(json.loads(json.dumps(encode_accounts(accounts)))) == accounts


def test_opening_reads_no_entry_before_the_newest_checkpoint(long, monkeypatch):
    reads = [text for text in statements_of_opening(long, monkeypatch) if text.startswith("SELECT body FROM entries")]
    walks = [text for text in reads if "sequence > " in text]
    assert walks[0] == "SELECT body FROM entries WHERE sequence > 13 AND sequence <= 17 ORDER BY sequence"
    assert all("sequence > 17" in text for text in walks[1:])


def test_the_walk_keeps_nobody_from_writing(long, monkeypatch):
    statements = statements_of_opening(long, monkeypatch)
    walk = next(number for number, text in enumerate(statements) if "sequence > 13" in text)
    begun = [text for text in statements[:walk] if text.startswith(("BEGIN", "COMMIT", "ROLLBACK"))]
    assert begun[-1] == "BEGIN"


@pytest.mark.parametrize("anchored", [7, 13, 14, 16])
def test_reading_begins_at_a_checkpoint_that_the_anchor_vouches_for(long, monkeypatch, anchored):
    """A kill, or a power cut, may leave the anchor behind the newest checkpoint."""
    bodies = entries(long)
    head = Head(anchored, digest(bodies[anchored - 1].encode()))
    Anchor(long).create(head)
    start = 6 if anchored < 14 else 13
    assert any(
        f"sequence > {start} AND sequence <= {anchored} " in text for text in statements_of_opening(long, monkeypatch)
    )
    assert Anchor(long).read().sequence == 17
    with opened(long) as ledger:
        assert ledger.spent().epsilon_units == units_of(7)


@pytest.mark.parametrize("comes", ["first", "joins"])
@pytest.mark.parametrize("anchored", [14, 17])
def test_a_checkpoint_is_not_believed_without_its_hash(long, anchored, comes):
    """Whoever states less in it changes its hash, and what follows or the anchor does not fit any more."""
    if anchored == 14:
        tamper(long, "DELETE FROM entries WHERE sequence > 14")
        Anchor(long).create(Head(14, digest(entries(long)[13].encode())))
    tamper(long, f"UPDATE entries SET body = replace(body, '{units_of(6)}', '{units_of(1)}') WHERE sequence = 14")
    words = r"The ledger was changed: (its entry 14 is not|entry 15 does not follow)"
    with long.with_name(f"{long.name}.lock").open("r+b") as lock:
        if comes == "joins":  # somebody pays already, so nothing is looked at before the chain
            assert file_store._try_lock(lock.fileno(), file_store.fcntl.F_RDLCK, file_store._PAYING)
        with pytest.raises(Refusal, match=words):
            opened(long)


@pytest.mark.parametrize("body", ['{"kind":"checkpoint"}', '{"kind":"checkpoint","previous":3,"sequence":"x"}'])
def test_a_checkpoint_that_cannot_be_read_is_refused(long, body):
    tamper(long, ("UPDATE entries SET body = ? WHERE sequence = 14", (body,)))
    with pytest.raises(Refusal, match=r"The ledger (lost or changed entry 13|has an entry 14 that cannot be read)"):
        opened(long)


def test_the_newest_entry_is_the_end_of_the_chain(long):
    with closing(sqlite3.connect(long)) as connection:
        assert journals.find_newest(SqliteRecords(connection)) == Anchor(long).read()
        connection.execute("DROP TRIGGER entries_stay")
        connection.execute("DELETE FROM entries")
        assert journals.find_newest(SqliteRecords(connection)) == GENESIS


def test_a_checkpoint_after_the_anchor_must_agree_with_the_entries(path, often):
    """A process that is killed leaves entries after the anchor; whoever can write the file could add one there."""
    with opened(path) as ledger:
        answered(ledger)
        accounts = ledger._writer.submit(lambda transaction: encode_accounts(transaction.accounts))
    accounts["dataset"]["spent"]["epsilon"] = "0"
    forged = encode_entry(Anchor(path).read(), "checkpoint", {"accounts": accounts})
    tamper(path, ("INSERT INTO entries (sequence, body) VALUES (4, ?)", (forged,)))
    with pytest.raises(Refusal, match="has a checkpoint, entry 4, that is not what entries add up to"):
        opened(path)


def test_a_checkpoint_that_lies_is_found_by_verifying(long):
    rewrite(long, 14, lambda entry: entry["accounts"]["dataset"]["spent"].update(epsilon="0"))
    with (
        opened(long) as ledger,
        pytest.raises(Refusal, match="checkpoint, entry 14, that is not what entries add up"),
    ):
        ledger.verify()


def test_an_old_entry_that_was_changed_is_found_by_verifying_and_at_once_when_its_answer_is_used(long):
    tamper(long, "UPDATE entries SET body = replace(body, 'noisy', 'exact') || ' ' WHERE sequence = 5")
    with opened(long) as ledger:
        for request_id in ("id of 1", "another"):
            with pytest.raises(Refusal, match="entry 6 does not follow from the one before it"):
                ledger.reserve("alice", request_id, plan(1), COST)
        assert ledger.reserve("alice", "id of 2", plan(2), COST).payload == b"noisy"
        answered(ledger, name="next")
        with pytest.raises(Refusal, match="entry 6 does not follow"):
            ledger.verify()


def test_a_ledger_without_checkpoints_gets_one_when_it_is_opened(place, monkeypatch):
    with opened(place) as ledger:
        for number in range(5):
            answered(ledger, name=number)
    assert "checkpoint" not in kinds(place)
    monkeypatch.setattr(journals, "_CHECKPOINT_EVERY", 6)
    opened(place).close()
    assert kinds(place)[11:] == ["checkpoint"]
    opened(place).close()
    assert len(entries(place)) == 12
    with opened(place) as ledger:
        assert ledger.spent().epsilon_units == units_of(5)
        ledger.verify()


def test_an_error_while_the_anchor_is_written_grants_nothing_and_loses_nothing(journal, place, monkeypatch):
    def fail(*_):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr("adomnia.ledger.chain.os.pwrite", fail)
        with pytest.raises(OSError, match="Input/output"):
            journal.run([debit("one")])
    assert anchor_of(place).read().sequence == 1
    assert spent(journal) == units_of(1)  # durable, and known again with the next transaction
    assert anchor_of(place).read().sequence == 2


def test_questions_are_looked_up_by_indexes_alone(path):
    """A ledger with a million entries answers as fast as a fresh one."""
    statements = []
    with opened(path) as ledger:
        answered(ledger)
        ledger._writer.submit(lambda transaction: transaction.records.connection.set_trace_callback(statements.append))
        answered(ledger, name="another")
        ledger.reserve("bob", "shared", plan("q"), COST)
        ledger.reserve("alice", "id of q", plan("q"), COST)
        ledger.answer("alice", "id of q")
        ledger.find_answer("bob", "new", plan("q"))
    looked_up = [text for text in statements if text.startswith("SELECT")]
    assert len(looked_up) > 20
    with closing(sqlite3.connect(path)) as connection:
        for text in looked_up:
            steps = [step[3] for step in connection.execute(f"EXPLAIN QUERY PLAN {text}")]
            assert not any(step.startswith("SCAN") for step in steps), (text, steps)
