# ruff: noqa: S608 - SQL is what this module writes; names are quoted, text is bound
"""Queries over one relation as one statement: their cells, counts for each value of a grid, and shortened vectors.

A shortened vector is, innermost, the entries v of each person and cell, exact. Around that, the squares of each
person's entries added up, n, exact too. Outermost, v where the length fits, else v shortened by a factor in doubles
that is surely small enough, and rounded towards zero. Proof: docs/proofs/clipping.md.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import nextafter

from adomnia.engines.contract import PERSON, Statement
from adomnia.engines.dialect import Dialect, Types
from adomnia.engines.render.computed import compute_once, presence_key, render_presence
from adomnia.engines.render.relations import (
    DERIVED,
    From,
    render_block,
    render_integers,
    render_person,
    render_select,
    render_source,
    render_where,
)
from adomnia.engines.render.scalars import Scalars, double, integer
from adomnia.engines.render.vectors import render_entries
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression
from adomnia.privacy.keys import AnyKey, Blocks, Bucket, Names
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import CLIPPED_PARTS, Query
from adomnia.privacy.relations import Select, most_rows
from adomnia.privacy.scans import DistinctValues, Histogram, NonNull, People, Rows, Total
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
            return scalars.places(value, tuple(map(str, texts)))
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
        case People(person=whose):
            counted = render_person(query.read, scalars) if whose is None else scalars.column(whose)
            return f"COUNT(DISTINCT {counted})"
        case Total() as total:
            summed = render_integers(total, most_rows(query.relation), scalars)
            return f"CAST({summed} AS {_sum_type(query, scalars.dialect.types)})"
        case Rows() | NonNull() | DistinctValues() as counted:
            return render_integers(counted, 0, scalars)
    raise TypeError(f"Query must be of one column, got {type(query.aggregate).__name__}.")


def _sum_type(query: Query, types: Types) -> str:
    """Room for the largest sum that public facts allow: then no row can make the conversion fail."""
    for kind in (types.long, types.decimal):
        if query.largest <= kind.largest:
            return kind.name
    raise ValueError(f"{type(query.aggregate).__name__} must stay below 10**38 over 2**48 rows, got {query.largest}.")


_SHRUNK = 1 - Fraction(1, 2**40)  # more than the few roundings of the factor can add


@dataclass
class _ClippedEntries:
    """What is computed for each person and cell, by what it is: v0, v1, ...; and of which of them the length counts."""

    scalars: Scalars
    rows: int  # of one person
    entries: dict[str, int] = field(default_factory=dict)
    measured: set[int] = field(default_factory=set)

    def entry(self, aggregate: Rows | NonNull | Total) -> int:
        exact = f"CAST({render_integers(aggregate, self.rows, self.scalars)} AS {self.scalars.dialect.types.long.name})"
        return self.entries.setdefault(exact, len(self.entries))

    def shorten(self, query: Query, kind: str) -> str:
        """The sum over all people, as a type that holds it."""
        clip, aggregate, dialect = query.clip, query.aggregate, self.scalars.dialect
        assert clip is not None  # noqa: S101 - nothing else comes here
        assert isinstance(aggregate, Rows | NonNull | Total)  # noqa: S101 - as constructed
        entry = self.entry(aggregate)
        length = self.entry(Rows()) if clip.counted else entry
        self.measured.add(length)
        factor = f"{_numerator(clip.bound, dialect)} / SQRT({dialect.spell('wide as double', f'n{length}')})"
        product = f"{self.scalars.as_double(f'v{entry}')} * ({factor})"
        shorter = dialect.truncating(product, dialect.types.long.name)
        whole = f"v{entry} * {CLIPPED_PARTS}"
        shortened = f"CASE WHEN n{length} <= {clip.bound**2} THEN {whole} ELSE {shorter} END"
        if dialect.types.sum != dialect.types.wide:
            shortened = f"CAST({shortened} AS {kind})"  # of which the sum is one too
        return f"CAST(SUM({shortened}) AS {kind})"


def render_clipped(queries: dict[Query, str], keys: list[str], scalars: Scalars) -> str:
    """The statement of queries, each with the type that holds its sums, over rows grouped by rendered keys."""
    rows = next(iter(queries)).read
    vectors = _ClippedEntries(scalars, rows.rows_per_person)
    outputs = [f"{vectors.shorten(*each)} AS m{place}" for place, each in enumerate(queries.items())]
    names = [f"k{place}" for place in range(len(keys))]
    table, conditions = render_source(rows, scalars)
    inner = [f"{render_person(rows, scalars)} AS {scalars.quote(PERSON)}"]
    inner += [f"{key} AS {name}" for key, name in zip(keys, names, strict=True)]
    inner += [f"{entry} AS v{place}" for entry, place in vectors.entries.items()]
    text = f"SELECT {', '.join(inner)} FROM {table}{render_where(conditions)} GROUP BY {_numbers(1 + len(keys))}"
    cells = render_where([f"{name} IS NOT NULL" for name in names])  # what belongs to none of them shortens nothing
    squares = [_squares(place, scalars) for place in sorted(vectors.measured)]
    middle = [*names, *(f"v{place}" for place in range(len(vectors.entries))), *squares]
    text = f"SELECT {', '.join(middle)} FROM ({text}) AS {scalars.quote(DERIVED)}{cells}"
    text = f"SELECT {', '.join([*names, *outputs])} FROM ({text}) AS {scalars.quote(DERIVED)}"
    return f"{text} GROUP BY {_numbers(len(keys))}" if keys else text


def _squares(place: int, scalars: Scalars) -> str:
    wide = f"CAST(v{place} AS {scalars.dialect.types.wide.name})"
    return f"SUM({wide} * {wide}) OVER (PARTITION BY {scalars.quote(PERSON)}) AS n{place}"


def _numerator(bound: int, dialect: Dialect) -> str:
    """A double that is surely below the bound in parts, by a little more than roundings can make up for."""
    shrunk = CLIPPED_PARTS * bound * _SHRUNK
    nearest = float(shrunk)
    return double(nearest if nearest <= shrunk else nextafter(nearest, 0), dialect)


def _numbers(count: int) -> str:
    return ", ".join(str(place + 1) for place in range(count))


def render_histogram(query: Query, keys: list[str], scalars: Scalars) -> str:
    """The statement over rendered keys; values are counted from the first of the grid."""
    aggregate = query.aggregate
    assert isinstance(aggregate, Histogram)  # noqa: S101 - nothing else comes here
    grid = scalars.grid(aggregate.value, aggregate.domain)
    value = f"CAST({grid} AS {scalars.dialect.types.long.name}) - {integer(aggregate.domain.grid_lower)}"
    bucket = scalars.dialect.shifted.format(value, aggregate.shift)
    table, conditions = render_source(query.read, scalars)
    if aggregate.buckets is not None:
        conditions.append(f"(({bucket}) IN ({', '.join(map(integer, aggregate.buckets))}))")
    outputs = [*keys, bucket if aggregate.buckets is None else value]
    named = ", ".join(f"{output} AS k{place}" for place, output in enumerate(outputs))
    numbers = ", ".join(str(place + 1) for place in range(len(outputs)))
    return f"SELECT {named}, COUNT(*) AS m0 FROM {table}{render_where(conditions)} GROUP BY {numbers}"
