"""Finding entries by what they say, without walking the ledger each time."""

from __future__ import annotations

import sqlite3
from datetime import date

import pytest

from adomnia.api.ledger_index import EntryFilter, LedgerIndex
from adomnia.api.ledger_view import open_snapshot, read_chosen
from adomnia.errors import Refusal, Unavailable
from adomnia.ledger import requests
from adomnia.ledger.chain import GENESIS
from ledger.references import COST, answered, opened, plan, tamper

ANY = 2**60


@pytest.fixture
def path(tmp_path):
    """1 open, 2-3 alice asks, 4 bob shares, 5 its answer, 6 alice fails, 7 a top-up."""
    place = tmp_path / "ledger.sqlite"
    with opened(place) as ledger:
        answered(ledger)
        ledger.reserve("bob", "shared", plan("q"), COST)
        ledger.reserve("alice", "Failed=50%_x", plan("other"), COST)
        ledger.top_up("bob", "Second YEAR", epsilon=1)
    return place


def find(index, path, before=ANY, limit=None, **wanted):
    with open_snapshot(path) as connection:
        return index.find(connection, EntryFilter(**wanted), before, limit)


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        ({}, [7, 6, 5, 4, 3, 2, 1]),
        ({"kind": "reserve"}, [6, 4, 2]),
        ({"account": "analyst:bob"}, [7, 5, 4]),
        ({"account": "analyst:bob", "kind": "top-up"}, [7]),
        ({"text": "ALICE"}, [6, 3, 2]),
        ({"text": "second year"}, [7]),
        ({"text": "50%_"}, [6]),
        ({"text": "5"}, None),
        ({"text": "' OR 1=1 --"}, []),
        ({"account": "bob"}, []),
        ({"last_day": date(1999, 1, 1)}, []),
        ({"first_day": date(1999, 1, 1), "last_day": date.max}, [7, 6, 5, 4, 3, 2, 1]),
    ],
)
def test_entries_are_found_by_what_they_say(path, wanted, numbers):
    found, total = find(LedgerIndex(), path, **wanted)
    assert total == len(found)
    assert found == numbers if numbers is not None else 5 in found


def test_an_entry_is_found_by_its_hash_and_by_its_number(path):
    with open_snapshot(path) as connection:
        (fourth,) = read_chosen(connection, [4])
    assert find(LedgerIndex(), path, text=fourth.hash[:20].upper()) == ([4], 1)
    assert 4 in find(LedgerIndex(), path, text="4")[0]


def test_pages_put_together_are_the_whole_and_the_total_is_of_all(path):
    index = LedgerIndex()
    assert find(index, path, limit=2) == ([7, 6], 7)
    assert find(index, path, before=6, limit=2) == ([5, 4], 7)
    assert find(index, path, before=1, limit=2) == ([], 7)


def test_only_what_is_new_is_read(path, monkeypatch):
    index = LedgerIndex()
    find(index, path)
    with opened(path) as ledger:
        answered(ledger, name="more")
    seen = []
    take = index._describe
    monkeypatch.setattr(
        index, "_describe", lambda entries: (seen.append(head) or (head, row) for head, row in take(entries))
    )
    assert find(index, path, kind="commit")[0] == [9, 5, 3]
    assert [head.sequence for head in seen] == [8, 9]


def test_another_ledger_in_its_place_is_read_from_its_beginning(path, tmp_path):
    index = LedgerIndex()
    find(index, path)
    other = tmp_path / "other.sqlite"
    opened(other).close()
    assert find(index, other) == ([1], 1)


def test_a_changed_entry_is_refused_again_and_again(path):
    tamper(path, "UPDATE entries SET body = body || ' ' WHERE sequence = 4")
    index = LedgerIndex()
    for _ in range(2):
        with pytest.raises(Refusal, match="entry 5 does not follow"):
            find(index, path)
    assert index._head is GENESIS or index._head.sequence <= 4


def test_entries_that_did_not_fit_have_their_own_days_when_they_are_taken_in_again(path, monkeypatch):
    index = LedgerIndex()
    with opened(path) as ledger:
        monkeypatch.setattr(requests, "now", lambda: "2031-01-01T00:00:00+00:00")
        hold = ledger.reserve("alice", "first", plan("first"), COST)
        find(index, path)
        hold.commit(b"noisy")
        monkeypatch.setattr(requests, "now", lambda: "2031-01-02T00:00:00+00:00")
        ledger.reserve("alice", "second", plan("second"), COST)
    with monkeypatch.context() as patch:
        patch.setattr(index, "_connection", sqlite3.connect(":memory:"))  # without the table
        with pytest.raises(Unavailable):
            find(index, path)
        index._connection.close()
    assert find(index, path, first_day=date(2031, 1, 2)) == ([10], 1)
    assert find(index, path, last_day=date(2031, 1, 1))[0][:2] == [9, 8]


def test_a_full_disk_for_temporary_files_is_told_and_is_no_trouble_of_the_ledger(path):
    index = LedgerIndex()
    pages = index._connection.execute("PRAGMA page_count").fetchone()[0]
    index._connection.execute(f"PRAGMA max_page_count = {pages}")
    with opened(path) as ledger:
        for number in range(20):
            ledger.top_up("bob", f"{number} {'long' * 200}", epsilon=1)
        for _ in range(2):
            with pytest.raises(Unavailable, match="list of entries cannot be searched"), ledger.snapshot() as records:
                index.find(records, EntryFilter(kind="commit"), ANY, None)
            assert ledger.trouble is None
        index._connection.execute("PRAGMA max_page_count = 1000")
        with ledger.snapshot() as records:
            assert index.find(records, EntryFilter(kind="commit"), ANY, None)[0] == [5, 3]
