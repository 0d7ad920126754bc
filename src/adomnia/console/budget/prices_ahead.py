"""What the policy makes the next questions cost: their prices, one after the other, if all of them are asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.pricing.policies import terms
from adomnia.privacy.amounts import show_down, show_up

if TYPE_CHECKING:
    from adomnia.catalog.model import Policy
    from adomnia.privacy.filters import Filter

_MOST = 12


@dataclass(frozen=True)
class PriceAhead:
    """The price of the k-th question from now, as a share of the next one's too, and what is left after it."""

    number: int
    price: str
    share: float
    left: str


def list_prices(policy: Policy, account: Filter) -> list[PriceAhead]:
    """The next prices that the policy sets; none where the analyst names them, or nothing is left."""
    prices: list[PriceAhead] = []
    first = terms(policy, account).price
    while first is not None and len(prices) < _MOST:
        price = terms(policy, account).price
        if price is None:
            break
        try:
            account = account.after(price)
        except Refusal:  # rounding left less than a whole price
            break
        share = float(price.epsilon / first.epsilon)
        left = account.left()
        rest = f"ε {show_down(left.epsilon)}" if account.branches().epsilon else f"ρ {show_down(left.rho)}"
        prices.append(PriceAhead(len(prices) + 1, show_up(price.epsilon), share, rest))
    return prices
