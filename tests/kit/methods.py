"""Executes methods over a hospital with some hundred people, over one with a person less, and over an empty one."""

from __future__ import annotations

import atexit
import shutil
from dataclasses import dataclass
from datetime import date
from functools import cache
from math import sin
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import numpy as np
import pytest

from adomnia.curator.executor import Executor, Statements, drive
from adomnia.curator.measurements import Record, Replayer
from adomnia.pricing.parts import bill, split_price
from adomnia.pricing.quotes import list_measures
from adomnia.privacy.events import Pure
from kit.bits import SeededBits
from kit.hospital import CITIES, declare, load, person, visit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adomnia.catalog.model import Catalog
    from adomnia.noise import Integers
    from adomnia.plans.plan import Plan
    from adomnia.privacy.events import Price
    from adomnia.privacy.queries import Query
    from adomnia.statistics.contract import ResultTable
    from kit.hospital import SpyEngine

PEOPLE = [
    person(
        k,
        name=f"n{k}",
        age=18.0 + 37 * k % 70,
        sex="FMX"[k % 2 if k % 50 else 2],
        city=CITIES[k % len(CITIES)],
        salary=None if k % 41 == 0 else 30_000.0 + 900 * (37 * k % 70) + 20_000 * sin(k),
        member=k % 3 == 0,
        score=sin(2 * k),
    )
    for k in range(240)
]
VISITS = [
    visit(k % 240, hospital=f"H{k % 5 + 1}", cost=100.0 * (k % 97), day=date(2022, 1, 1 + k % 28), urgent=k % 4 == 0)
    for k in range(500)
]
# People who move sums the furthest: at the ends of bounds and beyond them, without values, with as many rows as count.
NEIGHBOURS = [
    (person(1000, age=120.0, sex="X", city="Hamar", salary=500_000.0, member=True, score=2.25), 5),
    (person(1000, age=0.0, sex="F", city="Oslo", salary=0.0, member=False, score=-1.5), 3),
    (person(1000, age=1e9, sex="M", city="Bergen", salary=-1e300, member=True, score=float("nan")), 1),
    (person(1000, age=60.5, sex="nobody", city=None, salary=float("inf")), 2),
    (person(1000), 9),
]


def prepare_catalog() -> Catalog:
    """The catalog of all executions, in a folder that lasts as long as the process."""
    if "catalog" not in _KNOWN:
        folder = Path(mkdtemp(prefix="adomnia-methods-"))
        atexit.register(shutil.rmtree, folder)
        _KNOWN["catalog"] = declare(folder / "hospital")
    return _KNOWN["catalog"]


@pytest.fixture(scope="session")
def hospital_catalog() -> Catalog:
    return prepare_catalog()


@pytest.fixture
def hospital(hospital_catalog) -> SpyEngine:
    """The engine over all of them, of which nothing was asked yet."""
    engine = _engine(0)
    engine.ran.clear()
    return engine


class Executing:
    """One execution of a plan: what was proved before, and what ran."""

    def __init__(self, engine: SpyEngine, plan: Plan, price: Price, seed: object = 0) -> None:
        statements = Statements(engine, _KNOWN["catalog"])
        measures = list_measures(plan, price)
        self.proved = [statement for _, statement in statements.of(measure.query for measure in measures)]
        self._engine = engine
        self.executor = Executor(engine, statements, bill((plan, price)), SeededBits(seed))

    @property
    def ran(self) -> list[str]:
        """The texts that ran."""
        return [statement.text for statement in self._engine.ran]

    def replayer(self) -> Replayer:
        """What gives the same answers again."""
        return Replayer(Record.from_bytes(self.executor.record.to_bytes()))


@dataclass(frozen=True)
class Execution:
    """What came of one execution: its table, the texts that were proved before, those that ran, and the record.

    `rounds` are the digests of what was measured, `measured` is what came of it.
    """

    table: ResultTable
    proved: tuple[str, ...]
    ran: tuple[str, ...]
    replayer: Callable[[], Replayer]
    rounds: tuple[str, ...]
    measured: tuple[Integers, ...]


@cache
def executed(plan: Plan, price: Price, removed: int = 0) -> Execution:
    """A method about all people but the first few; many tests look at one execution, which takes longer than they."""
    engine = _engine(removed)
    engine.ran.clear()
    running = Executing(engine, plan, price, removed)
    (table,) = drive(split_price(plan, price), running.executor)
    proved = tuple(statement.text for statement in running.proved)
    record = running.executor.record
    return Execution(table, proved, tuple(running.ran), running.replayer, tuple(record.rounds), tuple(record.values))


def tables_of(plan: Plan, price: Price) -> Iterator[ResultTable]:
    """The tables of a method about everybody, about all but one, and about nobody."""
    for removed in (0, 1, len(PEOPLE)):
        yield executed(plan, price, removed).table


@cache
def moves_of(query: Query) -> tuple[Integers, ...]:
    """How far each of the neighbours moves the exact answer of a query about everybody: asked for every engine."""
    statements = Statements(_engine(0), _KNOWN["catalog"])
    before = _answer(_engine(0), statements, query).astype(object)
    after = (_answer(_with_neighbour(place), statements, query) for place in range(len(NEIGHBOURS)))
    return tuple(np.asarray(each.astype(object) - before) for each in after)


def _answer(engine: SpyEngine, statements: Statements, query: Query) -> Integers:
    """The exact answer, as the executor computes it."""
    return Executor(engine, statements, Pure(1), SeededBits(0))._answer((query,))[query]


_KNOWN: dict[str, Catalog] = {}


@cache
def _engine(removed: int) -> SpyEngine:
    """An engine over all people but the first few."""
    return load(_KNOWN["catalog"], PEOPLE[removed:], [each for each in VISITS if each["person_id"] >= removed])


@cache
def _with_neighbour(place: int) -> SpyEngine:
    """An engine over all people and one more."""
    somebody, visits = NEIGHBOURS[place]
    theirs = [
        visit(1000, hospital=f"H{k % 5 + 1}", cost=1e6 * (k % 2), day=date(2022, 2, 1), urgent=k % 2 == 1)
        for k in range(visits)
    ]
    return load(_KNOWN["catalog"], [*PEOPLE, somebody], [*VISITS, *theirs])
