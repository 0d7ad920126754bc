"""What `sql`, `price` and `explain` all take from the command line: a question, what to pay for it, and who asks."""

import inspect
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from functools import wraps
from typing import Annotated, Any

import typer

from adomnia.cli.dataset_places import Place
from adomnia.cli.options import PlaceText, TokenFile, parse_number, parse_share, refuse_flag
from adomnia.options import CONFIDENCE

_WORDS = {"true": True, "false": False, "null": None}
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


@dataclass(frozen=True)
class QuestionOptions:
    """The options as they were typed."""

    place: PlaceText
    text: Annotated[str, typer.Argument(metavar="SELECT", help="The question, in SQL.")]
    epsilon: Annotated[str | None, typer.Option(metavar="NUMBER", help="Pay in epsilon: Laplace noise.")] = None
    rho: Annotated[str | None, typer.Option(metavar="NUMBER", help="Pay in rho: Gaussian noise.")] = None
    error: Annotated[str | None, typer.Option(metavar="NUMBER", help="Pay for outputs within this distance.")] = None
    delta: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="With a price: find values of GROUP BY keys that nobody declared."),
    ] = None
    weight: Annotated[
        list[str] | None,
        typer.Option("--weight", metavar="OUTPUT=NUMBER", help="An output's part of the price; default 1; repeatable."),
    ] = None
    rows: Annotated[
        str | None, typer.Option("--rows", metavar="NUMBER", help="Rows of a group, for errors that depend on them.")
    ] = None
    effort: Annotated[
        str, typer.Option(metavar="NAME", help="normal, or high with --rho: less noise, for a longer look at the data.")
    ] = "normal"
    no_interval: Annotated[bool, typer.Option("--no-interval", help="Buy quantiles without their intervals.")] = False
    population: Annotated[
        bool, typer.Option("--population", help="Intervals about the population that the people are a sample of.")
    ] = False
    from_release: Annotated[
        bool,
        typer.Option("--from-release", help="From a release that covers it, for nothing, or not at all."),
    ] = False
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", metavar="NAME=VALUE", help="The value of :NAME in the question; repeatable."),
    ] = None
    confidence: Annotated[str, typer.Option(metavar="SHARE", help="Of intervals and of --error.")] = str(CONFIDENCE)
    analyst: Annotated[str | None, typer.Option(help="Who asks and pays; default: the catalog's first.")] = None
    token_file: TokenFile = None

    @property
    def where(self) -> Place:
        """Where the dataset is, and who asks."""
        return Place(self.place, self.analyst, self.token_file)

    def payment(self) -> dict[str, Any]:
        """What a session takes beside the text: the price and the confidence."""
        error = parse_number("error", self.error)
        return {
            "epsilon": parse_number("epsilon", self.epsilon),
            "rho": parse_number("rho", self.rho),
            "error": None if error is None else float(error),
            "weights": parse_weights(self.weight) or None,
            "rows": parse_rows(self.rows),
            "delta": parse_number("delta", self.delta),
            "effort": self.effort,
            "interval": not self.no_interval,
            "parameters": parse_parameters(self.parameter) or None,
            "confidence": parse_share("confidence", self.confidence),
            **({"inference": "population"} if self.population else {}),
            **({"from_release": True} if self.from_release else {}),
        }


def with_question_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command with all of these options before its own; it is called with them as its first argument."""
    shared = inspect.signature(QuestionOptions).parameters.values()
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

    @wraps(command)
    def run(**given: Any) -> None:  # noqa: ANN401 - whatever Typer read
        options = QuestionOptions(**{field.name: given.pop(field.name) for field in fields(QuestionOptions)})
        command(options, **given)

    run.__signature__ = inspect.Signature([*shared, *own])  # type: ignore[attr-defined]  # what Typer makes options of
    return run


def parse_weights(written: list[str] | None) -> dict[str, Decimal]:
    """The weights a person typed: `pay=3`, by the names of outputs."""
    weights: dict[str, Decimal] = {}
    for each in written or []:
        name, _, size = each.rpartition("=")
        weight = parse_number("weight", size) if name else None
        if weight is None or name in weights:
            why = "does not name an output and its weight" if weight is None else "is given twice"
            raise refuse_flag("weight", repr(each), why, "pay=3")
        weights[name] = weight
    return weights


def parse_parameters(written: list[str] | None) -> dict[str, object]:
    """The values a person typed: `least=18`. What reads like a number, date, true, false or null is one.

    Everything else is a text; between single quotes, so is what would be read otherwise.

    >>> parse_parameters(["age=18", "city=Oslo", "day=2024-01-31", "code='18'"])
    {'age': Decimal('18'), 'city': 'Oslo', 'day': datetime.date(2024, 1, 31), 'code': '18'}
    """
    values: dict[str, object] = {}
    for each in written or []:
        name, found, value = each.partition("=")
        if not found or not name.isidentifier() or name in values:
            why = "is given twice" if name in values else "does not name a parameter and its value"
            raise refuse_flag("parameter", repr(each), why, "city=Oslo", " for :city", "bad_parameter")
        values[name] = _read_value(value)
    return values


def _read_value(written: str) -> object:
    if len(written) > 1 and written[0] == written[-1] == "'":
        return written[1:-1]
    if written.lower() in _WORDS:
        return _WORDS[written.lower()]
    if _NUMBER.fullmatch(written):
        return Decimal(written)
    if _DATE.fullmatch(written):
        with suppress(ValueError):
            return date.fromisoformat(written)
    return written


def parse_rows(written: str | None) -> int | None:
    """A number of rows, at least one."""
    from adomnia.options import LARGEST_GROUP

    size = parse_number("rows", written)
    if size is None:
        return None
    if not size.is_finite() or not 1 <= size <= LARGEST_GROUP or size != int(size):
        raise refuse_flag("rows", repr(written), "is not a whole number of at least 1", "1000")
    return int(size)
