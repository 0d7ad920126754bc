"""Contribution profiles: how many rows people have, measured once for a declaration and data version, then public."""

from __future__ import annotations

import logging
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from adomnia.catalog.model import Profile
from adomnia.curator.executor import Executor, Statements
from adomnia.curator.measurements import Record
from adomnia.errors import Failure, Refusal
from adomnia.ledger import Hold
from adomnia.plans.canonical import canonical
from adomnia.pricing.quotes import check_drawable
from adomnia.privacy.events import Pure
from adomnia.statistics.contract import Measure
from adomnia.statistics.profile import profile_edges, profile_query

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.catalog.model import Catalog, Table
    from adomnia.curator.kernel import Kernel

_ATTEMPTS = 2  # what was cut off is paid for again at the next open, but once: what always fails must drain no budget
_log = logging.getLogger("adomnia.curator")


def add_profiles(kernel: Kernel, progress: Callable[[str, float], None]) -> Catalog:
    """The catalog with a profile in each table that asks for one and can have it, paid by the dataset alone."""
    catalog = kernel.catalog
    if all(table.profile_epsilon is None for table in catalog.tables):
        return catalog
    with kernel.ledger.lock_dataset():  # whoever opens the dataset at the same moment waits, and does not pay again
        return replace(catalog, tables=tuple(_with_profile(kernel, table, progress) for table in catalog.tables))


def _with_profile(kernel: Kernel, table: Table, progress: Callable[[str, float], None]) -> Table:
    if table.profile_epsilon is None or table.profile is not None:
        return table
    measure = Measure(profile_query(table), Pure(table.profile_epsilon))
    plan = sha256(canonical(("profile", measure.query, measure.price, kernel.catalog.version))).digest()
    try:
        record = _released(kernel, measure, plan, lambda: progress(f"how many rows people have in {table.name}", 1.0))
    except (Refusal, Failure) as reason:
        _log.warning("Table %s has no contribution profile, so its largest cap is used: %s", table.name, reason)
        return table
    people = tuple(record.values[0].tolist())
    return replace(table, profile=Profile(profile_edges(table.rows_per_person), people, table.profile_epsilon))


def _released(kernel: Kernel, measure: Measure, plan: bytes, begin: Callable[[], None]) -> Record:
    """The noisy histogram: the stored one, or one that is paid for now."""
    check_drawable(measure, measure.price)
    statements = Statements(kernel.engine, kernel.catalog)
    statements.of([measure.query])
    for attempt in range(_ATTEMPTS):
        request = f"dataset:profile:{plan.hex()}:{attempt}"
        try:
            paid = kernel.ledger.reserve(None, request, plan, measure.price)
        except Failure:  # an earlier open paid for this one and was cut off
            continue
        if not isinstance(paid, Hold):
            return Record.from_bytes(paid.payload)
        begin()
        executor = Executor(kernel.engine, statements, paid.event, kernel.bits)
        try:
            executor.measure((measure,))
        except Exception as fault:  # noqa: BLE001 - whatever it is may quote data, and only its name is told
            name = type(fault).__name__
        else:
            paid.commit(executor.record.to_bytes())
            return executor.record
        _log.error("Request %s failed: %s", request, name)
        break
    raise Failure(request)
