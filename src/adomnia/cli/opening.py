"""How commands open a dataset: on made-up rows, its ledger alone, or with a progress bar while its index is built."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from adomnia.ledger.schema import explain_errors
from adomnia.releases.store import FOLDER, ReleaseStore
from adomnia.session.agreement import check_current
from adomnia.session.curator import MEMORY, STATE, Curator, open_folder, open_ledger, open_mock, read_catalog
from adomnia.session.ledgers import place_ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import TextIO

    from adomnia.catalog.model import Catalog
    from adomnia.ledger import Ledger
    from adomnia.session.contract import Session


@contextmanager
def open_dataset(folder: Path) -> Iterator[Curator]:
    """The dataset of a folder; the index is built where it is missing."""
    with show_progress() as tell:
        curator = open_folder(folder, tell)
    with curator:
        yield curator


@contextmanager
def open_mock_folder(folder: Path) -> Iterator[Curator]:
    """The same catalog over made-up rows: private files are not opened, and the ledger ends with the command."""
    with open_mock(read_catalog(folder)) as curator:
        yield curator


@contextmanager
def open_accounts(folder: Path) -> Iterator[tuple[Catalog, Ledger]]:
    """The catalog and the ledger of a folder; where nobody has asked yet, one in memory stands in for it."""
    catalog = read_catalog(folder)
    place = place_ledger(catalog)
    if catalog.ledger is not None:
        check_current(catalog.ledger.url, catalog)
    with explain_errors():
        known = place.exists()
    with open_ledger(catalog, place if known else MEMORY) as opened:
        yield catalog, opened


@contextmanager
def open_for_quotes(folder: Path, analyst: str | None) -> Iterator[Session]:
    """A session that prices and explains as the real one would: made-up rows, and the accounts as they are."""
    with open_accounts(folder) as (catalog, accounts), open_mock(catalog) as curator:
        kernel, releases = replace(curator.dataset.kernel, ledger=accounts), ReleaseStore(folder / STATE / FOLDER)
        yield open_session(Curator(replace(curator.dataset, kernel=kernel, releases=releases)), analyst)


def open_session(curator: Curator, analyst: str | None) -> Session:
    """For the analyst who was named, or else the first one of the catalog."""
    return curator.session(analyst or curator.catalog.analysts[0].name)


@contextmanager
def show_progress(
    title: str = "Building the index, once", file: TextIO | None = None
) -> Iterator[Callable[[str, float], None]]:
    """A bar on standard error, or on a file, that appears with the first step and goes away with the last."""
    columns = (TextColumn(title), BarColumn(), TextColumn("{task.description}"))
    console = Console(stderr=True, file=file)
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    task = bar.add_task("", total=1.0)

    def tell(step: str, share: float) -> None:
        bar.start()
        bar.update(task, description=step, completed=share)

    try:
        yield tell
    finally:
        bar.stop()
