"""The hospital of examples/, written into a folder of the test's own."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = Path(__file__).parents[2] / "examples" / "hospital"


def write_example(folder: Path, people: int = 20_000) -> Path:
    """Catalog and data; fewer people than the example has make it quicker."""
    folder.mkdir(parents=True)
    shutil.copy(EXAMPLE / "catalog.toml", folder)
    generate: Callable[[Path], None] = runpy.run_path(str(EXAMPLE / "generate.py"))["generate"]
    generate.__globals__.update(PEOPLE=people, VISITS=4 * people)
    generate(folder)
    return folder
