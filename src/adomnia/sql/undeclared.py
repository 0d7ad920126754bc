"""Groups by keys whose values nobody declared: first the values are found that enough people have, then measured."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.mechanisms.threshold import KeyPrice, Threshold
from adomnia.noise import Integers
from adomnia.privacy.aggregates import People
from adomnia.privacy.amounts import DELTA_UNIT, Number, shown_up
from adomnia.privacy.events import Approximate, Composed, Concentrated, Event, Price, Pure
from adomnia.privacy.expressions import Expression
from adomnia.privacy.keys import Bucket, Key, Label, Names, is_open, key_cells
from adomnia.privacy.kinds import Day, Quantity, Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import recapped
from adomnia.sql.buckets import MOST_CELLS
from adomnia.sql.choices import rewritten
from adomnia.sql.explain import describe
from adomnia.sql.parts import amount, event
from adomnia.sql.plan import Plan
from adomnia.sql.words import in_words

if TYPE_CHECKING:
    from adomnia.sql.payment import Priced

MOST_NAMED = 10_000

Values: TypeAlias = tuple[Label, ...]  # one of each open key


@dataclass(frozen=True)
class Finding:
    """How the values of open keys are found: people are counted, and values that enough of them have are named."""

    query: Query
    price: KeyPrice
    minimum: int

    @cached_property
    def threshold(self) -> Threshold:
        """How many people are enough."""
        return Threshold.calibrated(self.query.sensitivity(), self.price, self.minimum)

    @property
    def amount(self) -> Fraction:
        """The epsilon or the rho of its price."""
        return self.price.epsilon if isinstance(self.price, Approximate) else self.price.rho

    def __str__(self) -> str:
        names = " and ".join(describe(key.written) for key in in_words(self.query).keys if isinstance(key, Bucket))
        price = f"{'epsilon' if isinstance(self.price, Approximate) else 'rho'} {shown_up(self.amount)}"
        fewer = f", and none that fewer than {self.minimum:,} have" if self.minimum > 1 else ""
        return (
            f"Values of {names} are found first, for {price} and delta {shown_up(self.price.delta)}: "
            f"one that about {self.threshold.people:,} people have is named every second time{fewer}. "
            "From such a spend on, the budget adds up rho and no longer epsilon"
        )

    def chosen(self, named: Sequence[Values], people: Integers) -> tuple[Values, ...]:
        """In an order of their own, those of the most people that make no more groups than there may be."""
        ranked: list[Any] = [values for _, values in sorted(zip((-people).tolist(), named, strict=True))]
        seen: list[set[Label]] = [set() for _ in self.query.keys]
        for place, values in enumerate(ranked):
            for labels, label in zip(seen, values, strict=True):
                labels.add(label)
            if prod(map(len, seen)) > prod(self.query.shape):
                return tuple(sorted(ranked[:place]))
        return tuple(sorted(ranked))


def opened(written: Expression) -> Bucket | None:
    """Groups by whatever values an expression has, where these can be named: texts, days and whole numbers."""
    match written.kind:
        case Text():
            return Bucket(written, Names(("",), MOST_NAMED), written)
        case Day():
            return Bucket(written, Names((date.min,), MOST_NAMED), written)
        case Quantity(whole=True):
            return Bucket(written, Names((0,), MOST_NAMED), written)
    return None


def shared(keys: tuple[Key, ...], named: int = MOST_NAMED) -> tuple[Key, ...]:
    """The same keys, where the open ones together make no more groups than may be `named`."""
    declared = prod(len(key_cells(key)) for key in keys if not is_open(key))
    together, number = min(named, max(1, MOST_CELLS // declared)), sum(map(is_open, keys))
    most = next(each for each in range(together, 0, -1) if each**number <= together)
    return tuple(replace(key, among=Names(key.labels, most)) if is_open(key) else key for key in keys)


def needed(catalog: Catalog) -> str:
    """What it takes to have values found."""
    if catalog.budget.approximate:
        return "have those found that enough people share: add delta=1e-9"
    return "have them found: with approximate = true in [budget], which is the owner's to set, add delta=1e-9"


def finding(plan: Plan, part: Price, delta: Number | None, catalog: Catalog) -> Finding | None:
    """How the values of a plan's open keys are found, for the price of one of its measurements and delta.

    With Laplace noise one row of a person in each table is enough: with more, the threshold rises faster than the
    number of people who are seen to have a value (docs/proofs/threshold.md).
    """
    keys = tuple(filter(is_open, plan.keys))
    if not keys or delta is None:
        if delta is not None:
            why = "pays for finding the values of keys, and all keys of this question are declared"
            raise Refusal("delta=", why, "leave it out", code="bad_price")
        return None
    pure = isinstance(part, Pure)
    relation = recapped(plan.relation, {table.name: 1 for table in catalog.tables}) if pure else plan.relation
    found = Finding(Query(relation, keys, People()), _price(part, delta), catalog.minimum_frequency)
    try:
        _ = found.threshold  # what cannot be bought is found here, not later
    except ValueError:
        why = "makes noise that is too small or too large for a threshold"
        raise Refusal("The price", why, "name one between 0.001 and 10", code="bad_price") from None
    return found


def _price(part: Price, delta: Number) -> KeyPrice:
    with suppress(ValueError):
        price = Approximate(part.epsilon, delta) if isinstance(part, Pure) else Concentrated(part.rho, delta)
        if price.delta >= DELTA_UNIT:
            return price
    raise Refusal(f"delta={delta}", "is not between 1e-30 and 1", "write delta=1e-9", code="bad_price")


def findings(priced: Sequence["Priced"]) -> tuple[Finding, ...]:
    """How the values of open keys are found, each once."""
    return tuple(dict.fromkeys(each.finding for each in priced if each.finding is not None))


def total(asked: "Priced") -> Price:
    """The price that was named for a question: of its measurements, and of finding values before them."""
    found = asked.finding
    return asked.price if found is None else asked.price * (1 + found.amount / amount(asked.price))


def cost(priced: Sequence["Priced"]) -> Event:
    """What all questions cost together."""
    measured = event(*((each.plan, each.price) for each in priced))
    found = findings(priced)
    return Composed([*(each.price for each in found), measured]) if found else measured


def tagged(plan: Plan, found: Finding) -> Plan:
    """The plan whose open keys say how they are found: what may be found otherwise is not taken for the same."""
    keys = [key for key in plan.keys if is_open(key)]
    among = [Names(key.labels, len(key.cells), found.price, found.minimum) for key in keys]
    return _with_keys(plan, {key: replace(key, among=names) for key, names in zip(keys, among, strict=True)})


def resolved(plan: Plan, named: Sequence[Values]) -> Plan:
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

    def changed(source: Any) -> Any:  # noqa: ANN401 - of a plan, whatever it is made of
        if isinstance(source, Key):
            return known.get(source, source)
        return source

    def with_keys(statistic: Any) -> Any:  # noqa: ANN401 - every statistic has a query
        return replace(statistic, query=replace(statistic.query, keys=tuple(map(changed, statistic.query.keys))))

    plan = plan.with_statistics(with_keys)
    return replace(
        plan,
        keys=tuple(map(changed, plan.keys)),
        outputs=tuple(replace(each, source=changed(each.source)) for each in plan.outputs),
        order=tuple(replace(each, by=changed(each.by)) for each in plan.order),
        having=None if plan.having is None else rewritten(plan.having, keys=changed),
    )


def _cells(plan: Plan, known: Mapping[Key, Bucket], named: Sequence[Values]) -> tuple[int, ...]:
    """The cells of values that were named together, counted with the last key fastest."""
    shape = [len(key_cells(known.get(key, key))) for key in plan.keys]
    flags = np.zeros([size if key in known else 1 for key, size in zip(plan.keys, shape, strict=True)], dtype=bool)
    places = [{label: place for place, label in enumerate(key.labels)} for key in known.values()]
    for values in named:
        found = iter([place[label] for place, label in zip(places, values, strict=True)])
        flags[tuple(next(found) if key in known else 0 for key in plan.keys)] = True
    return tuple(np.flatnonzero(np.broadcast_to(flags, shape)).tolist())
