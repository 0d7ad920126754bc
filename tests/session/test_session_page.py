"""What a session prints: prices that it can pay, tables by what they hide, and nothing where nothing is known."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from adomnia.catalog.model import Policy
from adomnia.pricing.policies import terms
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Budget, Filter
from adomnia.privacy.units import ROW
from adomnia.session.accounts import Budgets
from adomnia.session.session_page import SessionPage

SHARED = Filter(Budget(epsilon=100))


def page(catalog, personal, policy=None, **facts):
    budgets = Budgets(personal, facts.pop("shared", SHARED), terms(policy or Policy("on_demand"), personal))
    return SessionPage("Session of alice.", catalog, budgets, **facts)


def calls(told):
    return [line.strip() for line in str(told).splitlines() if line.startswith("  ")]


@pytest.mark.parametrize(
    ("personal", "policy", "price"),
    [
        (Filter(Budget(epsilon=2)), None, ", epsilon=0.1)"),
        (Filter(Budget(epsilon=Fraction(1, 20))), None, ", epsilon=0.05)"),
        (Filter(Budget(epsilon=2)), Policy("on_demand", ceiling=Fraction(1, 50)), ", epsilon=0.02)"),
        (Filter(Budget(epsilon=2)), Policy("equal_split", questions=20), 'GROUP BY sex")'),
    ],
)
def test_a_first_question_costs_what_can_be_paid(catalog, personal, policy, price):
    assert calls(page(catalog, personal, policy))[1].endswith(price)


def test_where_nothing_is_left_only_what_is_free_is_named(catalog):
    spent = Filter(Budget(epsilon=1)).after(Pure(1))
    assert "Left: nothing." in str(page(catalog, spent))
    assert calls(page(catalog, spent)) == ["session.answers()", "session.releases()", 'session.preview("people")']


def test_a_dataset_that_has_less_left_than_the_analyst_says_so(catalog):
    own = Filter(Budget(epsilon=2))
    assert "for everybody: epsilon 1." in str(page(catalog, own, shared=Filter(Budget(epsilon=1))))
    assert "for everybody" not in str(page(catalog, own))


def test_tables_say_what_they_hide_and_wide_ones_are_cut(catalog):
    told = str(page(catalog, Filter(Budget(epsilon=2)), releases=("ages",)))
    assert "rows of a person" in told
    assert "Releases: releases.ages." in told
    people = catalog.table("people")
    wide = replace(people, columns=tuple(replace(people.columns[1], name=f"c{place}") for place in range(12)))
    by_row = replace(catalog, unit=ROW, tables=(wide,))
    told = str(page(by_row, Filter(Budget(epsilon=2))))
    assert "each row by itself" in told
    assert "c7, ... (12 in all)" in told


def test_public_tables_alone_are_asked_without_a_price(catalog):
    public = replace(catalog, tables=tuple(table for table in catalog.tables if table.public), views=())
    told = calls(page(public, Filter(Budget(epsilon=2))))
    assert told[0].startswith("session.explain(")
    assert not any("epsilon" in call for call in told)


def test_what_is_not_known_is_not_said():
    told = SessionPage("Session of alice.", None, None)
    assert (str(told), told.html()) == ("Session of alice.", "<p>Session of alice.</p>")
