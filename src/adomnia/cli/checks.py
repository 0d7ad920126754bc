"""`adomnia check`: everything that is wrong with a catalog, or what it promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from adomnia.cli.options import REFUSED, Folder, Format, Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.errors import Refusal

CHECK_EXAMPLES = """Example

adomnia check examples/hospital
"""


def check(folder: Folder, form: Output = Format.TABLE) -> None:
    """Say everything that is wrong with the catalog, or what it promises; of private files only headers are read."""
    from adomnia.cli import accounts
    from adomnia.explaining.promises import promises
    from adomnia.inspection.checking import check_folder

    found = check_folder(folder)
    if found.problems:
        _print_problems(found.problems, form)
    elif found.catalog is not None:
        show = accounts.print_promises_json if form is Format.JSON else accounts.print_promises
        show(promises(found.catalog))


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
