"""Cells of a notebook that are questions: `%load_ext adomnia`, then `%%private session --epsilon 0.5`."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any, NoReturn

from adomnia.errors import Refusal, Unavailable, refuse_former, render
from adomnia.messages.surfaces import Surface
from adomnia.options import ASK, EXPLAIN, PRICE
from adomnia.sql.reading.parameters import list_names
from adomnia.sql.reading.statements import without_explain
from adomnia.typed_options import list_former_flags, list_typed, read_options

_USAGE = """Ask the SELECT in this cell: %%private SESSION --epsilon NUMBER -o NAME.

:name in it is the value of the variable of that name. --price shows the bill, and --explain what it means. Options:
"""
_SEEN = "parameters"  # their values are those of variables

if TYPE_CHECKING:
    from adomnia.options import QuestionOption


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
        return ask_cell(line, cell, shell.user_ns)

    private.__doc__ = "\n".join(
        [_USAGE, *(f"--{row.typed.flag}: {row.typed.meaning or row.meaning}" for row in _list_rows())]
    )
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
    request = PRICE if asked.price else EXPLAIN if asked.explain else ASK
    for former, row in list_former_flags(ASK):
        if getattr(asked, former):
            raise refuse_former(row, f"--{former}")
    typed = {row.typed.flag: getattr(asked, row.typed.flag.replace("-", "_")) for row in _list_rows()}
    options, values = read_options(typed, request), _find_values(cell, variables)
    return options | ({_SEEN: values} if values else {})


def _list_rows() -> list[QuestionOption]:
    """The options that a line may have, for whatever it asks."""
    rows = dict.fromkeys(row for request in (ASK, PRICE) for row in list_typed(request))
    return [row for row in rows if row.name != _SEEN]


def _find_values(cell: str, variables: dict[str, Any]) -> dict[str, Any]:
    """The value of each :name in a cell, which is that of the variable of this name."""
    names = list_names(without_explain(cell))
    missing = [name for name in names if name not in variables]
    if missing:
        raise MagicError(f":{missing[0]} has no value, because there is no variable {missing[0]}: assign one before")
    return {name: variables[name] for name in names}


def _read_line(line: str) -> Any:  # noqa: ANN401 - argparse's namespace
    try:
        return build_parser().parse_args(shlex.split(line))
    except ValueError as error:
        raise MagicError(str(error)) from None


def build_parser() -> ArgumentParser:
    """What reads a line: a session, the options of what it may ask, and what is done with the answer."""
    parser = _Parser(prog="%%private", add_help=False)
    parser.add_argument("session")
    parser.add_argument("-o", "--output")
    for row in _list_rows():
        kind = "append" if row.typed.repeats else "store" if row.typed.stands_for is None else "store_true"
        parser.add_argument(f"--{row.typed.flag}", action=kind)
    for name in ("price", "explain", *(former for former, _ in list_former_flags(ASK))):
        parser.add_argument(f"--{name}", action="store_true")
    return parser
