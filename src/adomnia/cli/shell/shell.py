r"""The shell without its terminal: what a statement or a command does with a session."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from adomnia.asking.batch import choose_request_id
from adomnia.cli import answers, bills, pages
from adomnia.cli.options import FAILED, AnswerFormat
from adomnia.errors import AdomniaError, Failure, Refusal, Unavailable, render
from adomnia.messages.surfaces import Surface
from adomnia.options import PRICE
from adomnia.pricing.bills import format_cost
from adomnia.privacy.amounts import show_down
from adomnia.session.explanation import Explanation
from adomnia.sql.reading.statements import is_explain, is_listing
from adomnia.tables import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from adomnia.cli.shell.settings import ShellSettings
    from adomnia.pricing.bills import Quote
    from adomnia.privacy.filters import Left
    from adomnia.session.answer import Answer
    from adomnia.session.contract import Session
    from adomnia.sql.reading.statements import WrittenStatement

_Result = TypeVar("_Result")

_NOTICE_SECONDS = 0.2
AGAIN = (
    "If it was paid for, it stays paid, and its answer is kept. "
    r"\again asks it under the same request id: nothing is paid twice."
)
STAYS_PAID = r"What it cost stays paid. It may only have taken long: \again looks for its answer, and pays nothing."
LATER = (
    "If it was paid for, it stays paid: the same question with `adomnia sql` and --request-id {} "
    "gets its answer, and is not paid twice."
)
_WORD = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|\w+|.")
# Refusals that do not look at the question: an earlier try of it may have been paid for, and its reply lost.
_UNDECIDED = frozenset(
    {"not_adomnia", "other_version", "not_trusted", "too_fast", "signed_out", "role", "unknown_dataset", "host"}
)
_WIDEST = 120  # characters of a line that are shown around the place


@dataclass(frozen=True)
class PendingQuestion:
    """A question on its way, by which it can be asked again without being paid again."""

    statement: WrittenStatement
    options: dict[str, Any]
    request_id: str


@dataclass
class Shell:
    """A session with its settings; `confirm` asks whoever types, and is None where nobody does."""

    session: Session
    settings: ShellSettings
    run_command: Callable[[Shell, WrittenStatement], None]
    name: str = ""
    confirm: Callable[[str], bool] | None = None
    mock: bool = False
    left: Left | None = None
    pending: PendingQuestion | None = None
    last: Answer | None = None
    over: bool = False
    _threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(4, "adomnia-question"))

    def run(self, statements: Iterable[WrittenStatement]) -> AdomniaError | None:
        """Run statements until one of them ends with an error, which is told and given back."""
        for statement in statements:
            if self.over:
                break
            try:
                self._run(statement)
            except AdomniaError as error:
                self._tell(error, statement)
                return error
            except KeyboardInterrupt:
                if self.confirm is None:
                    raise
                typer.echo(f"Stopped waiting. {AGAIN}" if self.pending else "Stopped.", err=True)
                break
        return None

    def ask(self, statement: WrittenStatement) -> None:
        """Price a question and ask it, once it is confirmed; what costs nothing is answered at once."""
        if is_listing(statement.text):
            self.show(self.wait(lambda: self.session.sql(statement.text)))
            return
        options = self.settings.read(statement.text)
        if is_explain(statement.text):
            self.show(self.wait(lambda: self.session.sql(statement.text, **options)))
            return
        asked = PendingQuestion(statement, options, choose_request_id(None))
        confirmed = self._confirm(asked) if self.confirm is not None and self.settings.confirm else asked
        if confirmed is None:
            typer.echo("Not asked, and nothing was spent.")
        else:
            self.send(confirmed)

    def send(self, asked: PendingQuestion) -> None:
        """Ask under a request id, which is kept for another try until there is an answer or a refusal."""
        self.pending = asked
        options = asked.options | {"request_id": asked.request_id}
        try:
            answer = self.wait(lambda: self.session.sql(asked.statement.text, **options))
        except AdomniaError as error:
            self.pending = asked if may_be_paid(error) else None
            raise
        self.pending, self.left, self.last = None, answer.left, answer
        self.show(answer)

    def wait(self, work: Callable[[], _Result]) -> _Result:
        """What work gives. On a terminal it has a thread of its own, so that Ctrl-C ends the waiting alone."""
        if self.confirm is None:
            return work()
        future = self._threads.submit(work)
        while not future.done():  # a Ctrl-C just before a wait without end would not be noticed
            wait_for([future], timeout=_NOTICE_SECONDS)
        return future.result()

    def show(self, answer: Answer) -> None:
        """Print an answer in the format that is set; an explanation is a tree."""
        if not isinstance(answer, Explanation) or self.settings.form is AnswerFormat.CSV:
            answers.print_answer(answer, self.settings.form, self.mock, self.surface)
            return
        tree = answer.tree.in_words(self.surface)
        if self.settings.form is AnswerFormat.JSON:
            pages.show_json(tree.record())
        else:
            pages.show(str(tree))

    @property
    def surface(self) -> Surface:
        """Whose words are understood: where nobody types, there is nothing to type after an error."""
        return Surface.SCRIPT if self.confirm is None else Surface.SHELL

    def prompt(self) -> str:
        """What stands before the next statement: the dataset, and what is left of the budget, if nothing was lost."""
        left = "?" if self.left is None else format_left(self.left) + ("?" if self.pending else "")
        return f"{self.name} [{left}]> "

    def close(self) -> None:
        """Wait for a question that goes on, because what it pays is paid; one more Ctrl-C leaves it."""
        if self.pending is not None and self.confirm is not None:
            typer.echo("A question may still be on its way. Ctrl-C leaves without it.", err=True)
        try:
            self._threads.shutdown(wait=True)
        except KeyboardInterrupt:
            os._exit(FAILED)  # its thread would be waited for all the same

    def _run(self, statement: WrittenStatement) -> None:
        if statement.command:
            self.run_command(self, statement)
        else:
            self.ask(statement)

    def _confirm(self, asked: PendingQuestion) -> PendingQuestion | None:
        """What is asked once its price was seen; whoever says yes to what says almost nothing wants it anyway."""
        try:
            options = self.settings.read(asked.statement.text, PRICE)
            quote = self.wait(lambda: self.session.price(asked.statement.text, **options))
        except Refusal as refusal:
            if refusal.code != "public_table":  # which cost nothing
                raise
            return asked
        assert self.confirm is not None  # noqa: S101 - as the caller found
        self._show_price(bills.in_words(quote, self.surface))
        if quote.vacuous:
            wanted = replace(asked, options=asked.options | {"allow_uninformative": True})
            return wanted if self.confirm("Ask it all the same? [y/N] ") else None
        return asked if self.confirm("Ask it? [y/N] ") else None

    def _show_price(self, quote: Quote) -> None:
        left = "" if self.left is None else f" of {format_left(self.left)} left"
        lines = [*(f"{each}." for each in quote.caps), *quote.notes, *(f"{each}." for each in quote.findings)]
        cost = f"Costs {format_cost(quote.event)}{left}; nothing, if it was answered before at this price."
        pages.show(bills.expectations(quote), "", *lines, *quote.warnings, *quote.vacuous, cost)

    def _tell(self, error: AdomniaError, statement: WrittenStatement) -> None:
        typer.echo(printable(describe_error(error, statement, self.surface)), err=True)
        if self.pending is not None:
            typer.echo(self._say_how_to_ask_again(self.pending, error), err=True)

    def _say_how_to_ask_again(self, asked: PendingQuestion, error: AdomniaError) -> str:
        if self.confirm is None:
            return LATER.format(asked.request_id)
        return STAYS_PAID if isinstance(error, Failure) else AGAIN


def format_left(left: Left) -> str:
    """What is left, in the currency that counts."""
    if left.epsilon:
        return f"epsilon {show_down(left.epsilon)}"
    return f"rho {show_down(left.rho)}" if left.rho else "nothing"


def describe_error(error: AdomniaError, statement: WrittenStatement, surface: Surface = Surface.SHELL) -> str:
    """One line, and below it for a refusal with a place the line of the statement, its place underlined."""
    if not isinstance(error, Refusal | Unavailable):
        return f"{type(error).__name__}: {error}"
    told = render(error, surface)
    position = error.position if isinstance(error, Refusal) else None
    if not isinstance(told, Refusal) or position is None:
        return f"{type(error).__name__}: {told}"
    told.position = _move(position, statement)
    return "\n".join([f"Refusal: {told}", *underline(statement.text, position)])


def may_be_paid(error: BaseException) -> bool:
    """Whether a question that ended with this error may have been paid for all the same."""
    return not isinstance(error, Refusal) or error.code in _UNDECIDED


def underline(text: str, position: tuple[int, int]) -> list[str]:
    """The line of a text at a position, and a line that marks the word there; nothing if it has no such place."""
    from rich.cells import cell_len

    lines = text.split("\n")
    line, column = position
    if not 1 <= line <= len(lines) or not 1 <= column <= len(lines[line - 1]) + 1:
        return []
    found, start = lines[line - 1], column - 1
    first = max(0, start - _WIDEST // 2)
    shown = _printable(found[first : first + _WIDEST])
    word = _WORD.match(found, start)
    marked = shown[start - first : (word.end() if word else start + 1) - first]
    return [f"  {shown}", "  " + " " * cell_len(shown[: start - first]) + "^" * max(1, cell_len(marked))]


def _move(position: tuple[int, int], statement: WrittenStatement) -> tuple[int, int]:
    """The place in the whole text of a place in a statement."""
    line, column = position
    return statement.line + line - 1, column + (statement.column - 1 if line == 1 else 0)


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)
