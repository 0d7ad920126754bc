"""The bill of a question, line by line, before it is paid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.cli import pages
from adomnia.curator.display import cost
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.privacy.amounts import shown_up
from adomnia.privacy.enclosures import sqrt_up
from adomnia.privacy.events import Pure, to_record

if TYPE_CHECKING:
    from rich.table import Table

    from adomnia.sql.price import Expected, Measurement, Quote


def print_table(quote: Quote) -> None:
    """What is measured, what to expect, and the sum."""
    pages.show(
        measurements(quote),
        "",
        expectations(quote),
        "",
        f"In all: {cost(quote.event)}. No private data was read, and nothing was spent.",
    )


def measurements(quote: Quote) -> Table:
    """One line for each noisy measurement."""
    table = pages.table(("Measured", "Groups", "One person moves it by", "Because", "Noise", "Price"), {1, 2})
    for line in quote.measurements:
        table.add_row(line.what, f"{line.cells:,}", moved(line), line.why, noise(line), cost(line.price))
    return table


def expectations(quote: Quote) -> Table:
    """One line for each output: how far off it may be."""
    table = pages.table(("Answer", "Is", f"Error, {pages.percent(quote.confidence)} of the time", "In a group of"), {2})
    for output in quote.outputs:
        table.add_row(output.name, output.what, expected_error(output), _supposed(output))
    return table


def moved(line: Measurement) -> str:
    """How far one person moves all groups together, in the norm that the noise is measured by."""
    norm = line.sensitivity.l1 if isinstance(line.price, Pure) else sqrt_up(line.sensitivity.l2_squared)
    return f"{norm.numerator:,}" if norm.denominator == 1 else shown_up(norm)


def noise(line: Measurement) -> str:
    """The law of the noise in words."""
    match line.noise:
        case DiscreteLaplace(scale=scale):
            return f"Laplace, scale {shown_up(scale)}"
        case DiscreteGaussian(variance=variance):
            return f"Gaussian, deviation {shown_up(sqrt_up(variance))}"
    return type(line.noise).__name__


def expected_error(output: Expected) -> str:
    """Three significant digits: it is an expectation."""
    if output.error is None:
        return "unbounded"
    return f"at most {float(f'{output.error:.3g}'):,.12g}"


def print_json(quote: Quote) -> None:
    pages.show_json(as_record(quote))


def as_record(quote: Quote) -> dict[str, object]:
    """The bill as plain data; amounts are exact texts."""
    return {
        "price": to_record(quote.price),
        "event": to_record(quote.event),
        "confidence": quote.confidence,
        "measurements": [
            {
                "what": line.what,
                "cells": line.cells,
                "sensitivity": {"l1": str(line.sensitivity.l1), "l2_squared": str(line.sensitivity.l2_squared)},
                "why": line.why,
                "noise": noise(line),
                "price": to_record(line.price),
            }
            for line in quote.measurements
        ],
        "outputs": [
            {"name": output.name, "what": output.what, "error": output.error, "rows": output.rows}
            for output in quote.outputs
        ],
    }


def _supposed(output: Expected) -> str:
    return "any size" if output.rows is None else f"{output.rows:,} rows"
