"""What any dataset about some people spends is spent of the account that they share, exactly, or not at all."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from fractions import Fraction

import pytest

from adomnia.errors import Refusal, Unavailable
from adomnia.ledger import Hold, Ledger, journal
from adomnia.ledger.audit import backup
from adomnia.ledger.restore import Restoration, restore
from adomnia.privacy.events import Approximate, Concentrated, Pure
from adomnia.privacy.filters import Budget
from kit.waiting import HANG_SECONDS
from ledger.references import ANALYSTS, BUDGET, COST, answered, child, entries, opened, plan, rewrite, units_of

LIFETIME = Budget(epsilon=1.5)


@pytest.fixture
def town(shared):
    """The place of a dataset that shares an account; its name is the test's own."""
    return replace(shared, lifetime=f"people of {shared.schema}")


def beside(town, dataset):
    """The place of another dataset about the same people."""
    folder = town.folder / dataset
    folder.mkdir(exist_ok=True)
    place = replace(town, schema=f"{town.schema}_{dataset}"[:63], dataset=dataset, folder=folder)
    place.join()
    return place


def open_town(place, budget=BUDGET, lifetime=LIFETIME) -> Ledger:
    return Ledger.open(place, budget, ANALYSTS, lifetime)


def kinds(place) -> list[str]:
    return [json.loads(body)["kind"] for body in entries(place)]


def test_a_spend_passes_all_three_filters_in_one_transaction(town):
    with open_town(town) as ledger:
        answered(ledger, event=Pure(0.4))
        spent = {name: account.spent.epsilon_units for name, account in ledger.lifetime().items()}
        assert spent == {town.member: 4 * 10**11, None: 4 * 10**11}
        assert ledger.lifetime()[None].budget == LIFETIME
        assert ledger.lifetime()[town.member].budget == BUDGET
        assert ledger.verify().sequence == 3
    assert kinds(town.shared) == ["open", "open", "reserve"]
    debit, own = json.loads(entries(town.shared)[-1]), entries(town)
    assert debit["request_id"] == f"{town.member}\n{json.loads(own[2])['previous']}"  # the hash of the debit
    assert "alice" not in entries(town.shared)[-1]
    assert town.shared.join() == town.shared.anchor.read()


def test_datasets_spend_one_account_together_and_nothing_beyond_it(town):
    open_town(town).close()
    other = beside(town, "second")
    with open_town(town) as first, open_town(other) as second:
        answered(first, event=Pure(1))
        with pytest.raises(
            Refusal, match=f"from the lifetime budget that {other.member} shares with other datasets"
        ) as said:
            second.reserve("alice", "1", plan(1), Pure(0.6))
        assert said.value.code == "budget"
        assert second.spent().epsilon_units == second.spent("alice").epsilon_units == 0
        answered(second, event=Pure(0.5))
        assert first.lifetime()[None].left().epsilon == 0
        assert {name: str(account.left().epsilon) for name, account in second.lifetime().items()} == {
            town.member: "0",
            other.member: "1/2",
            None: "0",
        }
        with pytest.raises(Refusal, match="lifetime"):
            second.reserve("alice", "2", plan(2), COST)
        first.verify()
        second.verify()
    town.shared.join()


def test_an_answer_that_is_shared_costs_the_account_nothing(town):
    with open_town(town) as ledger:
        answered(ledger)
        ledger.reserve("bob", "theirs", plan("q"), COST)
        assert ledger.lifetime()[None].spent.epsilon_units == units_of(1)
        assert ledger.spent("bob").epsilon_units == units_of(1)


def test_another_budget_than_the_others_declare_is_refused(town):
    open_town(town).close()
    other = beside(town, "second")
    with pytest.raises(Refusal, match=r"is epsilon 1.5 in the ledger, and epsilon 2 and delta 1e-06 in this catalog"):
        open_town(other, lifetime=Budget(2, 1e-6, approximate=True))
    assert entries(other) == []
    open_town(other).close()


def test_what_was_spent_before_the_account_was_named_counts(town):
    alone = replace(town, lifetime=None)
    with opened(alone) as ledger:
        answered(ledger, event=Pure(0.25))
    for _ in range(2):
        with open_town(town) as ledger:
            assert ledger.lifetime()[None].spent.epsilon_units == 25 * 10**10
    with opened(alone) as ledger:
        answered(ledger, name="between", event=Pure(0.5))
    with open_town(town) as ledger:
        assert ledger.lifetime()[None].spent == ledger.lifetime()[town.member].spent
        assert ledger.lifetime()[None].spent.epsilon_units == 75 * 10**10
    assert kinds(town.shared) == ["open", "open", "counted", "counted"]
    town.shared.join()


@pytest.mark.parametrize("event", [Concentrated(Fraction(1, 100), Fraction(1, 10**9)), Concentrated(Fraction(1, 100))])
def test_what_was_spent_in_rho_counts_in_rho(town, event):
    budget = Budget(1, 1e-6, approximate=True)
    analysts = {"alice": budget}
    with Ledger.open(replace(town, lifetime=None), budget, analysts) as ledger:
        answered(ledger, event=event)
        spent = ledger.spent()
    with Ledger.open(town, budget, analysts, budget) as ledger:
        assert ledger.lifetime()[None].spent == spent


def test_what_had_an_epsilon_and_a_delta_counts_with_both(town):
    budget = Budget(1, 1e-6, approximate=True)
    with Ledger.open(replace(town, lifetime=None), budget, {"alice": budget}) as ledger:
        answered(ledger, event=Approximate(Fraction(1, 4), Fraction(1, 10**9)))
        spent = ledger.spent()
    with Ledger.open(town, budget, {"alice": budget}, budget) as ledger:
        assert ledger.lifetime()[None].spent == spent


def test_a_spend_without_an_epsilon_ends_the_sum_of_epsilons_in_the_account_too(town):
    """What many small spends came to was counted as one, whose rho is more than theirs: nothing of it is missing."""
    budget = Budget(10, 1e-6, approximate=True)
    analysts, alone = {"alice": budget}, replace(town, lifetime=None)
    with Ledger.open(alone, budget, analysts) as ledger:
        for number in range(10):
            answered(ledger, name=number, event=Pure(Fraction(1, 10)))
    Ledger.open(town, budget, analysts, budget).close()
    with Ledger.open(alone, budget, analysts) as ledger:
        answered(ledger, name="gaussian", event=Concentrated(Fraction(1, 10)))
    with Ledger.open(town, budget, analysts, budget) as ledger:
        assert not ledger.lifetime()[None].spent.in_epsilon
        assert not ledger.lifetime()[None].admits(Pure(5))  # in epsilon it would be within the budget


@pytest.mark.parametrize("gap", [{}, {"dataset": Pure(Fraction(1, 2))}])
def test_a_restored_dataset_leaves_the_account_open_however_often_it_is_opened(town, tmp_path, gap):
    """All that was left counts as spent, with the most rho that it may have had; in epsilon it is known exactly."""
    with open_town(town, lifetime=Budget(5)) as ledger:
        answered(ledger, event=Pure(0.5))
        ledger.backup(tmp_path / "copy.db")
    restore(town, tmp_path / "copy.db", Restoration(BUDGET, ANALYSTS, gap))
    for _ in range(3):
        with open_town(town, lifetime=Budget(5)) as ledger:
            together = ledger.lifetime()[None]
            assert together.spent.epsilon_units == 10**12
            assert together.admits(Pure(4))
            assert not together.admits(Pure(4.1))
    assert kinds(town.shared).count("counted") == 1


def test_spends_too_small_for_a_unit_of_rho_leave_the_account_open(town):
    with opened(replace(town, lifetime=None)) as ledger:
        for number in range(20):
            answered(ledger, name=number, event=Pure(Fraction(1, 10**8)))
    for number in range(3):
        with open_town(town) as ledger:
            answered(ledger, name=f"after {number}", event=Pure(0.1))
            assert ledger.lifetime()[None].spent.in_epsilon


def test_a_process_with_an_older_catalog_pays_nothing_past_the_account(town):
    """Hosts get a new catalog one after the other: what one spends whose catalog names no account would not pass it."""
    alone = replace(town, lifetime=None)
    with opened(alone) as old:
        answered(old, name="before", event=Pure(0.1))
        with open_town(town) as new:
            assert new.lifetime()[None].spent.epsilon_units == 10**11
            with pytest.raises(Unavailable, match="is paid from another lifetime account by now"):
                old.reserve("alice", "past it", plan("past it"), COST)
            assert old.reserve("alice", "again", plan("before"), Pure(0.1)).payload == b"noisy"  # replays are free
            assert old.trouble is None
            answered(new, name="after", event=Pure(0.1))
            assert new.lifetime()[None].spent == new.spent()
            with opened(alone) as newest:  # the owner takes the account away
                with pytest.raises(Unavailable, match="by now"):
                    new.reserve("alice", "late", plan("late"), COST)
                answered(newest, name="late", event=Pure(0.1))
                newest.verify()
    with open_town(town) as ledger:
        assert ledger.lifetime()[None].spent.epsilon_units == 3 * 10**11


def test_checkpoints_know_the_account(town, monkeypatch):
    monkeypatch.setattr(journal, "_CHECKPOINT_EVERY", 4)
    with open_town(town) as ledger:
        for number in range(5):
            answered(ledger, name=number)
        ledger.verify()
    assert "checkpoint" in kinds(town)
    with open_town(town) as ledger:
        answered(ledger, name="next")
        ledger.verify()
    assert kinds(town).count("open") == 1


def test_datasets_of_one_name_are_told_apart_by_their_schemas(town):
    """What one of them spent before it named the account is not hidden by what the other has spent of it."""
    with open_town(town) as ledger:
        answered(ledger, event=Pure(0.5))
    twin = beside(town, town.dataset)
    with opened(replace(twin, lifetime=None)) as ledger:
        answered(ledger, event=Pure(0.5))
    with open_town(twin) as ledger:
        assert ledger.lifetime()[None].spent.epsilon_units == 10**12
        assert len(ledger.lifetime()) == 3


def test_top_ups_of_the_dataset_and_of_the_account_are_known_to_all(town):
    with open_town(town) as ledger, open_town(beside(town, "second")) as second:
        ledger.top_up(None, "more", epsilon=1)
        assert second.lifetime()[town.member].budget.epsilon == 2
        ledger.top_up_lifetime("more for all", epsilon=Fraction(1, 2))
        assert second.lifetime()[None].budget.epsilon == 2
        ledger.top_up("alice", "more", epsilon=1)
        answered(ledger, event=Pure(Fraction(19, 10)))
        assert isinstance(second.reserve("alice", "1", plan(1), Pure(Fraction(1, 10))), Hold)
    open_town(town).close()  # the catalogs still say what they said


def test_a_dataset_that_shares_nothing_says_so(shared):
    with opened(shared) as ledger:
        assert ledger.lifetime() == {}
        with pytest.raises(Refusal, match="shares no account with others"):
            ledger.top_up_lifetime("more", epsilon=1)


def test_a_count_that_does_not_add_up_is_found(town):
    with opened(replace(town, lifetime=None)) as ledger:
        answered(ledger, event=Pure(0.25))
    open_town(town).close()
    lies = town.shared
    with closing(lies.open_reader()) as reader, reader.snapshot() as records:
        records.save(town.folder / "copy.db")
    rewrite(town.folder / "copy.db", 3, lambda entry: entry["spent"]["dataset"].update(epsilon="1"))
    with pytest.raises(Refusal, match="has an entry 3 that does not add up"):
        restore(lies, town.folder / "copy.db", Restoration(LIFETIME, {}))


def test_a_restored_dataset_counts_its_gap_in_the_account(town, tmp_path):
    with open_town(town) as ledger:
        answered(ledger, event=Pure(0.25))
        ledger.backup(tmp_path / "copy.db")
        answered(ledger, name="lost", event=Pure(0.25))
    gap = {"dataset": Pure(0.5), "analyst:alice": Pure(0.5), "analyst:bob": None}
    restore(town, tmp_path / "copy.db", Restoration(BUDGET, ANALYSTS, gap))
    with open_town(town) as ledger:
        assert ledger.spent().epsilon_units == 75 * 10**10
        assert ledger.lifetime()[town.member].spent.epsilon_units == 75 * 10**10


def test_an_account_is_not_replaced_while_a_dataset_uses_it(town, tmp_path):
    with open_town(town) as ledger:
        answered(ledger)
        with closing(town.shared.open_reader()) as reader, reader.snapshot() as records:
            backup(records, tmp_path / "copy.db")
        with pytest.raises(Refusal, match="The ledger is in use"):
            restore(town.shared, tmp_path / "copy.db", Restoration(LIFETIME, {}))
        answered(ledger, name="next")


def test_datasets_race_for_one_account_and_never_overspend_it(town):
    """Two processes of sixteen threads: a hundred spends of a hundredth are granted to both together, and no more."""
    budget = Budget(epsilon=1)
    open_town(town, lifetime=budget).close()
    places = [town, beside(town, "second")]
    racers = [child("race_for_lifetime", place, number) for number, place in enumerate(places)]
    granted = [int(racer.communicate(timeout=HANG_SECONDS)[0]) for racer in racers]
    assert sum(granted) == 100
    with open_town(town, lifetime=budget) as ledger:
        assert ledger.lifetime()[None].spent.epsilon_units == units_of(100)
        assert [ledger.lifetime()[name].spent.epsilon_units for name in (place.member for place in places)] == list(
            map(units_of, granted)
        )
