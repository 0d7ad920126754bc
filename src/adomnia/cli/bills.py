"""The bill of a question, line by line, before it is paid."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from adomnia.cli import pages
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import show_notes
from adomnia.pricing.bills import error_table, measurement_table, noise_in_words, quote_notes
from adomnia.privacy.events import to_record

if TYPE_CHECKING:
    from rich.table import Table

    from adomnia.pricing.bills import Quote
    from adomnia.tables import TextTable


def print_quote(quote: Quote, *, json: bool, surface: Surface = Surface.COMMAND_LINE) -> None:
    """Print a bill in the words of the surface, for people or for programs."""
    quote = in_words(quote, surface)
    if json:
        print_json(quote)
    else:
        print_table(quote)


def in_words(quote: Quote, surface: Surface) -> Quote:
    """The bill, with its sentences in the words of a surface."""
    vacuous, notes, warnings = (show_notes(each, surface) for each in (quote.vacuous, quote.notes, quote.warnings))
    return replace(quote, vacuous=vacuous, notes=notes, warnings=warnings)


def print_table(quote: Quote) -> None:
    """What is measured, what to expect, and the sum."""
    first = [*quote.vacuous, ""] if quote.vacuous else []
    pages.show(*first, measurements(quote), "", expectations(quote), "", *quote_notes(quote))


def measurements(quote: Quote) -> Table:
    """One line for each noisy measurement."""
    return _draw(measurement_table(quote))


def expectations(quote: Quote) -> Table:
    """One line for each output: how far off it may be."""
    return _draw(error_table(quote))


def _draw(table: TextTable) -> Table:
    drawn = pages.table(table.headings, table.list_right())
    for row in table.rows:
        drawn.add_row(*row)
    return drawn


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
        "simultaneous": quote.simultaneous,
        "caps": [asdict(cap) for cap in quote.caps],
        "effort": quote.effort,
        "warnings": list(quote.warnings),
        "notes": list(quote.notes),
        "vacuous": list(quote.vacuous),
        "findings": [
            {"price": to_record(each.price), "people": each.people, "minimum": each.minimum} for each in quote.findings
        ],
    }
