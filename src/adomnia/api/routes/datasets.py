"""Routes of the dataset that read no data: its name, its catalog, and what is left of a budget."""

from __future__ import annotations

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response

from adomnia.api.access import Role
from adomnia.api.replies import encode_json, json_response
from adomnia.api.requests import read_dataset, run_in_pool, services_of, visitor_of
from adomnia.errors import Unavailable
from adomnia.wire.budgets import BudgetReply
from adomnia.wire.catalogs import CatalogReply
from adomnia.wire.methods import methods_record


async def health() -> Response:
    """Whether a worker is there; open to all, and says nothing else."""
    return json_response({"status": "ok"})


async def ready(request: Request) -> Response:
    """Whether questions can be answered now; if not, 503 and what is wrong, in words for anybody."""
    problems = services_of(request).readiness.list_problems()
    if problems:
        raise Unavailable("The server", f"is not ready: {'; '.join(problems)}", "see its log", code="not_ready")
    return json_response({"status": "ready"})


async def methods() -> Response:
    """The methods that can be asked, with their arguments."""
    return json_response(methods_record())


async def datasets(request: Request) -> Response:
    """The datasets that this visitor may ask about."""
    services, visitor = services_of(request), visitor_of(request)

    def work() -> dict[str, object]:
        with services.dataset.curator() as curator:
            catalog = curator.catalog
            if visitor.role is Role.ANALYST and catalog.analyst(visitor.name) is None:
                return {"datasets": []}
            problem = services.dataset.problem if visitor.role is Role.OWNER else None
            return {"datasets": [{"name": catalog.name, "version": catalog.version, "problem": problem}]}

    return json_response(await run_in_pool(request, work))


async def catalog(dataset: str, request: Request) -> Response:
    """Tables, columns, bounds, categories: what may be asked about."""
    body = await read_dataset(request, dataset, lambda visit: encode_json(CatalogReply.record(visit.catalog)))
    return Response(body, media_type="application/json")


async def budget(dataset: str, request: Request) -> Response:
    """What this analyst has left, what the dataset has left for everybody, and what the next question costs."""
    record = await read_dataset(request, dataset, lambda visit: BudgetReply.record(visit.session.budget()))
    return json_response(record)
