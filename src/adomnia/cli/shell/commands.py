r"""The commands of the shell: lines that begin with `\`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from adomnia.cli import accounts, answers, bills, pages
from adomnia.cli.options import AnswerFormat
from adomnia.cli.questions import show_pasts
from adomnia.errors import Refusal
from adomnia.options import EXPLAIN, PRICE

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.cli.shell.shell import Shell
    from adomnia.session.accounts import Past
    from adomnia.sql.reading.statements import WrittenStatement

_NAME_AND_REST = re.compile(r"\\(\S*)\s*(.*)", re.DOTALL)
_SHOWN_ANSWERS = 20
_MOST_PAGES = 50


class Command(NamedTuple):
    """A command: what follows its name, what it does in a line, and how.

    `before` is what it puts before the rest of its line to make a statement of it; None, if it makes none.
    """

    takes: str
    does: str
    run: Callable[[Shell, str], None]
    before: str | None = None


def run(shell: Shell, statement: WrittenStatement) -> None:
    """Run the command of a line; the place of a refusal is one of that line, or none."""
    name, rest = _NAME_AND_REST.match(statement.text).groups()  # type: ignore[union-attr]  # it begins with \
    command = COMMANDS.get(name.rstrip(";"))
    if command is None:
        raise Refusal(f"The command \\{name}", "is not known", r"\? lists all of them")
    try:
        command.run(shell, rest.strip().rstrip(";").rstrip())
    except Refusal as refusal:
        begins = len(statement.text) - len(rest.lstrip())
        refusal.position = _move(refusal.position, command.before, begins)
        raise


def _move(position: tuple[int, int] | None, before: str | None, begins: int) -> tuple[int, int] | None:
    if position is None or before is None:
        return None
    return position[0], position[1] + begins - len(before)


def _describe(shell: Shell, table: str) -> None:
    shell.show(shell.wait(lambda: shell.session.sql(f"DESCRIBE {table}" if table else "SHOW TABLES")))


def _show_budget(shell: Shell, _rest: str) -> None:
    found = shell.wait(lambda: accounts.list_own(shell.session))
    shell.left = found[0].filter.left()
    if shell.settings.form is AnswerFormat.JSON:
        accounts.print_budgets_json(found)
    else:
        accounts.print_budgets(found)


def _show_price(shell: Shell, text: str) -> None:
    options = shell.settings.read(_need(text, "p"), PRICE)
    quote = shell.wait(lambda: shell.session.price(text, **options))
    bills.print_quote(quote, json=shell.settings.form is AnswerFormat.JSON, surface=shell.surface)


def _explain(shell: Shell, text: str) -> None:
    options = shell.settings.read(_need(text, "e"), EXPLAIN)
    shell.show(shell.wait(lambda: shell.session.explain(text, **options)))


def _show_answers(shell: Shell, request_id: str) -> None:
    if request_id:
        shell.last = shell.wait(lambda: shell.session.answer(request_id))
        shell.show(shell.last)
        return
    found = shell.wait(lambda: _find_answers(shell))
    show_pasts(found[-_SHOWN_ANSWERS:])
    if len(found) > _SHOWN_ANSWERS:
        typer.echo(f"The last {_SHOWN_ANSWERS} of {len(found):,}: `adomnia answers` lists all of them.")


def _find_answers(shell: Shell) -> list[Past]:
    found: list[Past] = []
    for _ in range(_MOST_PAGES):
        page = shell.session.answers(after=found[-1].request_id if found else None)
        found += page
        if not page:
            break
    return found


def _plot(shell: Shell, file: str) -> None:
    if not file:
        raise Refusal(r"\plot", "needs the name of a file", r"write \plot answer.svg")
    if shell.last is None:
        raise Refusal(r"\plot", "draws the last answer, and there is none yet", "ask a question first")
    answers.write_picture(shell.last, Path(file).expanduser(), shell.surface)


def _ask_again(shell: Shell, _rest: str) -> None:
    if shell.pending is None:
        raise Refusal(r"\again", "is for a question whose answer was lost, and none was", "ask what you want to ask")
    shell.send(shell.pending)


def _set(shell: Shell, rest: str) -> None:
    name, _, value = rest.partition(" ")
    if name:
        shell.settings.set(name, value.strip())
        return
    table = pages.table(("Setting", "Value"))
    for line in shell.settings.lines():
        table.add_row(*line)
    pages.show(table)


def _set_format(shell: Shell, value: str) -> None:
    shell.settings.set("format", value)


def _set_confirm(shell: Shell, value: str) -> None:
    shell.settings.set("confirm", value)


def _quit(shell: Shell, _rest: str) -> None:
    shell.over = True


def _help(_shell: Shell, _rest: str) -> None:
    table = pages.table(("Command", "What it does"))
    for name, command in COMMANDS.items():
        table.add_row(f"\\{name} {command.takes}".rstrip(), command.does)
    pages.show("A question ends with ; and may have several lines. Its price is what \\set epsilon says.", "", table)


def _need(text: str, name: str) -> str:
    if not text:
        raise Refusal(f"\\{name}", "needs a question on the same line", f"write \\{name} SELECT ...")
    return text


COMMANDS = {
    "d": Command("[TABLE]", "the tables, or the columns of one: SHOW TABLES, DESCRIBE TABLE", _describe, "DESCRIBE "),
    "b": Command("", "the budget: yours, and that of all together", _show_budget),
    "p": Command("QUESTION", "what a question would cost and how far off it would be, line by line", _show_price, ""),
    "e": Command("QUESTION", "what a question means and measures: EXPLAIN QUESTION", _explain, ""),
    "a": Command("[REQUEST ID]", "your last answers, or one of them again, free", _show_answers),
    "plot": Command("FILE", "draw the last answer, into a file that ends in .svg, .png or .html", _plot),
    "again": Command("", "the question whose answer was lost, under the same request id", _ask_again),
    "set": Command(
        "[NAME [VALUE]]", "the settings; set one, such as \\set epsilon 0.1; without a value, undo it", _set
    ),
    "format": Command("table|json|csv", "how answers are written", _set_format),
    "confirm": Command("on|off", "whether a question waits for a yes after its price", _set_confirm),
    "?": Command("", "this list", _help),
    "q": Command("", "leave; Ctrl-D does too", _quit),
}
