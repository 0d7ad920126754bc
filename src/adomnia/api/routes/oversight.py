"""Routes for owners and auditors: all budgets, the ledger, the metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import Query
from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response

from adomnia.api.actions.accounts import identify_amounts, list_accounts, read_dataset_account, top_up
from adomnia.api.ledger_view import read_entries, verify_ledger
from adomnia.api.models import TopUpBudget  # noqa: TC001 - likewise
from adomnia.api.replies import json_response
from adomnia.api.requests import read_dataset, run_in_pool, services_of
from adomnia.wire.budgets import AccountReply

if TYPE_CHECKING:
    from adomnia.api.requests import Visit

METRICS = "text/plain; version=0.0.4; charset=utf-8"
_MOST_ENTRIES = 1000


async def accounts(dataset: str, request: Request) -> Response:
    """All budgets, and what was spent of them."""
    return json_response(await read_dataset(request, dataset, _list_accounts))


async def top_up_budget(dataset: str, asked: TopUpBudget, request: Request) -> Response:
    """Add to a budget once and for good; the account afterwards."""
    written = (asked.analyst, asked.epsilon, asked.delta, asked.reason)
    seen = identify_amounts(asked.seen_epsilon, asked.seen_delta)
    return json_response(AccountReply.record(await top_up(request, dataset, written, seen, asked.password)))


async def ledger(
    dataset: str,
    request: Request,
    after: Annotated[int, Query(ge=0, le=2**53, description="Entries after this number.")] = 0,
    limit: Annotated[int, Query(ge=1, le=_MOST_ENTRIES, description="So many at most.")] = 100,
) -> Response:
    """Entries of the ledger: who paid how much, when, and what it all came to. No answers."""

    def read(visit: Visit) -> dict[str, object]:
        with visit.curator.ledger.snapshot() as records:
            found = [entry.record() for entry in read_entries(records, after, limit)]
        return {"entries": found, "next": found[-1]["sequence"] if len(found) == limit else None}

    return json_response(await read_dataset(request, dataset, read))


async def verify(dataset: str, request: Request) -> Response:
    """Redo every hash, admission and total of the ledger."""
    return json_response(await read_dataset(request, dataset, _verify))


async def metrics(request: Request) -> Response:
    """Counters and times for Prometheus, of all worker processes together."""
    services = services_of(request)

    def work() -> bytes:
        with services.dataset.curator() as curator:
            return services.metrics.render(curator, services.readiness.list_problems())

    return Response(await run_in_pool(request, work), media_type=METRICS)


def _list_accounts(visit: Visit) -> dict[str, object]:
    named = [{"analyst": each.analyst.name, **AccountReply.record(each.account)} for each in list_accounts(visit)]
    return {"dataset": AccountReply.record(read_dataset_account(visit)), "analysts": named}


def _verify(visit: Visit) -> dict[str, object]:
    found = verify_ledger(visit)
    if found.problem:
        return {"ok": False, "entries": None, "head": None, "problem": found.problem}
    return {"ok": True, "entries": found.entries, "head": found.head, "problem": None}
