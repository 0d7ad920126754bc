# ruff: noqa: S608 - SQL is what this module writes; names are quoted, text is bound
"""Queries over one relation as one statement."""

from adomnia.engines.contract import Statement
from adomnia.engines.render.relations import derived, kept, person, source, total
from adomnia.engines.render.scalars import Scalars, stored
from adomnia.privacy.aggregates import Present, Rows, Total
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Select


def render(queries: tuple[Query, ...]) -> Statement:
    """One statement for queries over the same rows and keys: k0, k1, ... then m0, m1, ... in their order."""
    first, *others = queries
    if any((query.read, query.keys) != (first.read, first.keys) for query in others):
        raise ValueError("Statement queries must share the rows they read and their keys, got different ones.")
    scalars = Scalars()
    keys = [stored(key) for key in first.keys]
    outputs = [f"{key} AS k{place}" for place, key in enumerate(keys)]
    outputs += [f"{_aggregate(query, scalars)} AS m{place}" for place, query in enumerate(queries)]
    table, conditions = source(first.read, scalars)
    text = f"SELECT {', '.join(outputs)} FROM {table}{kept(conditions)}"
    if keys:
        text += f" GROUP BY {', '.join(keys)}"
    return Statement(text, tuple(scalars.parameters))


def render_rows(rows: Select) -> Statement:
    """One statement for rows of public tables."""
    scalars = Scalars()
    return Statement(derived(rows, scalars), tuple(scalars.parameters))


def _aggregate(query: Query, scalars: Scalars) -> str:
    match query.aggregate:
        case Rows():
            return "COUNT(*)"
        case Present(value=value):
            return f"COUNT({scalars.present(value)})"
        case Total(value=value, domain=domain, centre=centre):
            return f"CAST({total(scalars.grid(value, domain), centre)} AS {_sum_type(query)})"
    return f"COUNT(DISTINCT {person(query.read) if query.aggregate.person is None else stored(query.aggregate.person)})"


def _sum_type(query: Query) -> str:
    """Room for the largest sum that public facts allow: then no row can make the conversion fail."""
    if query.largest < 2**63:
        return "BIGINT"
    if query.largest < 10**38:
        return "DECIMAL(38, 0)"
    raise ValueError(f"Total must stay below 10**38 over 2**48 rows, got {query.largest}.")
