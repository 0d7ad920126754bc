"""Quantiles as earlier versions measured them: under these rules their stored answers are found and read."""

from collections.abc import Sequence
from dataclasses import replace

from adomnia.catalog.model import Catalog
from adomnia.plans.plan import Plan
from adomnia.pricing.questions import PlannedQuestion
from adomnia.privacy.events import Price
from adomnia.statistics.contract import Statistic
from adomnia.statistics.population.quantile import EarlierPopulationQuantile, PopulationQuantile
from adomnia.statistics.quantile import EarlierQuantile, Quantile


def keep_quantiles(drafts: Sequence[PlannedQuestion], _price: Price, _catalog: Catalog) -> list[PlannedQuestion]:
    """Rule: quantiles were measured with fixed parts of the price."""
    return [replace(each, plan=with_earlier_quantiles(each.plan)) for each in drafts]


def with_earlier_quantiles(plan: Plan) -> Plan:
    """The same plan, whose quantiles are those of earlier versions."""
    return plan.with_statistics(_earlier)


def _earlier(statistic: Statistic) -> Statistic:
    match statistic:
        case Quantile(query=query, share=share):
            return EarlierQuantile(query, share)
        case PopulationQuantile(query=query, share=share):
            return EarlierPopulationQuantile(query, share)
    return statistic
