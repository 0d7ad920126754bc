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


@pytest.fixture
def lost(hospital, typed, tmp_path):
    """A folder, and a backup of its ledger that is older than the last question."""
    saved = tmp_path / "monday.sqlite"
    typed("sql", hospital, "SELECT COUNT(*) FROM people", "--epsilon", "0.5", "--request-id", "kept")
    typed("ledger", "backup", hospital, saved)
    typed("sql", hospital, "SELECT COUNT(*) FROM people", "--epsilon", "0.25", "--request-id", "lost")
    return hospital, saved


def left(typed, folder) -> dict[str | None, str]:
    accounts = json.loads(typed("budget", folder, "--format", "json")[1])
    return {account["analyst"]: account["left"]["epsilon"] for account in accounts}


def restored(folder) -> dict[str, object]:
    found = [json.loads(body) for body in entries(folder / ".adomnia" / "ledger.sqlite")]
    return next(entry for entry in found if entry["kind"] == "restored")


def test_without_a_word_of_the_owner_everything_is_spent(lost, typed):
    folder, saved = lost
    code, printed, complained = typed("ledger", "restore", folder, saved)
    assert (code, complained) == (0, "")
    assert "The ledger is restored: 4 entries" in printed
    assert set(left(typed, folder).values()) == {"0"}
    at = restored(folder)["at"]
    assert f"The ledger was restored on {at}" in " ".join(typed("budget", folder)[1].split())
    assert json.loads(typed("budget", folder, "--format", "json")[1])[-1]["restored"] == at
    assert f"Entry 4 of {at} put a backup in its place" in " ".join(typed("ledger", "verify", folder)[1].split())
    found = json.loads(typed("ledger", "verify", folder, "--format", "json")[1])
    assert found["restored"] == [{"entry": 4, "at": at}]
    code, _, complained = typed("sql", folder, "SELECT COUNT(*) FROM visits", "--epsilon", "0.001")
    assert code == 2
    assert "is more than is left" in complained


def test_the_owner_states_what_was_spent(lost, typed):
    folder, saved = lost
    head = typed("ledger", "head", folder)[1].strip()
    stated = ("--spent", "dataset=0.25", "--spent", "analyst:alice=0.25", "--spent", "analyst:bob=0")
    code, printed, _ = typed("ledger", "restore", folder, saved, *stated, "--head", head, "--format", "json")
    assert code == 0
    assert json.loads(printed)["entries"] == 4
    record = restored(folder)
    assert record["known"] == [head]
    assert record["gap"]["analyst:bob"] is None
    assert record["spent"]["dataset"]["epsilon"] == record["spent"]["analyst:alice"]["epsilon"] == "750000000000"
    assert typed("ledger", "verify", folder)[0] == 0


def test_rho_and_delta_are_stated_as_well(lost, typed):
    folder, saved = lost
    stated = (
        *("--spent", "dataset=0.1", "--spent-rho", "dataset=0.01", "--spent-delta", "dataset=1e-9"),
        *("--spent", "analyst:alice=0.1", "--spent-delta", "analyst:alice=1e-9"),
    )
    assert typed("ledger", "restore", folder, saved, *stated)[0] == 0
    record = restored(folder)["spent"]
    assert record["dataset"]["rho"] == str(125 * 10**9 + 5 * 10**9 + 10**10)
    assert record["analyst:alice"]["rho"] == str(130 * 10**9)
    assert record["dataset"]["delta"] == record["analyst:alice"]["delta"] == str(10**21)


MISUNDERSTOOD = [
    (["--spent", "0.5"], "is not an account and a number of at least 0"),
    (["--spent", "dataset=-1"], "is not an account and a number of at least 0"),
    (["--spent", "dataset=inf"], "is not an account and a number of at least 0"),
    (["--spent", "dataset=1", "--spent", "dataset=2"], "names one twice"),
    (["--spent", "dataset=much"], "is not a number"),
    (["--spent-delta", "dataset=1e-9"], "stands alone"),
    (["--spent", "carol=1"], "Account carol is not in the ledger"),
    (["--head", "7"], "cannot be read"),
]


def test_what_is_not_understood_changes_nothing(lost, typed):
    folder, saved = lost
    before = left(typed, folder)
    for options, words in MISUNDERSTOOD:
        code, printed, complained = typed("ledger", "restore", folder, saved, *options)
        assert (code, printed) == (2, "")
        assert words in complained
    assert left(typed, folder) == before
