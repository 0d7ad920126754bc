from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.api.access import Role
from adomnia.api.roles import PAGES
from adomnia.console.frame import LINKS, PageFrame, RemainingBudget, describe_remaining
from adomnia.console.rendering import Page, render
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.filters import Budget, Filter

TENTH = Fraction(1, 10)


def test_every_link_leads_to_a_page_of_the_role():
    for role, links in LINKS.items():
        for link in links:
            assert role in PAGES["GET", link.path], link


@pytest.mark.parametrize(
    ("path", "current"),
    [
        ("/owner", "/owner"),
        ("/owner/ledger", "/owner/ledger"),
        ("/owner/catalog/edit", "/owner/catalog"),
        ("/owners", ""),
        ("/account", ""),
    ],
)
def test_the_link_of_a_page_is_the_longest_that_its_path_begins_with(path, current):
    frame = PageFrame("hospital", 1, "olga", Role.OWNER, "", path, LINKS[Role.OWNER])
    assert frame.current == current


def test_an_answer_is_on_the_page_of_its_question_and_a_new_link_in_history():
    for path, current in (("/answers", "/answers"), ("/answers/share", "/answers"), ("/answers/ab", "/ask")):
        frame = PageFrame("hospital", 1, "alice", Role.ANALYST, "", path, LINKS[Role.ANALYST], None)
        assert frame.current == current


def test_a_purse_is_counted_in_the_sum_that_the_budget_is_held_to():
    pure = Filter(Budget(epsilon=2))
    assert describe_remaining(pure) == RemainingBudget("ε", "epsilon", "2", "2", 0.0)
    assert describe_remaining(pure.after(Pure(Fraction(1, 2)))) == RemainingBudget("ε", "epsilon", "1.5", "2", 0.25)
    both = Filter(Budget(epsilon=2, delta=Fraction(1, 10**6), approximate=True)).after(Concentrated(Fraction(1, 100)))
    purse = describe_remaining(both)
    assert (purse.sign, purse.word) == ("ρ", "rho")
    assert 0.1 < purse.spent_share < 0.3


def test_a_purse_that_is_overdrawn_is_empty():
    spent = Filter(Budget(epsilon=1)).after(Pure(1))
    left = describe_remaining(Filter(Budget(epsilon=TENTH), spent.spent))
    assert left == RemainingBudget("ε", "epsilon", "0", "0.1", 1.0)


def test_the_ledger_is_asked_for_the_purse_only_where_it_is_shown():
    asked = []

    def open_account() -> Filter:
        asked.append(1)
        return Filter(Budget(epsilon=2))

    frame = PageFrame("hospital", 1, "alice", Role.ANALYST, "", "/ask", LINKS[Role.ANALYST], open_account)
    render(Page("account.html", {}), "title", frame=frame)
    assert not asked
    assert (frame.remaining.left, frame.remaining.whole, len(asked)) == ("2", "2", 1)
