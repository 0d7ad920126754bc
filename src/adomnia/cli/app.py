"""The commands of `adomnia`."""

import sys
from enum import StrEnum
from typing import Annotated

import typer

from adomnia import AdomniaError, __version__

__all__ = ["app", "main"]

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich")


class Format(StrEnum):
    """How a result is written."""

    TABLE = "table"
    JSON = "json"


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"adomnia {__version__}")
        raise typer.Exit


@app.callback()
def adomnia(
    _version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say the version and stop.")
    ] = False,
) -> None:
    """Ad Omnia, a differentially private statistical database."""


@app.command()
def demo(
    epsilon: Annotated[str, typer.Option(help="The price of each question, from 0.02 to 2.")] = "0.5",
    form: Annotated[Format, typer.Option("--format", help="For people, or for programs.")] = Format.TABLE,
) -> None:
    """Count made-up people privately: price, answer, interval, budget, refusal."""
    # Imported here, so that `adomnia --help` does not wait for numpy.
    from adomnia.cli import demonstration, display
    from adomnia.noise.bits import SystemBits

    shown = demonstration.demonstrate(demonstration.price_of(epsilon), SystemBits())
    if form is Format.JSON:
        display.print_json(shown)
    else:
        display.print_table(shown)


def main() -> None:
    """Run a command; a refusal or failure is one line on standard error and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a block character shows a question mark instead of a traceback.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        app()
    except AdomniaError as error:
        typer.echo(f"{type(error).__name__}: {error}", err=True)
        sys.exit(1)
