"""Adding to a budget from the command line."""

from __future__ import annotations

import json

import pytest

from adomnia.cli.opening import open_accounts
from adomnia.privacy.events import Pure
from adomnia.session.curator import LEDGER, STATE, open_ledger, read_catalog
from ledger.references import entries

REASON = ("--reason", "second year")


@pytest.fixture
def asked(hospital):
    """A folder in which alice has spent a quarter of what she has."""
    with open_ledger(read_catalog(hospital), hospital / STATE / LEDGER) as ledger:
        ledger.reserve("alice", "first", b"a plan", Pure(0.5)).commit(b"an answer")
    return hospital


def stored(folder):
    return [json.loads(body) for body in entries(folder / ".adomnia" / "ledger.sqlite")]


def test_a_top_up_holds_for_good_and_keeps_its_reason(asked, typed):
    code, printed, complained = typed("ledger", "top-up", asked, "--analyst", "alice", "--epsilon", "0.5", *REASON)
    assert (code, complained) == (0, "")
    assert (
        " ".join(printed.split())
        == "alice may spend epsilon 2.5 in all from now on. Spent: epsilon 0.5 of 2.5. Left: epsilon 2."
    )
    written = stored(asked)[-1]
    assert (written["kind"], written["account"], written["epsilon"]) == ("top-up", "analyst:alice", "1/2")
    assert written["reason"] == "second year"
    alice = json.loads(typed("budget", asked, "--format", "json")[1])[0]
    assert (alice["analyst"], alice["budget"]["epsilon"], alice["left"]["epsilon"]) == ("alice", "5/2", "2")
    assert typed("ledger", "verify", asked)[0] == 0


def test_the_dataset_has_a_budget_of_its_own(asked, typed):
    with open_accounts(asked) as (_, ledger):
        before = {name: ledger.account(name).budget for name in (None, "alice")}
    more = ("--epsilon", "2", "--delta", "1e-7")
    printed = typed("ledger", "top-up", asked, "--dataset", *more, *REASON, "--format", "json")[1]
    told = json.loads(printed)
    with open_accounts(asked) as (_, ledger):
        after = {name: ledger.account(name).budget for name in (None, "alice")}
    assert told["analyst"] is None
    assert told["budget"]["epsilon"] == str(after[None].epsilon) == str(before[None].epsilon + 2)
    assert after[None].delta > before[None].delta
    assert after["alice"] == before["alice"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--epsilon", "1"), "is for one account"),
        (("--analyst", "alice", "--dataset", "--epsilon", "1"), "is for one account"),
        (("--analyst", "nobody", "--epsilon", "1"), "Analyst nobody is not in the catalog"),
        (("--analyst", "alice"), "not both 0"),
        (("--analyst", "alice", "--epsilon", "-1"), "must be >= 0"),
        (("--analyst", "alice", "--epsilon", "nan"), "must be a finite number"),
        (("--analyst", "alice", "--epsilon", "much"), "is not a number"),
        (("--analyst", "alice", "--delta", "2"), "is none"),
    ],
)
def test_what_is_no_top_up_is_refused_and_written_nowhere(asked, typed, options, words):
    before = stored(asked)
    code, printed, complained = typed("ledger", "top-up", asked, *options, *REASON)
    assert (code, printed) == (2, "")
    assert words in complained
    assert "Fix: " in complained
    assert stored(asked) == before


@pytest.mark.parametrize("reason", ["", "a\nb", "x" * 1001])
def test_a_reason_is_a_line(asked, typed, reason):
    code, _, complained = typed("ledger", "top-up", asked, "--dataset", "--epsilon", "1", "--reason", reason)
    assert code == 2
    assert "1 to 1,000 printable characters" in complained


def test_where_nobody_has_asked_nothing_is_added(hospital, typed):
    code, printed, complained = typed("ledger", "top-up", hospital, "--dataset", "--epsilon", "1", *REASON)
    assert (code, printed) == (2, "")
    assert "has no ledger" in complained
