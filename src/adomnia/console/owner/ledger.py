"""The page of the ledger: everything that was ever paid for, newest first, searched, live and as a file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, cast
from urllib.parse import urlencode

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response

from adomnia.api.free_work import ask_free
from adomnia.api.ledger_csv import write_csv
from adomnia.api.ledger_index import EntryFilter, LedgerIndex
from adomnia.api.ledger_stamps import VERIFIED, read_stamp
from adomnia.api.ledger_view import read_chosen
from adomnia.api.problems import status_of
from adomnia.api.replies import EncodedReply, PiecewiseResponse, encode_within
from adomnia.api.routes.requests import read_dataset, services_of
from adomnia.console.owner.accounts import name_account
from adomnia.console.owner.entries import KINDS, EntryRow, describe_entry
from adomnia.console.rendering import PART, Page
from adomnia.console.visits import show
from adomnia.errors import Refusal
from adomnia.ledger.accounts import DATASET, account_name
from adomnia.ledger.journal import check_anchor, find_newest
from adomnia.work import spend

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adomnia.catalog.model import Catalog
    from adomnia.console.visits import Visit
    from adomnia.ledger.chain import Head
    from adomnia.ledger.records import Records
    from adomnia.session.curator import Curator

_PAGE = 50
_MOST_EXPORTED = 100_000
_LONGEST_TEXT = 200
_NO_END = 2**63 - 1
_CSV = "text/csv; charset=utf-8"
_NOT_MODIFIED = 204  # and not 304, which browsers keep for themselves
_PIECE = 1000  # lines


@dataclass(frozen=True)
class LedgerQuery:
    """What somebody looks for, and before which entry the page begins."""

    wanted: EntryFilter
    before: int = _NO_END

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> LedgerQuery:
        """Read the fields of the page's address, or refuse."""
        kind = fields.get("kind", "")
        if kind and kind not in KINDS:
            raise Refusal("The kind of entry", "is none of the ledger's", "choose one of the page", code="malformed")
        days = (_read_day(fields.get(name, "")) for name in ("from", "to"))
        text = fields.get("q", "").strip()[:_LONGEST_TEXT]
        return cls(EntryFilter(text, kind, fields.get("who", ""), *days), _read_number(fields.get("before", "")))

    def write(self, **changes: str) -> str:
        """The same as a query of an address, with changes."""
        wanted = self.wanted
        days = {"from": wanted.first_day, "to": wanted.last_day}
        fields = {"q": wanted.text, "kind": wanted.kind, "who": wanted.account}
        fields |= {name: day.isoformat() for name, day in days.items() if day is not None} | changes
        return urlencode({name: value for name, value in fields.items() if value})


async def ledger(request: Request) -> Response:
    """A page of entries. A script that has seen the newest entry gets nothing."""
    asked, index = LedgerQuery.from_fields(request.query_params), index_of(request)
    seen = request.query_params.get("seen")
    if seen is not None and request.headers.get(PART) and seen == str(await read_dataset(request, None, _find_newest)):
        return Response(status_code=_NOT_MODIFIED)
    return await show(request, lambda visit: _read(visit, asked, index))


async def export(request: Request) -> Response:
    """The entries that are filtered, as CSV."""
    asked, index = LedgerQuery.from_fields(request.query_params), index_of(request)
    memory = services_of(request).answer_memory

    def work(curator: Curator) -> EncodedReply:
        return encode_within(memory, lambda: list(_write_pieces(curator, asked, index)), _CSV)

    found = await ask_free(request, None, work, None)
    headers = {"Content-Disposition": 'attachment; filename="ledger.csv"'}
    return found if isinstance(found, Response) else PiecewiseResponse(found, headers)


def index_of(request: Request) -> LedgerIndex:
    """The index of the ledger of this process."""
    return cast("LedgerIndex", request.app.state.ledger_index)


def _read(visit: Visit, asked: LedgerQuery, index: LedgerIndex) -> Page:
    catalog, problem = visit.curator.catalog, None
    rows: Sequence[EntryRow] = ()
    newest, total = 0, 0
    anchor = visit.curator.ledger.read_anchor()  # before the entries: read after them, it could be ahead of them
    with visit.curator.ledger.snapshot() as records:
        try:
            newest, rows, total = _read_rows(records, anchor, asked, index)
        except Refusal as refusal:
            problem = refusal
    filling = {
        "rows": rows[:_PAGE],
        "newest": newest,
        "total": total,
        "older": asked.write(before=str(rows[_PAGE - 1].sequence)) if len(rows) > _PAGE else "",
        "is_first": asked.before == _NO_END,
        "first_page": asked.write(),
        "asked": asked.wanted,
        "kinds": {kind: each.plural for kind, each in KINDS.items()},
        "accounts": _list_accounts(catalog, asked.wanted.account),
        "most_exported": _MOST_EXPORTED,
        "verified": read_stamp(catalog.folder, VERIFIED),
        "problem": problem,
    }
    return Page("owner_ledger.html", filling, 200 if problem is None else status_of(problem))


def _read_rows(
    records: Records, anchor: Head, asked: LedgerQuery, index: LedgerIndex
) -> tuple[int, list[EntryRow], int]:
    """The number of the newest entry, one row more than a page has, and how many there are in all."""
    newest = find_newest(records)
    check_anchor(records, newest, anchor)
    chosen, total = _choose(records, newest.sequence, asked, index, _PAGE + 1)
    return newest.sequence, [describe_entry(records, entry) for entry in read_chosen(records, chosen)], total


def _choose(
    records: Records, newest: int, asked: LedgerQuery, index: LedgerIndex, limit: int
) -> tuple[Sequence[int], int]:
    """The numbers of the entries that are asked for, newest first; without a filter, nothing has to be looked for."""
    if not asked.wanted.is_empty:
        return index.find(records, asked.wanted, asked.before, limit)
    first = min(asked.before - 1, newest)
    return range(first, max(first - limit, 0), -1), newest


def _find_newest(curator: Curator) -> int:
    with curator.ledger.snapshot() as records:
        return find_newest(records).sequence


def _write_pieces(curator: Curator, asked: LedgerQuery, index: LedgerIndex) -> Iterator[bytes]:
    with curator.ledger.snapshot() as records:
        newest = find_newest(records).sequence
        chosen, _ = _choose(records, newest, asked, index, _MOST_EXPORTED)
        lines: list[str] = []
        for line in write_csv(read_chosen(records, chosen)):
            spend(1)  # whoever has hung up is not written for
            lines.append(line)
            if len(lines) == _PIECE:
                yield "".join(lines).encode()
                lines.clear()
        yield "".join(lines).encode()


def _list_accounts(catalog: Catalog, chosen: str) -> list[tuple[str, str]]:
    """Keys and names of the accounts to choose from; somebody who is gone from the catalog stays chosen."""
    keys = [account_name(analyst.name) for analyst in catalog.analysts] + [DATASET]
    return [(key, name_account(key)) for key in dict.fromkeys((*keys, *filter(None, [chosen])))]


def _read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise Refusal("The day", "cannot be read", "write it as 2026-01-31", code="malformed") from None


def _read_number(text: str) -> int:
    if not text:
        return _NO_END
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise Refusal("The number of an entry", "is none", "go back to the newest entries", code="malformed")
    return int(text)
