"""The page of history: what an analyst has paid for and got, newest first, and how it is found again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations

from adomnia.api.actions.answers import read_asked
from adomnia.api.problems import status_of
from adomnia.console.ask.form import AskForm
from adomnia.console.frame import show
from adomnia.console.history.index import histories_of
from adomnia.console.paying import address_of_answer
from adomnia.console.prices import Paid, show_paid
from adomnia.console.rendering import Page
from adomnia.wire.amounts import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from adomnia.api.access import Share
    from adomnia.api.requests import Visit
    from adomnia.console.ask.form import PaidQuestions
    from adomnia.console.history.index import History, PastQuestion
    from adomnia.errors import Refusal

_ROWS = 50  # of a page
_LONGEST_SEARCH = 500
_SHARED_TEXTS = 200  # characters of a question in the list of links
_LONGEST = 4000  # characters of an address that browsers and proxies surely take
_HALF_THE_ERROR = {"epsilon": Fraction(2), "rho": Fraction(4), "error": Fraction(1, 2)}


@dataclass(frozen=True)
class HistoryRow:
    """One answer in a list; a batch has several texts."""

    request_id: str
    texts: tuple[str, ...]
    at: str
    version: int
    paid: Paid
    address: str
    sharper: str


@dataclass(frozen=True)
class FoundRows:
    """A page of what was found."""

    rows: list[HistoryRow]
    first: int
    number: int
    newer: str
    older: str


@dataclass(frozen=True)
class SharedLink:
    """A link that this analyst has made, with the question that it leads to."""

    id: str
    text: str
    address: str
    created: str


@dataclass(frozen=True)
class Notice:
    """What a change of links has to say: a new link, that one has ended, or what is wrong."""

    link: str = ""
    done: str = ""
    problem: Refusal | None = None


async def history(request: Request) -> Response:
    """What this analyst has paid for and got, newest first; searched by words."""
    return await show_history(request)


async def show_history(request: Request, notice: Notice | None = None) -> Response:
    """The page, with what a change of links has to say."""
    query = request.query_params.get("q", "")[:_LONGEST_SEARCH]
    number, histories, said = _read_number(request.query_params.get("page", "")), histories_of(request), notice

    def read(visit: Visit) -> Page:
        kept = histories.read(visit.session)
        filling = {
            "query": query,
            "found": _find(kept, query, number),
            "whole": len(kept.newest_first()),
            "kept": kept,
            "links": _list_links(visit, kept),
            "notice": said or Notice(),
        }
        problem = said.problem if said else None
        return Page("history.html", filling, 200 if problem is None else status_of(problem))

    return await show(request, read)


def list_rows(pasts: list[PastQuestion]) -> list[HistoryRow]:
    """Answers as a list shows them."""
    return [
        HistoryRow(
            past.request_id,
            past.texts,
            past.at,
            past.version,
            show_paid(past.cost),
            address_of_answer(past.request_id),
            link_sharper(read_asked(past.asked)) if len(past.texts) == 1 else "",
        )
        for past in pasts
    ]


def show_seconds(seconds: float) -> str:
    """A time of the access database in the words of the ledger."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _find(kept: History, query: str, number: int) -> FoundRows:
    pasts = kept.search(query)
    last = max(1, -(-len(pasts) // _ROWS))
    number = min(number, last)
    first = (number - 1) * _ROWS
    rows = list_rows(pasts[first : first + _ROWS])
    newer, older = (_link(query, other) if 1 <= other <= last else "" for other in (number - 1, number + 1))
    return FoundRows(rows, first + 1, len(pasts), newer, older)


def _list_links(visit: Visit, kept: History) -> list[SharedLink]:
    shares = visit.services.access.shares(visit.visitor.name)
    wanted = {share.request_id for share in shares}
    texts = {past.request_id: past.texts[0] for past in kept.newest_first() if past.request_id in wanted}
    return [_describe(share, texts.get(share.request_id, share.request_id)) for share in shares]


def _describe(share: Share, text: str) -> SharedLink:
    created = show_seconds(share.created)
    return SharedLink(share.id, text[:_SHARED_TEXTS], address_of_answer(share.request_id), created)


def _link(query: str, number: int) -> str:
    fields = ({"q": query} if query else {}) | ({"page": str(number)} if number > 1 else {})
    return f"/answers?{urlencode(fields)}" if fields else "/answers"


def _read_number(text: str) -> int:
    """The number of a page; whatever is none is the first."""
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 9 else 1


def link_sharper(paid: PaidQuestions) -> str:
    """Where to ask again at a price that about halves the error; empty where the question is too long for an address.

    >>> from adomnia.asking.batch import Batch
    >>> from adomnia.pricing.questions import Question
    >>> link_sharper(Batch((Question("SELECT 1", epsilon=Fraction(1, 4)),), 0.95, 1))
    '/ask?sql=SELECT+1&amount=0.5'
    """
    return _repeat_link(paid, _HALF_THE_ERROR)


def link_again(paid: PaidQuestions) -> str:
    """Where to ask the same at the same price."""
    return _repeat_link(paid, {})


def _repeat_link(paid: PaidQuestions, factors: Mapping[str, Fraction]) -> str:
    form = AskForm.from_paid(paid)
    if form.pay in factors:
        form = replace(form, amount=text_of(Fraction(form.amount) * factors[form.pay]))
    address = form.address()
    return address if len(address) <= _LONGEST else ""
