"""The hospital of examples/, written into a folder of the test's own."""

from __future__ import annotations

import atexit
import runpy
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from adomnia.session.curator import LEDGER, STATE, open_folder

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = Path(__file__).parents[2] / "examples" / "hospital"


def write_example(folder: Path, people: int = 20_000, *, indexed: bool = False) -> Path:
    """Catalog and data, with their index if that is wanted; fewer people than the example has make it quicker."""
    shutil.copytree(_build_once(people) if indexed else _generate_once(people), folder)
    return folder


@cache
def _generate_once(people: int) -> Path:
    folder = Path(mkdtemp(prefix="adomnia-example-")) / "hospital"
    atexit.register(shutil.rmtree, folder.parent)
    folder.mkdir()
    shutil.copy(EXAMPLE / "catalog.toml", folder)
    generate: Callable[[Path], None] = runpy.run_path(str(EXAMPLE / "generate.py"))["generate"]
    generate.__globals__.update(PEOPLE=people, VISITS=4 * people)
    generate(folder)
    return folder


@cache
def _build_once(people: int) -> Path:
    """With an index; nobody has asked anything."""
    folder = Path(mkdtemp(prefix="adomnia-indexed-")) / "hospital"
    atexit.register(shutil.rmtree, folder.parent)
    open_folder(write_example(folder, people)).close()
    for file in (folder / STATE).glob(f"{LEDGER}*"):
        file.unlink()
    return folder
