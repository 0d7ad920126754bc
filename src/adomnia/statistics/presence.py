"""Rows with a value and rows without it as one measurement: a row is in one of the two, so both cost what one does."""

from dataclasses import replace

from adomnia.privacy.expressions import Expression, call
from adomnia.privacy.keys import Bucket
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Measured

_SHOWN = "presence"  # tells this key from one that the question groups by


def part_query(query: Query, value: Expression | None) -> Query:
    """The query by whether the value is missing, as the last of its keys; as it is where no value is named.

    How many rows have the value becomes how many rows there are, of which only the first part is asked for.
    """
    if value is None:
        return query
    missing = call("is null", value)
    aggregate = query.aggregate if query.aggregate.counted is None else Rows()
    return replace(query, keys=(*query.keys, Bucket(missing, None, missing, _SHOWN)), aggregate=aggregate)


def is_parted(query: Query) -> bool:
    """Whether a query is by whether a value is missing because a statistic wants it so."""
    return bool(query.keys) and isinstance(query.keys[-1], Bucket) and query.keys[-1].shown == _SHOWN


def with_value(measured: Measured, value: Expression | None) -> Measured:
    """The cells of the rows that have the value; all, where no value is named."""
    return measured if value is None else Measured(measured.values[..., 0], measured.noise, (measured, 0))


def without_value(measured: Measured) -> Measured:
    """The cells of the rows that have no value."""
    return Measured(measured.values[..., 1], measured.noise, (measured, 1))
