"""How many rows of a person count in each table of a plan, and what that leaves out: from profiles alone, so free.

A cap that is low leaves rows out, one that is high needs noise. The one that is taken costs the least of both at the
price of the plan, over all of its measurements together: they are about the same rows.
"""

from __future__ import annotations

from dataclasses import replace
from math import pi, prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from adomnia.plans.columns import Cap, LeftOut
from adomnia.pricing.parts import split_price, split_together
from adomnia.privacy.events import Concentrated
from adomnia.privacy.keys import is_open
from adomnia.privacy.relations import MOST_ROWS, PerBlock, PerPerson, Private, recap
from adomnia.privacy.units import ROW
from adomnia.statistics.profile import Contributions, hidden_people, ladder
from adomnia.work import spend

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adomnia.catalog import model
    from adomnia.plans.plan import Plan
    from adomnia.pricing.questions import PlannedQuestion
    from adomnia.privacy.events import Price
    from adomnia.privacy.queries import Query
    from adomnia.privacy.relations import Relation
    from adomnia.statistics.contract import Measure, Round, Statistic

_SUPPOSED_GROUPS = 100
_STEPS_OF_A_CAP = 2  # for each measurement
_PASSES = 2  # over the tables of a join, each with the caps of the others as they are


def apply_caps(drafts: Sequence[PlannedQuestion], price: Price, catalog: model.Catalog) -> list[PlannedQuestion]:
    """Rule: as many rows of a person count as suit what is paid; with high effort, as many as may."""
    parts = split_together([each.plan for each in drafts], price)
    return [_capped_draft(each, part, catalog) for each, part in zip(drafts, parts, strict=True)]


def _capped_draft(draft: PlannedQuestion, part: Price, catalog: model.Catalog) -> PlannedQuestion:
    if draft.question.effort == "high":
        return replace(draft, caps=largest_caps(draft.plan, catalog))
    plan, caps = choose_caps(draft.plan, part, catalog)
    return replace(draft, plan=plan, caps=caps)


def choose_caps(plan: Plan, price: Price, catalog: model.Catalog) -> tuple[Plan, tuple[Cap, ...]]:
    """The plan with the caps that suit its price, and what they leave out."""
    tables = _tables(plan, catalog)
    seen, caps = _seen(tables), {table.name: table.rows_per_person for table in tables}
    if seen:
        caps |= _best(_measures(plan, price), caps, seen)
        plan = replace(plan, relation=recap(plan.relation, caps)).with_statistics(lambda one: _with_caps(one, caps))
    return plan, tuple(_told(table, caps[table.name], seen.get(table.name)) for table in _people(tables, catalog))


def largest_caps(plan: Plan, catalog: model.Catalog) -> tuple[Cap, ...]:
    """The caps of a plan that shortens what people add, and so needs no low ones."""
    tables = _tables(plan, catalog)
    seen = _seen(tables)
    told = (_told(table, table.rows_per_person, seen.get(table.name)) for table in _people(tables, catalog))
    return tuple(replace(cap, shortened=True) for cap in told)


def _tables(plan: Plan, catalog: model.Catalog) -> list[model.Table]:
    names = {name for statistic in plan.statistics for name in _capped(statistic.query.read)}
    return [table for table in catalog.tables if table.name in names]


def _seen(tables: list[model.Table]) -> dict[str, Contributions]:
    """What the profiles show; one that shows nobody tells nothing."""
    profiles = {table.name: Contributions.seen(table.profile) for table in tables if table.profile is not None}
    return {name: profile for name, profile in profiles.items() if profile.top}


def _capped(relation: Relation) -> Iterator[str]:
    """The tables of which not all rows of a person are read."""
    match relation:
        case Private(name=name, rows_per_person=rows):
            yield from () if rows == MOST_ROWS else (name,)
        case PerPerson(read=read) | PerBlock(read=read):
            yield from _capped(read)
        case _:
            for source in relation.sources:
                yield from _capped(source)


def _measures(plan: Plan, price: Price) -> Round:
    rounds = (statistic.planned_measures(part) for statistic, part in split_price(plan, price))
    return tuple(dict.fromkeys(measure for each in rounds for measure in each))


def _best(
    measures: tuple[Measure, ...], largest: Mapping[str, int], seen: Mapping[str, Contributions]
) -> dict[str, int]:
    caps = {name: largest[name] for name in seen}
    for _ in range(_PASSES if len(seen) > 1 else 1):
        for name, contributions in seen.items():
            steps = ladder(largest[name])
            spend(_STEPS_OF_A_CAP * len(steps) * len(measures))
            noise = np.array([_noise(measures, caps | {name: step}) for step in steps])
            bias = len(measures) * contributions.bias(np.array(steps, dtype=np.float64), largest[name])
            place = int(np.argmin(bias + noise))
            caps[name] = largest[name] if noise[-1] <= (bias + noise)[place] else steps[place]
    return caps


def _noise(measures: tuple[Measure, ...], caps: Mapping[str, int]) -> float:
    """The mean size of all noise of all cells, in rows."""
    return sum(_groups(measure.query) * _noise_of(measure, caps) for measure in measures)


def _groups(query: Query) -> int:
    """How many cells there are; of keys whose values nobody knows yet, as many as there are supposed to be."""
    sizes = zip(query.keys, query.shape, strict=True)
    return prod(min(size, _SUPPOSED_GROUPS) if is_open(key) else size for key, size in sizes)


def _noise_of(measure: Measure, caps: Mapping[str, int]) -> float:
    query, relation = measure.query, recap(measure.query.relation, caps)
    usual_move = query.aggregate.usual_move
    if usual_move is not None:
        return _size(measure) * relation.rows_per_person / query.relation.rows_per_person / usual_move
    return _size(replace(measure, query=replace(query, relation=relation)))


def _size(measure: Measure) -> float:
    """The mean size of the noise of one cell; that of a Gaussian is sigma * sqrt(2 / pi)."""
    sensitivity, price = measure.query.sensitivity(), measure.price
    if isinstance(price, Concentrated):
        return sensitivity.l2 / sqrt(pi * price.rho)
    return float(sensitivity.l1 / price.epsilon)


def _with_caps(statistic: Statistic, caps: Mapping[str, int]) -> Statistic:
    return statistic.map_queries(lambda query: replace(query, relation=recap(query.relation, caps)))


def _people(tables: list[model.Table], catalog: model.Catalog) -> list[model.Table]:
    """The tables whose rows belong to people: where every row is protected on its own, all of them count."""
    return [] if catalog.unit == ROW else tables


def _told(table: model.Table, cap: int, seen: Contributions | None) -> Cap:
    if seen is None or table.profile is None:
        return Cap(table.name, cap)
    share, deviation = float(seen.dropped(np.array([cap]))[0]) / seen.rows, seen.deviation(cap) / seen.rows
    top = max(seen.top, cap)
    return Cap(table.name, cap, LeftOut(share, deviation, hidden_people(table.profile, top), top))
