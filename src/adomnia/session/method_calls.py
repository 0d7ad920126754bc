"""Methods in Python: `table.lm("salary ~ age", epsilon=1)` writes the text of the question, and asks it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from inspect import Parameter as Argument
from inspect import Signature
from typing import TYPE_CHECKING, Any, cast

from adomnia.errors import Refusal
from adomnia.messages.fixes import guess
from adomnia.messages.texts import write
from adomnia.methods.registry import METHODS
from adomnia.methods.signatures import describe_kind, plain_default
from adomnia.options import ASK
from adomnia.pricing.questions import check_names
from adomnia.session.aggregates import SqlOptions
from adomnia.session.method_examples import write_example
from adomnia.session.signatures import list_parameters
from adomnia.sql.reading.parameters import write_constant
from adomnia.sql.reading.refusals import shorten
from adomnia.sql.reading.select_builder import bracket, is_one_name

if TYPE_CHECKING:
    from adomnia.methods.contract import Method, Parameter
    from adomnia.session.answer import Answer

_COLUMNS = {"column", "factor", "columns", "factors", "names"}
_LISTS = {"columns", "factors", "names", "numbers"}
_PYTHON = {"number": "Number", "integer": "int", "boolean": "bool"}  # what is not written as text


class MethodCalls:
    """Every method of the registry by its name. All of them spend."""

    def _call(self, method: Method, arguments: dict[str, Any], options: SqlOptions) -> Answer:
        raise NotImplementedError

    def _refuse(self, name: str) -> AttributeError:
        raise NotImplementedError

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Answer]: ...

    else:

        def __getattr__(self, name: str) -> object:
            # What Python looks for by itself must not be looked up in a table that is not whole yet, as in a copy.
            raise AttributeError(name) if name.startswith("_") else self._refuse(name)


def write_call(rows: str, method: Method, arguments: dict[str, Any]) -> str:
    """The text of a question about a method: its rows, which are a SELECT, and what is given of its arguments."""
    given = (f", {name} => {value}" for name, value in write_arguments(method, arguments).items())
    return f"SELECT * FROM {method.name}(({rows}){''.join(given)})"  # noqa: S608 - an analyst's own text


def write_arguments(method: Method, arguments: dict[str, Any]) -> dict[str, str]:
    """What is given of the arguments of a method, each as a question writes it, in the order of the signature."""
    return {
        parameter.name: _write(parameter, arguments[parameter.name])
        for parameter in method.parameters
        if arguments.get(parameter.name) is not None
    }


def _write(parameter: Parameter, value: Any) -> str:  # noqa: ANN401 - by its kind
    if parameter.kind in _LISTS:
        several = [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
        return f"({', '.join(_write_one(parameter, each) for each in several)})"
    return _write_one(parameter, value)


def _write_one(parameter: Parameter, value: Any) -> str:  # noqa: ANN401 - by its kind
    if parameter.kind in _COLUMNS:
        return value if isinstance(value, str) and is_one_name(value) else bracket(value)
    return write_constant(Decimal(str(float(value))) if isinstance(value, Fraction) else value, parameter.name)


def _define(method: Method) -> Callable[..., Answer]:
    """The Python method: required arguments may be given in their order, all by their names."""
    names = [parameter.name for parameter in method.parameters]
    first = [parameter.name for parameter in method.parameters if parameter.required]

    def call(self: MethodCalls, *given: Any, **named: Any) -> Answer:  # noqa: ANN401 - by their kinds
        if len(given) > len(first):
            takes = f"takes {len(first)} arguments without a name"
            raise TypeError(f"{method.name}() {takes}, got {len(given)}: name the others.")
        arguments = dict(zip(first, given, strict=False))
        check_names(named)
        for name in named:
            if name in arguments:
                raise TypeError(f"{method.name}() got {name} twice.")
            if now := method.renamed(name):
                fix = f"write {now.name}="
                raise Refusal(f"{method.name}({name}=)", "has another name", fix, code="renamed_option")
            if name not in names and name not in SqlOptions.__annotations__:
                close = get_close_matches(name, [*names, *SqlOptions.__annotations__], n=1)
                takes = write("it takes {names}, and what {sql()} takes", names=", ".join(names))
                fix = guess(close) if close else takes
                raise Refusal(f"{method.name}({shorten(name)}=)", "is not known", fix, code="unknown_argument")
        arguments |= {name: value for name, value in named.items() if name in names}
        options = {name: value for name, value in named.items() if name not in names}
        return self._call(method, arguments, cast("SqlOptions", options))

    call.__name__, call.__qualname__, call.__doc__ = method.name, f"MethodCalls.{method.name}", _document(method)
    call.__signature__ = _signature(method)  # type: ignore[attr-defined]
    return call


def _document(method: Method) -> str:
    lines = (f"{each.name}: {each.meaning} ({describe_kind(each)})" for each in method.parameters)
    example = write_example(method)
    in_python = [] if example is None else [f"In Python: {example}"]
    return "\n".join([method.summary, "", *lines, "", *in_python, f"In SQL: {method.example}"])


def _signature(method: Method) -> Signature:
    given = [Argument("self", Argument.POSITIONAL_ONLY)]
    ordered = sorted(method.parameters, key=lambda each: not each.required)
    given += [
        Argument(
            each.name,
            Argument.POSITIONAL_OR_KEYWORD if each.required else Argument.KEYWORD_ONLY,
            default=Argument.empty if each.required else plain_default(each),
            annotation=_annotate(each),
        )
        for each in ordered
    ]
    named = {each.name for each in method.parameters}
    options = [each for each in list_parameters(ASK) if each.name not in named]
    return Signature([*given, *options], return_annotation="Answer")


def _annotate(parameter: Parameter) -> str:
    """The type of an argument in Python."""
    kind = parameter.kind
    one = _PYTHON.get(kind.removesuffix("s") if kind in _LISTS else kind, "str")
    several = f"{one} | Iterable[{one}]" if kind in _LISTS else one
    return several if parameter.required or parameter.default is not None else f"{several} | None"


for _method in METHODS.values():
    setattr(MethodCalls, _method.name, _define(_method))
