"""How many tables a method may make with `by`, where each is simulated by itself: what a question takes has an end."""

from collections.abc import Sequence
from math import prod

from adomnia.methods.contract import BadArgument, Factor

MOST_NUMBERS = 12_800  # that are simulated in one draw of all tables: some seconds
_LEAST_NUMBERS = 30  # smaller tables take no less time


def demand_few_tables(by: Sequence[Factor], numbers: int) -> None:
    """Refuse groups whose tables, of so many noisy numbers each, take too long to simulate."""
    tables, most = prod(len(factor.levels) for factor in by), max(1, MOST_NUMBERS // max(_LEAST_NUMBERS, numbers))
    if tables > most:
        raise BadArgument(
            "by",
            f"makes {tables} groups, each of which is simulated by itself, and here there may be {most}",
            "choose a column of fewer values, or make fewer groups in the bracketed SELECT",
        )
