# ruff: noqa: S608 - SQL is what this module writes; names are quoted, text is bound
"""Queries over one relation as one statement."""

from adomnia.engines.contract import Statement
from adomnia.engines.render.clipped import clipped
from adomnia.engines.render.histograms import histogram
from adomnia.engines.render.relations import derived, integers, kept, person, source
from adomnia.engines.render.scalars import Scalars, stored
from adomnia.engines.render.vectors import entries
from adomnia.privacy.aggregates import Histogram, People, Rows, Total
from adomnia.privacy.domains import Numbers
from adomnia.privacy.keys import Bucket, Key, Names
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.matrices import Combination
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Select
from adomnia.privacy.vectors import Vector


def render(queries: tuple[Query, ...]) -> Statement:
    """One statement for queries over the same rows and keys: k0, k1, ... then m0, m1, ... in their order."""
    first, *others = queries
    if any(query.scan != first.scan for query in others):
        raise ValueError("Statement queries must share the rows they read and their keys, got different ones.")
    scalars = Scalars()
    keys = [_key(key, scalars) for key in first.keys]
    if isinstance(first.aggregate, Histogram):
        return Statement(histogram(first, keys, scalars), tuple(scalars.parameters))
    if first.clip is not None:
        text = clipped({query: _sum_type(query) for query in queries}, keys, scalars)
        return Statement(text, tuple(scalars.parameters))
    outputs = [f"{key} AS k{place}" for place, key in enumerate(keys)]
    columns = (column for query in queries for column in _columns(query, scalars))
    outputs += [f"{column} AS m{place}" for place, column in enumerate(columns)]
    table, conditions = source(first.read, scalars)
    text = f"SELECT {', '.join(outputs)} FROM {table}{kept(conditions)}"
    if first.keys:
        # By their numbers: what is bound cannot be written a second time.
        text += f" GROUP BY {', '.join(str(place + 1) for place in range(len(first.keys)))}"
    return Statement(text, tuple(scalars.parameters))


def render_rows(rows: Select) -> Statement:
    """One statement for rows of public tables."""
    scalars = Scalars()
    return Statement(derived(rows, scalars), tuple(scalars.parameters))


def _key(key: Key, scalars: Scalars) -> str:
    """Integers that stand for the values of a key, a condition, or values as they are; NULL belongs to no group."""
    match key:
        case Bucket(value=value, among=Numbers() as numbers):
            return scalars.grid(value, numbers)
        case Bucket(value=value, among=tuple() as texts):
            return scalars.places(value, texts)
        case Bucket(value=value, among=Names()) if isinstance(value.kind, Quantity):
            return f"TRY_CAST({scalars.value(value)} AS BIGINT)"
        case Bucket(value=value, among=None):  # as a small integer: by a BOOLEAN, DuckDB groups half as fast
            return f"CAST(({scalars.value(value)}) AS UTINYINT)"
        case Bucket(value=value):
            return f"({scalars.value(value)})"
    return stored(key)


def _columns(query: Query, scalars: Scalars) -> list[str]:
    """One for an aggregate, or one for each entry of a vector."""
    if isinstance(query.aggregate, Vector):
        return [f"CAST({entry} AS {_sum_type(query)})" for entry in entries(query.aggregate, scalars)]
    return [_aggregate(query, scalars)]


def _aggregate(query: Query, scalars: Scalars) -> str:
    match query.aggregate:
        case Combination():  # of counts, which are combined where they are read
            return integers(Rows(), scalars)
        case People(person=whose):
            return f"COUNT(DISTINCT {person(query.read) if whose is None else stored(whose)})"
        case Total() as total:
            return f"CAST({integers(total, scalars)} AS {_sum_type(query)})"
        case counted:
            assert not isinstance(counted, Histogram | Vector)  # noqa: S101 - those have more than one column
            return integers(counted, scalars)


def _sum_type(query: Query) -> str:
    """Room for the largest sum that public facts allow: then no row can make the conversion fail."""
    if query.largest < 2**63:
        return "BIGINT"
    if query.largest < 10**38:
        return "DECIMAL(38, 0)"
    raise ValueError(f"{type(query.aggregate).__name__} must stay below 10**38 over 2**48 rows, got {query.largest}.")
