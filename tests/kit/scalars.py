"""Every scalar function on every edge value, beside DuckDB and plain Python: what another dialect is compared with.

A table holds the arguments of one list of kinds, edges and random ones. All functions that take these kinds are
columns of one statement over it. What is compared is what a row gives, to the last bit; 0.0 and -0.0 are equal, as they
are everywhere in SQL.
"""

from __future__ import annotations

import math
import random
import struct
from collections import defaultdict
from datetime import date, datetime
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render.scalars import double
from adomnia.privacy.kinds import Boolean, Day, Moment, Quantity, Text
from adomnia.privacy.wall_time import count_seconds, read_seconds
from contracts.test_engines import EDGES
from kit.reference import MEANINGS
from privacy.functions.samples import applications
from privacy.functions.samples import constant as kind_of

COPIES = 40  # random rows of every list of kinds
# What only arithmetic reaches, not a column: numbers that are not finite, and those at the ends of the doubles.
BEYOND = [math.nan, math.inf, -math.inf, -0.0, 1e154, 1e-154, 1.4e154, 3e-162, 2.0**-1074, 2.0**-1022, 1 - 2.0**-53]
BEYOND += [2.0**1023, math.nextafter(2.0**1023, 0), 1e300, 1e-320, 2.0**-537, 2.0**512, -(2.0**-537.5), 1.5, 3.0]
BEYOND += [709.782712893384, 709.7827128933841, -745.1332191019411, -745.1332191019412, 1024.0, -1074.0, -1075.0]
ALPHABET = "aZ09 .%_-+eE\\\n'\"ßéÅǅİ\u0131\u017f\u212aﬁ日\U0001f600\u0301[]()"
ARROW = {Quantity: pa.float64(), Text: pa.string(), Day: pa.date32(), Moment: pa.float64(), Boolean: pa.bool_()}


class Application(NamedTuple):
    """A function of columns of these kinds and of constants."""

    function: str
    kinds: tuple[type, ...]
    constants: tuple[Any, ...]

    def __str__(self):
        return f"{self.function}({', '.join(kind.__name__ for kind in self.kinds)}; {self.constants})"


@cache
def by_kinds():
    """All applications of functions, by the kinds of their arguments."""
    found = defaultdict(list)
    for function, kinds, constants in applications():
        own = tuple(type(kind) for kind in kinds)
        found[own].append(Application(function.name, own, constants))
    return dict(found)


def _random_value(kind, source):
    if kind is Quantity:
        bits = struct.unpack("<d", source.randbytes(8))[0]
        near = source.choice([source.gauss(0, 1e3), float(source.randrange(-(10**6), 10**6)), source.random() * 1e-300])
        return source.choice([bits, near, near])
    if kind is Text:
        return "".join(source.choices(ALPHABET, k=source.randrange(9)))
    if kind is Day:
        return date.fromordinal(source.randrange(1, date.max.toordinal() + 1))
    if kind is Moment:
        return read_seconds(source.randrange(count_seconds(datetime(1, 1, 1)), count_seconds(datetime(9999, 12, 31))))  # noqa: DTZ001
    return source.choice([None, True, False])


@cache
def rows(kinds):
    """The arguments: all edges with each other, and random ones."""
    source = random.Random(20261116)
    edges = [[*EDGES[kind], *(BEYOND if kind is Quantity else [])] for kind in kinds]
    drawn = [[_random_value(kind, source) for kind in kinds] for _ in range(COPIES * len(kinds))]
    return [tuple(map(_stored, row)) for row in (*product(*edges), *drawn)]


def _stored(value):
    """A timestamp is the seconds that it is stored as."""
    return float(count_seconds(value)) if isinstance(value, datetime) else value


def write(application, dialect, parameters):
    """An application in a dialect's SQL; texts are added to the parameters."""
    columns = []
    for place, kind in enumerate(application.kinds):
        name = dialect.quote(f"a{place}")
        columns.append(f"CAST({name} AS {dialect.types.double})" if kind in (Quantity, Moment) else name)
    constants = [_constant(each, dialect, parameters) for each in application.constants]
    return dialect.functions[application.function](*columns, *constants)


def _constant(value, dialect, parameters):
    if isinstance(value, str):
        return dialect.parameter.format(parameters.setdefault(value, len(parameters) + 1))
    return double(kind_of(value).lower, dialect)


@cache
def arguments(kinds):
    """The same as an Arrow table."""
    columns = {
        f"a{place}": pa.array([row[place] for row in rows(kinds)], ARROW[kind]) for place, kind in enumerate(kinds)
    }
    return pa.table({"place": range(len(rows(kinds))), **columns})


@cache
def from_duckdb(application):
    """What DuckDB gives in every row."""
    parameters = {}
    with duckdb.connect() as connection:
        connection.execute("SET ieee_floating_point_ops = true")
        connection.register("edges", arguments(application.kinds))
        text = f"SELECT {write(application, DUCKDB, parameters)} FROM edges ORDER BY place"
        return [value for (value,) in connection.execute(text, list(parameters)).fetchall()]


def table_of(kinds):
    """The name of the table of arguments of these kinds."""
    return "_".join(("edges", *(kind.__name__ for kind in kinds)))


def from_python(application, row):
    """What Python makes of a row, if the reference says anything of it: not of NaN, infinities and strange letters."""
    if any(isinstance(value, float) and not math.isfinite(value) for value in row):
        return ...
    given = [
        read_seconds(int(v)) if k is Moment and v is not None else v
        for k, v in zip(application.kinds, row, strict=True)
    ]
    constants = [each if isinstance(each, str) else float(each) for each in application.constants]
    if application.function in ("upper", "lower") and not all(map(str.isascii, filter(None, row))):
        return ...
    return _stored(MEANINGS[application.function](*given, *constants))


def same(one, other):
    """Whether two values are the same, to the last bit."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    return type(one) is type(other) and one == other


def differences(application, found):
    """The rows in which an engine gives something else than DuckDB, each with both values."""
    wanted = from_duckdb(application)
    listed = zip(rows(application.kinds), wanted, found, strict=True)
    return [(row, want, got) for row, want, got in listed if not same(want, got)]
