"""`adomnia serve`: many analysts, one budget, over HTTP."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path  # noqa: TC003 - the types of options are looked at when the command runs
from typing import TYPE_CHECKING, Annotated

import typer

from adomnia.cli.options import Folder, parse_number

if TYPE_CHECKING:
    from adomnia.api.settings import Settings
    from adomnia.serving.serve import Started

SERVE_EXAMPLES = """Examples

adomnia serve examples/hospital

adomnia serve study --host 0.0.0.0 --name data.example.org --tls-cert cert.pem --tls-key key.pem
"""


def serve(  # noqa: PLR0913, PLR0917 - each is an option of the command line
    folder: Folder,
    host: Annotated[str, typer.Option(metavar="NAME", help="Where to listen; anything but this machine needs TLS.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(metavar="NUMBER", help="Where to listen; 0 is any port that is free.")] = 8000,
    name: Annotated[
        list[str] | None, typer.Option(metavar="HOST", help="A name callers use for this server; may be repeated.")
    ] = None,
    workers: Annotated[int, typer.Option(metavar="NUMBER", help="Processes that answer.")] = 2,
    threads: Annotated[int, typer.Option(metavar="NUMBER", help="Questions that a worker answers at a time.")] = 16,
    queue: Annotated[int, typer.Option(metavar="NUMBER", help="Questions that may wait in a worker.")] = 64,
    bucket: Annotated[
        str, typer.Option(metavar="SECONDS", help="Answers come after 1, 2, 4, ... times this; 0 is at once.")
    ] = ("0.1"),
    limit: Annotated[str, typer.Option(metavar="SECONDS", help="The longest that a question may take.")] = "60",
    rate: Annotated[str, typer.Option(metavar="NUMBER", help="Requests a second of one user, for each worker.")] = "50",
    burst: Annotated[int, typer.Option(metavar="NUMBER", help="Requests of one user at once, for each worker.")] = 100,
    memory: Annotated[str, typer.Option(metavar="SIZE", help="Memory for the questions of one worker.")] = "2400MB",
    tls_cert: Annotated[Path | None, typer.Option(metavar="FILE", help="The certificate, in PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key, in PEM.")] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy speaks TLS, and nobody else reaches this server.")
    ] = False,
) -> None:
    """Serve a dataset over HTTP until it is told to stop."""
    from adomnia.api.settings import Settings

    settings = Settings(
        folder=folder.resolve(),
        host=host,
        port=port,
        workers=workers,
        threads=threads,
        queue=queue,
        bucket=_seconds("bucket", bucket),
        limit=_seconds("limit", limit),
        memory=memory,
        certificate=tls_cert and tls_cert.resolve(),
        key=tls_key and tls_key.resolve(),
        behind_proxy=behind_proxy,
        names=tuple(name or ()),
        rate=_seconds("rate", rate),
        burst=burst,
    )
    raise typer.Exit(_run(settings))


def _run(settings: Settings) -> int:
    from adomnia.cli.opening import show_progress
    from adomnia.serving.serve import serve as run

    with ExitStack() as shown:  # the bar goes away before anything is announced
        tell = shown.enter_context(show_progress())

        def announce(started: Started) -> None:
            shown.close()
            _announce(started)

        return run(settings, tell, announce)


def _seconds(option: str, written: str) -> float:
    return float(parse_number(option, written) or 0)


def _announce(started: Started) -> None:
    typer.echo(f"Serving {started.dataset} at {started.address} with {started.workers} workers. Stop it with Ctrl-C.")
    if started.link is not None:
        typer.echo("The owner signs in here and chooses a password; the link works once, within 24 hours:")
        typer.echo(started.link)
