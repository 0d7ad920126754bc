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
Error: TypeAlias = Annotated[str | None, typer.Option(metavar="NUMBER", help="Pay what makes every output this exact.")]
Delta: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="Beside a price: find the values of undeclared GROUP BY keys.")
]
Weights: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--weight", metavar="OUTPUT=NUMBER", help="Give an output more of the price than 1; repeatable."),
]
Rows: TypeAlias = Annotated[
    str | None, typer.Option("--rows", metavar="NUMBER", help="Rows of a group, for errors that depend on them.")
]
Effort: TypeAlias = Annotated[
    str, typer.Option(metavar="NAME", help="normal, or high with --rho: less noise, for a longer look at the data.")
]
Analyst: TypeAlias = Annotated[str | None, typer.Option(help="Who asks and pays; otherwise the catalog's first.")]
Together: TypeAlias = Annotated[bool, typer.Option("--together", help="Errors that are kept in all groups at once.")]
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


def weights(written: list[str] | None) -> dict[str, Decimal]:
    """The weights a person typed: `pay=3`, by the names of outputs."""
    found: dict[str, Decimal] = {}
    for each in written or []:
        name, _, size = each.rpartition("=")
        weight = number("weight", size) if name else None
        if weight is None:
            raise Refusal(f"--weight {each!r}", "does not name an output and its weight", "write --weight pay=3")
        found[name] = weight
    return found


def rows(written: str | None) -> int | None:
    """A number of rows, at least one."""
    from adomnia.pricing.payment import LARGEST_GROUP

    size = number("rows", written)
    if size is None:
        return None
    if not size.is_finite() or not 1 <= size <= LARGEST_GROUP or size != int(size):
        raise Refusal(f"--rows {written!r}", "is not a whole number of at least 1", "write --rows 1000")
    return int(size)
