"""What several commands take from the command line, and what a command ends with."""

from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from adomnia import typed_options
from adomnia.errors import AdomniaError, Refusal, Unavailable

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
    """The number a person typed, if one was."""
    return None if written is None else typed_options.parse_number(option, written)


def exit_code(error: AdomniaError) -> int:
    """The exit code of an error."""
    if isinstance(error, Unavailable):
        return UNAVAILABLE
    return REFUSED if isinstance(error, Refusal) else FAILED
