from __future__ import annotations

from fractions import Fraction

from adomnia.catalog.model import Policy
from adomnia.console.budget.prices_ahead import list_prices
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Budget, Filter

ACCOUNT = Filter(Budget(epsilon=2))


def test_nothing_is_ahead_where_the_analyst_names_the_price():
    assert list_prices(Policy("on_demand"), ACCOUNT) == []


def test_equal_prices_end_with_the_budget():
    ahead = list_prices(Policy("equal_split", questions=4), ACCOUNT.after(Pure(0.5)))
    assert [(each.number, each.price, each.left) for each in ahead] == [
        (1, "0.5", "ε 1"),
        (2, "0.5", "ε 0.5"),
        (3, "0.5", "ε 0"),
    ]


def test_geometric_prices_are_shares_of_what_is_left():
    ahead = list_prices(Policy("geometric", spend=Fraction(1, 2)), ACCOUNT)
    assert [each.price for each in ahead[:3]] == ["1", "0.5", "0.25"]
    assert [each.share for each in ahead[:3]] == [1, 0.5, 0.25]
    assert len(ahead) == 12


def test_nothing_is_ahead_of_a_budget_that_is_used_up():
    assert list_prices(Policy("equal_split", questions=4), ACCOUNT.after(Pure(2))) == []
