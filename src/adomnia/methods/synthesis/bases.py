"""How a table of some columns is measured: its counts, its contrasts with means, or its Fourier coefficients.

The contrasts of a table are what its counts say beyond those of fewer columns. With I the identity and J all ones, they
are the counts times the Kronecker product of I - J / n over its columns of n values.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from adomnia.methods.synthesis.attributes import ReleaseColumn
from adomnia.noise import Integers
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.privacy.transforms.matrices import MOST_PRODUCTS, Combination, Matrix
from adomnia.statistics.contract import Floats

Basis: TypeAlias = Literal["counts", "contrasts", "fourier"]
Sizes: TypeAlias = Sequence[int]

_MOST_VALUES = 128  # of a column of a matrix, which has the square of it as entries


@dataclass(frozen=True)
class BasisFacts:
    """Of a column of n values: how far a row moves what is measured, and how much noise the contrasts keep of it.

    `l1` and `l2_squared` are norms of one column of the matrix; over several columns of a table they multiply, and so
    does `kept`, the variance of contrasts for each unit of variance in what was measured.
    """

    tag: ClassVar[str] = "BasisFacts"
    l1: Callable[[int], int]
    l2_squared: Callable[[int], int]
    kept: Callable[[int], float]
    results: Callable[[int], int]


BASES: Mapping[Basis, BasisFacts] = {
    "counts": BasisFacts(lambda _: 1, lambda _: 1, lambda _: 1.0, lambda n: n),
    "contrasts": BasisFacts(lambda n: 2 * (n - 1), lambda n: n * (n - 1), lambda n: n**-2.0, lambda n: n),
    "fourier": BasisFacts(lambda n: n - 1, lambda n: n - 1, lambda n: 1 / n, lambda n: n - 1),
}


def suits(basis: Basis, sizes: Sizes) -> bool:
    """Whether a table of columns with so many values can be measured so."""
    if basis == "counts" or not sizes:
        return True
    if max(sizes) > _MOST_VALUES or prod(sizes) * max(sizes) > MOST_PRODUCTS:
        return False
    return basis == "contrasts" or all(size & (size - 1) == 0 for size in sizes)


def ask(relation: Relation, columns: Sequence[ReleaseColumn], basis: Basis) -> Query:
    """What is measured of the rows."""
    keys = tuple(column.key for column in columns)
    if basis == "counts" or not columns:
        return Query(relation, keys, Rows())
    build = _contrast if basis == "contrasts" else _walsh
    return Query(relation, keys, Combination((tuple(build(len(column)) for column in columns),)))


def find_contrasts(values: Integers | Floats, sizes: Sizes, basis: Basis) -> Floats:
    """The contrasts of a table, from what was measured of it."""
    shape = [BASES[basis].results(size) for size in sizes]
    found = np.asarray(values, dtype=np.float64).reshape(shape)
    if basis == "fourier":
        for size in sizes:  # the first axis becomes the last: all are in their order at the end
            found = np.tensordot(found, _signs(size)[1:] / size, axes=(0, 0))
        return found
    return subtract_means(found) / (prod(sizes) if basis == "contrasts" else 1)


def subtract_means(table: Floats) -> Floats:
    """The table less its means along every axis, one after the other."""
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table


@lru_cache(maxsize=256)
def _contrast(size: int) -> Matrix:
    """Whole numbers in proportion to I - J / n."""
    return Matrix(
        size, tuple(tuple((other, size * (own == other) - 1) for other in range(size)) for own in range(size))
    )


@lru_cache(maxsize=16)
def _walsh(size: int) -> Matrix:
    """All rows of the matrix of Walsh and Hadamard but the first, which is the total."""
    return Matrix.dense(_signs(size)[1:].astype(int).tolist())


def _signs(size: int) -> Floats:
    signs: Floats = np.ones((1, 1))
    while len(signs) < size:
        signs = np.kron(np.array([[1.0, 1.0], [1.0, -1.0]]), signs)
    return signs
