"""Signatures that list every option of a question with its type and default, for `help()` and for completion.

In the source a method takes them as `**payment: Unpack[Payment]`, which type checkers read and nothing at run time
does: notebooks saw `**payment` alone.
"""

from __future__ import annotations

from inspect import Parameter, signature
from typing import TYPE_CHECKING, TypeVar

from adomnia.options import ASK, list_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.options import QuestionOption

_Method = TypeVar("_Method", bound="Callable[..., object]")

# What Python takes for each kind of option.
TYPES = {
    "amount": "Number",
    "distance": "float",
    "whole number": "int",
    "share": "float",
    "choice": "str",
    "truth": "bool",
    "text": "str",
    "amounts": "Mapping[str, Number]",
    "values": "Sequence[object] | Mapping[str, object]",
}


def takes_options(request: str) -> Callable[[_Method], _Method]:
    """List the options of a request in the signature of a method, in the place of its `**options`."""

    def show(method: _Method) -> _Method:
        taken = signature(method)
        options = list_parameters(request)
        named = {each.name for each in options}
        own = [each for each in taken.parameters.values() if each.name not in named]
        others = [
            each for each in own if each.kind is each.VAR_KEYWORD and not str(each.annotation).startswith("Unpack")
        ]
        first = [each for each in own if each.kind is not each.VAR_KEYWORD]
        method.__signature__ = taken.replace(parameters=[*first, *options, *others])  # type: ignore[attr-defined]
        return method

    return show


def list_parameters(request: str) -> list[Parameter]:
    """The options of a request as parameters that are named."""
    rows = [row for row in list_options(request) if not (request == ASK and row.asked_afterwards)]
    return [_write(row) for row in rows]


def _write(row: QuestionOption) -> Parameter:
    optional = " | None" if row.default is None else ""
    return Parameter(row.name, Parameter.KEYWORD_ONLY, default=row.default, annotation=f"{TYPES[row.kind]}{optional}")
