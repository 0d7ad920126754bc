"""Rows with a value and rows without it, counted side by side instead of as two groups.

Where the last key of counts and sums is whether a value is missing, it need not be a key: of each group, COUNT(x) and
COUNT(*) - COUNT(x) are the two halves, and a sum of x has nothing in the second. One key less is quicker to group by.
"""

from adomnia.engines.render.scalars import Scalars
from adomnia.privacy.aggregates import Rows, Total
from adomnia.privacy.expressions import Call, Column, Expression
from adomnia.privacy.keys import Bucket
from adomnia.privacy.queries import Query


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
