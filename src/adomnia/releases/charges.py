"""What the dataset has paid for releases, by their names: everybody may read them, so that they count for everybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.ledger.history import list_requests

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adomnia.ledger import Ledger
    from adomnia.ledger.records import Records
    from adomnia.ledger.requests import Receipt
    from adomnia.privacy.events import Event

PREFIX = "dataset:release:"  # of the request ids of what is published
MOST_RELEASES = 10_000


def list_charges(ledger: Ledger) -> dict[str, Event]:
    """What each release cost the dataset, those that failed too."""
    return _by_name(ledger.dataset_requests(PREFIX, MOST_RELEASES))


def read_charges(records: Records) -> dict[str, Event]:
    """The same from a snapshot of a ledger that nobody opens."""
    return _by_name(list_requests(records, PREFIX, MOST_RELEASES))


def _by_name(receipts: Iterable[Receipt]) -> dict[str, Event]:
    return {each.request_id.removeprefix(PREFIX): each.event for each in receipts}
