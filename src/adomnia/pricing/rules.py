"""How a plan is rewritten on its way to its price: a tuple of rules, each from plans to plans, applied in this order.

All questions that one price pays for are rewritten together, because they may share what they measure. No rule reads
data, and none changes what an answer means: only how it is measured.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from adomnia.catalog.model import Catalog
from adomnia.pricing.caps import apply_caps
from adomnia.pricing.effort import apply_effort
from adomnia.pricing.presence import join_counts
from adomnia.pricing.questions import PlannedQuestion
from adomnia.pricing.ways import choose_ways
from adomnia.pricing.weights import apply_weights
from adomnia.privacy.events import Price

Rule: TypeAlias = Callable[[Sequence[PlannedQuestion], Price, Catalog], list[PlannedQuestion]]

RULES: tuple[Rule, ...] = (apply_weights, apply_caps, choose_ways, join_counts, apply_effort)

# Of a question that names an error: its weights follow from the price that is found, and so do the rest.
RULES_BEFORE_ERROR: tuple[Rule, ...] = (apply_caps, choose_ways)
RULES_AFTER_ERROR: tuple[Rule, ...] = (apply_effort,)

# Of a question that names no price, which no cap can suit yet.
RULES_WITHOUT_PRICE: tuple[Rule, ...] = (apply_weights, choose_ways, join_counts)


def rewrite(
    drafts: Sequence[PlannedQuestion], price: Price, catalog: Catalog, rules: tuple[Rule, ...] = RULES
) -> list[PlannedQuestion]:
    """The drafts after all rules."""
    rewritten = list(drafts)
    for rule in rules:
        rewritten = rule(rewritten, price, catalog)
    return rewritten
