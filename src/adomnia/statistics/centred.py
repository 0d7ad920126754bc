"""Sums counted from the middle of their bounds: there a row moves the sum least."""

from dataclasses import replace

from adomnia.privacy.queries import Query
from adomnia.privacy.scans import NonNull, Total


def plain_total(query: Query, owner: str) -> Total:
    """The sum that a query asks for, which is counted from zero."""
    if query.total.centre:
        raise ValueError(f"{owner} query must be a Total from centre 0, got {query.aggregate}.")
    return query.total


def distances_and_values(query: Query, owner: str) -> tuple[Query, Query]:
    """The sum of the values' distances from the middle, and how many values there are.

    Around the middle a row moves the sum by half the width at most, and the count's noise matters little to a mean.
    """
    total = plain_total(query, owner)
    distances = replace(total, centre=total.domain.middle)
    return replace(query, aggregate=distances), replace(query, aggregate=NonNull(total.value))
