"""Reads the named arguments of a method by its signature, or refuses them with their place."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.methods.contract import Method, Parameter
from adomnia.methods.registry import METHODS
from adomnia.sql.methods.frames import BEYOND, Given, read_factor, read_number
from adomnia.sql.reading.refusals import position_of, refusal, refusal_of_name, render_node, shorten
from adomnia.sql.values.scalars import read_expression
from adomnia.sql.values.scope import strip_brackets

MOST_LISTED = 100  # columns or numbers in one argument
_NUMBER = re.compile(r"[0-9]{1,30}(\.[0-9]{0,30})?([eE][+-]?[0-9]{1,2})?|\.[0-9]{1,30}([eE][+-]?[0-9]{1,2})?", re.ASCII)

_NOW = {each.formerly: each.name for method in METHODS.values() for each in method.parameters if each.formerly}
_BEFORE = re.compile(rf"\b(?:{'|'.join(_NOW)})(?=\s*=>)", re.IGNORECASE)


def read_arguments(call: exp.Func, method: Method, given: Given) -> dict[str, Any]:
    """All arguments of a method by their names, defaults filled in."""
    nodes = find_arguments(call, method)
    return {
        parameter.name: read_argument(nodes[parameter.name], parameter, given)
        if parameter.name in nodes
        else _default(parameter, call, method, given)
        for parameter in method.parameters
    }


def find_arguments(call: exp.Func, method: Method) -> dict[str, exp.Expr]:
    """The values that are written for parameters, each once."""
    found: dict[str, exp.Expr] = {}
    names = [each.name for each in method.parameters]
    for node in call.expressions[1:]:
        if not isinstance(node, exp.Kwarg):
            fix = f"name it: {names[0]} => {render_node(node)}" if names else "leave it out"
            raise refusal("bad_argument", node, "is an argument without a name", fix)
        name = node.this.name.lower()
        if now := method.renamed(name):
            fix = f"write {now.name} => {render_node(node.expression)}"
            raise refusal("renamed_option", node.expression, "has another name", fix, name)
        if name not in names:
            raise refusal_of_name(
                "unknown_argument", node.expression, node.this.name, f"arguments of {method.name}", names
            )
        if name in found:
            raise refusal("bad_argument", node.expression, "is given twice", "give it once", node.this.name)
        found[name] = strip_brackets(node.expression)
    return found


def name_as_now(text: str) -> str:
    """A question that was paid for under names which arguments had before, with those of now.

    It may change what stands in quotes, too: whoever asks with it compares what it means with what was paid for.
    """
    return _BEFORE.sub(lambda found: _NOW[found[0].lower()], text)


def read_argument(node: exp.Expr, parameter: Parameter, given: Given) -> Any:  # noqa: ANN401 - by its kind
    """The value of one argument."""
    return _KINDS[parameter.kind](node, parameter, given)


def place_in_text(node: exp.Expr, offset: int) -> tuple[int, int]:
    """The place of a character of a text that a node is, or of the node where it is none."""
    line, column = position_of(node) or (1, 1)
    return (line, column + 1 + offset) if isinstance(node, exp.Literal) and node.is_string else (line, column)


def _default(parameter: Parameter, call: exp.Func, method: Method, given: Given) -> Any:  # noqa: ANN401 - by its kind
    if parameter.required:
        fix = f"add {parameter.name} => ...: {parameter.meaning}"
        raise refusal("missing_argument", call, f"needs {parameter.name}", fix, f"{method.name}()")
    if parameter.all_columns:
        for name in given.frame.beyond:  # none is left out unsaid
            why, fix = given.frame.unusable[name]
            raise refusal(BEYOND, call, why, f"{fix}; or name other columns: {parameter.name} => (...)", name)
    if parameter.kind in {"factors", "columns", "names", "numbers"} and parameter.default is None:
        return ()
    return parameter.default


def _column(node: exp.Expr, _parameter: Parameter, given: Given) -> Any:  # noqa: ANN401
    value = read_expression(node, given.scope)
    return read_number(node, value, _name_of(node))


def _factor(node: exp.Expr, _parameter: Parameter, given: Given) -> Any:  # noqa: ANN401
    return read_factor(node, _name_of(node), given.block)


def _usable_name(node: exp.Expr, _parameter: Parameter, given: Given) -> str:
    if not isinstance(node, exp.Column):
        raise refusal("bad_argument", node, "is no column", "compute it in the SELECT in brackets, and name it there")
    read_expression(node, given.scope)  # refuses what is none of the rows' columns
    name = node.name.lower()
    if name in given.frame.beyond and name not in given.frame.columns:
        raise refusal(BEYOND, node, *given.frame.unusable[name])
    if name not in given.frame.columns:
        fix = "declare its values or its bounds, or compute a column that has some in the SELECT in brackets"
        raise refusal("bad_argument", node, "has neither declared values nor bounds", fix)
    return name


def _name_of(node: exp.Expr) -> str:
    return node.name if isinstance(node, exp.Column) else render_node(node)


def _several(one: Callable[[exp.Expr, Parameter, Given], Any]) -> Callable[[exp.Expr, Parameter, Given], Any]:
    def read(node: exp.Expr, parameter: Parameter, given: Given) -> tuple[Any, ...]:
        nodes = node.expressions if isinstance(node, exp.Tuple) else [node]
        if not 1 <= len(nodes) <= MOST_LISTED:
            why = f"lists {len(nodes)} values"
            raise refusal("bad_argument", node, why, f"list 1 to {MOST_LISTED}", parameter.name)
        read_values = tuple(one(strip_brackets(each), parameter, given) for each in nodes)
        if parameter.kind != "numbers" and len(set(read_values)) < len(read_values):
            raise refusal("bad_argument", node, "lists a value twice", "list each once", parameter.name)
        return read_values

    return read


def _number(node: exp.Expr, parameter: Parameter, _given: Given) -> Fraction:
    value = read_constant(node)
    if value is None:
        raise refusal("bad_argument", node, "is no number", f"write {parameter.name} => 0.5", _said(node, parameter))
    _check_bounds(node, parameter, value)
    return value


def read_constant(node: exp.Expr) -> Fraction | None:
    """A number that is written out; None where it is none, or has too many digits."""
    negative = isinstance(node, exp.Neg)
    literal = node.this if negative else node
    written = str(literal.this) if isinstance(literal, exp.Literal) and not literal.is_string else ""
    if not _NUMBER.fullmatch(written):
        return None
    return -Fraction(written) if negative else Fraction(written)


def _integer(node: exp.Expr, parameter: Parameter, given: Given) -> int:
    value = _number(node, parameter, given)
    if value.denominator != 1:
        raise refusal("bad_argument", node, "is no whole number", "write a whole number", _said(node, parameter))
    return int(value)


def _check_bounds(node: exp.Expr, parameter: Parameter, value: Fraction) -> None:
    lower, upper = parameter.lower, parameter.upper
    if (lower is not None and value < Fraction(str(lower))) or (upper is not None and value > Fraction(str(upper))):
        least = "" if lower is None else f" from {lower:g}"
        most = "" if upper is None else f" to {upper:g}"
        fix = f"write a number{least}{most}"
        raise refusal("bad_argument", node, "is out of its bounds", fix, _said(node, parameter))


def _text(node: exp.Expr, parameter: Parameter, _given: Given) -> str:
    if not isinstance(node, exp.Literal) or not node.is_string:
        raise refusal("bad_argument", node, "is no text", f"write {parameter.name} => '...'", _said(node, parameter))
    return str(node.this)


def _choice(node: exp.Expr, parameter: Parameter, given: Given) -> str:
    value = _text(node, parameter, given).lower()
    if value not in parameter.choices:
        raise refusal_of_name("bad_argument", node, value, f"choices of {parameter.name}", list(parameter.choices))
    return value


def _boolean(node: exp.Expr, parameter: Parameter, _given: Given) -> bool:
    if not isinstance(node, exp.Boolean):
        fix = f"write {parameter.name} => TRUE or {parameter.name} => FALSE"
        raise refusal("bad_argument", node, "is neither true nor false", fix, _said(node, parameter))
    return bool(node.this)


def _said(node: exp.Expr, parameter: Parameter) -> str:
    return f"{parameter.name} => {shorten(render_node(node))}"


_KINDS: Mapping[str, Callable[[exp.Expr, Parameter, Given], Any]] = {
    "column": _column,
    "columns": _several(_column),
    "factor": _factor,
    "factors": _several(_factor),
    "names": _several(_usable_name),
    "formula": _text,
    "number": _number,
    "numbers": _several(_number),
    "integer": _integer,
    "choice": _choice,
    "text": _text,
    "boolean": _boolean,
}


def refuse_at(cause: Refusal, node: exp.Expr, offset: int = 0) -> Refusal:
    """The same refusal with its place."""
    return Refusal(cause.what, cause.why, cause.fix, place_in_text(node, offset), code=cause.code)
