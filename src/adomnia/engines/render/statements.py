# ruff: noqa: S608 - SQL is what this module writes; names are quoted, text is bound
"""Queries over one relation as one statement."""

from adomnia.engines.contract import PERSON, RANK, Statement
from adomnia.engines.render.constants import integer, quoted
from adomnia.engines.render.scalars import Scalars, stored
from adomnia.privacy.queries import Present, Query, Rows, Total
from adomnia.privacy.relations import Relation, Table


def render(queries: tuple[Query, ...]) -> Statement:
    """One statement for queries over the same relation, keys and cap: k0, k1, ... then m0, m1, ... in their order."""
    first, *others = queries
    if any((query.relation, query.keys, query.cap) != (first.relation, first.keys, first.cap) for query in others):
        raise ValueError("Statement queries must share their relation, keys and cap, got different ones.")
    scalars = Scalars()
    keys = [stored(key) for key in first.keys]
    outputs = [f"{key} AS k{place}" for place, key in enumerate(keys)]
    outputs += [f"{_aggregate(query, scalars)} AS m{place}" for place, query in enumerate(queries)]
    table, conditions = _rows(first.relation, scalars)
    if first.cap is not None:
        conditions.insert(0, f"{quoted(RANK)} <= {first.cap}")
    text = f"SELECT {', '.join(outputs)} FROM {quoted(table)}"
    if conditions:
        text += f" WHERE {' AND '.join(conditions)}"
    if keys:
        text += f" GROUP BY {', '.join(keys)}"
    return Statement(text, tuple(scalars.parameters))


def _rows(relation: Relation, scalars: Scalars) -> tuple[str, list[str]]:
    """The table that a relation reads, and the conditions on its rows."""
    if isinstance(relation, Table):
        return relation.name, []
    table, conditions = _rows(relation.source, scalars)
    return table, [*conditions, f"({scalars.value(relation.condition)})"]


def _aggregate(query: Query, scalars: Scalars) -> str:
    match query.aggregate:
        case Rows():
            return "COUNT(*)"
        case Present(value=value):
            return f"COUNT({scalars.present(value)})"
        case Total() as total:
            return f"CAST({_sum(total, scalars)} AS {_sum_type(query)})"
    return f"COUNT(DISTINCT {quoted(PERSON)})"


def _sum(total: Total, scalars: Scalars) -> str:
    """DuckDB adds integers up in a HUGEINT, whatever their own width."""
    grid = scalars.grid(total.value, total.domain)
    if total.centre == 0:
        return f"SUM({grid})"
    # Each value less the centre, added up: so written, it costs nothing beside a sum from another centre. The product
    # is a HUGEINT too, because in a BIGINT enough rows would make it fail.
    return f"SUM({grid}) - CAST({integer(total.centre)} AS HUGEINT) * COUNT({grid})"


def _sum_type(query: Query) -> str:
    """Room for the largest sum that public facts allow: then no row can make the conversion fail."""
    if query.largest < 2**63:
        return "BIGINT"
    if query.largest < 10**38:
        return "DECIMAL(38, 0)"
    raise ValueError(f"Total must stay below 10**38 over 2**48 rows, got {query.largest}.")
