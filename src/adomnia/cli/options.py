"""What several commands take from the command line, and what a command ends with."""

from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from adomnia.errors import AdomniaError, Refusal, Unavailable
from adomnia.messages.references import Flag
from adomnia.messages.texts import Message

REFUSED, FAILED, UNAVAILABLE = 2, 1, 3


class Format(StrEnum):
    """How a result is written."""

    TABLE = "table"
    JSON = "json"


class AnswerFormat(StrEnum):
    """How an answer is written; CSV has its rows and intervals, and the cost goes to standard error."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


Folder: TypeAlias = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the dataset.")]
PlaceText: TypeAlias = Annotated[
    str, typer.Argument(metavar="PLACE", help="A folder, or a server's address: https://host/dataset.")
]
TokenFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--token-file", metavar="FILE", help="Of a server: the file of your token, if not ADOMNIA_TOKEN."),
]
Output: TypeAlias = Annotated[Format, typer.Option("--format", help="For people, or for programs.")]
Lifetime: TypeAlias = Annotated[
    bool, typer.Option("--lifetime", help="The account that the dataset shares with others, not its own.")
]


def parse_number(option: str, written: str | None) -> Decimal | None:
    """The number a person typed, read as the decimal it is."""
    if written is None:
        return None
    try:
        return Decimal(written)
    except InvalidOperation:
        raise refuse_flag(option, repr(written), "is not a number", "0.5") from None


def parse_share(option: str, written: str) -> float:
    """A number between 0 and 1, both excluded."""
    part = parse_number(option, written)
    if part is None or not part.is_finite() or not 0 < part < 1:
        raise refuse_flag(option, repr(written), "is not between 0 and 1", "0.95", " for 95%")
    return float(part)


def refuse_flag(  # noqa: PLR0913, PLR0917 - the parts of two sentences
    name: str, written: str, why: str, right: str, rest: str = "", code: str = "refused"
) -> Refusal:
    """The refusal of what was typed behind a flag, or set in the shell, with what could be."""
    return Refusal(Message(Flag(name, written)), why, Message("write ", Flag(name, right), rest), code=code)


def exit_code(error: AdomniaError) -> int:
    """The exit code of an error."""
    if isinstance(error, Unavailable):
        return UNAVAILABLE
    return REFUSED if isinstance(error, Refusal) else FAILED
