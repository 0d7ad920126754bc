"""The bill of a question, line by line, before it is paid."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from adomnia.cli import pages
from adomnia.explaining.explanations import error_in_words, noise_in_words, sensitivity_in_words
from adomnia.privacy.events import to_record
from adomnia.session.display import format_cost

if TYPE_CHECKING:
    from rich.table import Table

    from adomnia.pricing.quotes import Expected, Quote


HIGH_EFFORT = (
    "These are the errors of normal effort. High effort has smaller ones: by how much is known when a tenth is spent."
)


def print_table(quote: Quote) -> None:
    """What is measured, what to expect, and the sum."""
    pages.show(
        measurements(quote),
        "",
        expectations(quote),
        "",
        *(f"{cap}." for cap in quote.caps),
        *quote.notes,
        *(f"{finding}." for finding in quote.findings),
        *([HIGH_EFFORT] if quote.effort == "high" else ()),
        f"In all: {format_cost(quote.event)}. No private data was read, and nothing was spent.",
        *quote.warnings,
    )


def measurements(quote: Quote) -> Table:
    """One line for each noisy measurement."""
    table = pages.table(("Measured", "Groups", "One person moves it by", "Because", "Noise", "Price"), {1, 2})
    for line in quote.measurements:
        number = line.cells // line.sums
        groups = f"at most {number:,}" if quote.findings else f"{number:,}"
        table.add_row(
            line.what, groups, sensitivity_in_words(line), line.why, noise_in_words(line), format_cost(line.price)
        )
    return table


def expectations(quote: Quote) -> Table:
    """One line for each output: how far off it may be."""
    kept = "all groups at once" if quote.together else "each group"
    error = f"Error in {kept}, {pages.percent(quote.confidence)} of the time"
    table = pages.table(("Answer", "Is", error, "In a group of", f"Relative, in {quote.rows:,} rows"), {2, 4})
    for output in quote.outputs:
        table.add_row(output.name, output.what, error_in_words(output), _supposed(output), _relative(output))
    return table


def print_json(quote: Quote) -> None:
    pages.show_json(as_record(quote))


def as_record(quote: Quote) -> dict[str, object]:
    """The bill as plain data; amounts are exact texts."""
    return {
        "price": None if quote.price is None else to_record(quote.price),
        "event": to_record(quote.event),
        "confidence": quote.confidence,
        "measurements": [
            {
                "what": line.what,
                "cells": line.cells,
                "sensitivity": {"l1": str(line.sensitivity.l1), "l2_squared": str(line.sensitivity.l2_squared)},
                "why": line.why,
                "noise": noise_in_words(line),
                "price": to_record(line.price),
            }
            for line in quote.measurements
        ],
        "outputs": [
            {
                "name": output.name,
                "what": output.what,
                "error": output.error,
                "relative": output.relative,
                "rows": output.rows,
                "method": output.method,
            }
            for output in quote.outputs
        ],
        "together": quote.together,
        "caps": [asdict(cap) for cap in quote.caps],
        "effort": quote.effort,
        "warnings": list(quote.warnings),
        "notes": list(quote.notes),
        "findings": [
            {"price": to_record(each.price), "people": each.people, "minimum": each.minimum} for each in quote.findings
        ],
    }


def _relative(output: Expected) -> str:
    return "" if output.relative is None else f"{100 * output.relative:.2g}%"


def _supposed(output: Expected) -> str:
    return "any size" if output.rows is None else f"{output.rows:,} rows"
