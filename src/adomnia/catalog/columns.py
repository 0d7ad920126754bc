"""Reads the columns of a table: the kind of each, and the grid of a number, whose bounds are always declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from adomnia.catalog.document_keys import COLUMN_NAME, COLUMNS, SECTION, SYNONYMS, did_you_mean
from adomnia.privacy.amounts import exact
from adomnia.privacy.domains import Categories, Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Day, Identity, Kind, Moment, Quantity, Text

if TYPE_CHECKING:
    from fractions import Fraction

    from adomnia.catalog.document import Document

Declared: TypeAlias = dict[str, Any]
PublicValues: TypeAlias = Callable[[tuple[str, ...], str], tuple[str, ...]]


def read_columns(document: Document, table: str, public_values: PublicValues) -> tuple[Column, ...]:
    """Read the columns of a table; `public_values` looks up "table.column" for the key at a path."""
    path = ("tables", table, "columns")
    if not SECTION.holds(document.at("tables", table).get("columns")):
        return ()
    names = document.names(*path, rule=COLUMN_NAME)
    columns = {name: document.attempt(_read_column, document, (*path, name), public_values) for name in names}
    known = tuple(filter(None, columns.values()))
    if len(known) < len(names):
        raise document.problems.pop()
    return known


def _read_column(document: Document, path: tuple[str, ...], public_values: PublicValues) -> Column:
    kind = _read_type(document, path)
    section = COLUMNS[kind]
    declared = dict(document.section(path, section))
    _check_bounds(document, path, declared)
    if isinstance(declared.get("values"), str):
        declared["values"] = public_values((*path, "values"), declared["values"])
    with document.translate_errors(path, section):
        return Column(path[-1], *_BUILDERS[kind](declared))


def _read_type(document: Document, path: tuple[str, ...]) -> str:
    declared = document.at(*path)
    known = f"(the types are {', '.join(COLUMNS)})"
    if "type" not in declared:
        raise document.refusal(path, "has no type", f'add for example type = "text" {known}')
    written = str(declared["type"])
    if written not in COLUMNS:
        hint = did_you_mean(SYNONYMS.get(written.lower(), written), COLUMNS) or "choose another"
        raise document.refusal((*path, "type"), f"is no type of column: {written}", f"{hint} {known}")
    return written


def _check_bounds(document: Document, path: tuple[str, ...], declared: Declared) -> None:
    for given, needed in (("lower", "upper"), ("upper", "lower"), ("step", "lower")):
        if given in declared and needed not in declared:
            fix = f"add {needed}, from public knowledge and never from the data, or remove {given}"
            raise document.refusal((*path, given), f"has no {needed} beside it", fix)
    if "lower" in declared and declared["lower"] > declared["upper"]:
        why = f"must be at least lower = {declared['lower']}, got {declared['upper']}"
        raise document.refusal((*path, "upper"), why, "swap the two, or correct one of them")


def _integer(declared: Declared) -> tuple[Kind, Numbers | None]:
    return _quantity(declared, whole=True, grid=Numbers.integers)


def _number(declared: Declared) -> tuple[Kind, Numbers | None]:
    step = declared.get("step")
    return _quantity(declared, whole=False, grid=lambda lower, upper: Numbers.bounded(lower, upper, step))


def _quantity(
    declared: Declared, whole: bool, grid: Callable[[Fraction, Fraction], Numbers]
) -> tuple[Kind, Numbers | None]:
    if "lower" not in declared:
        return Quantity(whole=whole), None
    lower, upper = (exact(declared[bound], "Numbers", bound) for bound in ("lower", "upper"))
    return Quantity(lower, upper, whole), grid(lower, upper)


def _category(declared: Declared) -> tuple[Kind]:
    values, others = tuple(map(str, Categories(declared["values"]).values)), declared.get("others")
    if others in values:
        raise ValueError(f"Category others must be none of the values, got {others!r}.")
    return (Text(values) if others is None else Text((*values, others), others=True),)


_BUILDERS: dict[str, Callable[[Declared], tuple[Any, ...]]] = {
    "id": lambda _: (Identity(),),
    "integer": _integer,
    "number": _number,
    "boolean": lambda _: (Boolean(),),
    "category": _category,
    "date": lambda declared: (Day(declared.get("lower"), declared.get("upper")),),
    "timestamp": lambda declared: (Moment(declared.get("lower"), declared.get("upper"), declared["timezone"]),),
    "text": lambda _: (Text(),),
}
