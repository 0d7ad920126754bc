"""What several commands take from the command line."""

from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from adomnia.errors import Refusal


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
Text: TypeAlias = Annotated[str, typer.Argument(metavar="SELECT", help="The question, in SQL.")]
Epsilon: TypeAlias = Annotated[str | None, typer.Option(metavar="NUMBER", help="Pay in epsilon: Laplace noise.")]
Rho: TypeAlias = Annotated[str | None, typer.Option(metavar="NUMBER", help="Pay in rho: Gaussian noise.")]
Error: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="Pay what makes the answer this exact (COUNT and SUM).")
]
Confidence: TypeAlias = Annotated[str, typer.Option(metavar="SHARE", help="Of intervals and of --error.")]
Output: TypeAlias = Annotated[Format, typer.Option("--format", help="For people, or for programs.")]


def number(option: str, written: str | None) -> Decimal | None:
    """The number a person typed, read as the decimal it is."""
    if written is None:
        return None
    try:
        return Decimal(written)
    except InvalidOperation:
        raise Refusal(f"--{option} {written!r}", "is not a number", f"write --{option} 0.5") from None


def share(option: str, written: str) -> float:
    """A number between 0 and 1, both excluded."""
    part = number(option, written)
    if part is None or not part.is_finite() or not 0 < part < 1:
        raise Refusal(f"--{option} {written!r}", "is not between 0 and 1", f"write --{option} 0.95 for 95%")
    return float(part)
