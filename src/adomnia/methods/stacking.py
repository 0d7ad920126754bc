"""Puts the tables of groups one below the other."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, product

import numpy as np

from adomnia.methods.contract import Factor
from adomnia.statistics.contract import Bounds, Estimate, Fact, ResultTable


def stack(by: Sequence[Factor], tables: Sequence[ResultTable]) -> ResultTable:
    """One table of all groups, whose first columns say which group a row is of."""
    groups = list(product(*(factor.levels for factor in by)))
    repeated = [group for group, table in zip(groups, tables, strict=True) for _ in range(table.rows)]
    named = {factor.name: tuple(group[place] for group in repeated) for place, factor in enumerate(by)}
    first = tables[0]
    labels = {name: tuple(chain.from_iterable(table.labels[name] for table in tables)) for name in first.labels}
    return replace(
        first,
        labels={**named, **labels},
        estimates={name: stack_estimates([table.estimates[name] for table in tables]) for name in first.estimates},
        facts={name: _stack_facts([table.facts[name] for table in tables]) for name in first.facts},
        notes=tuple(dict.fromkeys(note for table in tables for note in table.notes)),
        model={},
    )


def stack_estimates(estimates: Sequence[Estimate]) -> Estimate:
    """One estimate of the numbers of several, in their order."""

    def interval(confidence: float, cells: int) -> Bounds:
        ends = [each.interval(confidence, cells) for each in estimates]
        lower, upper = (np.concatenate([np.ravel(end[side]) for end in ends]) for side in (0, 1))
        return lower, upper

    values = np.concatenate([np.ravel(each.values) for each in estimates])
    whole = all(each.whole for each in estimates)
    return Estimate(values, interval, estimates[0].method, whole, estimates[0].dates, about=estimates[0].about)


def _stack_facts(facts: Sequence[Callable[[], Sequence[Fact]]]) -> Callable[[], tuple[Fact, ...]]:
    return lambda: tuple(chain.from_iterable(each() for each in facts))
