"""What is done to exact aggregates before noise is added: public matrices in integers, and estimates of blocks."""

from typing import Any

import numpy as np

from adomnia.curator.estimating import add_estimates
from adomnia.noise import Integers
from adomnia.privacy.queries import Query
from adomnia.privacy.transforms.estimates import BlockEstimates
from adomnia.privacy.transforms.matrices import Combination, Matrix


def combine(query: Query, exact: Integers) -> Integers:
    """The exact result of a query from what the engine gives: combined, estimated by blocks, or as it is."""
    if isinstance(query.aggregate, BlockEstimates):
        return add_estimates(query.aggregate, exact)
    if not isinstance(query.aggregate, Combination):
        return exact
    # By the public bound alone: the size of what was counted must not decide how it is computed.
    counts = exact.astype(np.int64 if query.largest < 2**63 else object)
    return np.concatenate([_apply_block(block, counts) for block in query.aggregate.blocks])


def _apply_block(factors: tuple[Matrix, ...], counts: Integers) -> Integers:
    """The Kronecker product of factors times all counts: one factor after the other, each along its own axis."""
    values = counts.reshape([factor.columns for factor in factors])
    for factor in factors:  # what was the first axis becomes the last, so that all are in their order at the end
        values = np.moveaxis(_apply(factor, values), 0, -1)
    return values.ravel()


def _apply(factor: Matrix, values: Integers) -> Integers:
    """Sums of slices of the first axis."""
    entries = [entry for row in factor.rows for entry in row]
    columns = [column for column, _ in entries]
    coefficients = np.array([coefficient for _, coefficient in entries], dtype=values.dtype)
    starts = np.cumsum([0, *map(len, factor.rows[:-1])])
    taken: Any = values[columns] * coefficients.reshape(-1, *[1] * (values.ndim - 1))  # type: ignore[operator]
    added: Integers = np.add.reduceat(taken, starts, axis=0)
    return added
