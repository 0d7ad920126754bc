"""What every route needs from its request: services, visitor, address, dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from adomnia.api.running.addresses import find_caller
from adomnia.api.visits import Visit
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from adomnia.api.access import Visitor
    from adomnia.api.services import Services

_Result = TypeVar("_Result")


def services_of(request: Request) -> Services:
    """The services of this worker."""
    return cast("Services", request.app.state.services)


def visitor_of(request: Request) -> Visitor:
    """Who sent the request; only for routes that are not open to all."""
    return cast("Visitor", request.state.visitor)


def address_of(request: Request) -> str:
    """The address that the request comes from."""
    return find_caller(request.scope, services_of(request).settings)


def check_dataset(visit: Visit, dataset: str | None) -> None:
    """Refuse a dataset that is not served, or not to this analyst; both refusals look the same. None: any dataset."""
    stranger = visit.is_analyst and visit.catalog.analyst(visit.visitor.name) is None
    if dataset not in {None, visit.catalog.name} or stranger:
        fix = "take one that /api/v1/datasets lists"
        raise Refusal("A dataset of that name", "is not there for you", fix, code="unknown_dataset")


async def run_in_pool(request: Request, work: Callable[[], _Result]) -> _Result:
    """Run a job in the thread pool and return its result."""
    return await services_of(request).pool.run(visitor_of(request).name, work)


async def read_dataset(request: Request, dataset: str | None, read: Callable[[Visit], _Result]) -> _Result:
    """Run a job that reads public facts of the dataset in the thread pool, and return its result; None: of any."""
    services, visitor = services_of(request), visitor_of(request)

    def work() -> _Result:
        with services.dataset.lease() as edition:
            visit = Visit(services, visitor, edition)
            check_dataset(visit, dataset)
            return read(visit)

    return await run_in_pool(request, work)
