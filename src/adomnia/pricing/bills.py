"""What a quote says, in words and as tables: what is measured with how much noise, and the errors to expect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.mechanisms.brackets import Brackets
from adomnia.mechanisms.earlier_brackets import EarlierBrackets
from adomnia.mechanisms.exponential import Exponential
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.halving import Halving
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.mechanisms.propose_test_release import ProposeTestRelease
from adomnia.mechanisms.quantiles import Quantiles
from adomnia.mechanisms.smooth import SmoothNoise
from adomnia.pricing.notes import hides_rows
from adomnia.privacy.amounts import show_up
from adomnia.privacy.enclosures import sqrt_up
from adomnia.privacy.events import Concentrated
from adomnia.privacy.losses import loss
from adomnia.tables import TextTable

if TYPE_CHECKING:
    from adomnia.pricing.quotes import Expected, Measurement, Quote
    from adomnia.privacy.events import Event

_MOST_LINES = 40  # of a table of measurements: a release may have hundreds
HIGH_EFFORT = (
    "These are the errors of normal effort. High effort has smaller ones: by how much is known when a tenth is spent."
)
_NOT_TOLD = "of a scale that follows from the data and is not told"


def sensitivity_in_words(line: Measurement) -> str:
    """The sensitivity of a measurement over all groups, in the norm that its noise is calibrated to."""
    norm = sqrt_up(line.sensitivity.l2_squared) if isinstance(line.price, Concentrated) else line.sensitivity.l1
    return f"{norm.numerator:,}" if norm.denominator == 1 else show_up(norm)


def noise_in_words(line: Measurement) -> str:  # noqa: PLR0911 - one for each law
    """The distribution of the noise and its scale."""
    match line.noise:
        case DiscreteLaplace(scale=scale):
            return f"Laplace, scale {show_up(scale)}"
        case DiscreteGaussian(variance=variance):
            return f"Gaussian, deviation {show_up(sqrt_up(variance))}"
        case (
            Brackets(usual_counting=DiscreteLaplace(scale=scale))
            | EarlierBrackets(usual_counting=DiscreteLaplace(scale=scale))
        ):
            return f"values chosen by rank, Laplace noise of scale {show_up(scale)} on rows between them"
        case (
            Brackets(usual_counting=DiscreteGaussian(variance=variance))
            | EarlierBrackets(usual_counting=DiscreteGaussian(variance=variance))
        ):
            return (
                f"values chosen by rank, Gaussian noise of deviation {show_up(sqrt_up(variance))} on rows between them"
            )
        case ProposeTestRelease(bound=bound, adding=DiscreteLaplace(scale=scale)):
            return (
                f"Laplace, scale {show_up(scale)}, if the data is far from where a person moves it by more than {bound}"
            )
        case Quantiles(rate=rate) | Halving(rate=rate):
            return f"values chosen by rank, off by a scale of {show_up(1 / rate)} rows"
        case Exponential(rate=rate):
            return f"one chosen by its score, off by a scale of {show_up(1 / rate)}"
    return f"{line.noise.law}, {_NOT_TOLD}" if isinstance(line.noise, SmoothNoise) else type(line.noise).__name__


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
    kept = "all groups at once" if quote.together else "each group"
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
