"""Rows that tempt an engine to conclude from what a column happens to hold: all alike, no NULL, one that is different.

Whole columns of ordinary databases are changed; ids stay as they are: whose a row is and what it is linked to. The
questions are conditions that such columns make true, false or NULL everywhere, or nearly.
"""

from __future__ import annotations

from datetime import date
from math import isfinite
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from kit.grammar import TABLES
from kit.rows import linked_databases
from kit.spellings import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from kit.hospital import Row, Rows

_IDS = {"person_id", "visit_id", "item_id"}
_MADE = (  # of a column and a constant: the same values, or fewer of them
    "{0}",
    "NULLIF({0}, {1})",
    "CASE WHEN {0} = {1} THEN NULL ELSE {0} END",
    "CASE WHEN {0} <> {1} THEN {0} END",
    "COALESCE(NULLIF({0}, {1}), {1})",
)
_ORDERS = tuple(f"({{0}} {sign} {{1}})" for sign in ("=", "<>", "<", "<=", ">", ">=", "IS NOT DISTINCT FROM"))
_TESTS = {  # of what is made and a constant, by the kind of both
    "n": (
        *_ORDERS,
        "(ABS({0}) >= {1})",
        "(FLOOR({0}) <= {1})",
        "({0} + 1 > {1})",
        "(- {0} <= {1})",
        "({0} - {0} = 0)",
        "(TRY_CAST({0} AS INTEGER) >= {1})",
        "({0} BETWEEN {1} AND {1} + 1)",
        "({0} IN ({1}, 0, 1))",
    ),
    "t": (
        *_ORDERS,
        "STARTS_WITH({0}, {1})",
        "ENDS_WITH({0}, {1})",
        "CONTAINS({0}, {1})",
        "({0} LIKE {1})",
        "({0} LIKE '%')",
        "({0} IN ({1}, 'F', 'H1'))",
        "(LENGTH({0}) >= LENGTH({1}))",
        "STARTS_WITH(UPPER({0}), {1})",
        "CONTAINS({0} || 'a', {1})",
        "({0} ~ '^[A-Z]')",
        "({0} ~ '^H1$|nn|^$')",
        "(REPLACE({0}, 'n', '') >= {1})",
        "(STRPOS({0}, {1}) > 0)",
    ),
    "b": (*_ORDERS, "{0}", "({0} OR {1})", "({0} AND {1})"),
    "d": (
        *_ORDERS,
        "(YEAR({0}) >= YEAR({1}))",
        "(DATE_TRUNC('month', {0}) <= {1})",
        "({0} BETWEEN {1} AND {1})",
        "({0} + INTERVAL 1 MONTH > {1})",
        "(STRFTIME({0}, '%Y-%m') >= STRFTIME({1}, '%Y-%m'))",
    ),
}


def _alike(values: list[Any]) -> list[Any]:
    """All the same value, and one that is there if any is."""
    known = [value for value in values if value is not None]
    return known[:1] * len(values) if known else values


def _but_one(values: list[Any]) -> list[Any]:
    """All alike but the last."""
    return [*_alike(values[:-1]), *values[-1:]]


def _present(values: list[Any]) -> list[Any]:
    """No NULL."""
    known = [value for value in values if value is not None]
    return [known[0] if value is None else value for value in values] if known else values


def _sorted(values: list[Any]) -> list[Any]:
    return sorted(values, key=lambda value: (value is None, value != value, value))  # noqa: PLR0124 - NaN last


def _absent(values: list[Any]) -> list[Any]:
    return [None] * len(values)


MOODS: tuple[Callable[[list[Any]], list[Any]], ...] = (list, _alike, _alike, _but_one, _present, _sorted, _absent)


@st.composite
def tempting_databases(draw: Any) -> dict[str, Rows]:
    """The files of a hospital, each of their columns in a mood of its own."""
    files = draw(linked_databases)
    return {name: _changed(rows, draw) for name, rows in files.items()}


def _changed(rows: Rows, draw: Any) -> Rows:
    changed: list[Row] = [dict(row) for row in rows]
    for name in sorted(set().union(*rows) - _IDS):
        mood = draw(st.sampled_from(MOODS))
        for row, value in zip(changed, mood([row[name] for row in rows]), strict=True):
            row[name] = value
    return changed


@st.composite
def tempting_questions(draw: Any, files: dict[str, Rows]) -> str:
    """A count of rows by a condition on one column, with constants that it holds: it is often true of all of them."""
    table = draw(st.sampled_from(sorted(TABLES)))
    column = draw(st.sampled_from(sorted(TABLES[table].keys() - _IDS)))
    sort = TABLES[table][column]
    held = [_written(row[column], draw) for row in files[table] if row[column] is not None]
    constants = st.sampled_from([*CONSTANTS[sort[0]], *held * 5])
    made = draw(st.sampled_from(_MADE)).format(column, draw(constants))
    test = draw(st.sampled_from(_TESTS[sort[0]])).format(made, draw(constants))
    form = draw(st.sampled_from(["{}", "{}", "{}", "NOT {}", "{} IS NULL", "({}) IS NOT TRUE"]))
    return f"SELECT COUNT(*) FROM {table} WHERE {form.format(test)}"


def _written(value: Any, draw: Any) -> str:
    """A constant that is a value, or the beginning of a text."""
    match value:
        case bool():
            return str(value).upper()
        case str():
            return f"'{value[: draw(st.sampled_from([0, 1, 40]))]}'"
        case date():
            return f"DATE '{value.isoformat()}'"
    return repr(value) if isfinite(value) else "0"
