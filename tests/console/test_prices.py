from __future__ import annotations

from fractions import Fraction

from adomnia.console.prices import Paid, show_paid
from adomnia.privacy.events import Approximate, Composed, Concentrated, Pure
from adomnia.wire.amounts import count_cost


def test_a_price_is_shown_in_its_own_currency():
    assert show_paid(count_cost(Composed([Pure(0.1), Pure(0.15)]))) == Paid("ε", "epsilon", "0.25", "")
    assert show_paid(count_cost(Concentrated(Fraction(1, 100)))) == Paid("ρ", "rho", "0.01", "")


def test_a_delta_stands_beside_it():
    paid = show_paid(count_cost(Approximate(Fraction(1, 2), Fraction(1, 10**9))))
    assert str(paid) == "epsilon 0.5 and delta 1e-9"
