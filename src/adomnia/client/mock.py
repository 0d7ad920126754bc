"""Made-up rows on this machine, for a dataset that is on another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from adomnia.engines.registry import load_engine
from adomnia.noise import SystemBits
from adomnia.plans.public_columns import MOST_ROWS
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity
from adomnia.session import mock
from adomnia.session.curator import MEMORY, Curator, MockCurator, open_ledger

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.catalog.model import Catalog, Table
    from adomnia.privacy.kinds import Kind
    from adomnia.session.answer import Answer


def open_remote_mock(catalog: Catalog, ask: Callable[[str], Answer]) -> Curator:
    """A catalog over made-up rows; `ask` gives the rows of public tables, at most a million of each, as they are."""
    frames = mock.frames(catalog)
    frames |= {table.name: _read_rows(table, ask) for table in catalog.tables if table.public and table.columns}
    free = replace(catalog, vacuous_answers="warn")
    return MockCurator.open(free, load_engine().load(catalog, frames), open_ledger(catalog, MEMORY), SystemBits())


def _read_rows(table: Table, ask: Callable[[str], Answer]) -> pa.Table:
    """The rows; identifiers, which nobody can ask about, are missing in all of them."""
    asked = [column.name for column in table.columns if not isinstance(column.kind, Identity)]
    names = ", ".join(f'"{name}"' for name in asked)
    known = ask(f'SELECT {names} FROM "{table.name}" LIMIT {MOST_ROWS}') if asked else None  # noqa: S608 - of the catalog
    values = {} if known is None else {name: known[name] for name in asked}
    missing = [] if known is None else [None] * len(known)
    return pa.table({each.name: pa.array(values.get(each.name, missing), _type(each.kind)) for each in table.columns})


def _type(kind: Kind) -> pa.DataType:
    """The type of a column of which every value may be missing."""
    match kind:
        case Quantity(whole=whole):
            return pa.int64() if whole else pa.float64()
        case Boolean():
            return pa.bool_()
        case Day():
            return pa.date32()
        case Moment():
            return pa.timestamp("s")
    return pa.string()
