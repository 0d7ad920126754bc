"""The commands of `adomnia`."""

import logging
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from adomnia import AdomniaError, Refusal, Unavailable, __version__
from adomnia.cli import (
    checks,
    console,
    ledgers,
    meaning,
    owner,
    people,
    questions,
    releases,
    serving,
    survey_plans,
    surveys,
)
from adomnia.cli.options import UNAVAILABLE, Format, Output, exit_code
from adomnia.cli.shell import command as shells
from adomnia.errors import render

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich")


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"adomnia {__version__}")
        raise typer.Exit


@app.callback()
def adomnia(
    _version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Ad Omnia, a differentially private statistical database."""


@app.command()
def demo(
    epsilon: Annotated[str, typer.Option(help="The price of each question, from 0.02 to 2.")] = "0.5",
    form: Output = Format.TABLE,
) -> None:
    """Count made-up people privately: price, answer, interval, budget, refusal."""
    # Imported here, so that `adomnia --help` does not wait for numpy.
    from adomnia.cli import demonstration
    from adomnia.noise.bits import SystemBits

    shown = demonstration.demonstrate(demonstration.price_of(epsilon), SystemBits())
    if form is Format.JSON:
        demonstration.print_json(shown)
    else:
        demonstration.print_table(shown)


app.command(epilog=questions.SQL_EXAMPLES)(questions.sql)
app.command(epilog=questions.PRICE_EXAMPLES)(questions.price)
app.command(epilog=questions.EXPLAIN_EXAMPLES)(questions.explain)
app.command(epilog=releases.RELEASE_EXAMPLES)(releases.release)
app.command(epilog=releases.RELEASES_EXAMPLES)(releases.releases)
app.command(epilog=releases.PREVIEW_EXAMPLES)(releases.preview)
app.command(epilog=questions.METHODS_EXAMPLES)(questions.methods)
app.command(epilog=shells.SHELL_EXAMPLES)(shells.shell)
app.command(epilog=questions.ANSWERS_EXAMPLES)(questions.answers)
app.command(epilog=owner.BUDGET_EXAMPLES)(owner.budget)
app.command(epilog=checks.CHECK_EXAMPLES)(checks.check)
app.command(epilog=owner.INIT_EXAMPLES)(owner.init)
app.command(epilog=meaning.MEANING_EXAMPLES)(meaning.meaning)
app.command(epilog=console.CONSOLE_EXAMPLES)(console.console)
app.command(epilog=serving.SERVE_EXAMPLES)(serving.serve)
ledgers.app.command("top-up", epilog=owner.TOP_UP_EXAMPLES)(owner.top_up)
ledgers.app.command(epilog=ledgers.RESTORE_EXAMPLES)(ledgers.restore)
surveys.app.command(epilog=surveys.NEW_EXAMPLES)(surveys.new)
surveys.app.command(epilog=surveys.SERVE_EXAMPLES)(surveys.serve)
surveys.app.command(epilog=surveys.RESULTS_EXAMPLES)(surveys.results)
surveys.app.command(epilog=survey_plans.PLAN_EXAMPLES)(survey_plans.plan)
surveys.app.command(epilog=survey_plans.SIMULATE_EXAMPLES)(survey_plans.simulate)
app.add_typer(ledgers.app, name="ledger")
app.add_typer(surveys.app, name="survey")
app.add_typer(people.user, name="user")
app.add_typer(people.token, name="token")


def main() -> None:
    """Run a command; a refusal (exit code 2), failure (1) or trouble (3) is one line on standard error."""
    logging.getLogger("adomnia").addHandler(logging.NullHandler())  # what it logs is told in that line
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a block character shows a question mark instead of a traceback.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        app()
    except AdomniaError as error:
        typer.echo(_printable(f"{type(error).__name__}: {_render(error)}{_name_cause(error)}"), err=True)
        sys.exit(exit_code(error))
    except OSError as error:
        typer.echo(f"Unavailable: {_explain_file(error)}", err=True)
        sys.exit(UNAVAILABLE)


def _render(error: AdomniaError) -> AdomniaError:
    from adomnia.messages.surfaces import Surface

    return render(error, Surface.COMMAND_LINE) if isinstance(error, Refusal | Unavailable) else error


def _printable(text: str) -> str:
    from adomnia.tables import printable

    return printable(text)


def _name_cause(error: AdomniaError) -> str:
    """The name of the error that trouble comes from: this is the owner's own terminal, and their log."""
    from adomnia.ledger.sqlite import name_error

    cause = error.__cause__
    return f" ({name_error(cause)})" if isinstance(error, Unavailable) and isinstance(cause, Exception) else ""


def _explain_file(error: OSError) -> Unavailable:
    """What the operating system says about a file, by its name without its folder."""
    what = "A file" if error.filename is None else f"File {Path(os.fsdecode(error.filename)).name}"
    says = os.strerror(error.errno).lower() if error.errno else "unknown"
    return Unavailable(what, f"cannot be read or written: {says}", "free space, or let this user write its folder")
