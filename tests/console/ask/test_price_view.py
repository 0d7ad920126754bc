"""What a question does to a budget."""

from __future__ import annotations

from adomnia.console.ask.price_view import build_bar
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.filters import Budget, Filter


def test_spent_this_and_left_make_the_whole():
    bar = build_bar(Filter(Budget(epsilon=2)).after(Pure(0.5)), Pure(0.25))
    assert (bar.sign, bar.spent, bar.now, bar.left, bar.whole) == ("ε", "0.5", "0.25", "1.25", "2")
    assert (bar.spent_share, bar.now_share) == (0.25, 0.125)
    assert bar.says == "Spent 0.5, this question 0.25, left after it 1.25, of 2"


def test_what_cannot_be_paid_is_not_drawn():
    bar = build_bar(Filter(Budget(epsilon=1)), Pure(2))
    assert (bar.now, bar.now_share, bar.left) == ("", 0.0, "1")


def test_a_budget_that_is_paid_in_rho_is_drawn_in_rho():
    bar = build_bar(Filter(Budget(epsilon=2, delta=1e-6, approximate=True)), Concentrated(0.01))
    assert (bar.sign, bar.word, bar.now) == ("ρ", "rho", "0.01")
