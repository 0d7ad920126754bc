"""Methods measure what has the least noise for the kind of their price: Laplace's suits other sums than Gauss's."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from adomnia.catalog.model import Catalog
from adomnia.methods.analysis import Analysis
from adomnia.pricing.questions import PlannedQuestion
from adomnia.privacy.events import Price
from adomnia.statistics.contract import Statistic


def suit_methods(drafts: Sequence[PlannedQuestion], price: Price, _catalog: Catalog) -> list[PlannedQuestion]:
    """Rule: every analysis is the one that suits the price."""
    return _suit(drafts, lambda each: each.suit(price))


def suit_methods_as_before(drafts: Sequence[PlannedQuestion], price: Price, _catalog: Catalog) -> list[PlannedQuestion]:
    """Rule: every analysis is the one that suited the price in version 0.1.0."""
    return _suit(drafts, lambda each: each.suit_before(price))


def _suit(drafts: Sequence[PlannedQuestion], choose: Callable[[Analysis], Analysis]) -> list[PlannedQuestion]:
    def suit(statistic: Statistic) -> Statistic:
        return choose(statistic) if isinstance(statistic, Analysis) else statistic

    suited = [each.plan.with_statistics(suit) if each.plan.view is not None else each.plan for each in drafts]
    return [replace(each, plan=plan) for each, plan in zip(drafts, suited, strict=True)]
