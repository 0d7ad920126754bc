"""`adomnia check`: everything that is wrong with a catalog, what it promises, or how well it fits the data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from adomnia.cli.options import REFUSED, Folder, Format, Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.catalog.model import Catalog
    from adomnia.errors import Refusal
    from adomnia.explaining.promises import Promise
    from adomnia.inspection.reports import DataReport
    from adomnia.privacy.events import Event

CHECK_EXAMPLES = """Examples

adomnia check examples/hospital

adomnia check examples/hospital --data
"""
_COUNTS = ("rows", "missing", "unreadable", "clamped", "undeclared")


def check(
    folder: Folder,
    data: Annotated[
        bool, typer.Option("--data", help="Read the data, and say what does not fit. For its owner's eyes only.")
    ] = False,
    form: Output = Format.TABLE,
) -> None:
    """Say everything that is wrong with the catalog, or what it promises; of private files only headers are read.

    With --data, private files are read: what is printed is about their rows, and must not be shared.
    """
    from adomnia.inspection.checking import check_folder

    found = check_folder(folder)
    if found.problems:
        _print_problems(found.problems, form)
    elif found.catalog is not None:
        (_report if data else _promise)(found.catalog, form)


def _promise(catalog: Catalog, form: Format) -> None:
    from adomnia.cli import accounts
    from adomnia.explaining.promises import promises
    from adomnia.inspection.repeats import warn_of_keys
    from adomnia.inspection.reports import describe_index
    from adomnia.session.previewing import add_previews

    show = accounts.print_promises_json if form is Format.JSON else accounts.print_promises
    charges, unread = _read_charges(catalog)
    said = promises(catalog, tuple(add_previews(charges, catalog).values()))
    show([*said, *unread, *warn_of_keys(catalog), *describe_index(catalog)])


def _read_charges(catalog: Catalog) -> tuple[dict[str, Event], list[Promise]]:
    """What the dataset paid for releases so far, or a promise that says that they are not counted."""
    from adomnia.api.ledger_view import open_snapshot
    from adomnia.errors import AdomniaError
    from adomnia.explaining.promises import Promise
    from adomnia.ledger.schema import explain_errors
    from adomnia.releases.checks import read_charges
    from adomnia.session.ledgers import place_ledger

    try:
        place = place_ledger(catalog)
        with explain_errors():
            if not place.exists():
                return {}, []
        with open_snapshot(place) as records:
            return read_charges(records), []
    except AdomniaError as fault:
        return {}, [Promise("coalitions", f"Releases so far are not counted: {fault}", warning=True)]


def _report(catalog: Catalog, form: Format) -> None:
    from adomnia.inspection.reports import inspect_data

    show = _print_report_json if form is Format.JSON else _print_report
    show(inspect_data(catalog))


def _print_problems(problems: Sequence[Refusal], form: Format) -> None:
    from adomnia.cli import pages

    if form is Format.JSON:
        pages.show_json([_as_record(problem) for problem in problems])
    else:
        for problem in problems:
            typer.echo(f"Refusal: {problem}", err=True)
        if len(problems) > 1:
            typer.echo(f"{len(problems)} problems.", err=True)
    raise typer.Exit(REFUSED)


def _as_record(problem: Refusal) -> dict[str, object]:
    line, column = problem.position or (None, None)
    return {"what": problem.what, "why": problem.why, "fix": problem.fix, "line": line, "column": column}


def _print_report(report: DataReport) -> None:
    from adomnia.cli import pages
    from adomnia.inspection.reports import PRIVATE

    columns = pages.table(("Column", *(name.capitalize() for name in _COUNTS)), range(1, len(_COUNTS) + 1))
    for reading in report.columns:
        numbers = (f"{getattr(reading, name):,}" if getattr(reading, name) else "" for name in _COUNTS)
        columns.add_row(f"{reading.table}.{reading.column}", *numbers)
    people = pages.table(("Table", "Rows", "Of nobody", "People", "Over the cap", "Left out"), range(1, 6))
    for each in report.people:
        cap, lost = each.left_out[0]
        counts = (each.rows, each.of_nobody, each.people, each.over_cap)
        people.add_row(each.table, *(f"{count:,}" for count in counts), f"{lost:,} of {each.rows:,} at {cap:,}")
    mismatches = pages.table(("About", "What does not fit, and what to do"))
    for mismatch in report.mismatches:
        about = ".".join(filter(None, (mismatch.table, mismatch.column)))
        mismatches.add_row(about, f"{mismatch.says}. Fix: {mismatch.fix}. (line {mismatch.line})")
    pages.show(PRIVATE, "", columns)
    if report.people:
        pages.show("", people)
    pages.show("", mismatches if report.mismatches else "The data fits the catalog.")


def _print_report_json(report: DataReport) -> None:
    from adomnia.cli import pages
    from adomnia.inspection.reports import PRIVATE

    pages.show_json({"private": PRIVATE, **asdict(report)})
