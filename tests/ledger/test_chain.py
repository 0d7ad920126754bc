"""The chain and its anchor: what was written is what is read, or the ledger does not open."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import time
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.errors import Refusal, Unavailable
from adomnia.ledger import chain
from adomnia.ledger.chain import GENESIS, Anchor, Head, MemoryAnchor, decode_entry, digest, encode_entry
from adomnia.ledger.sqlite import is_transient
from kit.waiting import HANG_SECONDS
from ledger.references import COST, answered, entries, opened, plan, tamper, units_of, wait_until_recovered

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
fields = st.dictionaries(st.sampled_from(["analyst", "plan", "event"]), st.one_of(texts, st.integers(), st.booleans()))


@pytest.fixture
def used(tmp_path):
    """A ledger with two answered questions, closed; its entries are open, reserve, commit, reserve, commit."""
    path = tmp_path / "ledger.db"
    with opened(path) as ledger:
        answered(ledger, name="first")
        answered(ledger, name="second")
    return path


@given(st.lists(st.tuples(st.sampled_from(["reserve", "commit"]), fields), max_size=5))
def test_what_is_linked_is_followed_and_comes_back_as_it_was(written):
    head = GENESIS
    for kind, content in written:
        body = encode_entry(head, kind, content)
        head, entry = decode_entry(head, body)
        assert {name: entry[name] for name in content} == content
        assert entry["kind"] == kind
    assert head.sequence == len(written)


def test_every_entry_names_the_hash_of_the_text_before_it(used):
    previous = "0" * 64
    for number, body in enumerate(entries(used), start=1):
        entry = json.loads(body)
        assert (entry["sequence"], entry["previous"]) == (number, previous)
        assert body == json.dumps(entry, sort_keys=True, separators=(",", ":"))
        previous = sha256(body.encode()).hexdigest()
    assert Anchor(used).read() == Head(5, previous)


def test_equal_entries_have_different_hashes():
    assert digest(encode_entry(GENESIS, "commit", {}).encode()) != digest(encode_entry(GENESIS, "commit", {}).encode())


@pytest.mark.parametrize("body", ["", "no JSON", "[]", "null", "{}", '{"sequence":1}', '{"sequence":"1","previous":0}'])
def test_a_text_that_is_no_entry_is_refused(body):
    with pytest.raises(Refusal, match="entry 1 that cannot be read"):
        decode_entry(GENESIS, body)


@pytest.mark.parametrize("place", [Head(1, GENESIS.hash), Head(0, "1" * 64)])
def test_an_entry_of_another_place_is_refused(place):
    with pytest.raises(Refusal, match="entry 1 does not follow"):
        decode_entry(GENESIS, encode_entry(place, "commit", {}))


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entries SET body = replace(body, 'alice', 'bobby') WHERE sequence = 2",
        "UPDATE entries SET body = replace(body, '10000000000', '00000000001') WHERE sequence = 2",
        "UPDATE entries SET body = body || ' ' WHERE sequence = 3",
        "UPDATE entries SET body = body || ' ' WHERE sequence = 5",
        "UPDATE entries SET body = '{}' WHERE sequence = 4",
        "DELETE FROM entries WHERE sequence = 1",
        "DELETE FROM entries WHERE sequence = 3",
        "DELETE FROM entries WHERE sequence = 5",
        "DELETE FROM entries WHERE sequence >= 2",
        "DELETE FROM entries",
        "UPDATE entries SET sequence = sequence + 1 WHERE sequence = 5",
    ],
)
def test_a_changed_or_deleted_row_is_refused_at_open(used, change):
    tamper(used)
    opened(used).close()  # the rest of the tampering is harmless
    tamper(used, change)
    for _ in range(2):
        with pytest.raises(Refusal, match=r"The ledger (was changed|ends at|has an entry)"):
            opened(used)


def test_an_entry_of_a_kind_from_the_future_is_refused_at_open(used):
    tamper(
        used, ("INSERT INTO entries (sequence, body) VALUES (6, ?)", (encode_entry(Anchor(used).read(), "refund", {}),))
    )
    with pytest.raises(Refusal, match="unknown kind refund"):
        opened(used)


@pytest.mark.parametrize(
    ("kind", "content"),
    [("reserve", {}), ("reserve", {"spent": {"analyst:carol": {}}}), ("open", {"budgets": 3}), ("top-up", {})],
)
def test_a_well_linked_entry_without_sense_is_refused_at_open(used, kind, content):
    tamper(
        used,
        ("INSERT INTO entries (sequence, body) VALUES (6, ?)", (encode_entry(Anchor(used).read(), kind, content),)),
    )
    with pytest.raises(Refusal, match="entry 6 that cannot be read"):
        opened(used)


def test_a_head_is_read_as_it_is_written():
    head = Head(12, "ab" * 32)
    assert str(head) == f"12:{'ab' * 32}"
    assert Head.parse(str(head)) == head


@pytest.mark.parametrize(
    "text", ["", "12", "12:", f"x:{'a' * 64}", f"12:{'A' * 64}", f"12:{'a' * 65}", f" 12:{'a' * 64}"]
)
def test_a_head_that_is_none_is_refused(text):
    with pytest.raises(Refusal, match=r"Head .* cannot be read\. Fix: copy what `adomnia ledger head` prints"):
        Head.parse(text)


def test_an_older_database_under_the_newer_anchor_is_refused(used, tmp_path):
    older = tmp_path / "older.db"
    shutil.copy(used, older)
    with opened(used) as ledger:
        answered(ledger, name="third")
    shutil.copy(older, used)
    with pytest.raises(Refusal, match="ends at entry 5, but its anchor remembers entry 7"):
        opened(used)


@pytest.mark.parametrize("names", [["first", "second"], ["first", "second", "third"]])
def test_a_database_with_another_history_is_refused_every_time(used, tmp_path, names):
    with opened(tmp_path / "other.db") as other:
        for name in names:
            answered(other, name=name)
    shutil.copy(tmp_path / "other.db", used)
    for _ in range(2):  # a refusal must not move the anchor
        with pytest.raises(Refusal, match="its entry 5 is not the one that its anchor remembers"):
            opened(used)


def test_a_database_that_is_gone_is_not_replaced_by_an_empty_one(used):
    used.unlink()
    for _ in range(2):
        with pytest.raises(Refusal, match="is empty, but its anchor remembers entries"):
            opened(used)


def test_only_the_owner_of_the_files_may_read_them(tmp_path):
    with opened(tmp_path / "ledger.db"):
        assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
        assert len(list(tmp_path.iterdir())) == 5  # the database, its log and shared memory, the anchor, the lock


LATER = Head(7, "ab" * 32)


@pytest.fixture
def made(tmp_path):
    made = Anchor(tmp_path / "ledger.db")
    made.create(GENESIS)
    return made


def test_what_was_advanced_is_read(made):
    with made.lock() as locked:
        assert locked.head == GENESIS
        locked.advance(LATER)
        assert locked.head == LATER
    assert made.read() == LATER
    assert made.path.read_bytes() == b"%020d %s\n" % (7, b"ab" * 32)


def test_an_anchor_in_memory_remembers_as_well():
    remembered = MemoryAnchor()
    with remembered.lock() as locked:
        locked.advance(LATER)
    assert remembered.read() == remembered.head == LATER


def test_one_at_a_time_holds_it(made):
    order = []

    def follow():
        with made.lock() as locked:
            order.append(locked.head)

    with made.lock() as locked:
        thread = threading.Thread(target=follow)
        thread.start()
        thread.join(0.2)
        assert order == []
        locked.advance(LATER)
    thread.join(HANG_SECONDS)
    assert order == [LATER]


def test_who_waits_in_vain_is_told_to_try_again(made, monkeypatch):
    monkeypatch.setattr(chain, "monotonic", lambda: 600 * time.monotonic())
    with made.lock(), pytest.raises(sqlite3.OperationalError, match="the anchor is locked") as error, made.lock():
        pass
    assert is_transient(error.value)
    with made.lock() as locked:
        assert locked.head == GENESIS


def test_a_held_anchor_lets_a_ledger_grant_nothing_for_the_moment(used, monkeypatch):
    with opened(used) as ledger:
        with monkeypatch.context() as hurried, Anchor(used).lock():
            hurried.setattr(chain, "monotonic", lambda: 600 * time.monotonic())
            with pytest.raises(Unavailable, match="is locked by another program"):
                ledger.reserve("alice", "1", plan(1), COST)
        wait_until_recovered(ledger)
        answered(ledger, name="afterwards")
        assert ledger.spent().epsilon_units == units_of(3)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_that_was_forked_meanwhile_does_not_keep_the_lock(made):
    reader, writer = os.pipe()
    with made.lock():
        process = os.fork()
        if process == 0:
            os.read(reader, 1)
            os._exit(0)
    try:
        with made.lock() as locked:
            assert locked.head == GENESIS
    finally:
        os.write(writer, b"x")
        os.waitpid(process, 0)
        os.close(reader)
        os.close(writer)


def test_no_descriptor_is_left_behind(made):
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        with made.lock():
            pass
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("replaced", [True, False])
def test_an_anchor_that_was_replaced_while_somebody_waited_is_refused(made, monkeypatch, replaced):
    def lock(descriptor):
        made.path.unlink()
        if replaced:
            made.create(LATER)

    monkeypatch.setattr(chain, "_lock_patiently", lock)
    with pytest.raises(Refusal, match="had its anchor replaced while it was open"), made.lock():
        pass


def test_nobody_is_told_of_a_grant_whose_anchor_was_replaced_meanwhile(used, monkeypatch):
    """Somebody else may hold the other one, and not know of it."""
    real = os.pwrite

    def write(*arguments):
        Anchor(used).create(before)
        real(*arguments)

    with opened(used) as ledger:
        before = Anchor(used).read()
        monkeypatch.setattr("adomnia.ledger.chain.os.pwrite", write)
        for _ in range(2):
            with pytest.raises(Unavailable, match="had its anchor replaced while it was open"):
                ledger.reserve("alice", "1", plan(1), COST)
    assert Anchor(used).read() == before


def test_an_anchor_from_another_branch_ends_the_ledger_and_is_left_alone(used):
    """Same number, another hash: by number alone it would be overwritten, and the branches would be one."""
    with opened(used) as ledger:
        other = Head(5, "ab" * 32)
        with Anchor(used).lock() as locked:
            locked.advance(other)
        for _ in range(2):
            with pytest.raises(Unavailable, match="its entry 5 is not the one that its anchor remembers"):
                ledger.reserve("alice", "1", plan(1), COST)
        assert Anchor(used).read() == other


def test_an_anchor_ahead_of_the_chain_ends_the_ledger(used):
    with opened(used) as ledger:
        with Anchor(used).lock() as locked:
            locked.advance(LATER)
        for _ in range(2):
            with pytest.raises(Unavailable, match="ends at entry 5, but its anchor remembers entry 7"):
                ledger.reserve("alice", "1", plan(1), COST)
        assert Anchor(used).read() == LATER


def test_an_anchor_that_goes_back_ends_the_ledger(used):
    older = Anchor(used).path.read_bytes()
    with opened(used) as ledger:
        answered(ledger, name="third")
        Anchor(used).path.write_bytes(older)
        for _ in range(2):
            with pytest.raises(Unavailable, match="had entry 7, but its anchor went back to entry 5"):
                ledger.reserve("alice", "1", plan(1), COST)


def test_removing_takes_away_what_creating_left(made):
    made.path.with_name("ledger.db.anchor.new").touch()
    made.remove()
    made.remove()
    assert list(made.path.parent.iterdir()) == []
    assert not made.exists()


def test_an_anchor_that_lags_is_accepted_and_catches_up(used):
    older = Anchor(used).path.read_bytes()
    with opened(used) as ledger:
        answered(ledger, name="third")
    Anchor(used).path.write_bytes(older)
    with opened(used) as ledger:
        assert ledger.spent().epsilon_units == units_of(3)
    assert Anchor(used).read().sequence == 7


def test_a_missing_anchor_is_refused(used):
    Anchor(used).path.unlink()
    with pytest.raises(Refusal, match="has lost its anchor"):
        opened(used)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"5 abc\n", b"0" * 86, b"%020d %s\n\n" % (5, b"a" * 64)])
def test_an_anchor_that_cannot_be_read_is_refused(used, content):
    Anchor(used).path.write_bytes(content)
    with pytest.raises(Refusal, match="anchor that cannot be read"):
        opened(used)
