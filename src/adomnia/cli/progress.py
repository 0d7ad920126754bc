"""The progress bar that is shown while an index is built, or a release made."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO


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
