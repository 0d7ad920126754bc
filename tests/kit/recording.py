"""An engine that remembers what was read from it, and how the same is read from another one."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia.engines.check import check_histogram, check_public, check_statement
from adomnia.privacy.expressions import Call
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Select
from adomnia.privacy.scans import Histogram

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from adomnia.catalog.model import Catalog
    from adomnia.engines.contract import Engine, Statement
    from adomnia.noise import Integers

    # The queries of one statement, the query whose keys are looked for, or rows of public tables.
    Asked = tuple[Query, ...] | Query | Select

MOST_ROWS = 10_000  # of public tables: all that there are


class Recorder:
    """An engine that passes everything on, and remembers what was asked and, in its order, what it gave."""

    def __init__(self, engine: Engine) -> None:
        self.inner, self.dialect = engine, engine.dialect
        self.forget()
        self._rows: dict[Statement, Select] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def forget(self) -> None:
        """Begin again."""
        self.asked: list[Asked] = []
        self.given: list[Any] = []

    def run(self, statement: Statement, queries: tuple[Query, ...]) -> tuple[Integers, ...]:
        exact = self.inner.run(statement, queries)
        self._remember(queries, _cells(exact, queries))
        return exact

    def keys(self, statement: Statement, query: Query) -> Any:
        counts, at = self.inner.keys(statement, query)
        self._remember(query, _labels(counts, at))
        return counts, at

    def render_rows(self, rows: Select) -> Statement:
        statement = self.inner.render_rows(rows)
        self._rows[statement] = rows
        return statement

    def read(self, statement: Statement, most: int) -> list[tuple[Any, ...]]:
        self._remember(self._rows[statement], _rows(self.inner.read(statement, MOST_ROWS)))
        return self.inner.read(statement, most)

    def _remember(self, asked: Asked, given: Any) -> None:
        self.asked.append(asked)
        self.given.append(given)


def prove(asked: Asked, engine: Engine, catalog: Catalog) -> tuple[Statement, Any]:
    """The statement for what is asked, and what the second look says of it: that must be the same on all engines."""
    if isinstance(asked, Select):
        statement = engine.render_rows(asked)
        return statement, check_public(statement, catalog, engine.dialect)
    queries = (asked,) if isinstance(asked, Query) else asked
    statement, first = engine.render(queries), queries[0]
    if isinstance(first.aggregate, Histogram):
        moved, cells, reading = check_histogram(statement, catalog, engine.dialect)
        return statement, (moved, cells, replace(reading, whole=""))  # which is text, and of its own dialect
    columns = tuple(query.columns for query in queries)
    return statement, check_statement(statement, catalog, engine.dialect, first.provable, columns)


def read_exact(asked: Asked, statement: Statement, engine: Engine) -> Any:
    """What an engine gives before the noise: its integers array by array, in an order of ours where it has none."""
    match asked:
        case Select():
            return _rows(engine.read(statement, MOST_ROWS))
        case Query():
            return _labels(*engine.keys(statement, asked))
    return _cells(engine.run(statement, asked), asked)


def _cells(exact: tuple[Integers, ...], queries: tuple[Query, ...]) -> Any:
    if isinstance(queries[0].aggregate, Histogram):
        return [sorted(zip(*each.tolist(), strict=True)) for each in exact]
    return [(each.shape, each.dtype, each.tolist()) for each in exact]


def _labels(counts: Integers, at: Any) -> Any:
    return sorted(zip(map(repr, at(np.arange(len(counts)))), counts.tolist(), strict=True))


def _rows(rows: Iterable[tuple[Any, ...]]) -> Any:
    return sorted(map(repr, rows))


def list_parts(node: object) -> Iterator[tuple[str, ...]]:
    """What something asked is made of: functions by their names, aggregates, relations, keys, and what is in what."""
    if is_dataclass(node):
        held = [getattr(node, field.name) for field in fields(node)]
    elif isinstance(node, tuple):
        held = list(node)
    else:
        return
    own = f"{node.function}()" if isinstance(node, Call) else type(node).__name__
    yield (own,)
    for each in held:
        for part in list_parts(each):
            yield part
            if len(part) == 1 and is_dataclass(node) and is_dataclass(each) and part[0] == type(each).__name__:
                yield (own, *part)


def choose_one_of_each(readings: dict[Any, Collection[Asked]], known: Iterable[Asked] = ()) -> list[Any]:
    """Few of them, whose readings have all the parts that the readings of all have, but for what is known already."""
    parts = {each: {part for reading in asked for part in list_parts(reading)} for each, asked in readings.items()}
    left = set().union(*parts.values()).difference(*map(list_parts, known))
    chosen = []
    while left:
        best = max(parts, key=lambda each: len(parts[each] & left) / len(readings[each]))  # of equals the first
        left -= parts[best]
        chosen.append(best)
    return chosen
