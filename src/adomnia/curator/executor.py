"""The one place where data, noise and budget meet."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Protocol, TypeAlias

import numpy as np

from adomnia.catalog.model import Catalog
from adomnia.curator.measurements import Record
from adomnia.engines.check import (
    Proved,
    Reading,
    check_cells_of_blocks,
    check_histogram,
    check_statement,
    transform_sensitivity,
)
from adomnia.engines.contract import Engine, Statement
from adomnia.mechanisms.histograms import SecretHistogram
from adomnia.mechanisms.secret import Secret
from adomnia.noise import Bits, Integers
from adomnia.plans.undeclared import KeyDiscovery, Values
from adomnia.privacy.events import Composed, Event, Price
from adomnia.privacy.losses import covers
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Exact, SparseIntegers
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.statistics.contract import Measure, Measured, Result, Round, Statistic, Steps
from adomnia.work import spend

_CHARACTERS_OF_A_STEP = 5  # of a statement, to be read and proved

_Moved: TypeAlias = dict[tuple[Query, bool], Proved]  # by one person, as a text says of each query, by block or not


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
        self._rendered: dict[tuple[tuple[Query, ...], bool], tuple[Statement, _Moved]] = {}
        self._proved: dict[Query, tuple[Proved, ...]] = {}  # by what the texts said of it last
        self._wholes: dict[Query, str] = {}
        self._histograms: dict[Statement, tuple[Sensitivity, tuple[range, ...], Reading]] = {}

    def of(self, queries: Iterable[Query]) -> list[tuple[tuple[Query, ...], Statement]]:
        """The inner queries of all, those of the same rows and keys with one statement; an error if one is not proved.

        No data is read.
        """
        batches: dict[object, dict[Query, bool]] = {}
        wanted = tuple(dict.fromkeys(queries))
        for query in wanted:
            for inner in query.inner:
                alone = inner if query.by_block else None
                batches.setdefault((alone, inner.scan), {})[inner] = query.by_block
        found: list[tuple[tuple[Query, ...], Statement]] = []
        moved: _Moved = {}
        for each in batches.values():
            batch, by_block = tuple(each), all(each.values())
            statement, derived = self._render(batch, by_block)
            found.append((batch, statement))
            moved |= derived
        for query in wanted:
            self._prove(query, tuple([moved[inner, query.by_block] for inner in query.inner]))
        return found

    def _prove(self, query: Query, moved: tuple[Proved, ...]) -> None:
        """An error where the texts do not say that one person moves it as little as planned.

        Each text is held to it: later rounds put a query into others than the one that it was first proved by.
        """
        if self._proved.get(query) != moved:
            if not _within(transform_sensitivity(query.aggregate, moved), query.sensitivity()):
                raise ValueError("The statement's own sensitivity is above the planned one.")
            self._proved[query] = moved

    def _render(self, batch: tuple[Query, ...], by_block: bool) -> tuple[Statement, _Moved]:
        if (batch, by_block) not in self._rendered:
            statement = self._engine.render(batch)
            spend(len(statement.text) // _CHARACTERS_OF_A_STEP)
            derived = zip(batch, self._derive(statement, batch, by_block), strict=True)
            self._rendered[batch, by_block] = statement, {(query, by_block): each for query, each in derived}
        return self._rendered[batch, by_block]

    def _derive(self, statement: Statement, batch: tuple[Query, ...], by_block: bool) -> tuple[Proved, ...]:
        query = batch[0]
        if by_block:
            cells = check_cells_of_blocks(statement, self._catalog, self._engine.dialect)
            if cells != query.provable:
                raise ValueError("The statement is of other blocks than the planned ones.")
            return (cells,)
        if query.form == "histogram":
            return (self._derive_histogram(statement, query),)
        columns = tuple(each.columns for each in batch)
        return check_statement(statement, self._catalog, self._engine.dialect, query.provable, columns)

    def _derive_histogram(self, statement: Statement, query: Query) -> Sensitivity:
        counted = query.histogram
        if statement not in self._histograms:  # of which several quantiles may be asked
            self._histograms[statement] = check_histogram(statement, self._catalog, self._engine.dialect)
        moved, cells, reading = self._histograms[statement]
        # All that is read of one histogram must be of the same rows and values, or their ranks would be of nothing.
        whole = self._wholes.setdefault(replace(query, aggregate=replace(counted, buckets=None)), reading.whole)
        planned = Reading(counted.domain.grid_lower, counted.shift, counted.buckets, whole)
        if (reading, cells[:-1], len(cells[-1])) != (planned, query.provable, counted.values):
            raise ValueError("The statement reads another histogram than the planned one.")
        return moved


class Executor:
    """Measures on the data, within what was reserved, and records what it released."""

    def __init__(self, engine: Engine, statements: Statements, reserved: Event, bits: Bits) -> None:
        self.record = Record()
        self._engine, self._statements, self._reserved, self._bits = engine, statements, reserved, bits
        self._events: list[Event] = []
        self._kept: dict[Query, SparseIntegers] = {}  # exact ones, of which later rounds choose again

    def measure(self, measures: Round) -> tuple[Measured, ...]:
        self._spend(each.mechanism.event(each.query.sensitivity()) for each in measures)
        _check_forms(measures)
        exact = self._answer(dict.fromkeys(each.query for each in measures if each.mechanism.reads == "cells"))
        measured = tuple(self._release(measure, exact) for measure in measures)
        self.record.add_round(measures, measured)
        return measured

    def _answer(self, queries: Iterable[Query]) -> dict[Query, Integers]:
        """The exact answers. What later rounds compute others from is kept, without its zeros as soon as it is read."""
        wanted = tuple(queries)
        recurring = {inner for query in wanted if query.recurs for inner in query.inner}
        found: dict[Query, Exact] = {}
        for batch, statement in self._statements.of(wanted):
            if not all(query in self._kept for query in batch):
                exact: dict[Query, Exact] = dict(zip(batch, self._engine.run(statement, batch), strict=True))
                self._kept |= {query: SparseIntegers.of(exact.pop(query)) for query in batch if query in recurring}
                found |= exact
        found |= self._kept
        return {query: query.apply([found[inner] for inner in query.inner]) for query in wanted}

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
        asked = replace(query, aggregate=replace(query.histogram, buckets=wanted))
        ((batch, statement),) = self._statements.of([asked])
        return self._engine.run(statement, batch)[0]


def _check_forms(measures: Round) -> None:
    """A mechanism opens answers of its own form alone: noise on just the keys that somebody has would hide nobody."""
    for measure in measures:
        if measure.mechanism.reads != measure.query.form:
            kind, form = type(measure.mechanism).__name__, measure.query.form
            raise ValueError(f"{kind} opens answers that are {measure.mechanism.reads}, got {form}.")


def _within(derived: Sensitivity, planned: Sensitivity) -> bool:
    norms = derived.l1 <= planned.l1 and derived.l2_squared <= planned.l2_squared and derived.linf <= planned.linf
    return norms and derived.monotone >= planned.monotone


def discover_keys(engine: Engine, statement: Statement, finding: KeyDiscovery, bits: Bits) -> tuple[Values, ...]:
    """The values that enough people have. How many others there are, and which, is never known outside."""
    people, find_labels = engine.keys(statement, finding.query)
    secret = Secret(people, finding.query.sensitivity(), finding.price)
    named, noisy = finding.threshold.release(secret, bits)
    return finding.choose(find_labels(named), noisy)
