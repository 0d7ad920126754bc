"""The statistics that methods are made of: rounds of measurements over one relation, and a table as their result."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain, product
from typing import Any, ClassVar, Self

import numpy as np

from adomnia.messages.texts import Note
from adomnia.methods.contract import Factor
from adomnia.privacy.events import Composed, Price
from adomnia.privacy.expressions import Expression, call
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.keys import Bucket, Key, key_cells
from adomnia.privacy.queries import Aggregate, Query
from adomnia.privacy.relations import Relation, Where
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Bounds, Estimate, Fact, Measure, Measured, ResultTable, Round, Steps


class Analysis(ABC):
    """A statistic whose result is a table. A subclass is a frozen dataclass with a tag, a name and a relation.

    `shares` are the queries of its first round with their parts of the price, which add up to 1; of a query that later
    rounds follow from, the part pays for them too. An analysis is alone in its plan: nobody else splits its price.
    """

    tag: ClassVar[str]
    name: ClassVar[str]
    rules: ClassVar[int] = 1  # raised when its rounds change: tests/contracts/test_rounds.py
    # Columns whose numbers have one unit and whose error follows from the price, or from that and the number of rows:
    # error= is about the first of them that a question shows.
    error_columns: ClassVar[tuple[str, ...]] = ()
    relation: Relation

    @property
    @abstractmethod
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        """What it starts from, and the parts of the price."""

    @abstractmethod
    def planned_measures(self, price: Price) -> Round:
        """All measures of all rounds, as far as they are known; of constants that depend on noise, the extremes."""

    @abstractmethod
    def steps(self, price: Price) -> Steps:
        """Yield rounds, be sent what was measured, return a table."""

    @property
    def query(self) -> Query:
        return self.queries[0]

    @property
    def operands(self) -> tuple[Aggregate | Fraction, ...]:
        return ()

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        return tuple(query for query, _ in self.shares)

    @cached_property
    def continuations(self) -> tuple[Hashable, ...]:
        """Nothing that others measure is shared with it: its queries have prices of their own."""
        return (_Continuation(self),) * len(self.shares)

    @property
    def comparison(self) -> Note | None:
        """Which ways to measure it were compared, and what came of it."""
        return None

    @property
    def caveats(self) -> tuple[Note, ...]:
        """What a quote has to say beside the errors to expect."""
        return ()

    @property
    def needs_delta(self) -> bool:
        """Whether it is private but for a delta, which a question has to name: then it is a field, None until it is."""
        return False

    def with_delta(self, delta: Fraction) -> Self:
        """The same with the delta that the question names."""
        changed: Any = replace  # every subclass is a dataclass
        found: Self = changed(self, delta=delta)
        return found

    def expected_result(self, _price: Price, _rows: int) -> ResultTable | None:
        """What would come out of so many rows, where finding that by the rounds themselves would take too long."""
        return None

    def specialize_for(self, _price: Price) -> Self:
        """The same, measured in the way that has the least noise for that kind of price."""
        return self

    def specialize_as_before(self, price: Price) -> Self:
        """The same as version 0.1.0 measured it, whose answers are stored."""
        return self.specialize_for(price)

    def event(self, price: Price) -> Composed:
        return Composed(price * part for _, part in self.shares)

    def split(self, _portions: tuple[Fraction, ...]) -> Self:
        raise TypeError(f"{type(self).__name__} states the parts of its price itself.")

    def map_queries(self, change: Callable[[Query], Query]) -> Self:
        changed: Any = replace  # every subclass is a dataclass
        found: Self = changed(self, relation=change(Query(self.relation, (), Rows())).relation)
        return found


@hashed_once
@dataclass(frozen=True)
class _Continuation:
    """All that an analysis does, which is looked up once for each of its queries."""

    analysis: Analysis


class SingleRound(Analysis):
    """An analysis of one round, repeated for each cell of the keys in `by`.

    Its queries have those keys first. `tabulate` sees the measurements of one cell, without these axes.
    """

    by: tuple[Factor, ...]

    @abstractmethod
    def tabulate(self, *measured: Measured) -> ResultTable:
        """The table of one group, from what was measured of it."""

    def planned_measures(self, price: Price) -> Round:
        return tuple(Measure(query, price * part) for query, part in self.shares)

    def steps(self, price: Price) -> Steps:
        measured = yield self.planned_measures(price)
        return tabulate_groups(self.by, measured, self.tabulate)


def tabulate_groups(
    by: Sequence[Factor], measured: Sequence[Measured], tabulate: Callable[..., ResultTable]
) -> ResultTable:
    """The tables of all groups, one below the other; without groups the only one."""
    if not by:
        return tabulate(*measured)
    known: dict[tuple[int, ...], ResultTable] = {}  # before data is read all groups are alike: one is enough
    tables = []
    for cell in _cells(by):
        own = [_of_cell(each, cell) for each in measured]
        released = tuple(chain.from_iterable(each.values.ravel().tolist() for each in own))
        tables.append(known[released] if released in known else known.setdefault(released, tabulate(*own)))
    return stack(by, tables)


def _cells(by: Sequence[Factor]) -> Iterator[tuple[int, ...]]:
    return product(*(range(len(key_cells(factor.key))) for factor in by))


def _of_cell(measured: Measured, cell: tuple[int, ...]) -> Measured:
    return Measured(measured.values[cell], measured.mechanism, (measured, ("cell", cell)))


def keys_of(*factors: Factor) -> tuple[Key, ...]:
    """The keys of some factors, in their order."""
    return tuple(factor.key for factor in factors)


def with_values(relation: Relation, *values: Expression | Factor) -> Relation:
    """The rows where none of these is missing."""
    for value in values:
        relation = Where(relation, call("not", call("is null", _value_of(value))))
    return relation


def _value_of(value: Expression | Factor) -> Expression:
    if not isinstance(value, Factor):
        return value
    return value.key.value if isinstance(value.key, Bucket) else value.key


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
