# ruff: noqa: S608 - SQL is what this module writes; names are quoted, text is bound
"""Values that aggregates repeat are computed once: in a SELECT inside, and around it one that puts them on their grids.

Written out instead, the six sums of one correlation repeat their values dozens of times, and to read such a statement
takes longer than to run it. The outermost SELECT adds up columns with names of ours. Where an engine does not see by
itself that a value is written more than once, each is computed behind a fence, however often its grid is added up: a
clamp alone writes its value four times.

Where the last key of counts and sums is whether a value is missing, it need not be a key: of each group, COUNT(x) and
COUNT(*) - COUNT(x) are the two halves, and a sum of x has nothing in the second. One key less is quicker to group by.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from adomnia.engines.contract import PERSON, grid_name
from adomnia.engines.render.relations import DERIVED, From, render_output, render_person, render_select, render_source
from adomnia.engines.render.scalars import Scalars, may_be_nan
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Column, Expression, columns_of, map_columns
from adomnia.privacy.keys import AnyKey, Blocks, Bucket
from adomnia.privacy.kinds import Identity, Quantity
from adomnia.privacy.queries import Aggregate, Query
from adomnia.privacy.relations import Select, Selected
from adomnia.privacy.scans import DistinctValues, NonNull, People, Rows, Total
from adomnia.privacy.vectors import Variable, Vector

COMPUTED = "computed"  # the name of the SELECT that is added up

_MOST_PARTS = 16  # of a value that is written three times on its way to a grid
_Grid: TypeAlias = tuple[Expression, Numbers]


def compute_once(queries: tuple[Query, ...], scalars: Scalars) -> tuple[tuple[Query, ...], From, frozenset[Expression]]:
    """The queries over what stands behind FROM: their own rows, or a SELECT that computes what they repeat.

    Then the columns that it computes: of those it is known which integers their grids are.
    """
    often = 1 if scalars.dialect.fence else 2
    inside = _Inside(queries, _list_repeated(queries, often))
    if not inside.grids or presence_key(queries) is not None or any(map(_is_person, inside.passed)):
        return queries, render_source(queries[0].read, scalars), frozenset()
    return inside.queries, (inside.render(scalars), []), frozenset(inside.computed.values())


@dataclass(frozen=True)
class _Inside:
    """SELECTs with the values and the grids that are repeated, and all columns that are needed beside them."""

    asked: tuple[Query, ...]
    grids: tuple[_Grid, ...]

    @cached_property
    def computed(self) -> dict[_Grid, Column]:
        return {
            (value, domain): Column(f"v{place}", Quantity(domain.lower, domain.upper), domain)
            for place, (value, domain) in enumerate(self.grids)
        }

    @cached_property
    def counted(self) -> dict[Expression, Column]:
        """By value: its grid is there where the value is."""
        return {value: column for (value, _), column in self.computed.items()}

    @cached_property
    def passed(self) -> dict[Column, Selected]:
        """The columns that stand outside of what is computed."""
        needed = dict.fromkeys(column for query in self.asked for each in self._left(query) for column in each)
        return {column: Selected(f"c{place}", column) for place, column in enumerate(needed)}

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """The same queries over the columns of the SELECT."""
        keys = tuple(self._key(key) for key in self.asked[0].keys)
        return tuple(
            replace(query, relation=self.rows, keys=keys, aggregate=self._aggregate(query.aggregate))
            for query in self.asked
        )

    @cached_property
    def values(self) -> dict[Expression, Selected]:
        """Each value once, however many grids it is put on."""
        distinct = dict.fromkeys(value for value, _ in self.grids)
        return {value: Selected(f"w{place}", value, stored=False) for place, value in enumerate(distinct)}

    @cached_property
    def rows(self) -> Select:
        """The SELECT of the values."""
        return Select(self.asked[0].read, (*self.passed.values(), *self.values.values()))

    def render(self, scalars: Scalars) -> str:
        """The SELECT of the grids."""
        outputs = [f"{render_person(self.rows, scalars)} AS {scalars.quote(PERSON)}"]
        outputs += [
            text for each in self.passed.values() for text in render_output(replace(each, value=each.column), scalars)
        ]
        outputs += [
            f"{scalars.grid(self.values[value].column, domain)} AS {scalars.quote(grid_name(own))}"
            for (value, domain), own in self.computed.items()
        ]
        rows = f"({render_select(self.rows, scalars)}{scalars.dialect.fence}) AS {scalars.quote(DERIVED)}"
        return f"(SELECT {', '.join(outputs)} FROM {rows}) AS {scalars.quote(COMPUTED)}"

    def _left(self, query: Query) -> Iterator[frozenset[Column]]:
        """The columns of everything but what is computed."""
        left = (key for key in query.keys if not isinstance(key, Blocks) and _grid_of_key(key) not in self.computed)
        yield from (columns_of(key.value) if isinstance(key, Bucket) else frozenset({key}) for key in left)
        match query.aggregate:
            case Total(value=value, domain=domain):
                yield frozenset() if (value, domain) in self.computed else columns_of(value)
            case Vector(variables=variables):
                yield from (columns_of(each.value) for each in variables if _grid_of(each) not in self.computed)
            case NonNull(value=value) if value in self.counted:
                pass
            case People(person=Column() as person):
                yield frozenset({person})
            case aggregate:
                yield from map(columns_of, aggregate.expressions)

    def _key(self, key: AnyKey) -> AnyKey:
        if isinstance(key, Blocks):
            return key  # by the person, whom every SELECT passes on
        if not isinstance(key, Bucket):
            return self.passed[key].column
        grid = _grid_of_key(key)
        return replace(key, value=self._outside(key.value) if grid is None else self._grid(grid))

    def _aggregate(self, aggregate: Aggregate) -> Aggregate:
        match aggregate:
            case Total(value=value, domain=domain):
                return replace(aggregate, value=self._grid((value, domain)))
            case Vector(variables=variables):
                changed = tuple(replace(each, value=self._grid(_grid_of(each))) for each in variables)
                return replace(aggregate, variables=changed)
            case NonNull(value=value):
                return NonNull(self.counted.get(value) or self._outside(value))
            case DistinctValues(value=value):
                return DistinctValues(self._outside(value))
        return aggregate

    def _grid(self, grid: _Grid) -> Expression:
        return self.computed.get(grid) or self._outside(grid[0])

    def _outside(self, value: Expression) -> Expression:
        return map_columns(value, lambda column: self.passed[column].column)


def _list_repeated(queries: tuple[Query, ...], often: int) -> tuple[_Grid, ...]:
    """The grids that have to be computed and would be written at least so often, in their order."""
    grids = dict.fromkeys(grid for query in queries for grid in _grids(query.aggregate))
    looked_at = Counter(value for query in queries for value in _looks(query.aggregate))
    repeated = (grid for grid in grids if looked_at[grid[0]] >= often)
    keys = (grid for grid in map(_grid_of_key, queries[0].keys) if grid is not None and _is_long(grid[0]))
    return tuple(grid for grid in dict.fromkeys((*repeated, *keys)) if _is_computed(*grid))


def _looks(aggregate: Aggregate) -> tuple[Expression, ...]:
    """What an aggregate writes, as often as that: a sum counts what it has a centre for, a vector has many terms."""
    often = isinstance(aggregate, Vector) or (isinstance(aggregate, Total) and aggregate.centre != 0)
    return aggregate.expressions * (2 if often else 1)


def _grids(aggregate: Aggregate) -> tuple[_Grid, ...]:
    match aggregate:
        case Total(value=value, domain=domain):
            return ((value, domain),)
        case Vector(variables=variables):
            return tuple(map(_grid_of, variables))
    return ()


def _grid_of(variable: Variable) -> _Grid:
    return variable.value, variable.domain


def _grid_of_key(key: AnyKey) -> _Grid | None:
    """The grid of a key that is put on one."""
    return (key.value, key.among) if isinstance(key, Bucket) and isinstance(key.among, Numbers) else None


def _is_long(value: Expression) -> bool:
    """Whether a value has many parts, as one that tells on which side of many limits a number lies."""
    return isinstance(value, Call) and len(value.arguments) > _MOST_PARTS


def _is_computed(value: Expression, domain: Numbers) -> bool:
    """Whether a grid is not stored. NaN is left where it is: a grid has none of it, and what counts it may."""
    stored = isinstance(value, Column) and value.domain == domain
    return not stored and not may_be_nan(value)


def _is_person(column: Column) -> bool:
    """Whether a column names a person, who need not be the one of the row: a LEFT JOIN may have left that one out."""
    return isinstance(column.kind, Identity) and column.kind.person


def presence_key(queries: tuple[Query, ...]) -> Expression | None:
    """The value whose presence is the last key of queries that can be told side by side; None for all others.

    Rows are told so, and sums of the value itself. There must be rows among them: they show that there are two halves.
    """
    match queries[0].keys[-1:]:
        case (Bucket(value=Call(function="is null", arguments=(value,)), among=None),):
            plain = all(query.clip is None and _is_told(query, value) for query in queries)
            return value if plain and any(isinstance(query.aggregate, Rows) for query in queries) else None
    return None


def _is_told(query: Query, value: Expression) -> bool:
    aggregate = query.aggregate
    return isinstance(aggregate, Rows) or (isinstance(aggregate, Total) and aggregate.value == value)


def render_presence(value: Expression, scalars: Scalars) -> tuple[str, str]:
    """The rows with a value, and those without it."""
    # What `value IS NULL` asks about: NaN that no guard took away is a value, of which a sum has nothing.
    asked = scalars.present(value) if isinstance(value, Column) else scalars.value(value)
    return f"COUNT({asked})", f"COUNT(*) - COUNT({asked})"
