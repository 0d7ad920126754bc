"""What is measured of a table: what it says beyond its single columns, which were measured before.

The counts of a table are sums of contrasts of some of its columns (docs/proofs/residuals.md). Equal noise on all counts
spends a part of the price on the contrasts of single columns, which are known already. Measured without these, the rest
has less noise at the same price: half as much of two columns of two values each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod, sqrt

from adomnia.methods.synthesis.bases import Basis, suits
from adomnia.methods.synthesis.workload import TablePlaces
from adomnia.privacy.events import Price, Pure


@dataclass(frozen=True)
class TablePart:
    """Some columns of a table, how they are measured, and which part of the price of the table that takes."""

    columns: TablePlaces
    basis: Basis
    share: Fraction


def split_table(sizes: Sequence[int], table: TablePlaces, price: Price) -> tuple[TablePart, ...]:
    """The parts of a table, as they add up to the same noise on all its counts.

    Laplace noise hides counts better than contrasts, of which a row moves several; so do tables of many values.
    """
    parts = [part for many in range(2, len(table) + 1) for part in combinations(table, many)]
    parts = [part for part in parts if all(sizes[place] > 1 for place in part)]
    if isinstance(price, Pure) or not parts or not suits("contrasts", [sizes[place] for place in parts[-1]]):
        return (TablePart(table, "counts", Fraction(1)),)
    weights = [_weigh(sizes, table, part) for part in parts]
    return tuple(
        TablePart(part, "contrasts", weight / sum(weights)) for part, weight in zip(parts, weights, strict=True)
    )


def relative_noise(sizes: Sequence[int], table: TablePlaces, price: Price) -> float:
    """The deviation of the noise on each count, relative to that of counts measured whole at the same price."""
    if split_table(sizes, table, price)[0].basis == "counts":
        return 1.0
    parts = (part for many in range(2, len(table) + 1) for part in combinations(table, many))
    return sqrt(sum(_weigh(sizes, table, part) for part in parts))


def _weigh(sizes: Sequence[int], table: TablePlaces, part: TablePlaces) -> Fraction:
    """What the contrasts of some columns cost, of the price of all counts with equal noise."""
    own = prod(Fraction(sizes[place] - 1, sizes[place]) for place in part)
    return Fraction(own) / prod(sizes[place] for place in table if place not in part)
