"""A quote, and what it says in words and as tables: what is measured with how much noise, and errors to expect."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from adomnia.mechanisms.contract import Numeric
from adomnia.mechanisms.exponential import Exponential
from adomnia.mechanisms.halving import Halving
from adomnia.mechanisms.quantiles import Quantiles
from adomnia.mechanisms.smooth import SmoothNoise
from adomnia.mechanisms.threshold import KeyPrice
from adomnia.messages.texts import Note
from adomnia.methods.simulation import SUPPOSED_ROWS
from adomnia.plans.columns import Cap
from adomnia.pricing.notes import hides_rows
from adomnia.privacy.amounts import show_up
from adomnia.privacy.enclosures import sqrt_up
from adomnia.privacy.events import AnyPrice, Concentrated, Event, Price
from adomnia.privacy.losses import loss
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.tables import TextTable, html_lines

_MOST_LINES = 40  # of a table of measurements: a release may have hundreds
HIGH_EFFORT = (
    "These are the errors of normal effort. High effort has smaller ones: by how much is known when a tenth is spent."
)
_NOT_TOLD = "of a scale that follows from the data and is not told"


class ErrorName(NamedTuple):
    """What an error is of: an output, and the name of its line, which has more of a table and of sums of groups."""

    output: str
    line: str


@dataclass(frozen=True)
class Expected:
    """How far off one output may be: within `error` at the confidence, in each group, or in all of them together.

    `rows`: where the error depends on how many rows a group has, in a group of so many. `relative`: the error as a part
    of the output's own value in a group of the quote's supposed rows, all values in the middle of their bounds. No
    error is known for a quotient whose divisor may be zero.

    It is of the `output`, or of so many `groups` of it as one.
    """

    name: str
    what: str
    error: float | None
    rows: int | None = None
    relative: float | None = None
    method: str = ""
    days: bool = False  # whether it is a number of days, beside a date
    output: str = ""
    groups: int = 1

    @property
    def of(self) -> ErrorName:
        """What it is the error of."""
        return ErrorName(self.output, self.name)


@dataclass(frozen=True)
class Measurement:
    """One release: what is measured, how far one person moves it and why, its noise, and its part of the price.

    `bounds` says what values are clamped and rounded to, where they are added up.
    """

    what: str
    cells: int
    sensitivity: Sensitivity
    why: str
    noise: Numeric
    price: AnyPrice
    bounds: str = ""
    sums: int = 1  # in each group


_TO_PAY = "To get the answer at this price: session.sql with the same text and options; of a list, session.batch."


@dataclass(frozen=True)
class Search:
    """How the values of keys that nobody declared will be found: at about so many people, one is named or is not."""

    says: str
    price: KeyPrice
    people: int
    minimum: int

    def __str__(self) -> str:
        return self.says


@dataclass(frozen=True)
class Quote:
    """A price before it is paid. `event` is what the ledger will be charged, exactly; `caps`, which rows will count.

    `price` is the one that was named for a question; the questions of a batch have one each.
    """

    price: Price | None
    event: Event
    confidence: float
    outputs: tuple[Expected, ...]
    measurements: tuple[Measurement, ...]
    caps: tuple[Cap, ...] = ()
    simultaneous: bool = False  # whether errors are for all groups at once
    findings: tuple[Search, ...] = ()  # of the values of keys that nobody declared
    effort: str = "normal"  # "high": errors will be smaller than these, but how much is not known before
    rows: int = SUPPOSED_ROWS  # of a group, where something depends on how many there are
    warnings: tuple[Note, ...] = ()  # what budgets cannot pay once this is paid
    notes: tuple[Note, ...] = ()  # what else a reader of the answer has to know
    vacuous: tuple[Note, ...] = ()  # outputs that would say almost nothing, and what would help

    def __repr__(self) -> str:
        first = "".join(f"{line}\n\n" for line in self.vacuous)
        notes = "\n".join([*quote_notes(self), _TO_PAY])
        return f"{first}{measurement_table(self)}\n\n{error_table(self)}\n\n{notes}"

    def _repr_html_(self) -> str:
        first, notes = html_lines(list(self.vacuous)), html_lines([*quote_notes(self), _TO_PAY])
        return f"{first}{measurement_table(self).html()}{error_table(self).html()}{notes}"


def sensitivity_in_words(line: Measurement) -> str:
    """The sensitivity of a measurement over all groups, in the norm that its noise is calibrated to."""
    norm = sqrt_up(line.sensitivity.l2_squared) if isinstance(line.price, Concentrated) else line.sensitivity.l1
    return f"{norm.numerator:,}" if norm.denominator == 1 else show_up(norm)


def noise_in_words(line: Measurement) -> str:
    """The distribution of the noise and its scale."""
    noise: Any = line.noise
    match noise:
        case object(family=family, size=size):
            return f"{family}, {size}"
        case object(usual_counting=object(family=family, size=size)):
            return f"values chosen by rank, {family} noise of {size} on rows between them"
        case object(bound=bound, adding=object(family=family, size=size)):
            return f"{family}, {size}, if the data is far from where a person moves it by more than {bound}"
        case Quantiles(rate=rate) | Halving(rate=rate):
            return f"values chosen by rank, off by a scale of {show_up(1 / rate)} rows"
        case Exponential(rate=rate):
            return f"one chosen by its score, off by a scale of {show_up(1 / rate)}"
    return f"{line.noise.noise_name}, {_NOT_TOLD}" if isinstance(line.noise, SmoothNoise) else type(line.noise).__name__


def error_in_words(output: Expected, within: str = "at most") -> str:
    """The expected error of an output, to three significant digits."""
    if output.error is None:
        return "unbounded"
    return f"{within} {float(f'{output.error:.3g}'):,.12g}{' days' if output.days else ''}"


def show_share(share: float) -> str:
    """A share for the eye: 0.41%, 30%, 1,500%.

    >>> show_share(0.0041), show_share(1), show_share(15)
    ('0.41%', '100%', '1,500%')
    """
    return f"{float(f'{100 * share:.2g}'):,.12g}%"


def format_cost(event: Event) -> str:
    """A cost in the currency it was paid in."""
    spent = loss(event)
    delta = f" and delta {show_up(spent.delta)}" if spent.delta else ""
    amount = f"rho {show_up(spent.rho)}" if spent.epsilon is None else f"epsilon {show_up(spent.epsilon)}"
    return f"{amount}{delta}"


def measurement_table(quote: Quote) -> TextTable:
    """One line for each noisy measurement; of very many, the first, and how many others there are."""
    who = "row" if hides_rows(quote.notes) else "person"
    headings = ("Measured", "Groups", f"One {who} moves it by", "Because", "Noise", "Price")
    rows = [_measurement_row(quote, line) for line in quote.measurements[:_MOST_LINES]]
    others = len(quote.measurements) - len(rows)
    if others:
        rows.append((f"and {others:,} others", *[""] * (len(headings) - 1)))
    return TextTable(headings, tuple(rows), frozenset({1, 2}))


def error_table(quote: Quote) -> TextTable:
    """One line for each output: how far off it may be."""
    kept = "all groups at once" if quote.simultaneous else "each group"
    error = f"Error in {kept}, {100 * quote.confidence:.6g}% of the time"
    headings = ("Answer", "Is", error, "In a group of", f"Relative, in {quote.rows:,} rows")
    return TextTable(headings, tuple(map(_error_row, quote.outputs)), frozenset({2, 4}))


def quote_notes(quote: Quote) -> list[str]:
    """What else there is to know, and the sum."""
    return [
        *(f"{cap}." for cap in quote.caps),
        *quote.notes,
        *(f"{finding}." for finding in quote.findings),
        *([HIGH_EFFORT] if quote.effort == "high" else ()),
        f"In all: {format_cost(quote.event)}. No private data was read, and nothing was spent.",
        *quote.warnings,
    ]


def _measurement_row(quote: Quote, line: Measurement) -> tuple[str, ...]:
    number = line.cells // line.sums
    groups = f"at most {number:,}" if quote.findings else f"{number:,}"
    return line.what, groups, sensitivity_in_words(line), line.why, noise_in_words(line), format_cost(line.price)


def _error_row(output: Expected) -> tuple[str, ...]:
    relative = "" if output.relative is None else show_share(output.relative)
    supposed = "any size" if output.rows is None else f"{output.rows:,} rows"
    return output.name, output.what, error_in_words(output), supposed, relative
