# ruff: noqa: S608 - SQL is what this module writes; names are quoted, text is bound
"""Queries over one relation as one statement."""

from dataclasses import replace

from adomnia.engines.contract import Statement
from adomnia.engines.dialect import Dialect, Types
from adomnia.engines.render.clipped import render_clipped
from adomnia.engines.render.computed import compute_once
from adomnia.engines.render.histograms import render_histogram
from adomnia.engines.render.presence import presence_key, render_presence
from adomnia.engines.render.relations import (
    From,
    render_block,
    render_integers,
    render_person,
    render_select,
    render_where,
)
from adomnia.engines.render.scalars import Scalars
from adomnia.engines.render.vectors import render_entries
from adomnia.privacy.aggregates import Histogram, People, Rows, Total
from adomnia.privacy.distances import Distances
from adomnia.privacy.domains import Numbers
from adomnia.privacy.estimates import BlockEstimates
from adomnia.privacy.expressions import Expression
from adomnia.privacy.keys import AnyKey, Blocks, Bucket, Names
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.matrices import Combination
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Select, most_rows
from adomnia.privacy.vectors import Vector


def render(queries: tuple[Query, ...], dialect: Dialect) -> Statement:
    """One statement for queries over the same rows and keys: k0, k1, ... then m0, m1, ... in their order.

    Where the last key is told side by side, it is no output; the halves of m0 without the value are n0.
    """
    first, *others = queries
    if any(query.scan != first.scan for query in others):
        raise ValueError("Statement queries must share the rows they read and their keys, got different ones.")
    scalars = Scalars(dialect)
    if isinstance(first.aggregate, Histogram):
        text = render_histogram(first, _keys(first, scalars), scalars)
    elif first.clip is not None:
        summed = {query: _sum_type(query, dialect.types) for query in queries}
        text = render_clipped(summed, _keys(first, scalars), scalars)
    else:
        text = _render_plain(*compute_once(queries, scalars), scalars)
    return Statement(text, tuple(scalars.parameters))


def render_rows(rows: Select, dialect: Dialect) -> Statement:
    """One statement for rows of public tables."""
    scalars = Scalars(dialect)
    return Statement(render_select(rows, scalars), tuple(scalars.parameters))


def _render_plain(queries: tuple[Query, ...], source: From, computed: frozenset[Expression], scalars: Scalars) -> str:
    missing = presence_key(queries)
    first = queries[0]
    keys = _keys(first if missing is None else replace(first, keys=first.keys[:-1]), scalars)
    outputs = [f"{key} AS k{place}" for place, key in enumerate(keys)]
    place = 0
    for query in queries:
        if missing is not None and isinstance(query.aggregate, Rows):
            present, absent = render_presence(missing, scalars)
            outputs += [f"{present} AS m{place}", f"{absent} AS n{place}"]
        else:
            outputs += [
                f"{column} AS m{place + entry}" for entry, column in enumerate(_columns(query, computed, scalars))
            ]
        place += query.columns
    table, conditions = source
    # By their numbers: what is bound cannot be written a second time.
    group = f" GROUP BY {', '.join(str(place + 1) for place in range(len(keys)))}" if keys else ""
    return f"SELECT {', '.join(outputs)} FROM {table}{render_where(conditions)}{group}"


def _keys(query: Query, scalars: Scalars) -> list[str]:
    return [_key(key, query, scalars) for key in query.keys]


def _key(key: AnyKey, query: Query, scalars: Scalars) -> str:  # noqa: PLR0911 - one for each sort of key
    """Integers that stand for the values of a key, a condition, or values as they are; NULL belongs to no group."""
    match key:
        case Blocks():
            return render_block(key, query.read, scalars)
        case Bucket(value=value, among=Numbers() as numbers):
            return scalars.grid(value, numbers)
        case Bucket(value=value, among=tuple() as texts) if isinstance(value.kind, Quantity):
            return scalars.grid(value, Numbers.integers(0, len(texts) - 1))
        case Bucket(value=value, among=tuple() as texts):
            return scalars.places(value, texts)
        case Bucket(value=value, among=Names()) if isinstance(value.kind, Quantity):
            return scalars.dialect.try_cast.format(scalars.value(value), scalars.dialect.types.long.name)
        case Bucket(value=value, among=None):
            return f"CAST(({scalars.value(value)}) AS {scalars.dialect.types.small})"
        case Bucket(value=value):
            return f"({scalars.value(value)})"
    return scalars.column(key)


def _columns(query: Query, computed: frozenset[Expression], scalars: Scalars) -> list[str]:
    """One for an aggregate, or one for each entry of a vector."""
    if isinstance(query.aggregate, Vector):
        kind = _sum_type(query, scalars.dialect.types)
        entries = render_entries(query.aggregate, most_rows(query.relation), computed, scalars)
        return [f"CAST({entry} AS {kind})" for entry in entries]
    return [_aggregate(query, scalars)]


def _aggregate(query: Query, scalars: Scalars) -> str:
    match query.aggregate:
        case Combination():  # of counts, which are combined where they are read
            return render_integers(Rows(), 0, scalars)
        case People(person=whose):
            counted = render_person(query.read, scalars) if whose is None else scalars.column(whose)
            return f"COUNT(DISTINCT {counted})"
        case Total() as total:
            summed = render_integers(total, most_rows(query.relation), scalars)
            return f"CAST({summed} AS {_sum_type(query, scalars.dialect.types)})"
        case counted:
            assert not isinstance(counted, Histogram | Vector | BlockEstimates | Distances)  # noqa: S101 - of several columns
            return render_integers(counted, 0, scalars)


def _sum_type(query: Query, types: Types) -> str:
    """Room for the largest sum that public facts allow: then no row can make the conversion fail."""
    for kind in (types.long, types.decimal):
        if query.largest <= kind.largest:
            return kind.name
    raise ValueError(f"{type(query.aggregate).__name__} must stay below 10**38 over 2**48 rows, got {query.largest}.")
