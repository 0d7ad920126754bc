"""The one place where data, noise and budget meet."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Protocol

import numpy as np

from adomnia.catalog.model import Catalog
from adomnia.curator.combining import combine
from adomnia.curator.discovery import discover_keys
from adomnia.curator.measurements import Record
from adomnia.curator.scoring import SparseCounts, score
from adomnia.engines.check import (
    Reading,
    check_cells_of_blocks,
    check_histogram,
    check_statement,
    combine_sensitivity,
    distance_sensitivity,
    estimate_sensitivity,
)
from adomnia.engines.contract import Engine, Statement
from adomnia.mechanisms.histograms import SecretHistogram
from adomnia.mechanisms.secret import Secret
from adomnia.noise import Bits, Integers
from adomnia.plans.undeclared import KeyDiscovery, Values
from adomnia.privacy.events import Composed, Event, Price
from adomnia.privacy.losses import covers
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Histogram
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.transforms.distances import Distances
from adomnia.privacy.transforms.estimates import BlockEstimates
from adomnia.privacy.transforms.matrices import Combination
from adomnia.statistics.contract import Measure, Measured, Result, Round, Statistic, Steps
from adomnia.work import spend

_CHARACTERS_OF_A_STEP = 5  # of a statement, to be read and proved


class Measurer(Protocol):
    """Whoever answers measures: the executor from the data, a replay from the record."""

    def measure(self, measures: Round) -> tuple[Measured, ...]: ...

    def find(self, finding: KeyDiscovery) -> tuple[Values, ...]: ...


def drive(statistics: Sequence[tuple[Statistic, Price]], measurer: Measurer) -> list[Result]:
    """Drive all statistics in lock-step: one round of each at a time, equal measures measured once."""
    flows = [statistic.steps(price) for statistic, price in statistics]
    asked: dict[int, Round] = {place: next(flow) for place, flow in enumerate(flows)}
    finished: dict[int, Result] = {}
    while asked:
        wanted = tuple(dict.fromkeys(measure for each in asked.values() for measure in each))
        measured = dict(zip(wanted, measurer.measure(wanted), strict=True))
        answered = {place: tuple(measured[measure] for measure in each) for place, each in asked.items()}
        asked = {}
        for place, answers in answered.items():
            _advance(place, flows[place], answers, asked, finished)
    return [finished[place] for place in range(len(flows))]


def _advance(
    place: int, flow: Steps, answers: tuple[Measured, ...], asked: dict[int, Round], finished: dict[int, Result]
) -> None:
    try:
        asked[place] = flow.send(answers)
    except StopIteration as end:
        finished[place] = end.value


class Statements:
    """The statements of queries, each rendered once, and only where its sensitivity was derived a second time."""

    def __init__(self, engine: Engine, catalog: Catalog) -> None:
        self._engine, self._catalog = engine, catalog
        self._proved: dict[tuple[Query, ...], Statement] = {}
        self._moved: dict[Query, Sensitivity] = {}  # by one person, as the texts say
        self._wholes: dict[Query, str] = {}
        self._histograms: dict[Statement, tuple[Sensitivity, tuple[range, ...], Reading]] = {}

    def of(self, queries: Iterable[Query]) -> list[tuple[tuple[Query, ...], Statement]]:
        """One statement for all queries of the same rows and keys, no data read. An error where one is not proved."""
        batches: dict[object, list[Query]] = {}
        wanted = tuple(dict.fromkeys(queries))
        for query in dict.fromkeys(part for each in wanted for part in each.parts):
            batches.setdefault(query.scan, []).append(query)
        found = [(batch, self._statement(batch)) for batch in map(tuple, batches.values())]
        for query in wanted:
            if isinstance(query.aggregate, Distances):
                _demand(distance_sensitivity([self._moved[part] for part in query.parts], query.aggregate), query)
        return found

    def _statement(self, batch: tuple[Query, ...]) -> Statement:
        if batch not in self._proved:
            statement = self._engine.render(tuple(query.inner for query in batch))
            spend(len(statement.text) // _CHARACTERS_OF_A_STEP)
            for query, derived in zip(batch, self._derived(statement, batch), strict=True):
                _demand(derived, query)
                self._moved[query] = derived
            self._proved[batch] = statement
        return self._proved[batch]

    def _derived(self, statement: Statement, batch: tuple[Query, ...]) -> tuple[Sensitivity, ...]:
        query = batch[0]
        counted = query.aggregate
        if isinstance(counted, BlockEstimates):  # alone in its statement
            cells = check_cells_of_blocks(statement, self._catalog, self._engine.dialect)
            if cells != query.inner.provable:
                raise ValueError("The statement is of other blocks than the planned ones.")
            return (estimate_sensitivity(counted),)
        if not isinstance(counted, Histogram):
            columns = tuple(each.columns for each in batch)
            found = check_statement(statement, self._catalog, self._engine.dialect, query.provable, columns)
            return tuple(_combine_derived(moved, each) for moved, each in zip(found, batch, strict=True))
        if statement not in self._histograms:  # of which several quantiles may be asked
            self._histograms[statement] = check_histogram(statement, self._catalog, self._engine.dialect)
        moved, cells, reading = self._histograms[statement]
        # All that is read of one histogram must be of the same rows and values, or their ranks would be of nothing.
        whole = self._wholes.setdefault(replace(query, aggregate=replace(counted, buckets=None)), reading.whole)
        planned = Reading(counted.domain.grid_lower, counted.shift, counted.buckets, whole)
        if (reading, cells[:-1], len(cells[-1])) != (planned, query.provable, counted.values):
            raise ValueError("The statement reads another histogram than the planned one.")
        return (moved,)


class Executor:
    """Measures on the data, within what was reserved, and records what it released."""

    def __init__(self, engine: Engine, statements: Statements, reserved: Event, bits: Bits) -> None:
        self.record = Record()
        self._engine, self._statements, self._reserved, self._bits = engine, statements, reserved, bits
        self._events: list[Event] = []
        self._tables: dict[Query, SparseCounts] = {}  # exact ones, which nobody sees but the scores of choices

    def measure(self, measures: Round) -> tuple[Measured, ...]:
        self._spend(each.mechanism.event(each.query.sensitivity()) for each in measures)
        _check_forms(measures)
        exact = self._answer(dict.fromkeys(each.query for each in measures if each.mechanism.reads == "cells"))
        measured = tuple(self._release(measure, exact) for measure in measures)
        self.record.add_round(measures, measured)
        return measured

    def _answer(self, queries: Iterable[Query]) -> dict[Query, Integers]:
        """The exact answers. Tables that are compared with guesses are compared again in later rounds, and kept."""
        wanted = tuple(queries)
        compared = {part for query in wanted if isinstance(query.aggregate, Distances) for part in query.parts}
        exact: dict[Query, Integers] = {}
        for batch, statement in self._statements.of(wanted):
            if all(query in self._tables for query in batch):
                continue
            found = self._engine.run(statement, tuple(query.inner for query in batch))
            for query, values in zip(batch, found, strict=True):
                if query in compared:
                    self._tables[query] = SparseCounts.of(values)
                else:
                    exact[query] = combine(query, values)
        for query in wanted:
            if isinstance(query.aggregate, Distances):
                tables = [self._tables[part] for part in query.parts]
                exact[query] = score(query.aggregate, tables, query.largest)
            elif query not in exact:
                exact[query] = self._tables[query].spread(query.shape)
        return exact

    def find(self, finding: KeyDiscovery) -> tuple[Values, ...]:
        self._spend([finding.threshold.event(finding.query.sensitivity())])
        ((_, statement),) = self._statements.of([finding.query])
        names = discover_keys(self._engine, statement, finding, self._bits)
        self.record.add_names(finding, names)
        return names

    def _spend(self, events: Iterable[Event]) -> None:
        self._events += events
        if not covers(self._reserved, Composed(self._events)):
            raise ValueError("A statistic asked for more than was reserved for it.")

    def _release(self, measure: Measure, exact: Mapping[Query, Integers]) -> Measured:
        query, mechanism = measure.query, measure.mechanism
        facts = (query.sensitivity(), measure.price)
        secret: Secret | SecretHistogram
        if mechanism.reads == "cells":
            secret = Secret(exact[query], *facts)
        else:
            secret = SecretHistogram(partial(self._read, query), prod(query.shape), *facts)
        released = np.asarray(mechanism.release(secret, self._bits))
        return Measured(released.reshape(mechanism.shape(query)), mechanism)

    def _read(self, query: Query, buckets: Sequence[int] | None) -> Integers:
        wanted = None if buckets is None else tuple(buckets)
        aggregate = replace(query.aggregate, buckets=wanted)  # type: ignore[arg-type]  # of a histogram
        ((batch, statement),) = self._statements.of([replace(query, aggregate=aggregate)])
        return self._engine.run(statement, batch)[0]


def _check_forms(measures: Round) -> None:
    """A mechanism opens answers of its own form alone: noise on just the keys that somebody has would hide nobody."""
    for measure in measures:
        if measure.mechanism.reads != measure.query.form:
            kind, form = type(measure.mechanism).__name__, measure.query.form
            raise ValueError(f"{kind} opens answers that are {measure.mechanism.reads}, got {form}.")


def _combine_derived(counts: Sensitivity, query: Query) -> Sensitivity:
    """What the text says of a query, after what is done to the counts of combinations outside of it."""
    return combine_sensitivity(counts, query.aggregate) if isinstance(query.aggregate, Combination) else counts


def _demand(derived: Sensitivity, query: Query) -> None:
    if not _within(derived, query.sensitivity()):
        raise ValueError("The statement's own sensitivity is above the planned one.")


def _within(derived: Sensitivity, planned: Sensitivity) -> bool:
    norms = derived.l1 <= planned.l1 and derived.l2_squared <= planned.l2_squared and derived.linf <= planned.linf
    return norms and derived.monotone >= planned.monotone
