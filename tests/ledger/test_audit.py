"""Verification redoes everything, and finds lies that are linked perfectly; a backup is a ledger."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from math import ceil
from threading import Event, Thread

import pytest

from adomnia.errors import Refusal, Unavailable
from adomnia.ledger import StoredAnswer
from adomnia.ledger.audit import check_witnesses, examine
from adomnia.ledger.chain import GENESIS, Anchor, Head, digest
from adomnia.ledger.sqlite_records import SqliteRecords
from adomnia.privacy.events import Approximate, Concentrated, Pure, to_record
from adomnia.privacy.filters import Budget, Spent
from adomnia.privacy.losses import loss
from ledger.references import COST, PLENTY, answered, entries, opened, plan, rewrite, tamper, units_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def used(path):
    """open, top-up, then alice's debit and answer, and bob's share of it: six entries."""
    with opened(path) as ledger:
        ledger.top_up("alice", "more", epsilon=1)
        answered(ledger)
        ledger.reserve("bob", "of bob", plan("q"), COST)
    return path


def test_a_ledger_in_use_verifies(used):
    with opened(used) as ledger:
        assert ledger.verify() == Anchor(used).read()
        answered(ledger, name="next")
        assert ledger.verify().sequence == 8


def test_a_relinked_ledger_without_changes_verifies(used):
    rewrite(used, 0, None)
    with opened(used) as ledger:
        assert ledger.verify().sequence == 6


@pytest.mark.parametrize(
    ("number", "change"),
    [
        (2, {"epsilon": "-1/2"}),
        (2, {"delta": "-1"}),
        (3, {"event": {"kind": "pure", "epsilon": "1/1000"}}),
        (3, {"event": {"kind": "pure", "epsilon": "5"}}),
        (3, {"event": {"kind": "free"}}),
        (3, {"analyst": "bob"}),
        (3, {"analyst": "carol"}),
        (3, {"plan": "00"}),
        (3, {"request_id": "alice\nof somebody"}),
        (3, {"request_id": "bob\nid of q"}),
        (3, {"shares": "nothing"}),
        (4, {"plan": "00"}),
        (4, {"analyst": "bob"}),
        (4, {"request_id": "alice\nof somebody"}),
        (4, {"payload": "00"}),
        (5, {"shares": "bob\nof bob"}),
        (5, {"event": {"kind": "pure", "epsilon": "1/1000"}}),
        (5, {"plan": "00"}),
        (6, {"payload": digest(b"another")}),
    ],
)
def test_a_lie_that_is_linked_perfectly_is_found_by_verifying(used, number, change):
    tamper(used, ("INSERT INTO payloads VALUES (?, ?)", (digest(b"another"), b"another")))
    rewrite(used, number, lambda entry: entry.update(change))
    found = rf"The ledger has an entry ({number}|{number + 1}) that does not add up"
    with opened(used) as ledger, pytest.raises(Refusal, match=found):
        ledger.verify()


def test_a_debit_that_spares_the_dataset_without_an_earlier_answer_is_found(path):
    with opened(path) as ledger:
        ledger.reserve("alice", "id of q", plan("q"), COST)
        ledger.reserve("bob", "of bob", plan("q"), COST)

    def spare(entry):
        entry["shares"] = "alice\nid of q"
        del entry["spent"]["dataset"]

    rewrite(path, 3, spare)
    with opened(path) as ledger, pytest.raises(Refusal, match="entry 3 that does not add up"):
        ledger.verify()


def test_a_second_debit_or_answer_for_one_request_is_found(used):
    tamper(used, "DROP INDEX debits", "DROP INDEX answers")
    rewrite(used, 5, lambda entry: entry.update(request_id="alice\nid of q"))
    with opened(used) as ledger, pytest.raises(Refusal, match="entry 5 that does not add up"):
        ledger.verify()


def test_a_second_answer_is_found(used):
    tamper(used, "DROP INDEX answers")
    rewrite(used, 6, lambda entry: entry.update(request_id="alice\nid of q", analyst="alice"))
    with opened(used) as ledger, pytest.raises(Refusal, match="entry 6 that does not add up"):
        ledger.verify()


def test_a_spend_beyond_its_budget_is_found(path):
    with opened(path) as ledger:
        answered(ledger, event=Pure(0.9))

    def lower(entry):
        entry["budgets"]["dataset"]["epsilon"] = "1/2"

    rewrite(path, 1, lower)
    with opened(path) as ledger, pytest.raises(Refusal, match="entry 2 that does not add up"):
        ledger.verify()


@pytest.mark.parametrize("change", ["UPDATE payloads SET payload = x'00'", "DELETE FROM payloads"])
def test_a_changed_answer_is_found_by_verifying(used, change):
    tamper(used, change)
    with opened(used) as ledger, pytest.raises(Refusal, match="entry 4 that does not add up"):
        ledger.verify()


def test_an_anchor_that_disagrees_is_found_while_the_ledger_is_open(used):
    with opened(used) as ledger:
        Anchor(used).path.write_text(f"{3:020d} {'a' * 64}\n")
        with pytest.raises(Refusal, match="its entry 3 is not the one that its anchor remembers"):
            ledger.verify()
        Anchor(used).path.unlink()
        with pytest.raises(Refusal, match="has lost its anchor"):
            ledger.verify()


def test_damage_below_the_tables_is_found(used):
    with opened(used) as ledger:
        tamper(used, "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql, 'plan)', 'kind)')")
        with pytest.raises(Refusal, match="The ledger is damaged"):
            ledger.verify()


def test_a_ledger_that_cannot_be_read_is_explained(used):
    with opened(used) as ledger:
        used.rename(used.with_name("moved.db"))
        with pytest.raises(Unavailable, match="The ledger cannot be opened or created"):
            ledger.verify()
        used.with_name("moved.db").rename(used)


@pytest.mark.parametrize("place", [":memory:", "ledger.db"])
def test_a_backup_is_a_ledger_with_the_same_past(tmp_path, place):
    with opened(place if place == ":memory:" else tmp_path / place) as ledger:
        receipt = answered(ledger)
        head = ledger.backup(tmp_path / "backup.db")
        answered(ledger, name="after the backup")
    assert head.sequence == 3
    assert Anchor(tmp_path / "backup.db").read() == head
    with opened(tmp_path / "backup.db") as restored:
        assert restored.verify() == head
        assert restored.spent().epsilon_units == units_of(1)
        assert restored.reserve("alice", "id of q", plan("q"), COST) == StoredAnswer(b"noisy", receipt)


def test_a_backup_leaves_two_private_files_and_replaces_none(path, tmp_path):
    target = tmp_path / "copies" / "backup.db"
    target.parent.mkdir()
    with opened(path) as ledger:
        ledger.backup(str(target))
        assert {file.name: file.stat().st_mode & 0o777 for file in target.parent.iterdir()} == {
            "backup.db": 0o600,
            "backup.db.anchor": 0o600,
        }
        for missing in (Anchor(target).path, target):
            with pytest.raises(Refusal, match=r"Backup backup\.db exists already"):
                ledger.backup(target)
            missing.unlink()
        with pytest.raises(Unavailable, match="cannot be opened or created"):
            ledger.backup(tmp_path / "missing" / "backup.db")


def test_a_backup_of_a_ledger_that_is_not_sound_leaves_no_file(used, tmp_path):
    tamper(used, "DELETE FROM payloads")
    before = set(tmp_path.iterdir())
    with opened(used) as ledger, pytest.raises(Refusal, match="entry 4 that does not add up"):
        ledger.backup(tmp_path / "backup.db")
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("step", ["fsync", "link"])
def test_a_backup_that_does_not_fit_on_the_disk_leaves_no_file(used, tmp_path, monkeypatch, step):
    (tmp_path / "copies").mkdir()

    def fail(*_):
        raise OSError(28, "No space left on device")

    with opened(used) as ledger:
        with monkeypatch.context() as full:
            full.setattr(os, step, fail)
            with pytest.raises(Unavailable, match="has no room left on its disk"):
                ledger.backup(tmp_path / "copies" / "backup.db")
        assert list((tmp_path / "copies").iterdir()) == []
        ledger.backup(tmp_path / "copies" / "backup.db")


def test_stored_answers_without_entries_are_found(used):
    """What a branch has left behind whose entries were overwritten."""
    tamper(used, ("INSERT INTO payloads VALUES (?, ?)", (digest(b"lost"), b"lost")))
    with opened(used) as ledger, pytest.raises(Refusal, match="has stored answers whose entries are lost"):
        ledger.verify()


def test_witnesses_of_the_chain_are_recognized_and_others_are_not(used):
    with opened(used) as ledger:
        receipt = answered(ledger, name="next")
    bodies = entries(used)
    heads = [Head(number, digest(body.encode())) for number, body in enumerate(bodies, start=1)]
    with closing(sqlite3.connect(used)) as connection:
        check_witnesses(SqliteRecords(connection), [GENESIS, *heads], [receipt.hash, heads[2].hash])
        for head in (Head(9, heads[0].hash), Head(2, heads[2].hash)):
            with pytest.raises(Refusal, match=f"does not go through the head {head}"):
                check_witnesses(SqliteRecords(connection), [*heads, head], [])
        for lost in ("ab" * 32, heads[3].hash):  # the second is of an answer, and receipts are of debits
            with pytest.raises(Refusal, match=f"has no debit with the receipt {lost}"):
                check_witnesses(SqliteRecords(connection), [], [receipt.hash, lost])


def test_a_backup_or_a_check_in_the_middle_of_writing_is_consistent(path, tmp_path):
    with opened(path, *PLENTY) as ledger:
        stop = Event()

        def write():
            number = 0
            while not stop.is_set():
                answered(ledger, name=str(number))
                number += 1

        writer = Thread(target=write)
        writer.start()
        try:
            heads = [ledger.verify().sequence for _ in range(5)]
            heads += [ledger.backup(tmp_path / f"{number}.db").sequence for number in range(5)]
        finally:
            stop.set()
            writer.join()
        assert heads == sorted(heads)
    with closing(sqlite3.connect(tmp_path / "4.db")) as copy:
        assert copy.execute("SELECT count(*) FROM entries").fetchone() == (heads[-1],)


# Ledgers that older versions wrote: their totals have the epsilons of pure events only, and no `in_epsilon`.

SEARCH, GAUSSIAN = Approximate(0.1, 1e-7), Concentrated(0.001)
OLD_BUDGETS = Budget(1, 1e-6, approximate=True), {"alice": Budget(1, 1e-6, approximate=True), "bob": Budget(1)}


def write_old_ledger(path, *spends) -> None:
    """Write an open entry and debits as the versions before did: totals {epsilon, rho, delta, pure}."""
    with opened(path, *OLD_BUDGETS):
        pass
    bodies, totals = entries(path), {}
    for sequence, (analyst, event) in enumerate(spends, start=2):
        for name in ("dataset", f"analyst:{analyst}"):
            epsilon, rho, delta, pure = totals.get(name, (0, 0, 0, True))
            cost = loss(event)
            counted = cost.epsilon if cost.pure else 0
            totals[name] = (
                epsilon + ceil(counted * 10**12),
                rho + ceil(cost.rho * 10**12),
                delta + ceil(cost.delta * 10**30),
                pure and cost.pure,
            )
        paid = {name: totals[name] for name in ("dataset", f"analyst:{analyst}")}
        entry = {
            "analyst": analyst,
            "asked": "",
            "at": "2026-01-01T00:00:00+00:00",
            "event": to_record(event),
            "kind": "reserve",
            "plan": plan(sequence).hex(),
            "previous": digest(bodies[-1].encode()),
            "request_id": f"{analyst}\n{sequence}",
            "salt": "0" * 32,
            "sequence": sequence,
            "spent": {
                name: {"epsilon": str(epsilon), "rho": str(rho), "delta": str(delta), "pure": pure}
                for name, (epsilon, rho, delta, pure) in paid.items()
            },
        }
        bodies.append(json.dumps(entry, sort_keys=True, separators=(",", ":")))
        tamper(path, ("INSERT INTO entries (sequence, body) VALUES (?, ?)", (sequence, bodies[-1])))
    Anchor(path).path.write_text(f"{len(bodies):020d} {digest(bodies[-1].encode())}\n")


def test_an_account_that_an_older_version_closed_stays_closed_and_is_sound(path):
    write_old_ledger(path, ("alice", Pure(0.05)), ("alice", SEARCH), ("alice", Pure(0.05)), ("bob", Pure(0.1)))
    with opened(path, *OLD_BUDGETS) as ledger:
        assert ledger.verify().sequence == 5
        assert ledger.spent("alice") == Spent(10**11, 7_500_000_000, 10**23, in_epsilon=False)
        for analyst in ("alice", "bob"):  # the dataset's account is closed too
            with pytest.raises(Refusal, match="is more than is left"):
                ledger.reserve(analyst, "large", plan("large"), Pure(0.5))
        assert ledger.left("alice").epsilon == ledger.left().epsilon == 0
        ledger.reserve("alice", "small", plan("small"), Pure(0.01))
        ledger.reserve("alice", "search", plan("search"), Approximate(0.01, 1e-7))
        assert not ledger.spent("alice").in_epsilon
        assert ledger.verify().sequence == 7
    with opened(path, *OLD_BUDGETS) as ledger:
        assert not ledger.spent("alice").in_epsilon
        assert ledger.spent("bob") == Spent(10**11, 5 * 10**9, 0, in_epsilon=True)


def test_an_account_of_an_older_version_that_is_still_pure_goes_on_in_epsilon(path):
    write_old_ledger(path, ("alice", Pure(0.1)), ("bob", Pure(0.2)))
    with opened(path, *OLD_BUDGETS) as ledger:
        assert ledger.verify().sequence == 3
        ledger.reserve("alice", "search", plan("search"), SEARCH)
        ledger.reserve("alice", "count", plan("count"), Pure(0.6))
        assert ledger.spent() == Spent(10**12, 210 * 10**9, 10**23, in_epsilon=True)
        with pytest.raises(Refusal, match="from the dataset's budget is more than is left"):
            ledger.reserve("alice", "more", plan("more"), Pure(0.01))
        assert ledger.verify().sequence == 5


def test_an_old_entry_is_held_to_the_old_rule(path):
    write_old_ledger(path, ("alice", Pure(0.9)), ("alice", SEARCH))  # which the old rule never admitted
    with opened(path, *OLD_BUDGETS) as ledger, pytest.raises(Refusal, match="entry 3 that does not add up"):
        ledger.verify()


def write_old_entry_after_a_search(path, event) -> None:
    """A search as it is written now, and then an entry of an older version that opened the same ledger."""
    write_old_ledger(path, ("alice", SEARCH), ("alice", event))

    def count_the_search(entry):
        for total in entry["spent"].values():
            total["epsilon"] = str(int(total["epsilon"]) + 10**11)

    def write_as_now(entry):
        count_the_search(entry)
        for total in entry["spent"].values():
            total["in_epsilon"] = True

    rewrite(path, 2, write_as_now)
    rewrite(path, 3, count_the_search)


def test_an_entry_that_an_older_version_adds_to_a_new_ledger_closes_the_account(path):
    write_old_entry_after_a_search(path, Pure(0.05))
    with opened(path, *OLD_BUDGETS) as ledger:
        assert ledger.verify().sequence == 3
        assert ledger.spent("alice") == Spent(150 * 10**9, 6_250_000_000, 10**23, in_epsilon=False)


def test_an_entry_that_an_older_version_never_admitted_does_not_add_up(path):
    write_old_entry_after_a_search(path, Pure(0.5))
    with opened(path, *OLD_BUDGETS) as ledger, pytest.raises(Refusal, match="entry 3 that does not add up"):
        ledger.verify()


@pytest.mark.parametrize(
    "change",
    [
        {"in_epsilon": True},  # opened again
        {"in_epsilon": False},
        {"pure": True},
        {"epsilon": "150000000000"},
        {"delta": "0"},
    ],
)
def test_a_lie_about_what_an_old_total_omits_is_found(path, change):
    write_old_ledger(path, ("alice", Pure(0.05)), ("alice", SEARCH), ("alice", GAUSSIAN))

    def lie(entry):
        for total in entry["spent"].values():
            total.update(change)

    rewrite(path, 3, lie)
    with opened(path, *OLD_BUDGETS) as ledger, pytest.raises(Refusal, match="entry 3 that does not add up"):
        ledger.verify()


def test_a_new_total_says_that_its_epsilons_are_complete(path):
    with opened(path, *OLD_BUDGETS) as ledger:
        for number, event in enumerate((Pure(0.05), SEARCH, GAUSSIAN)):
            ledger.reserve("alice", str(number), plan(number), event)
        assert ledger.verify().sequence == 4
    totals = [json.loads(body)["spent"]["dataset"] for body in entries(path)[1:]]
    assert [(total["pure"], total["in_epsilon"]) for total in totals] == [(True, True), (False, True), (False, False)]
    assert totals[1] == {
        "epsilon": "150000000000",
        "rho": "6250000000",
        "delta": "100000000000000000000000",
        "pure": False,
        "in_epsilon": True,
    }


@pytest.mark.parametrize(("content", "words"), [(b"no database" * 1000, "is not a database"), (None, "is locked")])
def test_what_is_no_database_is_refused_and_what_is_locked_is_not_called_damaged(used, content, words):
    """Trying again helps with a lock, and not with damage."""
    damaged = content is not None
    with opened(used) as ledger:
        anchor = Anchor(used).read()
        ledger.close()
    if damaged:
        used.write_bytes(content)
    with closing(sqlite3.connect(used, isolation_level=None, timeout=0)) as other:
        if not damaged:
            other.execute("PRAGMA journal_mode = DELETE")
            other.execute("BEGIN EXCLUSIVE")
        error = Refusal if damaged else sqlite3.OperationalError
        connection = sqlite3.connect(used, isolation_level=None, timeout=0)
        with closing(connection), pytest.raises(error, match=words):
            examine(SqliteRecords(connection), anchor)
