"""The page of the ledger: everything that was ever paid for, newest first, searched, live and as a file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, cast
from urllib.parse import urlencode

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response

from adomnia.api.actions.accounts import DATASET, account_name
from adomnia.api.actions.ledger_pages import (
    MOST_EXPORTED,
    NO_END,
    EntryPage,
    count_entries,
    read_last_verified,
    read_page,
    write_pieces,
)
from adomnia.api.free_work import ask_free
from adomnia.api.ledger_index import EntryFilter, LedgerIndex
from adomnia.api.problems import status_of
from adomnia.api.replies import EncodedReply, PiecewiseResponse, encode_within
from adomnia.api.requests import read_dataset, services_of
from adomnia.console.frame import show
from adomnia.console.owner.accounts import name_account
from adomnia.console.prices import Paid
from adomnia.console.rendering import PART, Page
from adomnia.errors import Refusal
from adomnia.privacy.amounts import show_up

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.api.ledger_view import Amounts, LedgerEntry
    from adomnia.api.requests import Visit
    from adomnia.catalog.model import Catalog


_PAGE = 50
_LONGEST_TEXT = 200
_CSV = "text/csv; charset=utf-8"
_NOT_MODIFIED = 204  # and not 304, which browsers keep for themselves


@dataclass(frozen=True)
class LedgerQuery:
    """What somebody looks for, and before which entry the page begins."""

    wanted: EntryFilter
    before: int = NO_END

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
    if seen is not None and request.headers.get(PART) and seen == str(await read_dataset(request, None, count_entries)):
        return Response(status_code=_NOT_MODIFIED)
    return await show(request, lambda visit: _read(visit, asked, index))


async def export(request: Request) -> Response:
    """The entries that are filtered, as CSV."""
    asked, index = LedgerQuery.from_fields(request.query_params), index_of(request)
    memory = services_of(request).answer_memory

    def work(visit: Visit) -> EncodedReply:
        return encode_within(memory, lambda: list(write_pieces(visit, asked.wanted, asked.before, index)), _CSV)

    found = await ask_free(request, None, work, None)
    headers = {"Content-Disposition": 'attachment; filename="ledger.csv"'}
    return found if isinstance(found, Response) else PiecewiseResponse(found, headers)


def index_of(request: Request) -> LedgerIndex:
    """The index of the ledger of this process."""
    return cast("LedgerIndex", request.app.state.ledger_index)


def _read(visit: Visit, asked: LedgerQuery, index: LedgerIndex) -> Page:
    page, problem = EntryPage(0, (), 0), None
    try:
        page = read_page(visit, asked.wanted, asked.before, _PAGE + 1, index)
    except Refusal as refusal:
        problem = refusal
    rows = [describe_entry(entry, kept) for entry, kept in page.entries]
    filling = {
        "rows": rows[:_PAGE],
        "newest": page.newest,
        "total": page.total,
        "older": asked.write(before=str(rows[_PAGE - 1].sequence)) if len(rows) > _PAGE else "",
        "is_first": asked.before == NO_END,
        "first_page": asked.write(),
        "asked": asked.wanted,
        "kinds": {kind: each.plural for kind, each in KINDS.items()},
        "accounts": _list_accounts(visit.catalog, asked.wanted.account),
        "most_exported": MOST_EXPORTED,
        "verified": read_last_verified(visit),
        "problem": problem,
    }
    return Page("owner_ledger.html", filling, 200 if problem is None else status_of(problem))


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
        return NO_END
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise Refusal("The number of an entry", "is none", "go back to the newest entries", code="malformed")
    return int(text)


_MOST_BUDGETS = 3


@dataclass(frozen=True)
class EntryKind:
    """A kind of entry: its words, those of the choice of all of its kind, and the look of its tag."""

    says: str
    plural: str
    look: str


KINDS = {
    "reserve": EntryKind("paid for a question", "Paid", "price"),
    "commit": EntryKind("answer kept", "Answers kept", "data"),
    "top-up": EntryKind("budget raised", "Top-ups", "stop"),
    "open": EntryKind("budgets declared", "Declared", ""),
    "restored": EntryKind("backup put back", "Restored", "stop"),
    "checkpoint": EntryKind("checkpoint", "Checkpoints", ""),
}


@dataclass(frozen=True)
class EntryRow:
    """What a page shows of an entry."""

    sequence: int
    at: str | None
    who: str
    kind: EntryKind
    says: str
    request_id: str
    paid: Paid | None
    own_total: Paid | None
    whole_total: Paid | None
    hash: str


def describe_entry(entry: LedgerEntry, kept: int | None) -> EntryRow:
    """The row of an entry; `kept` is the number of the one that keeps the answer of a debit, if there is one."""
    own = next((total for account, total in entry.totals.items() if account != DATASET), None)
    return EntryRow(
        entry.sequence,
        entry.at,
        _name_payer(entry),
        KINDS[entry.kind],
        _say(entry, kept),
        entry.request_id or "",
        _count(entry.cost),
        _count(own) if entry.kind == "reserve" else None,
        _count(entry.totals.get(DATASET)),
        entry.hash,
    )


def _name_payer(entry: LedgerEntry) -> str:
    if entry.kind in {"reserve", "commit"}:
        return entry.analyst or name_account(DATASET)
    return name_account(next(iter(entry.budgets))) if entry.kind == "top-up" else "owner"


def _say(entry: LedgerEntry, kept: int | None) -> str:
    match entry.kind:
        case "reserve":
            says = "no answer is kept" if kept is None else f"answer kept as {kept}"
            return says if DATASET in entry.totals else f"seen of another, {says}"
        case "top-up" | "open":
            return _say_budgets(entry)
        case "restored":
            return "what may have been spent since the backup counts as spent"
        case "checkpoint":
            return "all totals once more, so that opening is quick"
    return ""


def _say_budgets(entry: LedgerEntry) -> str:
    said = [f"{name_account(account)} {_say_budget(amounts)}" for account, amounts in entry.budgets.items()]
    if entry.kind == "top-up":
        return f"plus {_say_budget(next(iter(entry.budgets.values())))}: {entry.reason}"
    more = f" and {len(said) - _MOST_BUDGETS:,} more" if len(said) > _MOST_BUDGETS else ""
    return f"{', '.join(said[:_MOST_BUDGETS])}{more}"


def _say_budget(amounts: Amounts | None) -> str:
    if amounts is None:
        return "nothing more"
    parts = (("ε", amounts.epsilon), ("δ", amounts.delta))
    return " and ".join(f"{sign} {show_up(Fraction(amount))}" for sign, amount in parts if amount and Fraction(amount))


def _count(amounts: Amounts | None) -> Paid | None:
    """Amounts in epsilon, if all was paid in that, or in rho."""
    if amounts is None:
        return None
    delta = show_up(Fraction(amounts.delta)) if Fraction(amounts.delta) else ""
    if amounts.epsilon is not None:
        return Paid("ε", "epsilon", show_up(Fraction(amounts.epsilon)), delta)
    return Paid("ρ", "rho", show_up(Fraction(amounts.rho or 0)), delta)
