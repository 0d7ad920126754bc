"""`adomnia methods`: the analyses that can be asked, and how each is called."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer


class PageFormat(StrEnum):
    """How methods are written."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


METHODS_EXAMPLES = """Examples

adomnia methods

adomnia methods lm
"""


def methods(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One method; without it, all are listed.")] = None,
    form: Annotated[PageFormat, typer.Option("--format", help="For people, programs, or a page.")] = PageFormat.TABLE,
) -> None:
    """List the methods: analyses that are asked like SELECT * FROM lm(people, formula => 'salary ~ age')."""
    # Imported here, so that `adomnia --help` does not wait for numpy.
    from adomnia.explaining.method_reference import render_reference
    from adomnia.explaining.methods import MethodList, list_methods

    found = list_methods()
    page = None if name is None else found.page(name)
    if form is PageFormat.JSON:
        typer.echo(json.dumps([each.record for each in found] if page is None else page.record, indent=2))
    elif form is PageFormat.MARKDOWN:
        typer.echo(render_reference(found if page is None else MethodList([page])), nl=False)
    else:
        typer.echo(repr(found if page is None else page))
