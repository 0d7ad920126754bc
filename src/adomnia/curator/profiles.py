"""Contribution profiles: how many rows people have, measured once for a declaration and data version, then public."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from adomnia.catalog.model import Profile
from adomnia.curator.executor import Executor
from adomnia.curator.paying import PaymentRequest, keep, prove_queries, read_record, reserve
from adomnia.errors import Failure, Refusal
from adomnia.ledger import Hold
from adomnia.plans.plan import canonical
from adomnia.pricing.quotes import check_drawable
from adomnia.privacy.events import Pure
from adomnia.statistics.contract import Measure
from adomnia.statistics.profile import profile_edges, profile_query

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.catalog.model import Catalog, Table
    from adomnia.curator.measurements import Record
    from adomnia.curator.paying import Kernel

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
        record = _measure(kernel, measure, plan, lambda: progress(f"how many rows people have in {table.name}", 1.0))
    except (Refusal, Failure) as reason:
        _log.warning("Table %s has no contribution profile, so its largest cap is used: %s", table.name, reason)
        return table
    people = tuple(record.values[0].tolist())
    return replace(table, profile=Profile(profile_edges(table.rows_per_person), people, table.profile_epsilon))


def _measure(kernel: Kernel, measure: Measure, plan: bytes, begin: Callable[[], None]) -> Record:
    """The noisy histogram: the stored one, or one that is paid for now."""
    check_drawable(measure, measure.price)
    statements = prove_queries(kernel, [measure.query])
    for attempt in range(_ATTEMPTS):
        request = PaymentRequest(None, f"dataset:profile:{plan.hex()}:{attempt}", plan, asked="")
        with suppress(Failure):  # of an earlier open, which paid for this one and was cut off
            paid = reserve(kernel, request, measure.price)
            break
    else:
        raise Failure(request.request_id)
    if not isinstance(paid, Hold):
        return read_record(paid)
    begin()
    executor = Executor(kernel.engine, statements, paid.event, kernel.bits)

    def work() -> tuple[Record, Record]:
        executor.measure((measure,))
        return executor.record, executor.record

    return keep(kernel, paid, work)[0]
