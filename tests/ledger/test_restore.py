"""A restored ledger is marked, never has less spent than its backup, and counts what the gap may have spent."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.ledger import Hold, ledger_places
from adomnia.ledger import restore as restoring
from adomnia.ledger.audit import list_restorations
from adomnia.ledger.chain import GENESIS, Anchor, Head
from adomnia.ledger.failpoints import KILLED
from adomnia.ledger.restore import Restoration, restore
from adomnia.ledger.sqlite import connect_read_only
from adomnia.ledger.sqlite_records import SqliteRecords
from adomnia.privacy.events import Approximate, Concentrated, Pure
from adomnia.privacy.filters import Budget, Left
from kit.waiting import HANG_SECONDS
from ledger.references import (
    ANALYSTS,
    BUDGET,
    COST,
    answered,
    child,
    entries,
    opened,
    plan,
    rewrite,
    tamper,
    units_of,
    wait_until_closed,
    wait_until_recovered,
)

NOTHING = dict.fromkeys(["dataset", "analyst:alice", "analyst:bob"])
NONE_LEFT = Left(Fraction(0), Fraction(0), Fraction(0))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def saved(tmp_path):
    return tmp_path / "saved" / "monday.db"


@pytest.fixture
def lost(path, saved):
    """A backup with one answer (entries 1 to 3), and a ledger that went on to entry 7."""
    saved.parent.mkdir()
    with opened(path) as ledger:
        answered(ledger, name="kept")
        ledger.backup(saved)
        answered(ledger, name="lost")
        answered(ledger, "bob", name="lost too")
    return Anchor(path).read()


def put_back(path, saved, gap=None, *, heads=(), budgets=(BUDGET, ANALYSTS)):
    return restore(path, saved, Restoration(*budgets, gap or {}, heads))


def kinds(path) -> list[str]:
    return [json.loads(body)["kind"] for body in entries(path)]


def test_all_that_was_left_counts_as_spent_unless_the_owner_says_less(path, saved, lost):
    head = put_back(path, saved)
    assert kinds(path) == ["open", "reserve", "commit", "restored"]
    with opened(path) as ledger:
        assert ledger.verify() == head == Anchor(path).read()
        for analyst in (None, "alice", "bob"):
            assert ledger.left(analyst) == NONE_LEFT
            assert ledger.spent(analyst).epsilon_units == units_of(100)
        with pytest.raises(Refusal, match="is more than is left"):
            ledger.reserve("alice", "new", plan("new"), Pure(1e-12))
        assert ledger.restored() == json.loads(entries(path)[3])["at"]
        ledger.top_up("alice", "after the restoration", epsilon=0.5)
        ledger.top_up(None, "after the restoration", epsilon=0.5)
        assert ledger.left("alice").epsilon == Fraction(1, 2)
        assert ledger.left("bob") == NONE_LEFT


def test_the_owner_may_state_the_most_that_each_account_spent(path, saved, lost):
    put_back(path, saved, {"dataset": Pure(0.02), "analyst:alice": Pure(0.01), "analyst:bob": None})
    with opened(path) as ledger:
        ledger.verify()
        spent = [ledger.spent(analyst).epsilon_units for analyst in (None, "alice", "bob")]
        assert spent == [units_of(3), units_of(2), 0]


def test_what_is_not_stated_of_an_account_is_all_of_it(path, saved, lost):
    put_back(path, saved, {"dataset": None, "analyst:alice": None})
    with opened(path) as ledger:
        assert ledger.spent().epsilon_units == ledger.spent("alice").epsilon_units == units_of(1)
        assert ledger.left("bob") == NONE_LEFT


def test_a_gap_may_be_larger_than_the_budget_and_in_rho_and_delta(path, saved, tmp_path):
    budget = Budget(epsilon=1, delta=1e-6, approximate=True)
    saved.parent.mkdir()
    with opened(path, budget, {"alice": budget, "bob": budget}) as ledger:
        ledger.backup(saved)
    gap = {"dataset": Pure(5), "analyst:alice": Concentrated(0.001, 1e-8), "analyst:bob": Approximate(0.1, 1e-8)}
    put_back(path, saved, gap, budgets=(budget, {"alice": budget, "bob": budget}))
    with opened(path, budget, {"alice": budget, "bob": budget}) as ledger:
        ledger.verify()
        assert ledger.left().epsilon == 0
        assert ledger.spent("alice").rho_units == 10**9
        assert ledger.spent("alice").delta_units == ledger.spent("bob").delta_units == 10**22
    shutil.rmtree(saved.parent)
    saved.parent.mkdir()
    with opened(path, budget, {"alice": budget, "bob": budget}) as ledger:
        ledger.backup(saved)
    put_back(path, saved, budgets=(budget, {"alice": budget, "bob": budget}))
    with opened(path, budget, {"alice": budget, "bob": budget}) as ledger:
        assert ledger.spent().epsilon_units == 5 * 10**12  # spent never falls, not even to the budget
        assert [ledger.left(analyst) for analyst in (None, "alice", "bob")] == [NONE_LEFT] * 3
        ledger.verify()


def test_a_gap_that_nobody_knows_may_have_been_spent_in_epsilon_or_in_rho(path, saved):
    """In rho: then its epsilons add up to more than the budget, and a larger one must not be held to their sum.

    In epsilon: then it has a rho of up to epsilon**2 / 2, which a larger budget must not take for less.
    """
    budget = Budget(epsilon=1, delta=1e-6, approximate=True)
    saved.parent.mkdir()
    with opened(path, budget, {"alice": budget}) as ledger:
        ledger.backup(saved)
    put_back(path, saved, budgets=(budget, {"alice": budget}))
    with opened(path, budget, {"alice": budget}) as ledger:
        ledger.top_up("alice", "after the restoration", epsilon=1)
        ledger.top_up(None, "after the restoration", epsilon=1)
        assert ledger.left("alice") == ledger.left() == NONE_LEFT
        assert ledger.spent().rho_units == ledger.spent("alice").rho_units == 10**12 // 2
        ledger.verify()
        ledger.top_up("alice", "so much that it fits either way", epsilon=8)
        ledger.top_up(None, "so much that it fits either way", epsilon=8)
        assert ledger.left("alice").epsilon == 0 < ledger.left("alice").rho
        ledger.verify()


@pytest.mark.parametrize("wrong", [{"in_epsilon": True}, {"rho": str(round(0.0230 * 10**12))}])
def test_a_gap_that_was_counted_in_one_branch_alone_does_not_add_up(path, saved, wrong):
    budget = Budget(epsilon=1, delta=1e-6, approximate=True)
    saved.parent.mkdir()
    with opened(path, budget, {"alice": budget}) as ledger:
        ledger.backup(saved)
    put_back(path, saved, budgets=(budget, {"alice": budget}))
    rewrite(path, 2, lambda entry: entry["spent"]["dataset"].update(wrong))
    with opened(path, budget, {"alice": budget}) as ledger, pytest.raises(Refusal, match="entry 2 that does not"):
        ledger.verify()


def test_a_gap_after_rho_was_spent_alone_was_spent_in_rho(path, saved):
    budget = Budget(epsilon=1, delta=1e-6, approximate=True)
    saved.parent.mkdir()
    with opened(path, budget, {"alice": budget}) as ledger:
        ledger.reserve("alice", "in rho", plan("in rho"), Concentrated(0.001))
        ledger.backup(saved)
    put_back(path, saved, budgets=(budget, {"alice": budget}))
    with opened(path, budget, {"alice": budget}) as ledger:
        assert ledger.left("alice") == ledger.left() == NONE_LEFT
        assert ledger.spent().rho_units == budget.rho * 10**12
        ledger.verify()


@pytest.mark.parametrize(("then", "now"), [(1, 3), (3, 1)])
def test_all_is_counted_of_the_larger_of_both_budgets(path, saved, then, now):
    """A budget may have been raised in the gap, and spent; or lowered, after it was spent."""
    saved.parent.mkdir()
    budgets = {amount: (Budget(epsilon=amount), {"alice": Budget(epsilon=amount)}) for amount in (then, now)}
    with opened(path, *budgets[then]) as ledger:
        ledger.backup(saved)
    put_back(path, saved, budgets=budgets[now])
    for amount in (then, now, 3):
        with opened(path, Budget(epsilon=amount), {"alice": Budget(epsilon=amount)}) as ledger:
            assert ledger.left("alice") == ledger.left() == NONE_LEFT
            ledger.verify()


def test_whoever_is_gone_from_the_catalog_or_new_in_it_is_counted_too(path, saved, lost):
    put_back(path, saved, budgets=(BUDGET, {"bob": Budget(epsilon=1), "carol": Budget(epsilon=2)}))
    with opened(path, analysts={name: Budget(epsilon=2) for name in ("alice", "carol")}) as ledger:
        assert ledger.spent("carol").epsilon_units == 2 * units_of(100)
        assert ledger.spent("alice").epsilon_units == units_of(100)


def test_heads_that_are_known_are_recorded(path, saved, lost):
    witness = Head(99, "ab" * 32)
    put_back(path, saved, heads=(witness,))
    record = json.loads(entries(path)[3])
    assert record["known"] == [str(lost), str(witness)]
    assert record["gap"] == dict.fromkeys(NOTHING, "all")
    with closing(connect_read_only(path)) as connection:
        assert list_restorations(SqliteRecords(connection)) == [(4, record["at"])]


def test_what_was_answered_in_the_gap_is_paid_for_again(path, saved, lost):
    put_back(path, saved, NOTHING)
    with opened(path) as ledger:
        assert ledger.reserve("alice", "id of kept", plan("kept"), COST).payload == b"noisy"
        assert isinstance(ledger.reserve("alice", "id of lost", plan("lost"), COST), Hold)
        assert ledger.spent("alice").epsilon_units == units_of(2)
        with pytest.raises(Failure):
            ledger.reserve("alice", "id of lost", plan("lost"), COST)


def test_the_old_files_are_kept_aside(path, saved, lost):
    for number in (1, 2):
        before = entries(path)
        put_back(path, saved)
        aside = path.with_name(f"ledger.db.replaced-{number}")
        assert entries(aside) == before
        assert Anchor(aside).exists()
    names = {file.name.removeprefix("ledger.db") for file in path.parent.iterdir() if file.is_file()}
    kept = {f".replaced-{number}{suffix}" for number in (1, 2) for suffix in ("", ".anchor")}
    assert names == {"", ".anchor", ".lock", *kept}


@pytest.mark.parametrize("missing", [("ledger.db",), ("ledger.db", "ledger.db.anchor"), ("ledger.db.anchor",)])
def test_a_ledger_of_which_little_is_left_can_be_restored(path, saved, lost, missing):
    for name in missing:
        path.with_name(name).unlink()
    put_back(path, saved, NOTHING)
    known = json.loads(entries(path)[3])["known"]
    assert known == ([] if "ledger.db.anchor" in missing else [str(lost)])
    with opened(path) as ledger:
        assert ledger.spent().epsilon_units == units_of(1)
        ledger.verify()


def test_a_damaged_ledger_and_anchor_can_be_restored(path, saved, lost):
    path.write_bytes(b"no database" * 1000)
    Anchor(path).path.write_bytes(b"no anchor")
    put_back(path, saved)
    with opened(path) as ledger:
        ledger.verify()


def test_a_ledger_in_use_is_not_replaced(path, saved, lost):
    with opened(path) as ledger:
        with pytest.raises(Refusal, match=r"The ledger is in use\. Fix: stop every process"):
            put_back(path, saved)
        answered(ledger, name="goes on")


def test_a_process_that_was_overlooked_pays_no_more(path, saved, lost, monkeypatch):
    monkeypatch.setattr(ledger_places, "is_in_use", lambda _: False)
    with opened(path) as ledger:
        answered(ledger, name="before")
        put_back(path, saved, NOTHING)
        with pytest.raises(Unavailable, match="had its files removed or replaced while it was open"):
            ledger.reserve("alice", "0", plan(0), COST)
        wait_until_closed(ledger)
        with pytest.raises(Unavailable, match="had entry 9, but its anchor went back to entry 4"):
            ledger.reserve("alice", "1", plan(1), COST)
    with opened(path) as ledger:
        assert ledger.spent().epsilon_units == units_of(1)
        ledger.verify()


def test_a_process_that_was_overlooked_goes_on_where_it_knows_only_what_the_backup_has(path, saved, monkeypatch):
    """It reads the restoration like any other entry, with all that may have been spent in the gap."""
    monkeypatch.setattr(ledger_places, "is_in_use", lambda _: False)
    saved.parent.mkdir()
    with opened(path) as ledger:
        answered(ledger, name="kept")
        ledger.backup(saved)
        put_back(path, saved, {**NOTHING, "analyst:alice": Pure(0.5)})
        with pytest.raises(Unavailable, match="had its files removed or replaced while it was open"):
            ledger.spent()
        wait_until_recovered(ledger)
        assert ledger.spent("alice").epsilon_units == units_of(51)
        answered(ledger, name="next")
        assert ledger.verify().sequence == 6
        assert len(entries(path)) == 6


def test_a_backup_that_is_not_sound_is_refused_and_everything_stays(path, saved, lost):
    tamper(saved, "DELETE FROM payloads")
    before = {file: file.read_bytes() for file in path.parent.iterdir() if file.is_file()}
    with pytest.raises(Refusal, match="entry 3 that does not add up"):
        put_back(path, saved)
    Anchor(saved).path.unlink()
    with pytest.raises(Refusal, match="has lost its anchor"):
        put_back(path, saved)
    with pytest.raises(Unavailable, match="cannot be opened or created"):
        Anchor(saved).create(GENESIS)
        saved.unlink()
        put_back(path, saved)
    assert {file: file.read_bytes() for file in path.parent.iterdir() if file.is_file()} == before


def test_an_account_that_does_not_exist_is_refused_and_everything_stays(path, saved, lost):
    with pytest.raises(Refusal, match=r"Account carol is not in the ledger\. Fix: name one of these: analyst:alice, "):
        put_back(path, saved, {"carol": None})
    assert Anchor(path).read() == lost
    with opened(path) as ledger:
        assert ledger.spent().epsilon_units == units_of(3)


def test_a_backup_with_its_log_is_read_with_it(path, saved, lost):
    with opened(saved) as ledger:
        answered(ledger, name="in the log")
        shutil.copytree(saved.parent, saved.parent.with_name("copied"))
    copied = saved.parent.with_name("copied") / saved.name
    assert Path(f"{copied}-wal").stat().st_size > 0
    put_back(path, copied, NOTHING)
    with opened(path) as ledger:
        assert ledger.spent().epsilon_units == units_of(2)


def test_a_restored_ledger_that_is_not_in_one_file_is_not_put_in_place(path, saved, lost, monkeypatch):
    monkeypatch.setattr(restoring, "identify", lambda _: ((1, 1), (1, 2), None))
    with pytest.raises(Refusal, match="could not be written to one file"):
        put_back(path, saved)
    assert Anchor(path).read() == lost


CUT_OFF = [
    ("anchor-created", "anchor", "as it was"),  # of the draft
    ("after-commit", "anchor", "as it was"),
    ("old-moved", "anchor", "refused"),
    ("old-moved", "no anchor", "refused"),
    ("draft-moved", "anchor", "refused"),  # the old one remembers more
    ("draft-moved", "no anchor", "restored"),
]


def reopened(path) -> str:
    try:
        with opened(path) as ledger:
            return "as it was" if ledger.restored() is None else "restored"
    except Refusal:
        return "refused"


@pytest.mark.parametrize("case", CUT_OFF)
def test_a_restoration_that_is_cut_off_frees_nothing_and_can_be_done_again(path, saved, lost, case):
    failpoint, left_over, then = case
    if left_over == "no anchor":
        Anchor(path).path.unlink()
    process = child("put_back", path, saved, failpoint)
    assert process.communicate(timeout=HANG_SECONDS)[0] == ""
    assert process.returncode == KILLED
    assert reopened(path) == then
    put_back(path, saved)
    with opened(path) as ledger:
        assert ledger.verify().sequence == 4
        assert ledger.left("alice") == NONE_LEFT


@pytest.mark.parametrize(
    "change",
    [
        {"spent": {}},
        {"gap": {}},
        {"gap": dict.fromkeys(NOTHING)},
        {"gap": {name: {"kind": "pure", "epsilon": "1/2"} for name in NOTHING}},
        {"gap": dict.fromkeys(NOTHING, "some")},
    ],
)
def test_a_restoration_that_lies_is_found_by_verifying(path, saved, lost, change):
    put_back(path, saved)
    rewrite(path, 4, lambda entry: entry.update(change))
    with opened(path) as ledger, pytest.raises(Refusal, match="entry 4 that does not add up"):
        ledger.verify()


@pytest.mark.parametrize(("epsilon", "rho"), [("990000000000", "5000000000000"), ("0", "0")])
def test_a_restoration_that_leaves_something_or_takes_something_back_is_found(path, saved, lost, epsilon, rho):
    put_back(path, saved)
    rewrite(path, 4, lambda entry: entry["spent"]["dataset"].update(epsilon=epsilon, rho=rho))
    with opened(path) as ledger, pytest.raises(Refusal, match="entry 4 that does not add up"):
        ledger.verify()
