"""Which picture a method draws, said before it is paid for: by the columns that its table has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# The first whose columns a table has: the columns, the kind of picture that methods name, and what one sees.
PICTURES: tuple[tuple[frozenset[str], str, str], ...] = (
    (frozenset({"x_from", "x_to", "count"}), "bars", "a bar for each bin, with its interval"),
    (frozenset({"x_from", "x_to"}), "line", "a curve within a band that holds it"),
    (frozenset({"value", "count"}), "bars", "a bar for each value, with its interval"),
    (frozenset({"column", "other"}), "heat", "a grid of all pairs, darker where the value is larger"),
    (frozenset({"row", "column"}), "heat", "a grid of all pairs, darker where there are more rows"),
    (frozenset({"x", "mean"}), "line", "a curve within a band that holds it"),
    (frozenset({"x", "estimate"}), "steps", "a curve that rises in steps, within its band"),
    (frozenset({"time", "survival"}), "steps", "a curve that falls in steps, within its band"),
    (frozenset({"group", "observed"}), "points", "a point for each group, with its interval"),
    (frozenset({"term", "estimate"}), "points", "a point for each term, with its interval"),
    (frozenset({"estimate"}), "points", "a point for each estimate, with its interval"),
    (frozenset({"mean"}), "points", "a point for each mean, with its interval"),
)


def describe_picture(returns: Mapping[str, str]) -> str:
    """What is drawn of a table with these columns; empty where nothing can be said before."""
    return next((says for columns, _, says in PICTURES if columns <= returns.keys()), "")
