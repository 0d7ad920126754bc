"""What is served, and what may be known about it without asking it: all of it is public to those it is for."""

from __future__ import annotations

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response

from adomnia.server.access import Role
from adomnia.server.problems import encoded, written
from adomnia.server.routes.requests import at_counter, desk_of, visitor_of, with_dataset
from adomnia.wire.budgets import budget_record
from adomnia.wire.catalogs import catalog_record


async def health() -> Response:
    """Whether the server is there; open to all, and says nothing else."""
    return written({"status": "ok"})


async def datasets(request: Request) -> Response:
    """The datasets that this visitor may ask about."""
    desk, visitor = desk_of(request), visitor_of(request)

    def work() -> dict[str, object]:
        with desk.served.curator() as curator:
            catalog = curator.catalog
            if visitor.role is Role.ANALYST and catalog.analyst(visitor.name) is None:
                return {"datasets": []}
            problem = desk.served.problem if visitor.role is Role.OWNER else None
            return {"datasets": [{"name": catalog.name, "version": catalog.version, "problem": problem}]}

    return written(await at_counter(request, work))


async def catalog(dataset: str, request: Request) -> Response:
    """Tables, columns, bounds, categories: what may be asked about."""
    body = await with_dataset(request, dataset, lambda curator: encoded(catalog_record(curator.catalog)))
    return Response(body, media_type="application/json")


async def budget(dataset: str, request: Request) -> Response:
    """What this analyst has left, what the dataset has left for everybody, and what the next question costs."""
    name = visitor_of(request).name
    told = await with_dataset(request, dataset, lambda curator: budget_record(curator.session(name).budget()))
    return written(told)
