"""Writes entries of the ledger as a table that spreadsheets read."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import TYPE_CHECKING

from adomnia.ledger.accounts import DATASET
from adomnia.spreadsheets import defuse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from adomnia.api.ledger_view import Amounts, LedgerEntry

_HEADINGS = (
    *("sequence", "kind", "hash", "at", "analyst", "request_id"),
    *("cost_epsilon", "cost_rho", "cost_delta"),
    *("analyst_total_epsilon", "analyst_total_rho", "analyst_total_delta"),
    *("dataset_total_epsilon", "dataset_total_rho", "dataset_total_delta"),
    *("budgets", "reason"),
)


def write_csv(entries: Iterable[LedgerEntry]) -> Iterator[str]:
    """Write the headings and one line for each entry."""
    page = StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(_HEADINGS)
    for entry in entries:
        writer.writerow(_list_cells(entry))
        yield page.getvalue()
        page.seek(0)
        page.truncate()
    yield page.getvalue()


def _list_cells(entry: LedgerEntry) -> list[object]:
    whole = entry.totals.get(DATASET)
    own = next((total for account, total in entry.totals.items() if account != DATASET), None)
    budgets = json.dumps(entry.record()["budgets"], ensure_ascii=False) if entry.budgets else None
    return [
        *(entry.sequence, entry.kind, entry.hash, entry.at, _escape(entry.analyst), _escape(entry.request_id)),
        *(part for amounts in (entry.cost, own, whole) for part in _list_parts(amounts)),
        *(budgets, _escape(entry.reason)),
    ]


def _list_parts(amounts: Amounts | None) -> tuple[str | None, ...]:
    return (None, None, None) if amounts is None else (amounts.epsilon, amounts.rho, amounts.delta)


def _escape(text: str | None) -> str | None:
    """Analysts choose request ids: none of them becomes a formula in the owner's spreadsheet."""
    return None if text is None else defuse(text)
