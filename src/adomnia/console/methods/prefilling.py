"""What a form holds before anybody has typed: the example of the method where it fits, else columns that do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from adomnia.api.actions.method_calls import is_answered, list_tables, read_frame, take_apart
from adomnia.console.methods.fields import OWN, box_of, choose_column, field_of, own_of, write_term
from adomnia.console.methods.writing import write_question, write_rows
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.model import Catalog
    from adomnia.console.methods.fields import Fields
    from adomnia.methods.contract import Frame, Method, Parameter
    from adomnia.sql.methods.call_texts import ArgumentParts, RowsParts

_COLUMNS = {
    "column": "numbers",
    "columns": "numbers",
    "factor": "factors",
    "factors": "factors",
    "names": "columns",
}
_LISTS = frozenset({"columns", "factors", "names"})
_MOST_TABLES = 12  # that are looked at for columns: each is planned a few times
_NAMES = re.compile(r"`([^`]+)`|([^\W\d][\w.]*)(?!\s*\(|[\w.])")


def prefill(method: Method, catalog: Catalog) -> dict[str, str]:
    """A form that has a price: that of the example, or of the first table with enough columns."""
    return read_example(method, catalog) if is_answered(method.example, catalog) else _choose_table(method, catalog)


def read_example(method: Method, catalog: Catalog) -> dict[str, str]:
    """The form that means the example of a method."""
    call = take_apart(method.example, method)
    fields = _read_rows(call.rows)
    for parameter in method.parameters:
        if parameter.name in call.arguments:
            fields |= _read_argument(parameter, call.arguments[parameter.name])
        elif parameter.kind in {"columns", "names"} and call.rows.selected:
            columns = getattr(read_frame(method, write_rows(fields).text, catalog), _COLUMNS[parameter.kind])
            fields |= {box_of(parameter, name): "on" for name in call.rows.selected if name.lower() in columns}
    return fields


def refit(method: Method, fields: Fields, catalog: Catalog) -> dict[str, str]:
    """The same form over other rows: what names columns that they do not have gives way to columns that they have."""
    try:
        frame = read_frame(method, write_rows(fields).text, catalog)
    except Refusal:
        if not fields.get("where") or fields.get("source") == "select":
            return dict(fields)
        return refit(method, {**fields, "where": ""}, catalog)
    kept = {name: value for name, value in fields.items() if not name.startswith("arg-")}
    for parameter in method.parameters:
        own = _keep(parameter, fields, frame)
        kept |= own
        if not own and parameter.required:
            kept |= _choose(parameter, frame, kept)
    return next((form for form in _vary(method, kept) if _is_answered(method, form, catalog)), kept)


def _vary(method: Method, fields: dict[str, str]) -> Iterator[dict[str, str]]:
    """A form, and then with another choice where nobody chose: some are not answered over all rows."""
    yield fields
    for parameter in method.parameters:
        if fields.get(field_of(parameter), parameter.default) == parameter.default:
            yield from ({**fields, field_of(parameter): choice} for choice in parameter.choices)


def _is_answered(method: Method, fields: Fields, catalog: Catalog) -> bool:
    try:
        return is_answered(write_question(method, fields).text, catalog)
    except Refusal:
        return False


def _choose_table(method: Method, catalog: Catalog) -> dict[str, str]:
    """The form of the first table that has all that must be given; of a few others that one which has most of it."""
    wanted = [field_of(parameter) for parameter in method.parameters if parameter.required]
    forms: dict[int, dict[str, str]] = {}
    for table in list_tables(catalog)[:_MOST_TABLES]:
        form = refit(method, {"source": "table", "table": table}, catalog)
        given = sum(any(name.startswith(each) for name in form) for each in wanted)
        if given == len(wanted):
            return form
        forms.setdefault(given, form)
    return forms[max(forms)] if forms else {}


def _read_rows(rows: RowsParts) -> dict[str, str]:
    if rows.select:
        return {"source": "select", "select": rows.select, "table": rows.table}
    return {"source": "table", "table": rows.table} | ({"where": rows.where} if rows.where else {})


def _read_argument(parameter: Parameter, argument: ArgumentParts) -> dict[str, str]:
    if parameter.kind in _LISTS:
        return {box_of(parameter, name): "on" for name in argument.names}
    if parameter.kind in _COLUMNS and not argument.is_column:
        return {field_of(parameter): OWN, own_of(parameter): argument.text}
    if parameter.kind in _COLUMNS:
        return {field_of(parameter): choose_column(argument.names[0])}
    if parameter.kind == "boolean":
        return {field_of(parameter): argument.text.lower()}
    return {field_of(parameter): ", ".join(argument.parts)}


def _keep(parameter: Parameter, fields: Fields, frame: Frame) -> dict[str, str]:
    """What was typed for an argument, as far as these rows have it."""
    name, offered = field_of(parameter), _offer(parameter, frame)
    typed = {each: value for each, value in fields.items() if each == name or each.startswith((f"{name}.", f"{name}:"))}
    if parameter.kind in _LISTS:
        known = {box_of(parameter, column) for column in offered}
        return {each: value for each, value in typed.items() if each in known}
    if parameter.kind in _COLUMNS:
        chosen = {choose_column(column) for column in offered}
        own = fields.get(name) == OWN and _has_names(fields.get(own_of(parameter), ""), frame)
        return typed if own or fields.get(name) in chosen else {}
    if parameter.kind == "formula":
        return typed if _has_names(fields.get(name, ""), frame) else {}
    return typed


def _has_names(text: str, frame: Frame) -> bool:
    names = {(quoted or plain).lower() for quoted, plain in _NAMES.findall(text)}
    return bool(text) and names <= set(frame.names)


def _offer(parameter: Parameter, frame: Frame) -> list[str]:
    columns = getattr(frame, _COLUMNS[parameter.kind]) if parameter.kind in _COLUMNS else {}
    return [column.name for column in columns.values()]


def _choose(parameter: Parameter, frame: Frame, taken: Fields) -> dict[str, str]:
    """Something that these rows have for an argument that must be given."""
    if parameter.kind == "formula":
        return _choose_formula(parameter, frame)
    used = set(taken.values())
    for column in _offer(parameter, frame):
        if choose_column(column) not in used:
            one = {box_of(parameter, column): "on"} if parameter.kind in _LISTS else None
            return one or {field_of(parameter): choose_column(column)}
    return {}


def _choose_formula(parameter: Parameter, frame: Frame) -> dict[str, str]:
    """The number with the widest range by the first of everything else: an amount, rarely an age or a yes or no."""
    widest = sorted(frame.numbers.values(), key=lambda number: number.domain.lower - number.domain.upper)
    numbers = [term for number in widest if (term := write_term(number.name)) is not None]
    others = [*_terms(frame), *numbers[1:]]
    return {field_of(parameter): f"{numbers[0]} ~ {others[0]}"} if numbers and others else {}


def _terms(frame: Frame) -> Iterator[str]:
    for factor in frame.factors.values():
        term = write_term(factor.name)
        if term is not None and factor.name.lower() not in frame.numbers:
            yield f"C({term})"
