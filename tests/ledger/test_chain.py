"""The chain and its anchor: what was written is what is read, or the ledger does not open."""

from __future__ import annotations

import json
import shutil
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.errors import Refusal
from adomnia.ledger.anchor import Anchor
from adomnia.ledger.chain import GENESIS, Head, decode_entry, digest, encode_entry
from ledger.references import answered, entries, opened, tamper

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
        assert len(list(tmp_path.iterdir())) == 4  # the database, its write-ahead log and shared memory, the anchor
