"""The last round: all tables that were measured once more, each so much that their noise together is least."""

from collections.abc import Mapping
from fractions import Fraction

from adomnia.methods.synthesis.interactions import relative_noise
from adomnia.methods.synthesis.noisy_tables import NoisyTables
from adomnia.methods.synthesis.workload import TablePlaces
from adomnia.privacy.events import Concentrated

_COLUMN_WEIGHT = 3.0  # of a single column, whose errors are in every table that has it
_HALVINGS = 100
_UNITS = 2**24  # that an amount is divided into
_WORTHLESS = 1e-3  # of the amount: less is not worth a measurement


def divide_amount(noisy: NoisyTables, amount: Fraction) -> Mapping[TablePlaces, Fraction]:
    """Which part of an amount of rho each table gets, so that their errors added up over all cells are least.

    A table of n cells whose noise has the deviation s costs c / (2 s**2) and is about n s off. By Lagrange, all that
    are measured again end at the same n s**3 / c; those that are better known already are left out.
    """
    facts = [(table, *_weigh(noisy, table)) for table in noisy.tables]

    def spend(level: float) -> list[float]:
        return [cost / 2 * max(0.0, level * (weight / cost) ** (2 / 3) - known) for _, weight, cost, known in facts]

    low, high = 0.0, 1.0
    while sum(spend(high)) < amount:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if sum(spend(middle)) > amount else (middle, high)
    spent = [each if each > _WORTHLESS * amount else 0.0 for each in spend(high)]
    parts = {table: int(_UNITS * each / sum(spent)) for (table, *_), each in zip(facts, spent, strict=True)}
    return {table: amount * part / _UNITS for table, part in parts.items() if part}


def _weigh(noisy: NoisyTables, table: TablePlaces) -> tuple[float, float, float]:
    """How much noise in a table matters, what it costs, and what is known already: one over a variance."""
    essential = tuple(column for column in table if noisy.sizes[column] > 1)
    cells = noisy.count_cells(table)
    weight = cells * (_COLUMN_WEIGHT if len(table) == 1 else 1.0)
    cost = relative_noise(noisy.sizes, table, Concentrated(1)) ** 2
    return weight, cost, 1 / noisy.residuals.variances[essential]
