"""What commands that ask take from the command line: a question, its options, and who asks."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any

import typer

from adomnia.cli.dataset_places import Place
from adomnia.cli.options import PlaceText, TokenFile
from adomnia.errors import refuse_former
from adomnia.messages.references import Flag
from adomnia.messages.texts import Message
from adomnia.options import QuestionOption
from adomnia.typed_options import list_former_flags, list_typed, read_options

_KEYWORD = inspect.Parameter.POSITIONAL_OR_KEYWORD
_SQL = "The question, in SQL."
_ANALYST = "Who asks and pays; default: the catalog's first."


@dataclass(frozen=True)
class QuestionOptions:
    """The options as they were typed, by their flags."""

    place: str
    text: str
    analyst: str | None
    token_file: Any
    typed: Mapping[str, Any]

    @property
    def where(self) -> Place:
        """Where the dataset is, and who asks."""
        return Place(self.place, self.analyst, self.token_file)

    def read(self, request: str) -> dict[str, Any]:
        """What a session takes beside the text of a request."""
        return read_options(self.typed, request)


def with_question_options(
    request: str, *, text: str = _SQL, analyst: str = _ANALYST
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command with a question, the options of the request and who asks before its own options.

    It is called with all of these as its first argument. Its own arguments stand between the place and the text;
    `text` and `analyst` say what these two are.
    """
    question = Annotated[str, typer.Argument(metavar="SELECT", help=text)]
    who = {"analyst": Annotated[str | None, typer.Option(help=analyst)], "token_file": TokenFile}

    def add(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
        arguments = [each for each in own if each.default is each.empty]
        first, last = _require("place", PlaceText), _require("text", question)
        after = [inspect.Parameter(name, _KEYWORD, default=None, annotation=kind) for name, kind in who.items()]

        @wraps(command)
        def run(**given: Any) -> None:  # noqa: ANN401 - whatever Typer read
            asked = {name: given.pop(name) for name in ("place", "text", *who)}
            typed = {row.typed.flag: given.pop(_name(row.typed.flag)) for row in list_typed(request)}
            for former, row in list_former_flags(request):
                refuse_if_typed(given.pop(_name(former)), row)
            command(QuestionOptions(**asked, typed=typed), **given)

        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # what Typer makes options of
            [
                first,
                *arguments,
                last,
                *_list_parameters(request),
                *after,
                *(each for each in own if each not in arguments),
            ]
        )
        return run

    return add


def hide_former(row: QuestionOption) -> Any:  # noqa: ANN401 - what Typer reads
    """The switch of an option by the name that it had before, on no page of help."""
    return typer.Option(f"--{row.formerly}", hidden=True)


def refuse_if_typed(was_typed: bool, row: QuestionOption) -> None:
    """Refuse an option by the name that it had before."""
    if was_typed:
        raise refuse_former(row, Message(Flag(row.formerly)))


def _require(name: str, kind: Any) -> inspect.Parameter:  # noqa: ANN401 - what Typer reads
    return inspect.Parameter(name, _KEYWORD, annotation=kind)


def _list_parameters(request: str) -> Iterator[inspect.Parameter]:
    yield from map(_describe, list_typed(request))
    for former, row in list_former_flags(request):
        yield inspect.Parameter(_name(former), _KEYWORD, default=False, annotation=Annotated[bool, hide_former(row)])


def _describe(row: QuestionOption) -> inspect.Parameter:
    """An option as Typer reads it: a switch, one that is given once for each name, or one with a value."""
    typed, said = row.typed, row.typed.meaning or row.meaning
    said = f"{said} Given once for each." if typed.repeats else said
    option: Any = typer.Option(f"--{typed.flag}", metavar=typed.metavar or None, help=said)
    default: object = None if row.default is None else str(row.default)
    kind: Any = str | None
    if typed.stands_for is not None:
        kind, default = bool, False
    elif typed.repeats:
        kind, default = list[str] | None, None
    return inspect.Parameter(_name(typed.flag), _KEYWORD, default=default, annotation=Annotated[kind, option])


def _name(flag: str) -> str:
    return flag.replace("-", "_")
