"""Small databases for the engine, and what they mean: an evaluator and an order of rows in plain Python."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from contextlib import contextmanager
from datetime import date, datetime
from fractions import Fraction
from math import floor, isfinite, isnan
from pathlib import Path
from sys import float_info
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

from adomnia.catalog.model import Catalog, Table
from adomnia.engines.duckdb import DuckDB
from adomnia.engines.limits import USUAL, Limits
from adomnia.privacy import relations
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import FUNCTIONS, Call, Column, Expression, Literal
from adomnia.privacy.filters import Budget
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows
from adomnia.privacy.units import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

PERSON = Column("person_id", Identity(person=True))
Row = dict[str, Any]

KEY = bytes(range(32))
_LAST = Fraction(float_info.max)


def number(name: str, lower: float, upper: float, step: Any = None) -> Column:
    domain = Numbers.bounded(lower, upper, step)
    return Column(name, Quantity(domain.lower, domain.upper), domain)


def whole(name: str, lower: int, upper: int) -> Column:
    return Column(name, Quantity(Fraction(lower), Fraction(upper), whole=True), Numbers.integers(lower, upper))


def category(name: str, *values: str) -> Column:
    return Column(name, Text(values))


def people(*columns: Column, **options: Any) -> Table:
    """The unit's own table."""
    return Table("people", options.pop("source", "people.parquet"), (PERSON, *columns), **options)


def catalog(*tables: Table, folder: Path = Path(), version: int = 1, unit: Unit | None = None) -> Catalog:
    return Catalog("test", version, unit or Unit("people", "person_id"), Budget(1), (), tables, folder)


def relation(table: Table, cap: int | None = None) -> relations.Private:
    return relations.Private(table.name, cap or table.rows_per_person, table.columns)


def applied(function: str, *arguments: Expression) -> Call:
    """A function applied as it is, without the guard that keeps numbers finite."""
    kind = FUNCTIONS[function].result(*(argument.kind for argument in arguments))
    assert kind is not None
    return Call(function, arguments, kind)


def constant(value: Any) -> Literal:
    match value:
        case bool():
            return Literal(value, Boolean())
        case str():
            return Literal(value, Text())
        case datetime():  # which is a date as well
            return Literal(value, Moment(value, value))
        case date():
            return Literal(value, Day(value, value))
    exact = Fraction(value)
    return Literal(exact, Quantity(exact, exact, whole=exact.denominator == 1))


def frame(rows: list[Row], columns: tuple[Column, ...]) -> pa.Table:
    """Rows as an Arrow table of the types that the columns are declared with; ids are whole numbers."""
    types = {Quantity: pa.float64(), Boolean: pa.bool_(), Text: pa.string(), Day: pa.date32(), Identity: pa.int64()}
    types[Moment] = pa.timestamp("us")
    return pa.table(
        {column.name: pa.array([row[column.name] for row in rows], types[type(column.kind)]) for column in columns}
    )


@contextmanager
def loaded(catalog: Catalog, limits: Limits = USUAL, key: bytes = KEY, **rows: list[Row]) -> Iterator[DuckDB]:
    tables = {table.name: table for table in catalog.tables}
    frames = {name: frame(listed, tables[name].columns) for name, listed in rows.items()}
    with patch("adomnia.engines.duckdb.engine.fresh_key", lambda: key):
        engine = DuckDB.load(catalog, frames, limits=limits)
    yield engine
    engine.close()


def answer(engine: DuckDB, *queries: Query) -> list[Any]:
    """What the engine gives, as nested lists of Python integers."""
    return [exact.tolist() for exact in engine.run(engine.render(queries), queries)]


def count(engine: DuckDB, relation: relations.Relation) -> int:
    (exact,) = answer(engine, Query(relation, (), Rows()))
    return exact


def contents(engine: DuckDB, table: str) -> list[Row]:
    """All rows of a table of the index, as nobody but a test sees them."""
    with engine._connection.cursor() as cursor:
        return cursor.sql(f'SELECT * FROM "{table}"').to_arrow_table().to_pylist()


def stored_value(column: Column, value: Any) -> Any:
    """What an expression reads of a column: clamped, and NULL where it cannot be read."""
    if value is None or (isinstance(value, float) and isnan(value)):
        return None
    match column.kind:
        case Quantity(whole=True) if column.domain:
            value = float(column.domain.grid(value))
        case Quantity() if column.domain:
            value = min(max(value, float(column.domain.lower)), float(column.domain.upper))
        case Quantity():
            value = value if isfinite(value) else None
        case Text(values=tuple() as values, others=others):
            value = value if value in values else values[-1] if others else None
        case Day(lower=lower, upper=upper):
            value = min(max(value, lower or value), upper or value)
        case Moment(lower=lower, upper=upper):
            value = value.replace(microsecond=0)
            value = min(max(value, lower or value), upper or value)
    return value + 0.0 if isinstance(value, float) else value  # -0.0 is 0.0


def evaluate(expression: Expression, row: Row) -> Any:
    """The meaning of an expression, by three-valued logic and IEEE doubles."""
    match expression:
        case Column():
            return stored_value(expression, row[expression.name])
        case Literal(value=Fraction() as exact):
            return float(min(max(exact, -_LAST), _LAST))
        case Literal():
            return expression.value
    values = [evaluate(argument, row) for argument in expression.arguments]
    return _MEANINGS[expression.function](*values)


def _strict(meaning: Any) -> Any:
    def of_values(*values: Any) -> Any:
        if any(value is None for value in values):
            return None
        with np.errstate(all="ignore"):
            return meaning(*values)

    return of_values


def _doubles(operation: Any) -> Any:
    return _strict(lambda left, right: float(operation(np.float64(left), np.float64(right))))


def _order(value: Any) -> Any:
    """NaN is equal to itself and above everything else, in every engine of ours."""
    return (1, 0.0) if isinstance(value, float) and isnan(value) else (0, value)


def _compared(operation: Any) -> Any:
    return _strict(lambda left, right: bool(operation(_order(left), _order(right))))


def _and(left: Any, right: Any) -> Any:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _like(text: str, pattern: str) -> bool:
    wild = {"%": ".*", "_": "."}
    return re.fullmatch("".join(wild.get(letter, re.escape(letter)) for letter in pattern), text, re.DOTALL) is not None


_MEANINGS = {
    "+": _doubles(lambda a, b: a + b),
    "-": _doubles(lambda a, b: a - b),
    "*": _doubles(lambda a, b: a * b),
    "/": _strict(lambda a, b: None if b == 0 else float(np.float64(a) / np.float64(b))),
    "negative": _strict(lambda a: -a),
    "finite": _strict(lambda a: a if isfinite(a) else None),
    "=": _compared(lambda a, b: a == b),
    "<>": _compared(lambda a, b: a != b),
    "<": _compared(lambda a, b: a < b),
    "<=": _compared(lambda a, b: a <= b),
    ">": _compared(lambda a, b: a > b),
    ">=": _compared(lambda a, b: a >= b),
    "and": _and,
    "or": lambda a, b: _MEANINGS["not"](_and(_MEANINGS["not"](a), _MEANINGS["not"](b))),
    "not": lambda a: None if a is None else not a,
    "is null": lambda a: a is None,
    "like": _strict(_like),
}


def hashed(column: Column, value: Any) -> tuple[int, int] | str:
    """A value as the order of rows sees it: a digit and its radix, or text."""
    value = stored_value(column, value)
    match column.kind:
        case Quantity() if column.domain and column.domain.magnitude < 2**61:
            lowest, values = column.domain.grid_lower, column.domain.width + 1
            return (0 if value is None else column.domain.grid(value) - lowest + 1, values + 1)
        case Quantity() if column.domain:
            value = column.domain.grid(value)
        case Text(values=tuple() as values):
            return (0 if value is None else values.index(value) + 1, len(values) + 1)
        case Boolean():
            return (0 if value is None else int(value) + 1, 3)
        case Day(lower=date() as lower, upper=date() as upper):
            return (0 if value is None else (value - lower).days + 1, (upper - lower).days + 2)
        case Moment(lower=earliest, upper=latest):
            first, last = earliest or datetime(1, 1, 1), latest or datetime(9999, 12, 31, 23, 59, 59)  # noqa: DTZ001
            seconds = int((last - first).total_seconds())
            return (0 if value is None else int((value - first).total_seconds()) + 1, seconds + 2)
        case Quantity() if value is not None:
            value = printed(value)
    return "-" if value is None else f"{len(str(value).encode())}:{value}"


def printed(value: float) -> str:
    """An unbounded number as it is hashed: its whole part, and 30 bits behind the point."""
    if abs(value) >= 2.0**62:
        return "above" if value > 0 else "below"
    return f"{floor(value)}.{floor((value - floor(value)) * 2**30)}"


def digest(key: bytes, copy: int, columns: tuple[Column, ...], row: Row, person: str) -> int:
    words, size, texts = [], 1, []
    for column in columns:
        match hashed(column, row[column.name]):
            case str() as text:
                texts.append(text)
            case digit, radix if words and size * radix < 2**63:
                words[-1], size = words[-1] * radix + digit, size * radix
            case digit, radix:
                words.append(digit)
                size = radix
    message = ":".join([key.hex(), str(copy), *map(str, words), *texts, person])
    return int.from_bytes(hashlib.md5(message.encode()).digest(), "little") >> 64


def ranked(key: bytes, columns: tuple[Column, ...], rows: list[Row], person: str) -> list[Row]:
    """One person's rows in their order, by the definition: hash of each copy, then the values."""

    def told(row: Row) -> list[Any]:
        return [(value is None, value) for value in (stored_value(column, row[column.name]) for column in columns)]

    copies: Counter[str] = Counter()
    order = []
    for row in sorted(rows, key=told):
        same = repr([hashed(column, row[column.name]) for column in columns])
        copies[same] += 1
        order.append((digest(key, copies[same], columns, row, person), told(row), row))
    return [row for _, _, row in sorted(order, key=lambda entry: entry[:2])]
