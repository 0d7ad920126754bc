"""The one place where data, noise and budget meet."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from adomnia.catalog.model import Catalog
from adomnia.curator.measurements import Record
from adomnia.engines.contract import Engine, Statement
from adomnia.mechanisms.secret import Secret
from adomnia.noise import Bits, Integers
from adomnia.privacy.events import Composed, Event, Price
from adomnia.privacy.losses import covers
from adomnia.privacy.queries import Query
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.sql.check import checked
from adomnia.statistics.contract import Estimate, Measure, Measured, Round, Statistic, Steps


class Measurer(Protocol):
    """Whoever answers measures: the executor from the data, a replay from the record."""

    def measure(self, measures: tuple[Measure, ...]) -> tuple[Measured, ...]: ...


def estimates(statistics: Sequence[tuple[Statistic, Price]], measurer: Measurer) -> list[Estimate]:
    """Drive all statistics in lock-step: one round of each at a time, equal measures measured once."""
    flows = [statistic.steps(price) for statistic, price in statistics]
    asked: dict[int, Round] = {place: next(flow) for place, flow in enumerate(flows)}
    finished: dict[int, Estimate] = {}
    while asked:
        wanted = tuple(dict.fromkeys(measure for each in asked.values() for measure in each))
        measured = dict(zip(wanted, measurer.measure(wanted), strict=True))
        answered = {place: tuple(measured[measure] for measure in each) for place, each in asked.items()}
        asked = {}
        for place, answers in answered.items():
            _advance(place, flows[place], answers, asked, finished)
    return [finished[place] for place in range(len(flows))]


def _advance(
    place: int, flow: Steps, answers: tuple[Measured, ...], asked: dict[int, Round], finished: dict[int, Estimate]
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

    def of(self, queries: Iterable[Query]) -> list[tuple[tuple[Query, ...], Statement]]:
        """One statement for all queries of the same rows and keys, no data read. An error where one is not proved."""
        batches: dict[object, list[Query]] = {}
        for query in dict.fromkeys(queries):
            batches.setdefault((query.read, query.keys), []).append(query)
        return [(batch, self._statement(batch)) for batch in map(tuple, batches.values())]

    def _statement(self, batch: tuple[Query, ...]) -> Statement:
        if batch not in self._proved:
            statement = self._engine.render(batch)
            for query, derived in zip(batch, checked(statement, self._catalog, batch[0].shape), strict=True):
                if not _within(derived, query.sensitivity()):
                    raise ValueError("The statement's own sensitivity is above the planned one.")
            self._proved[batch] = statement
        return self._proved[batch]


class Executor:
    """Measures on the data, within what was reserved, and records what it released."""

    def __init__(self, engine: Engine, statements: Statements, reserved: Event, bits: Bits) -> None:
        self.record = Record()
        self._engine, self._statements, self._reserved, self._bits = engine, statements, reserved, bits
        self._events: list[Event] = []

    def measure(self, measures: tuple[Measure, ...]) -> tuple[Measured, ...]:
        self._events += [each.noise().event(each.query.sensitivity()) for each in measures]
        if not covers(self._reserved, Composed(self._events)):
            raise ValueError("A statistic asked for more than was reserved for it.")
        exact: dict[Query, Integers] = {}
        for batch, statement in self._statements.of(measure.query for measure in measures):
            exact.update(zip(batch, self._engine.run(statement, batch), strict=True))
        measured = tuple(self._released(measure, exact[measure.query]) for measure in measures)
        self.record.values += [each.values for each in measured]
        return measured

    def _released(self, measure: Measure, exact: Integers) -> Measured:
        noise = measure.noise()
        secret = Secret(exact, measure.query.sensitivity(), measure.price)
        return Measured(noise.release(secret, self._bits), noise)


def _within(derived: Sensitivity, planned: Sensitivity) -> bool:
    norms = derived.l1 <= planned.l1 and derived.l2_squared <= planned.l2_squared and derived.linf <= planned.linf
    return norms and derived.monotone >= planned.monotone
