"""`adomnia methods`: the analyses that can be asked, and how each is called."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from adomnia.cli.options import Format, Output

METHODS_EXAMPLES = """Examples

adomnia methods

adomnia methods lm
"""


def methods(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One method; without it, all are listed.")] = None,
    form: Output = Format.TABLE,
) -> None:
    """List the methods: analyses that are asked like SELECT * FROM lm(people, formula => 'salary ~ age')."""
    # Imported here, so that `adomnia --help` does not wait for numpy.
    from adomnia.explaining.methods import list_methods

    found = list_methods()
    chosen = found if name is None else found.page(name)
    if form is Format.JSON:
        told = [each.record for each in found] if name is None else found.page(name).record
        typer.echo(json.dumps(told, indent=2))
    else:
        typer.echo(repr(chosen))
