"""Verification redoes everything, and finds lies that are linked perfectly; a backup is a ledger."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from threading import Event, Thread

import pytest

from adomnia.errors import Refusal, Unavailable
from adomnia.ledger import StoredAnswer
from adomnia.ledger.chain import GENESIS, Anchor, digest
from adomnia.privacy.events import Pure
from ledger.references import COST, PLENTY, answered, entries, opened, plan, tamper, units_of


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


def rewrite(path, number, change) -> None:
    """Change one entry and link everything anew, anchor included: what somebody with both files can do."""
    bodies, previous = [], GENESIS.hash
    for sequence, body in enumerate(entries(path), start=1):
        entry = {**json.loads(body), "previous": previous}
        if sequence == number:
            change(entry)
        bodies.append(json.dumps(entry, sort_keys=True, separators=(",", ":")))
        previous = digest(bodies[-1].encode())
    rows = list(enumerate(bodies, start=1))
    tamper(path, "DELETE FROM entries", *(("INSERT INTO entries (sequence, body) VALUES (?, ?)", row) for row in rows))
    Anchor(path).path.write_text(f"{len(bodies):020d} {previous}\n")


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


def test_a_backup_of_a_ledger_that_is_not_sound_gets_no_anchor(used, tmp_path):
    tamper(used, "DELETE FROM payloads")
    with opened(used) as ledger, pytest.raises(Refusal, match="entry 4 that does not add up"):
        ledger.backup(tmp_path / "backup.db")
    with pytest.raises(Refusal, match="has lost its anchor"):
        opened(tmp_path / "backup.db")


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
