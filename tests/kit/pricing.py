"""What a plan pays for, as measures: each query that it starts from, at its part of the price."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.pricing.parts import portion
from adomnia.statistics.contract import Measure

if TYPE_CHECKING:
    from adomnia.plans.plan import Plan
    from adomnia.privacy.events import Price


def paid(plan: Plan, price: Price) -> tuple[Measure, ...]:
    return tuple(Measure(query, price * part) for (query, _), part in portion(plan).items())
