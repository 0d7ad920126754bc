"""Signatures as plain data: what programs, pages and other languages know of a method."""

from fractions import Fraction
from typing import Any

from adomnia.methods.contract import Method, Parameter

# The type that each kind of argument has in JSON, and how it is written in a question.
_TYPES: dict[str, tuple[dict[str, Any], str]] = {
    "column": ({"type": "string"}, "a column of numbers"),
    "columns": ({"type": "array", "items": {"type": "string"}}, "columns of numbers: (a, b)"),
    "factor": ({"type": "string"}, "a column of declared values"),
    "factors": ({"type": "array", "items": {"type": "string"}}, "columns of declared values: (a, b)"),
    "names": ({"type": "array", "items": {"type": "string"}}, "columns: (a, b)"),
    "formula": ({"type": "string"}, "a formula: 'y ~ a + b'"),
    "number": ({"type": "number"}, "a number"),
    "numbers": ({"type": "array", "items": {"type": "number"}}, "numbers: (1, 2)"),
    "integer": ({"type": "integer"}, "a whole number"),
    "choice": ({"type": "string"}, "one of some words"),
    "text": ({"type": "string"}, "a text"),
    "boolean": ({"type": "boolean"}, "TRUE or FALSE"),
}


def method_record(method: Method) -> dict[str, Any]:
    """A method as plain data; `schema` describes its arguments as JSON Schema does."""
    return {
        "name": method.name,
        "chapter": method.chapter,
        "summary": method.summary,
        "parameters": [_parameter_record(each) for each in method.parameters],
        "returns": dict(method.returns),
        "example": method.example,
        "known_as": dict(method.known_as),
        "notes": list(method.notes),
        "schema": _schema(method),
    }


def describe_kind(parameter: Parameter) -> str:
    """What an argument may be, in words."""
    if parameter.choices:
        return " or ".join(f"'{choice}'" for choice in parameter.choices)
    least = "" if parameter.lower is None else f" from {parameter.lower:g}"
    most = "" if parameter.upper is None else f" to {parameter.upper:g}"
    return f"{_TYPES[parameter.kind][1]}{least}{most}"


def plain_default(parameter: Parameter) -> Any:  # noqa: ANN401 - by its kind
    """The default of a parameter as plain data."""
    value = parameter.default
    return list(map(_plain, value)) if isinstance(value, tuple) else _plain(value)


def _parameter_record(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "kind": parameter.kind,
        "takes": describe_kind(parameter),
        "required": parameter.required,
        "default": plain_default(parameter),
        "meaning": parameter.meaning,
    }


def _schema(method: Method) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {each.name: _property(each) for each in method.parameters},
        "required": [each.name for each in method.parameters if each.required],
        "additionalProperties": False,
    }


def _property(parameter: Parameter) -> dict[str, Any]:
    bounds = {"minimum": parameter.lower, "maximum": parameter.upper}
    return {
        **_TYPES[parameter.kind][0],
        "description": parameter.meaning,
        **({"enum": list(parameter.choices)} if parameter.choices else {}),
        **{name: bound for name, bound in bounds.items() if bound is not None},
        **({} if parameter.default is None else {"default": plain_default(parameter)}),
    }


def _plain(value: Any) -> Any:  # noqa: ANN401 - a constant
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value
