"""The example of a method as a call in Python, made of the one in SQL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.methods.contract import Method

_CALL = re.compile(
    r"SELECT \* FROM \w+\((?:\(SELECT (?P<outputs>.+?) FROM (?P<inner>\w+)\)|(?P<table>\w+))(?:, )?(.*)\)"
)
_PRICE = "epsilon=1"


def write_example(method: Method) -> str | None:
    """The call that means what the example in SQL means; None where rows are grouped, which steps cannot say.

    >>> from adomnia.methods.registry import METHODS
    >>> print(write_example(METHODS["t_test"]))
    session.table("people").t_test(column="salary", group="age >= 65", epsilon=1)
    """
    found = _CALL.fullmatch(method.example)
    if found is None:
        return None
    rows = f'session.table("{found["table"] or found["inner"]}")'
    if found["outputs"]:
        rows += f".select({', '.join(_write_outputs(found['outputs']))})"
    named = (each.split(" => ") for each in _split(found[4]))
    arguments = [f"{name}={_write_value(value)}" for name, value in named]
    return f"{rows}.{method.name}({', '.join([*arguments, _PRICE])})"


def _write_outputs(outputs: str) -> Iterator[str]:
    """Columns as they are first, as Python wants them; then what is computed, under its name."""
    parts = [each.rpartition(" AS ") for each in _split(outputs)]
    yield from (f'"{name}"' for _, glue, name in parts if not glue)
    yield from (f'{name}="{expression}"' for expression, glue, name in parts if glue)


def _write_value(value: str) -> str:
    if value.startswith("("):
        return f"[{', '.join(map(_write_value, _split(value[1:-1])))}]"
    if value.startswith("'"):
        return f'"{value[1:-1]}"'
    return value if value.replace(".", "", 1).isdigit() else f'"{value}"'


def _split(text: str) -> list[str]:
    """The parts between commas that stand in no brackets."""
    return [part for part in re.split(r",\s+(?![^()]*\))", text) if part]
