"""Questions about releases: tables behind the name of their schema, which stand beside no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from adomnia.sql.reading.parse import parse
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.reading.statements import SCHEMA
from adomnia.sql.values.scope import find_call

if TYPE_CHECKING:
    from collections.abc import Iterator

_BY_ITSELF = "ask about one release by itself, and put answers together yourself"


def parse_released(text: str) -> exp.Select | None:
    """A question about a release, with its tables named as their catalog does; None for any other question."""
    select = parse(text)
    released = [table for table in _list_tables(select) if _is_released(table)]
    if not released:
        return None
    _refuse_others(select)
    for table in released:
        table.set("db", None)
    return select


def list_released(select: exp.Select) -> list[str]:
    """The names of all tables of a question, but for those of WITH."""
    named = _names_of_with(select)
    return list(dict.fromkeys(table.name for table in _list_tables(select) if table.name.lower() not in named))


def refuse_several(select: exp.Select) -> None:
    """Refuse a question that names releases more than once: pairs and unions of rows do not follow from counts."""
    named = _names_of_with(select)
    for table in [each for each in _list_tables(select) if each.name.lower() not in named][1:]:
        raise refusal("release_join", table, "is joined or united with a release", _BY_ITSELF, f"{SCHEMA}.{table.name}")


def _is_released(table: exp.Table) -> bool:
    return bool(table.db.lower() == SCHEMA and not table.catalog)


def _refuse_others(select: exp.Select) -> None:
    named = _names_of_with(select)
    for table in _list_tables(select):
        if _is_released(table) or (not table.db and table.name.lower() in named):
            continue
        why = "is no release, and stands beside one"
        raise refusal("release_join", table, why, _BY_ITSELF, table.sql() or "What stands in FROM")
    call = find_call(select)
    if call is not None:
        why, fix = "is given a release, whose rows are not kept", "ask it of the table that the release was made from"
        raise refusal("release_method", call, why, fix, "The method")


def _list_tables(select: exp.Select) -> Iterator[exp.Table]:
    """The tables of a question; a method in FROM is none."""
    yield from (table for table in select.find_all(exp.Table) if not isinstance(table.this, exp.Func))


def _names_of_with(select: exp.Select) -> set[str]:
    return {each.alias.lower() for each in select.find_all(exp.CTE)}
