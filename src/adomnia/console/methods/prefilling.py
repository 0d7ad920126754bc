"""What a form holds before anybody has typed: the example of the method where it fits, else columns that do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp

from adomnia.console.methods.naming import OWN, box_of, choose_column, field_of, own_of, write_term
from adomnia.console.methods.offering import list_tables, read_frame
from adomnia.console.methods.writing import write_question, write_rows
from adomnia.errors import Refusal
from adomnia.sql.lower import lower
from adomnia.sql.methods.arguments import find_arguments
from adomnia.sql.methods.calls import find_call
from adomnia.sql.reading.parse import parse
from adomnia.sql.values.scope import strip_brackets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.model import Catalog
    from adomnia.console.methods.naming import Fields
    from adomnia.methods.contract import Frame, Method, Parameter

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
    try:
        lower(method.example, catalog)
    except Refusal:
        return _choose_table(method, catalog)
    return read_example(method, catalog)


def read_example(method: Method, catalog: Catalog) -> dict[str, str]:
    """The form that means the example of a method."""
    call = find_call(parse(method.example))
    assert call is not None  # noqa: S101 - a contract of methods
    rows, selected = _read_rows(strip_brackets(call.expressions[0]))
    nodes = find_arguments(call, method)
    fields = dict(rows)
    for parameter in method.parameters:
        if parameter.name in nodes:
            fields |= _read_argument(parameter, nodes[parameter.name])
        elif parameter.kind in {"columns", "names"} and selected:
            columns = getattr(read_frame(method, write_rows(fields).text, catalog), _COLUMNS[parameter.kind])
            fields |= {box_of(parameter, name): "on" for name in selected if name.lower() in columns}
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
        lower(write_question(method, fields).text, catalog)
    except Refusal:
        return False
    return True


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


def _read_rows(node: exp.Expr) -> tuple[dict[str, str], list[str]]:
    """The fields of rows, and the columns that were selected of a table by their names alone."""
    if isinstance(node, exp.Column):
        return {"source": "table", "table": node.name}, []
    select = node.this if isinstance(node, exp.Subquery) else node
    source = select.args["from_"].this
    plain = isinstance(source, exp.Table) and not select.args.get("joins")
    if not plain or not all(isinstance(each, exp.Column) for each in select.expressions):
        return {"source": "select", "select": select.sql(dialect="duckdb"), "table": source.name}, []
    where = select.args.get("where")
    condition = {} if where is None else {"where": where.this.sql(dialect="duckdb")}
    return {"source": "table", "table": source.name, **condition}, [each.name for each in select.expressions]


def _read_argument(parameter: Parameter, node: exp.Expr) -> dict[str, str]:
    nodes = [strip_brackets(each) for each in node.expressions] if isinstance(node, exp.Tuple) else [node]
    if parameter.kind in _LISTS:
        return {box_of(parameter, each.name): "on" for each in nodes}
    if parameter.kind in _COLUMNS and not isinstance(node, exp.Column):
        return {field_of(parameter): OWN, own_of(parameter): node.sql(dialect="duckdb")}
    if parameter.kind in _COLUMNS:
        return {field_of(parameter): choose_column(node.name)}
    if parameter.kind == "boolean":
        return {field_of(parameter): node.sql().lower()}
    texts = (str(each.this) if isinstance(each, exp.Literal) else each.sql(dialect="duckdb") for each in nodes)
    return {field_of(parameter): ", ".join(texts)}


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
