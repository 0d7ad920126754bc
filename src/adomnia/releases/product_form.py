"""A product as plain data, and back: what a folder keeps beside the published table."""

from __future__ import annotations

from datetime import date
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, cast, get_args

import numpy as np

from adomnia.mechanisms.contract import Tails
from adomnia.methods.synthesis.nested_release import NestedRelease
from adomnia.methods.synthesis.residuals import Residuals
from adomnia.methods.synthesis.strategies import GramRelease
from adomnia.statistics.products import Attribute, LinearRelease, Product, Sort

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from adomnia.statistics.products import Places

MOST_COLUMNS = 64
MOST_LEVELS = 100_000  # of a column
_LARGE = 2**63
_LONGEST_TEXT = 10_000  # of a level or a name


def to_plain(product: Product) -> dict[str, Any]:
    """All of a product."""
    return {
        "attributes": write_attributes(product.attributes),
        "estimates": write_estimates(product.estimates),
        "tails": product.tails,
        "rows": product.rows,
        "tables": [{"columns": places, "counts": counts} for places, counts in product.tables.items()],
        "about": product.about,
        "step": product.step,
    }


def write_attributes(attributes: Iterable[Attribute]) -> list[dict[str, Any]]:
    """Columns as plain data."""
    parts = ("name", "sort", "levels", "edges", "step")
    return [{part: getattr(each, part) for part in parts} for each in attributes]


def from_plain(plain: Mapping[str, Any]) -> Product:
    """What `to_plain` wrote; a ValueError, KeyError or TypeError for anything else."""
    attributes = read_attributes(plain)
    sizes = tuple(map(len, attributes))
    _require(plain["tails"] in get_args(Tails), "tails must be of a known sort")
    _require(isinstance(plain["about"], dict), "about must be a mapping")
    step = plain.get("step", 0.0)  # which early folders have not
    _require(type(step) is float and 0 <= step < _LARGE, "step must be a number that is not negative")
    return Product(
        attributes,
        estimates=read_estimates(plain["estimates"], sizes),
        tails=plain["tails"],
        rows=_read_rows(plain["rows"], sizes),
        tables=dict(_read_table(each, sizes) for each in plain["tables"]),
        about=plain["about"],
        step=step,
    )


def read_attributes(plain: Mapping[str, Any]) -> tuple[Attribute, ...]:
    """The columns of what `to_plain` wrote, likewise."""
    attributes = tuple(_read_attribute(each) for each in plain["attributes"])
    _require(1 <= len(attributes) <= MOST_COLUMNS, f"columns must be 1 to {MOST_COLUMNS}")
    _require(len({each.name.lower() for each in attributes}) == len(attributes), "columns must have different names")
    return attributes


def _read_attribute(plain: Mapping[str, Any]) -> Attribute:
    name, sort, levels, edges, step = (plain[key] for key in ("name", "sort", "levels", "edges", "step"))
    _require(isinstance(name, str) and 0 < len(name) <= _LONGEST_TEXT and name.isprintable(), "names must be texts")
    _require(sort in get_args(Sort), "columns must be of a known sort")
    _require(isinstance(levels, list) and 0 < len(levels) <= MOST_LEVELS, f"values must be 1 to {MOST_LEVELS:,}")
    _require(all(map(_is_level, levels)), "values must be texts, numbers, days or missing")
    _require(len({(type(each), each) for each in levels}) == len(levels), "values must differ")
    bins = len(levels) - (levels[-1] is None)
    _require(isinstance(edges, list) and len(edges) in {0, bins + 1}, "edges must be one more than bins")
    ends = tuple(map(float, edges))
    _require(all(map(isfinite, ends)) and all(np.diff(ends) > 0), "edges must be finite and ascend")
    _require(step is None or (type(step) is float and 0 < step < _LARGE), "steps must be positive numbers")
    return Attribute(name, tuple(levels), sort, ends, step)


def _is_level(level: object) -> bool:
    if isinstance(level, float | int):
        return abs(level) < _LARGE  # which no number that is none is
    return level is None or isinstance(level, date) or (isinstance(level, str) and _is_short(level))


def _is_short(text: str) -> bool:
    return len(text) <= _LONGEST_TEXT


def _read_rows(rows: Any, sizes: Sequence[int]) -> Places | None:  # noqa: ANN401 - from a stranger
    if rows is None:
        return None
    _require(_is_whole(rows) and rows.ndim == len(("row", "column")), "rows must be a table of integers")
    _require(rows.shape[1] == len(sizes), "rows must have a place for each column")
    if len(rows):
        _require(bool((rows.min(axis=0) >= 0).all() and (rows.max(axis=0) < sizes).all()), "rows must be places")
    found: Places = rows
    return found


def _read_table(plain: Mapping[str, Any], sizes: Sequence[int]) -> tuple[tuple[int, ...], Places]:
    places, counts = tuple(plain["columns"]), plain["counts"]
    _require(all(type(place) is int and 0 <= place < len(sizes) for place in places), "tables must be of columns")
    _require(len(set(places)) == len(places), "tables must be of different columns")
    _require(_is_whole(counts) and counts.shape == tuple(sizes[place] for place in places), "tables must be complete")
    return places, counts


def _is_whole(array: object) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind in "iu"


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(f"Product {rule}.")


class PlainEstimates(LinearRelease, Protocol):
    """Estimates that can be kept as plain data: numbers, texts, arrays, and lists and mappings of such."""

    tag: ClassVar[str]  # what folders know it by, for ever

    def to_plain(self) -> dict[str, Any]:
        """All that it is made of; keys are texts."""
        ...

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], sizes: Sequence[int]) -> Self:
        """The same again, with lists where tuples were, for columns of so many values.

        A ValueError, KeyError or TypeError for what `to_plain` cannot have written: it may come from a stranger.
        """
        ...


_ALL: tuple[type[PlainEstimates], ...] = (Residuals, GramRelease, NestedRelease)


ESTIMATES: Mapping[str, type[PlainEstimates]] = MappingProxyType({each.tag: each for each in _ALL})


def write_estimates(estimates: LinearRelease | None) -> dict[str, Any] | None:
    """The tag, and the plain data."""
    if estimates is None:
        return None
    tag = getattr(estimates, "tag", None)
    if tag not in ESTIMATES:
        raise ValueError(f"Release estimates must be of a registered class, got {type(estimates).__name__}.")
    return {"tag": tag, "content": cast("PlainEstimates", estimates).to_plain()}


def read_estimates(plain: Mapping[str, Any] | None, sizes: Sequence[int]) -> LinearRelease | None:
    """What `write_estimates` wrote."""
    if plain is None:
        return None
    if plain["tag"] not in ESTIMATES:
        raise ValueError(f"Release estimates must be of a known sort, got {plain['tag']!r:.60}.")
    return ESTIMATES[plain["tag"]].from_plain(plain["content"], sizes)
