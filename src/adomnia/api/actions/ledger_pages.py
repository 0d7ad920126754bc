"""The ledger as owners and auditors read it: a page of entries, all of them as CSV, and whether its chain is whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.api.ledger_stamps import VERIFIED, LedgerStamp, read_stamp
from adomnia.api.ledger_view import LedgerEntry, find_answer, read_chosen, write_csv
from adomnia.ledger.chain import Head
from adomnia.ledger.journal import check_anchor, find_newest, is_on_chain
from adomnia.work import spend

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adomnia.api.ledger_index import EntryFilter, LedgerIndex
    from adomnia.api.requests import Visit
    from adomnia.errors import Unavailable
    from adomnia.ledger.records import Records

NO_END = 2**63 - 1
MOST_EXPORTED = 100_000
_PIECE = 1000  # lines


@dataclass(frozen=True)
class EntryPage:
    """Some entries, newest first, each with the number of the one that keeps its answer; and how many there are."""

    newest: int
    entries: tuple[tuple[LedgerEntry, int | None], ...]
    total: int


def read_page(visit: Visit, wanted: EntryFilter, before: int, limit: int, index: LedgerIndex) -> EntryPage:
    """The newest entries before one; a Refusal where the chain is not the one that its anchor remembers."""
    anchor = visit.curator.ledger.read_anchor()  # before the entries: read after them, it could be ahead of them
    with visit.curator.ledger.snapshot() as records:
        newest = find_newest(records)
        check_anchor(records, newest, anchor)
        chosen, total = _choose(records, newest.sequence, wanted, before, limit, index)
        entries = tuple((entry, _find_kept(records, entry)) for entry in read_chosen(records, chosen))
    return EntryPage(newest.sequence, entries, total)


def count_entries(visit: Visit) -> int:
    """The number of the newest entry."""
    with visit.curator.ledger.snapshot() as records:
        return find_newest(records).sequence


def write_pieces(visit: Visit, wanted: EntryFilter, before: int, index: LedgerIndex) -> Iterator[bytes]:
    """The entries as CSV, newest first."""
    with visit.curator.ledger.snapshot() as records:
        chosen, _ = _choose(records, find_newest(records).sequence, wanted, before, MOST_EXPORTED, index)
        lines: list[str] = []
        for line in write_csv(read_chosen(records, chosen)):
            spend(1)  # whoever has hung up is not written for
            lines.append(line)
            if len(lines) == _PIECE:
                yield "".join(lines).encode()
                lines.clear()
        yield "".join(lines).encode()


def read_last_verified(visit: Visit) -> LedgerStamp | None:
    """What was found when the ledger was verified last."""
    return read_stamp(visit.catalog.folder, VERIFIED)


def find_trouble(visit: Visit) -> Unavailable | None:
    """Why nothing can be paid for now, if so."""
    return visit.curator.ledger.trouble


def check_chain(visit: Visit) -> tuple[Head, LedgerStamp | None, bool]:
    """The newest entry, what was verified last, and whether that is on the chain; a Refusal if the anchor is not."""
    last, anchor = read_last_verified(visit), visit.curator.ledger.read_anchor()  # before the entries, likewise
    with visit.curator.ledger.snapshot() as records:
        newest = find_newest(records)
        check_anchor(records, newest, anchor)
        is_same = last is None or bool(last.problem) or is_on_chain(records, Head(last.entries, last.head))
    return newest, last, is_same


def _find_kept(records: Records, entry: LedgerEntry) -> int | None:
    return find_answer(records, entry.sequence) if entry.kind == "reserve" else None


def _choose(  # noqa: PLR0913, PLR0917 - what a page is of
    records: Records, newest: int, wanted: EntryFilter, before: int, limit: int, index: LedgerIndex
) -> tuple[Sequence[int], int]:
    """The numbers of the entries that are asked for, newest first; without a filter, nothing has to be looked for."""
    if not wanted.is_empty:
        return index.find(records, wanted, before, limit)
    first = min(before - 1, newest)
    return range(first, max(first - limit, 0), -1), newest
