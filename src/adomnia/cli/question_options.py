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
_ANALYST = Annotated[str | None, typer.Option(help="Who asks and pays; default: the catalog's first.")]


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


def with_question_options(request: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command with a question, the options of the request and who asks before its own options.

    It is called with all of these as its first argument.
    """
    text = Annotated[str, typer.Argument(metavar="SELECT", help="The question, in SQL.")]
    around = {"place": PlaceText, "text": text}, {"analyst": _ANALYST, "token_file": TokenFile}

    def add(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
        before = [inspect.Parameter(name, _KEYWORD, annotation=kind) for name, kind in around[0].items()]
        after = [inspect.Parameter(name, _KEYWORD, default=None, annotation=kind) for name, kind in around[1].items()]
        taken = {name.name for name in own}

        @wraps(command)
        def run(**given: Any) -> None:  # noqa: ANN401 - whatever Typer read
            asked = {name: given.pop(name) for part in around for name in part}
            typed = {flag: given.pop(_name(flag)) for flag in flags}
            for former, row in list_former_flags(request):
                if given.pop(_name(former)):
                    raise refuse_former(row, Message(Flag(former)))
            command(QuestionOptions(**asked, typed=typed), **given)

        flags = [row.typed.flag for row in list_typed(request) if _name(row.typed.flag) not in taken]
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # what Typer makes options of
            [*before, *_list_parameters(request, flags), *after, *own]
        )
        return run

    return add


def _list_parameters(request: str, flags: list[str]) -> Iterator[inspect.Parameter]:
    for row in list_typed(request):
        if row.typed.flag in flags:
            yield _describe(row)
    for former, _ in list_former_flags(request):
        hidden = Annotated[bool, typer.Option(f"--{former}", hidden=True)]
        yield inspect.Parameter(_name(former), _KEYWORD, default=False, annotation=hidden)


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
