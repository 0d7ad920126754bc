"""Groups by keys whose values nobody declared: first the values are found that enough people have, then measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np

from adomnia.mechanisms.threshold import KeyPrice, Threshold
from adomnia.noise import Integers
from adomnia.plans.descriptions import describe
from adomnia.plans.plan import Plan
from adomnia.plans.words import in_words
from adomnia.privacy.amounts import show_up
from adomnia.privacy.events import Approximate
from adomnia.privacy.expressions import Expression
from adomnia.privacy.keys import MOST_CELLS, Bucket, Key, Label, Names, is_open, key_cells
from adomnia.privacy.kinds import Day, Quantity, Text
from adomnia.privacy.queries import Query

MOST_NAMED = 10_000

Values: TypeAlias = tuple[Label, ...]  # one of each open key


@dataclass(frozen=True)
class KeyDiscovery:
    """How the values of open keys are found: people are counted, and values that enough of them have are named."""

    query: Query
    price: KeyPrice

    @cached_property
    def threshold(self) -> Threshold:
        """How many people are enough."""
        return Threshold.for_query(self.query, self.price)

    @property
    def minimum(self) -> int:
        """How many people a value must have at least."""
        return self.threshold.minimum

    @property
    def amount(self) -> Fraction:
        """The epsilon or the rho of its price."""
        return self.price.epsilon if isinstance(self.price, Approximate) else self.price.rho

    def __str__(self) -> str:
        return self.say("people")

    def say(self, who: str) -> str:
        """How values are found, in a sentence; `who` has them: people, or rows where each is hidden by itself."""
        names = " and ".join(describe(key.written) for key in in_words(self.query).keys if isinstance(key, Bucket))
        price = f"{'epsilon' if isinstance(self.price, Approximate) else 'rho'} {show_up(self.amount)}"
        fewer = f", and none that fewer than {self.minimum:,} have" if self.minimum > 1 else ""
        return (
            f"Values of {names} are found first, for {price} and delta {show_up(self.price.delta)}: "
            f"one that about {self.threshold.people:,} {who} have is named every second time{fewer}"
        )

    def choose(self, named: Sequence[Values], people: Integers) -> tuple[Values, ...]:
        """In an order of their own, those of the most people that make no more groups than there may be."""
        ranked: list[Any] = [values for _, values in sorted(zip((-people).tolist(), named, strict=True))]
        seen: list[set[Label]] = [set() for _ in self.query.keys]
        for place, values in enumerate(ranked):
            for labels, label in zip(seen, values, strict=True):
                labels.add(label)
            if prod(map(len, seen)) > prod(self.query.shape):
                return tuple(sorted(ranked[:place]))
        return tuple(sorted(ranked))


def open_key(written: Expression) -> Bucket | None:
    """Groups by whatever values an expression has, where these can be named: texts, days and whole numbers."""
    match written.kind:
        case Text():
            return Bucket(written, Names(("",), MOST_NAMED), written)
        case Day():
            return Bucket(written, Names((date.min,), MOST_NAMED), written)
        case Quantity(whole=True):
            return Bucket(written, Names((0,), MOST_NAMED), written)
    return None


def limit_open_keys(keys: tuple[Key, ...], named: int = MOST_NAMED) -> tuple[Key, ...]:
    """The same keys, where the open ones together make no more groups than may be `named`."""
    declared = prod(len(key_cells(key)) for key in keys if not is_open(key))
    simultaneous, number = min(named, max(1, MOST_CELLS // declared)), sum(map(is_open, keys))
    most = next(each for each in range(simultaneous, 0, -1) if each**number <= simultaneous)
    return tuple(replace(key, among=Names(key.labels, most)) if is_open(key) else key for key in keys)


def tag_open_keys(plan: Plan, found: KeyDiscovery) -> Plan:
    """The plan whose open keys say how they are found: what may be found otherwise is not taken for the same."""
    return _with_keys(plan, dict(zip(filter(is_open, plan.keys), found.query.value_keys, strict=True)))


def resolve_open_keys(plan: Plan, named: Sequence[Values]) -> Plan:
    """The plan once the values of its open keys are known: they are public now, like any that were declared.

    Where there are none, the one that is made up stays and is not shown: what follows needs something to measure.
    """
    keys = [key for key in plan.keys if is_open(key)]
    columns: list[Any] = list(zip(*named, strict=True)) if named else [key.labels for key in keys]
    known: dict[Key, Bucket] = {
        key: replace(key, among=Names(tuple(sorted(set(column))))) for key, column in zip(keys, columns, strict=True)
    }
    return replace(_with_keys(plan, known), named=_cells(plan, known, named))


def _with_keys(plan: Plan, known: Mapping[Key, Key]) -> Plan:
    """The plan with other keys, wherever they stand."""
    return plan.with_keys_everywhere(lambda key: known.get(key, key))


def _cells(plan: Plan, known: Mapping[Key, Bucket], named: Sequence[Values]) -> tuple[int, ...]:
    """The cells of values that were named together, counted with the last key fastest."""
    shape = [len(key_cells(known.get(key, key))) for key in plan.keys]
    flags = np.zeros([size if key in known else 1 for key, size in zip(plan.keys, shape, strict=True)], dtype=bool)
    places = [{label: place for place, label in enumerate(key.labels)} for key in known.values()]
    for values in named:
        found = iter([place[label] for place, label in zip(places, values, strict=True)])
        flags[tuple(next(found) if key in known else 0 for key in plan.keys)] = True
    return tuple(np.flatnonzero(np.broadcast_to(flags, shape)).tolist())
