"""Cells of a notebook that are questions: `%load_ext adomnia`, then `%%private session --epsilon 0.5`."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

from adomnia.errors import Refusal, Unavailable, render
from adomnia.explaining.explanations import without_explain
from adomnia.messages.surfaces import Surface
from adomnia.sql.reading.parameters import list_names

_AMOUNTS = ("epsilon", "rho", "error", "delta")
_OTHERS = ("rows", "confidence", "effort")


class MagicError(ValueError):
    """A line after %%private that says nothing that can be done."""

    def _render_traceback_(self) -> list[str]:
        return [f"%%private: {self}"]


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise MagicError(f"{message}. Write for example: %%private session --epsilon 0.5 -o answer")


def register_magics(shell: Any) -> None:  # noqa: ANN401 - IPython is not ours to depend on
    """Make %%private known to a notebook."""

    def private(line: str, cell: str) -> object:
        """Ask the SELECT in this cell: %%private SESSION --epsilon NUMBER -o NAME.

        :name in it is the value of the variable of that name. Other options: --rho, --error, --delta, --rows,
        --confidence, --effort, --no-interval, --population for intervals about the population that the people are a
        sample of, --request-id, --fresh for new noise, --anyway for what would say almost nothing, --price to see the
        bill, and --explain.
        """
        return ask_cell(line, cell, shell.user_ns)

    shell.register_magic_function(private, magic_kind="cell", magic_name="private")


def ask_cell(line: str, cell: str, variables: dict[str, Any]) -> Any:  # noqa: ANN401 - an answer, a quote or an explanation
    """The answer to the question in a cell, kept as a variable too if a name is given for it."""
    asked = _read_line(line)
    session: Any = variables.get(asked.session)
    if not hasattr(session, "sql") or not hasattr(session, "explain"):
        raise MagicError(f"{asked.session} is not a session: make one with adomnia.open, connect or protect")
    ask = session.price if asked.price else session.explain if asked.explain else session.sql
    try:
        answer = ask(cell, **_list_options(asked, cell, variables))
    except (Refusal, Unavailable) as error:
        told = render(error, Surface.COMMAND_LINE)  # what was asked has options as a command line has
    else:
        if asked.output is not None:
            variables[asked.output] = answer
        return answer
    raise told


def _list_options(asked: Any, cell: str, variables: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - of argparse
    """What a session takes beside the text."""
    options: dict[str, Any] = {
        name: _read_amount(name, getattr(asked, name)) for name in _AMOUNTS if getattr(asked, name) is not None
    }
    options |= {name: getattr(asked, name) for name in _OTHERS if getattr(asked, name) is not None}
    options |= {"interval": False} if asked.no_interval else {}
    options |= {"inference": "population"} if asked.population else {}
    if not (asked.price or asked.explain):
        options |= {"anyway": asked.anyway, "replay": not asked.fresh, "request_id": asked.request_id}
    values = _find_values(cell, variables)
    return {**options, "parameters": values} if values else options


def _find_values(cell: str, variables: dict[str, Any]) -> dict[str, Any]:
    """The value of each :name in a cell, which is that of the variable of this name."""
    names = list_names(without_explain(cell))
    missing = [name for name in names if name not in variables]
    if missing:
        raise MagicError(f":{missing[0]} has no value, because there is no variable {missing[0]}: assign one before")
    return {name: variables[name] for name in names}


def _read_line(line: str) -> Any:  # noqa: ANN401 - argparse's namespace
    parser = _Parser(prog="%%private", add_help=False)
    parser.add_argument("session")
    parser.add_argument("-o", "--output")
    for name in _AMOUNTS:
        parser.add_argument(f"--{name}")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--confidence", type=float)
    parser.add_argument("--effort")
    parser.add_argument("--request-id")
    for name in ("no-interval", "population", "fresh", "anyway", "price", "explain"):
        parser.add_argument(f"--{name}", action="store_true")
    try:
        return parser.parse_args(shlex.split(line))
    except ValueError as error:
        raise MagicError(str(error)) from None


def _read_amount(name: str, written: str) -> Decimal:
    try:
        return Decimal(written)
    except InvalidOperation:
        raise MagicError(f"--{name} {written} is not a number") from None
