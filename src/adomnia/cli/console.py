"""`adomnia console`: the web console of a dataset on this machine, for whoever sits at it."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from contextlib import ExitStack, contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated

import typer

from adomnia.cli.options import Folder  # noqa: TC001 - the types of options are looked at when the command runs
from adomnia.cli.people import check_analyst

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import TextIO

    from adomnia.serving.serve import Started

CONSOLE_EXAMPLES = """Examples

adomnia console examples/hospital

adomnia console study --analyst bob --port 9000
"""
LOG = "console.log"
_ASK_SECONDS = 0.2  # between two looks at whether the server has stopped by itself


def console(
    folder: Folder,
    analyst: Annotated[str | None, typer.Option(metavar="NAME", help="Who asks; default: the first analyst.")] = None,
    port: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Where to listen; default: 8000, or any if it is taken.")
    ] = None,
) -> None:
    """Open the web console of a dataset on this machine, with sign-in links for its owner and an analyst."""
    from adomnia.api.settings import Settings
    from adomnia.cli.opening import show_progress
    from adomnia.serving.serve import serve
    from adomnia.session.curator import STATE, read_catalog

    if analyst is not None:
        check_analyst(folder, analyst)
    name = analyst or next((each.name for each in read_catalog(folder).analysts), None)
    settings = Settings(folder=folder.resolve(), port=_choose_port() if port is None else port)
    log = settings.folder / STATE / LOG
    with ExitStack() as until_shown, _log_to(log) as terminal, _key_that_stops():
        tell = until_shown.enter_context(show_progress(file=terminal))

        def announce(started: Started) -> None:
            until_shown.close()
            _announce(started, settings.folder, name, log)

        code = serve(settings, tell, announce)
    raise typer.Exit(code)


def _announce(started: Started, folder: Path, analyst: str | None, log: Path) -> None:
    from adomnia.api.access import Role
    from adomnia.serving.serve import OWNER, create_link

    how = "Press q to stop it" if sys.stdin.isatty() else "Stop it with Ctrl-C"
    typer.echo(f"The console of {started.dataset} is at {started.address}. {how}. Its log is {_shorten(log)}.")
    typer.echo(f"The owner signs in with  {create_link(folder, started.address, OWNER, Role.OWNER)}")
    if analyst is not None:
        link = create_link(folder, started.address, analyst, Role.ANALYST)
        typer.echo(f"{analyst}, who asks, with".ljust(25) + link)


def _shorten(path: Path) -> str:
    """The path as somebody would write it here."""
    from pathlib import Path

    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _choose_port() -> int:
    """The usual port, or 0, which is any, if it is taken."""
    import socket

    from adomnia.api.settings import Settings

    usual = Settings.port
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", usual))
        except OSError:
            return 0
    return usual


@contextmanager
def _log_to(path: Path) -> Iterator[TextIO]:
    """Have this process and those that it starts log into a file; gives what was standard error."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    sys.stderr.flush()
    with os.fdopen(os.dup(2), "w") as terminal:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.dup2(descriptor, 2)
        os.close(descriptor)
        try:
            yield terminal
        finally:
            sys.stderr.flush()
            os.dup2(terminal.fileno(), 2)


@contextmanager
def _key_that_stops() -> Iterator[None]:
    """While the block runs, q in this terminal ends it, as Ctrl-C does."""
    if not sys.stdin.isatty():
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)  # even where a script that started this ignores it
    terminal, ended = sys.stdin.fileno(), Event()
    before = termios.tcgetattr(terminal)
    listener = Thread(target=_listen, args=(terminal, ended), daemon=True)
    tty.setcbreak(terminal)
    listener.start()
    try:
        yield
    finally:
        ended.set()
        listener.join()
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _listen(terminal: int, ended: Event) -> None:
    while not ended.is_set():
        ready, _, _ = select.select([terminal], [], [], _ASK_SECONDS)
        if ready and os.read(terminal, 1) in (b"q", b"Q", b""):
            os.kill(os.getpid(), signal.SIGINT)
            return
