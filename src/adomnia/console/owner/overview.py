"""The first page of owners and auditors: what was given out, to whom, and whether all is well."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import RedirectResponse, Response

from adomnia.api.ledger_view import verify_ledger
from adomnia.api.requests import read_dataset
from adomnia.console.forms import read_form
from adomnia.console.frame import show
from adomnia.console.owner.accounts import list_rows
from adomnia.console.owner.collusion import report_collusion
from adomnia.console.owner.health import list_signs
from adomnia.console.owner.refusals import report_refusals
from adomnia.console.rendering import Page
from adomnia.errors import Refusal, Unavailable

if TYPE_CHECKING:
    from adomnia.api.requests import Visit

_BACK = frozenset({"/owner", "/owner/ledger"})


async def overview(request: Request) -> Response:
    """Ledger, workers, catalog, questions; budgets, refusals, coalitions."""
    return await show(request, _read)


async def verify(request: Request) -> Response:
    """Redo every hash, admission and total of the ledger, and go back to the page that asked for it."""
    form = await read_form(request)
    await read_dataset(request, None, verify_ledger)
    back = form.get("back", "")
    return RedirectResponse(back if back in _BACK else "/owner", 303)


def _read(visit: Visit) -> Page:
    counts, accounts, collusion = visit.services.metrics.read_questions(), None, None
    with suppress(Refusal, Unavailable):  # of a ledger that cannot be used: its sign says why
        accounts, collusion = list_rows(visit), report_collusion(visit)
    filling = {
        "signs": list_signs(visit, counts),
        "accounts": accounts,
        "refusals": report_refusals(counts.refusals),
        "collusion": collusion,
    }
    return Page("owner_overview.html", filling)
