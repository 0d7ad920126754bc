"""How a plan is rewritten on its way to its price: a tuple of rules, each from plans to plans, applied in this order.

All questions that one price pays for are rewritten together, because they may share what they measure. No rule reads
data, and none changes what an answer means: only how it is measured.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from adomnia.catalog.model import Catalog
from adomnia.pricing.caps import apply_caps
from adomnia.pricing.earlier import keep_quantiles
from adomnia.pricing.effort import apply_effort
from adomnia.pricing.joint import join_sums
from adomnia.pricing.presence import join_counts
from adomnia.pricing.questions import PlannedQuestion
from adomnia.pricing.suited import suit_methods, suit_methods_as_before
from adomnia.pricing.ways import choose_ways
from adomnia.pricing.weights import apply_weights
from adomnia.privacy.events import Price

Rule: TypeAlias = Callable[[Sequence[PlannedQuestion], Price, Catalog], list[PlannedQuestion]]


@dataclass(frozen=True)
class Rules:
    """The rules of one version: of a question with a price, and of one that names an error or nothing.

    The price of a question that names an error is found between `before_error` and `after_error`; weights follow from
    it. A question that names no price has no caps yet.
    """

    priced: tuple[Rule, ...]
    before_error: tuple[Rule, ...]
    after_error: tuple[Rule, ...]
    without_price: tuple[Rule, ...]

    @property
    def before_caps(self) -> tuple[Rule, ...]:
        """Those that decide how many measurements there are, whatever the caps."""
        return self.priced[: self.priced.index(apply_caps)]


CURRENT = Rules(
    priced=(apply_weights, join_sums, suit_methods, apply_caps, choose_ways, join_counts, apply_effort),
    before_error=(join_sums, apply_caps, choose_ways),
    after_error=(apply_effort,),
    without_price=(apply_weights, join_sums, suit_methods, choose_ways, join_counts),
)
# As answers of earlier versions were measured, which are given again as they are stored: the last first.
SECOND = Rules(
    priced=(keep_quantiles, apply_weights, join_sums, suit_methods_as_before, *CURRENT.priced[3:]),
    before_error=(keep_quantiles, *CURRENT.before_error),
    after_error=CURRENT.after_error,
    without_price=(keep_quantiles, apply_weights, join_sums, suit_methods_as_before, *CURRENT.without_price[3:]),
)
FIRST = Rules(
    priced=(keep_quantiles, apply_weights, apply_caps, choose_ways, join_counts, apply_effort),
    before_error=(keep_quantiles, apply_caps, choose_ways),
    after_error=CURRENT.after_error,
    without_price=(keep_quantiles, apply_weights, choose_ways, join_counts),
)
VERSIONS = (CURRENT, SECOND, FIRST)


def rewrite(
    drafts: Sequence[PlannedQuestion], price: Price, catalog: Catalog, rules: tuple[Rule, ...]
) -> list[PlannedQuestion]:
    """The drafts after all rules."""
    rewritten = list(drafts)
    for rule in rules:
        rewritten = rule(rewritten, price, catalog)
    return rewritten
