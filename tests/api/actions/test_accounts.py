"""Adding to budgets: what is refused before anything is written, and what is added where it is not."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.api.actions.accounts import foresee_top_up, identify_amounts, identify_budget, list_coalitions, read_top_up
from adomnia.errors import Refusal
from kit import hospital
from kit.visits import visit_as_owner

DELTA = hospital.CATALOG.replace("[budget]\n", "[budget]\nevent_delta = 2e-8\n")


@pytest.fixture(scope="module")
def visit(tmp_path_factory):
    catalog = hospital.declare(tmp_path_factory.mktemp("accounts") / "hospital", DELTA)
    with hospital.curated(catalog, [hospital.person(1)], []) as curator:
        yield visit_as_owner(curator)


@pytest.mark.parametrize(
    ("written", "code"),
    [
        (("nobody", "1", "0", "more"), "unknown_analyst"),
        (("alice", "-1", "0", "more"), "bad_price"),
        (("alice", "0", "0", "more"), "bad_price"),
        (("alice", "1", "1", "more"), "bad_price"),
        (("alice", "much", "0", "more"), "bad_price"),
        (("alice", "1", "0", ""), "bad_price"),
        (("alice", "1", "0", "two\nlines"), "bad_price"),
        ((None, "1", "-1e-9", "more"), "bad_price"),
    ],
)
def test_what_adds_nothing_that_a_budget_can_hold_is_refused(visit, written, code):
    before = [visit.curator.ledger.account(name) for name in ("alice", None)]
    with pytest.raises(Refusal) as refused:
        read_top_up(visit, written)
    assert refused.value.code == code
    assert [visit.curator.ledger.account(name) for name in ("alice", None)] == before


def test_amounts_are_read_as_texts_and_as_numbers_alike(visit):
    written, numbers = ("alice", "0.1", "1e-9", "more"), ("alice", 0.1, 1e-9, "more")
    assert read_top_up(visit, written) == read_top_up(visit, numbers)


def test_events_keep_their_share_of_the_delta(visit):
    before, after = foresee_top_up(visit, (None, "0", "1e-6", "more"))
    assert after.budget.delta == before.budget.delta + Fraction(1, 10**6)
    assert after.budget.event_delta / after.budget.delta == before.budget.event_delta / before.budget.delta
    assert before.budget.event_delta == Fraction(2, 10**8) != before.budget.delta / 2
    assert visit.curator.ledger.account() == before


def test_of_a_budget_that_had_no_delta_events_get_half(visit):
    before, after = foresee_top_up(visit, ("alice", "0", "1e-6", "more"))
    assert before.budget.delta == 0
    assert after.budget.event_delta == Fraction(1, 2 * 10**6)


def test_a_budget_is_told_from_any_other(visit):
    budget = visit.curator.ledger.account("bob").budget
    assert identify_budget(budget) == identify_amounts(100_000, 1e-7) == identify_amounts(1e5, Fraction(1, 10**7))
    assert len({identify_budget(budget), identify_amounts(100_000, 0), identify_amounts(100_000.5, 1e-7)}) == 3
    assert identify_amounts(float("inf"), 0) == ""  # which no budget is


def test_coalitions_are_of_the_budgets_with_what_was_added(visit):
    whole = visit.curator.ledger.account().budget.epsilon
    visit.curator.ledger.top_up(None, "second year", epsilon=1)
    _, _, catalog = list_coalitions(visit)
    assert catalog.budget.epsilon == whole + 1
    assert catalog.analyst("alice").budget == visit.curator.ledger.account("alice").budget
