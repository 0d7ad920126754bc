"""Adjusts the p-values of a table for how many they are. It is computed from what was released, and free of charge.

bonferroni   times their number
holm         the least times their number, the next times one less, and so on (Holm 1979); like bonferroni it keeps
the probability of any false discovery, whatever goes together with what, and it finds more
bh           the expected share of false ones among those found (Benjamini & Hochberg 1995), for independent tests
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from adomnia.messages.notes import NoteTemplate
from adomnia.methods.contract import Parameter
from adomnia.statistics.contract import Fact, Floats, ResultTable
from adomnia.statistics.p_values import AtMost, bound_p_value

NONE = "none"
P_VALUE = "p_value"


def _bonferroni(ordered: Floats) -> Floats:
    return ordered * len(ordered)


def _holm(ordered: Floats) -> Floats:
    return np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))


def _benjamini_hochberg(ordered: Floats) -> Floats:
    steps = ordered * len(ordered) / np.arange(1, len(ordered) + 1)
    return np.minimum.accumulate(steps[::-1])[::-1]


# From p-values in rising order to adjusted ones, of which those above 1 are 1.
_WAYS: Mapping[str, tuple[str, Callable[[Floats], Floats]]] = {
    "holm": ("Holm's method", _holm),
    "bonferroni": ("Bonferroni's method", _bonferroni),
    "bh": ("the method of Benjamini and Hochberg", _benjamini_hochberg),
}
_ADJUSTED = NoteTemplate("p_values_adjusted", "p-values are adjusted for {tests} test{tests:s} by {way}.")
ADJUST = Parameter(
    "adjust",
    "choice",
    "adjust p-values for their number, free of charge",
    default=NONE,
    choices=(NONE, *_WAYS),
)


def adjust_p_values(p_values: Sequence[Fact], way: str) -> tuple[Fact, ...]:
    """The adjusted p-values; None where there is none, which is not counted. One at its floor has an adjusted floor.

    >>> adjust_p_values([0.01, None, 0.04, 0.03], "holm")
    (0.03, None, 0.06, 0.06)
    """
    told = np.array([place for place, each in enumerate(p_values) if each is not None], dtype=np.intp)
    values = np.array([p_values[place] for place in told], dtype=np.float64)
    floors = np.array([getattr(p_values[place], "floor", p_values[place]) for place in told], dtype=np.float64)
    found: list[Fact] = [None] * len(p_values)
    for place, value, floor in zip(told, _adjust(values, way), _adjust(floors, way), strict=True):
        adjusted = min(1.0, value)
        found[place] = bound_p_value(adjusted, min(1.0, floor)) if isinstance(p_values[place], AtMost) else adjusted
    return tuple(found)


def _adjust(values: Floats, way: str) -> list[float]:
    """In the order in which they are given."""
    order = np.argsort(values, kind="stable")
    found = np.empty_like(values)
    found[order] = _WAYS[way][1](values[order])
    return [float(each) for each in found]


def adjust_table(table: ResultTable, way: str) -> ResultTable:
    """The table with adjusted p-values, and a note that says so."""
    if way == NONE:
        return table
    raw = table.facts[P_VALUE]
    many = sum(each is not None for each in raw())
    note = _ADJUSTED(tests=many, way=_WAYS[way][0])
    adjusted = {**table.facts, P_VALUE: lambda: adjust_p_values(raw(), way)}
    return replace(table, facts=adjusted, notes=(*table.notes, note))
