"""The anchor: one process at a time moves it, and one that is not on the chain ends the ledger."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from adomnia.errors import Refusal, Unavailable
from adomnia.ledger import anchor
from adomnia.ledger.anchor import Anchor, MemoryAnchor
from adomnia.ledger.chain import GENESIS, Head
from adomnia.ledger.sqlite import is_transient
from kit.waiting import HANG_SECONDS
from ledger.references import COST, answered, opened, plan, units_of, wait_until_recovered

LATER = Head(7, "ab" * 32)


@pytest.fixture
def used(tmp_path):
    """A ledger with two answered questions, closed; its entries are open, reserve, commit, reserve, commit."""
    path = tmp_path / "ledger.db"
    with opened(path) as ledger:
        answered(ledger, name="first")
        answered(ledger, name="second")
    return path


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
    monkeypatch.setattr(anchor, "monotonic", lambda: 600 * time.monotonic())
    with made.lock(), pytest.raises(sqlite3.OperationalError, match="the anchor is locked") as error, made.lock():
        pass
    assert is_transient(error.value)
    with made.lock() as locked:
        assert locked.head == GENESIS


def test_a_held_anchor_lets_a_ledger_grant_nothing_for_the_moment(used, monkeypatch):
    with opened(used) as ledger:
        with monkeypatch.context() as hurried, Anchor(used).lock():
            hurried.setattr(anchor, "monotonic", lambda: 600 * time.monotonic())
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

    monkeypatch.setattr(anchor, "_lock_patiently", lock)
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
        monkeypatch.setattr("adomnia.ledger.anchor.os.pwrite", write)
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
