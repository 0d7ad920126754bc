"""The session that examples in docstrings ask."""

from __future__ import annotations

import atexit
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from adomnia.engines.duckdb import DuckDB
from adomnia.noise import SystemBits
from adomnia.privacy.filters import Budget
from adomnia.session.curator import MEMORY, Curator, open_ledger, read_catalog
from kit.example import write_example

if TYPE_CHECKING:
    from adomnia.session.session import LocalSession

_BUDGET = Budget(epsilon=10**6, delta=1e-6, approximate=True)


@cache
def _open_curator() -> Curator:
    folder = Path(mkdtemp(prefix="adomnia-docstrings-"))
    atexit.register(shutil.rmtree, folder)
    declared = read_catalog(write_example(folder / "hospital", people=2_000))
    analysts = tuple(replace(each, budget=_BUDGET, publish=True) for each in declared.analysts)
    catalog = replace(declared, budget=_BUDGET, analysts=analysts)
    engine = DuckDB.open(catalog, folder / "state")
    return Curator.open(catalog, engine, open_ledger(catalog, MEMORY), SystemBits(), releases=folder / "releases")


def open_session() -> LocalSession:
    """A session of alice, who may publish; what was asked before is remembered."""
    return _open_curator().session("alice")
