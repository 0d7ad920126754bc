"""Checking, listing and copying a ledger from the command line."""

from __future__ import annotations

import csv
import json
import re
import shutil
from io import StringIO

import pytest

from adomnia.api.ledger_stamps import BACKED_UP, VERIFIED, read_stamp
from adomnia.cli.opening import open_accounts
from ledger.references import entries, tamper


@pytest.fixture
def asked(hospital, typed):
    """A folder in which alice paid in epsilon and bob in rho, under an id that a spreadsheet would compute."""
    typed("sql", hospital, "SELECT COUNT(*) FROM people", "--epsilon", "0.5", "--request-id", "first")
    typed("sql", hospital, "SELECT COUNT(*) FROM visits", "--rho", "0.01", "--analyst", "bob", "--request-id", "=1+1")
    return hospital


def stored(folder):
    return folder / ".adomnia" / "ledger.sqlite"


def test_a_sound_ledger_is_verified_without_a_change(asked, typed):
    before = entries(stored(asked))
    code, printed, complained = typed("ledger", "verify", asked)
    assert (code, complained) == (0, "")
    assert re.fullmatch(
        r"The ledger is sound: 5 entries, the last with the hash [0-9a-f]{64}\.", " ".join(printed.split())
    )
    found = json.loads(typed("ledger", "verify", asked, "--format", "json")[1])
    assert found == {"ok": True, "entries": 5, "head": found["head"], "restored": []}
    assert found["head"] in printed
    assert entries(stored(asked)) == before


def test_when_the_ledger_was_verified_and_what_was_found_is_remembered(asked, typed):
    assert read_stamp(asked, VERIFIED) is None
    typed("ledger", "verify", asked)
    sound = read_stamp(asked, VERIFIED)
    assert (sound.entries, sound.problem) == (5, "")
    tamper(stored(asked), "DELETE FROM entries WHERE sequence > 3")
    typed("ledger", "verify", asked)
    broken = read_stamp(asked, VERIFIED)
    assert "entries were removed" in broken.problem
    assert broken.timestamp >= sound.timestamp


def test_when_the_ledger_was_backed_up_is_remembered_once_the_copy_is_there(asked, typed, tmp_path):
    (tmp_path / "taken").touch()
    assert typed("ledger", "backup", asked, tmp_path / "taken")[0] == 2
    assert read_stamp(asked, BACKED_UP) is None
    assert typed("ledger", "backup", asked, tmp_path / "copy")[0] == 0
    assert read_stamp(asked, BACKED_UP).entries == 5


def test_verifying_needs_no_catalog(asked, typed):
    (asked / "catalog.toml").unlink()
    assert typed("ledger", "verify", asked)[0] == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE entries SET body = body || ' ' WHERE sequence = 2", "entry 3 does not follow"),
        ("UPDATE payloads SET payload = x'00'", "has an entry 3 that does not add up"),
        ("DELETE FROM entries WHERE sequence > 3", "entries were removed"),
    ],
)
def test_a_broken_ledger_is_refused_and_says_what_is_broken(asked, typed, change, words):
    tamper(stored(asked), change)
    code, printed, complained = typed("ledger", "verify", asked)
    assert (code, printed) == (2, "")
    assert words in complained


def test_what_is_no_ledger_is_refused(hospital, typed):
    code, printed, complained = typed("ledger", "verify", hospital)
    assert (code, printed) == (2, "")
    assert "has no ledger" in complained
    stored(hospital).write_bytes(b"not a database" * 100)
    stored(hospital).with_name("ledger.sqlite.anchor").write_text(f"{0:020d} {'0' * 64}\n")
    code, printed, complained = typed("ledger", "verify", hospital)
    assert (code, printed) == (2, "")
    assert "is not a database" in complained


def test_entries_are_listed_one_a_line_without_answers_or_salts(asked, typed):
    code, printed, complained = typed("ledger", "export", asked)
    lines = [json.loads(line) for line in printed.splitlines()]
    assert (code, complained) == (0, "")
    assert [(line["sequence"], line["kind"]) for line in lines] == [
        *((1, "open"), (2, "reserve"), (3, "commit"), (4, "reserve"), (5, "commit"))
    ]
    for body in map(json.loads, entries(stored(asked))):
        assert body["salt"] not in printed
        assert body.get("payload", "no answer") not in printed
    assert lines[0]["budgets"]["analyst:bob"] == {"epsilon": "2", "rho": None, "delta": "1/2000000"}
    assert (lines[1]["analyst"], lines[1]["request_id"]) == ("alice", "first")
    assert lines[1]["cost"] == {"epsilon": "1/2", "rho": "1/8", "delta": "0"}
    assert lines[1]["totals"]["analyst:alice"] == lines[1]["totals"]["dataset"] == lines[1]["cost"]
    assert lines[3]["totals"]["dataset"] == {"epsilon": None, "rho": "27/200", "delta": "0"}
    assert lines[1]["at"] is not None
    assert lines[2]["at"] is None


def test_entries_after_a_number_are_the_rest(asked, typed):
    everything = typed("ledger", "export", asked)[1].splitlines()
    assert typed("ledger", "export", asked, "--after", 3)[1].splitlines() == everything[3:]
    assert typed("ledger", "export", asked, "--after", 5)[:2] == (0, "")
    assert typed("ledger", "export", asked, "--after", 99)[:2] == (0, "")
    assert typed("ledger", "export", asked, "--after", -1)[0] == 2


def test_a_table_of_entries_holds_no_formula(asked, typed):
    with open_accounts(asked) as (_, ledger):
        ledger.top_up("alice", "@second year", epsilon=1)
    code, printed, _ = typed("ledger", "export", asked, "--format", "csv")
    rows = list(csv.DictReader(StringIO(printed)))
    assert code == 0
    assert len(printed.splitlines()) == 1 + len(rows) == 7
    assert rows[3]["request_id"] == "'=1+1"
    assert (rows[1]["cost_epsilon"], rows[1]["analyst_total_epsilon"], rows[3]["dataset_total_rho"]) == (
        *("1/2", "1/2"),
        "27/200",
    )
    assert rows[5]["reason"] == "'@second year"
    assert json.loads(rows[5]["budgets"]) == {"analyst:alice": {"epsilon": "1", "rho": None, "delta": "0"}}
    assert not any((cell or "").startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())


def test_a_listing_stops_where_the_chain_is_broken(asked, typed):
    tamper(stored(asked), "UPDATE entries SET body = replace(body, 'alice', 'alicf') WHERE sequence = 2")
    code, _, complained = typed("ledger", "export", asked)
    assert code == 2
    assert "entry 3 does not follow" in complained


def test_a_listing_of_a_chain_that_was_cut_short_fails_at_its_end(asked, typed):
    tamper(stored(asked), "DELETE FROM entries WHERE sequence > 3")
    for after in (0, 3, 9):
        code, printed, complained = typed("ledger", "export", asked, "--after", after)
        assert (code, len(printed.splitlines())) == (2, max(3 - after, 0))
        assert "ends at entry 3, but its anchor remembers entry 5" in complained


def test_a_head_that_is_kept_elsewhere_is_a_witness(asked, typed):
    code, witness, complained = typed("ledger", "head", asked)
    assert (code, complained) == (0, "")
    assert re.fullmatch(r"5:[0-9a-f]{64}\n", witness)
    found = json.loads(typed("ledger", "head", asked, "--format", "json")[1])
    assert witness.strip() == f"{found['entries']}:{found['head']}"
    shutil.copytree(asked / ".adomnia", asked / "earlier")
    typed("sql", asked, "SELECT COUNT(*) FROM visits", "--epsilon", "0.1")
    later = typed("ledger", "head", asked)[1]
    assert typed("ledger", "verify", asked, "--head", witness.strip(), "--head", later.strip())[0] == 0
    shutil.rmtree(asked / ".adomnia")
    (asked / "earlier").rename(asked / ".adomnia")  # all of it put back together: only a witness tells
    assert typed("ledger", "verify", asked, "--head", witness.strip())[0] == 0
    code, printed, complained = typed("ledger", "verify", asked, "--head", later.strip())
    assert (code, printed) == (2, "")
    assert f"does not go through the head {later.strip()}" in complained
    assert "does not go through the head" in read_stamp(asked, VERIFIED).problem  # and the alarm goes off
    code, _, complained = typed("ledger", "verify", asked, "--head", "5")
    assert code == 2
    assert "Head '5' cannot be read" in complained


def test_a_head_that_the_anchor_does_not_know_is_not_given(asked, typed):
    tamper(stored(asked), "DELETE FROM entries WHERE sequence > 3")
    code, printed, complained = typed("ledger", "head", asked)
    assert (code, printed) == (2, "")
    assert "ends at entry 3, but its anchor remembers entry 5" in complained


def test_a_receipt_that_is_not_on_the_chain_is_found(asked, typed):
    receipt = json.loads(typed("ledger", "export", asked)[1].splitlines()[1])["hash"]
    assert typed("ledger", "verify", asked, "--receipt", receipt)[0] == 0
    code, _, complained = typed("ledger", "verify", asked, "--receipt", receipt, "--receipt", "ab" * 32)
    assert code == 2
    assert f"has no debit with the receipt {'ab' * 32}" in complained


def test_a_copy_is_sound_and_replaces_nothing(asked, typed, tmp_path):
    copy = tmp_path / "monday.sqlite"
    code, printed, complained = typed("ledger", "backup", asked, copy)
    assert (code, complained) == (0, "")
    assert "5 entries" in printed
    assert copy.with_name("monday.sqlite.anchor").is_file()
    assert entries(copy) == entries(stored(asked))
    code, _, complained = typed("ledger", "backup", asked, copy)
    assert code == 2
    assert "exists already" in complained
    code, _, complained = typed("ledger", "backup", asked, tmp_path / "nowhere" / "monday.sqlite")
    assert code == 3
    assert "cannot be opened or created" in complained
