"""The call of a method taken apart into texts, as a form shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from adomnia.sql.methods.arguments import find_arguments
from adomnia.sql.methods.calls import find_call
from adomnia.sql.reading.parse import parse, write_sql
from adomnia.sql.values.scope import strip_brackets

if TYPE_CHECKING:
    from adomnia.methods.contract import Method


@dataclass(frozen=True)
class RowsParts:
    """Where the rows come from: a table with a condition, and the columns that were selected of it; or a SELECT."""

    table: str
    where: str = ""
    select: str = ""
    selected: tuple[str, ...] = ()


@dataclass(frozen=True)
class ArgumentParts:
    """An argument: its text, its parts as they were typed, and the columns that they name; `is_column`: it is one."""

    text: str
    parts: tuple[str, ...]
    names: tuple[str, ...]
    is_column: bool


@dataclass(frozen=True)
class CallParts:
    """The rows and the arguments that were given."""

    rows: RowsParts
    arguments: dict[str, ArgumentParts]


def take_apart(text: str, method: Method) -> CallParts:
    """The parts of a text that calls a method."""
    call = find_call(parse(text))
    assert call is not None  # noqa: S101 - its caller says that it calls one
    rows = _read_rows(strip_brackets(call.expressions[0]))
    return CallParts(rows, {name: _read_argument(node) for name, node in find_arguments(call, method).items()})


def _read_rows(node: exp.Expr) -> RowsParts:
    if isinstance(node, exp.Column):
        return RowsParts(node.name)
    select = node.this if isinstance(node, exp.Subquery) else node
    source = select.args["from_"].this
    plain = isinstance(source, exp.Table) and not select.args.get("joins")
    if not plain or not all(isinstance(each, exp.Column) for each in select.expressions):
        return RowsParts(source.name, select=write_sql(select))
    where = select.args.get("where")
    condition = "" if where is None else write_sql(where.this)
    return RowsParts(source.name, condition, selected=tuple(each.name for each in select.expressions))


def _read_argument(node: exp.Expr) -> ArgumentParts:
    nodes = [strip_brackets(each) for each in node.expressions] if isinstance(node, exp.Tuple) else [node]
    parts = (str(each.this) if isinstance(each, exp.Literal) else write_sql(each) for each in nodes)
    names = tuple(each.name for each in nodes)
    return ArgumentParts(write_sql(node), tuple(parts), names, isinstance(node, exp.Column))
