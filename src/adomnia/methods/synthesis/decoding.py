"""Values of synthetic rows: declared ones as they are, and of a bin one of the values that it holds, drawn evenly."""

from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from math import ceil

import numpy as np

from adomnia.noise.afterwards import Generator
from adomnia.privacy.keys import Label
from adomnia.statistics.products import Attribute, Places


def decode_rows(
    attributes: Sequence[Attribute], rows: Places, generator: Generator
) -> dict[str, tuple[Label | None, ...]]:
    """The values of each column, from the places of its levels; None is missing."""
    return {
        attribute.name: decode_column(attribute, rows[:, place], generator)
        for place, attribute in enumerate(attributes)
    }


def decode_column(attribute: Attribute, places: Places, generator: Generator) -> tuple[Label | None, ...]:
    """The values of one column."""
    levels = attribute.levels
    if not attribute.edges:
        return tuple(levels[place] for place in places.tolist())
    drawn = _draw_steps(attribute, places, generator)
    return tuple(
        None if levels[place] is None else _read_step(attribute, step)
        for place, step in zip(places.tolist(), drawn.tolist(), strict=True)
    )


def find_step(attribute: Attribute) -> float:
    """What values inside of bins are multiples of: 1 of whole numbers and of days, else the grid of the column."""
    return 1.0 if attribute.sort in ("integer", "date") else attribute.step or _round_step(attribute.edges)


def _round_step(edges: Sequence[float]) -> float:
    """A power of ten that is at most a hundredth of a bin: where no step is declared, more digits would say nothing."""
    width = min(end - start for start, end in pairwise(edges))
    return float(10.0 ** np.floor(np.log10(width / 100)))


def _draw_steps(attribute: Attribute, places: Places, generator: Generator) -> Places:
    """For each row a multiple of the step that lies in its bin; where none does, the one below its lower end."""
    step, bins = find_step(attribute), len(attribute.edges) - 1
    # Of a bin its lower end belongs to it and its upper end does not. A hair is taken off, so that 0.3 / 0.1 is 3.
    ends = np.array([ceil(edge / step - 1e-9) for edge in attribute.edges], dtype=np.int64)
    inside = np.minimum(places, bins - 1)  # of those that are missing any: nobody reads it
    first, many = ends[inside], np.maximum(ends[inside + 1] - ends[inside], 1)
    return np.asarray(first + np.floor(generator.random(len(places)) * many).astype(np.int64))


def _read_step(attribute: Attribute, step: int) -> Label:
    if attribute.sort == "integer":
        return step
    if attribute.sort == "date":
        return date.fromordinal(step + 1)
    return _shorten(step, find_step(attribute))


def _shorten(steps: int, step: float) -> float:
    """The multiple, without the digits that doubles add to it."""
    digits = max(0, -int(np.floor(np.log10(step))) + _GUARD_DIGITS)
    return round(steps * step, digits)


_GUARD_DIGITS = 6  # below the step: of steps such as 0.125
