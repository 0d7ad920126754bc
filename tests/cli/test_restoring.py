"""Putting a backup back from the command line: it is told what was spent since, or takes all of it for spent."""

from __future__ import annotations

import json

import pytest

from ledger.references import entries


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
