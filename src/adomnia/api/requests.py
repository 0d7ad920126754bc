"""What every route needs from its request: what the worker has, visitor, address, and the visit at the dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from adomnia.api.access import Role
from adomnia.api.running.request_facts import find_caller
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from adomnia.api.access import Access, Visitor
    from adomnia.api.running.answer_memory import AnswerMemory
    from adomnia.api.running.logs import Logs
    from adomnia.api.running.metrics import Metrics
    from adomnia.api.running.rate_limiter import RateLimiter, SharedRateLimiter
    from adomnia.api.running.readiness import Readiness
    from adomnia.api.running.request_facts import RequestSummary
    from adomnia.api.running.served_dataset import Edition, ServedDataset
    from adomnia.api.running.thread_pool import FairThreadPool
    from adomnia.api.running.time_buckets import TimeBuckets
    from adomnia.api.settings import Settings
    from adomnia.catalog.model import Catalog
    from adomnia.session.contract import Session
    from adomnia.session.curator import Curator

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Services:
    """What the routes of a worker use: settings, users, the dataset, memory, thread pools, limits, metrics and logs.

    Questions that may read data run in `time_buckets`, password hashing in `password_pool`, and everything else in
    `pool`, which therefore never waits for either.
    """

    settings: Settings
    access: Access
    dataset: ServedDataset
    answer_memory: AnswerMemory
    pool: FairThreadPool
    password_pool: FairThreadPool
    time_buckets: TimeBuckets
    rate_limiter: RateLimiter | SharedRateLimiter
    metrics: Metrics
    logs: Logs
    readiness: Readiness

    def report(self, summary: RequestSummary) -> None:
        """Log and count a request that was answered."""
        self.logs.log_request(summary)
        self.metrics.count_request(summary)


@dataclass(frozen=True)
class Visit:
    """Who asks, of which edition of the dataset. The curator is for the actions of this package: pages have none."""

    services: Services
    visitor: Visitor
    edition: Edition

    @property
    def curator(self) -> Curator:
        return self.edition.curator

    @property
    def catalog(self) -> Catalog:
        """What is declared: all of it is public."""
        return self.edition.curator.catalog

    @property
    def session(self) -> Session:
        """What an analyst may do; only for analysts."""
        return self.edition.curator.session(self.visitor.name)

    @property
    def is_analyst(self) -> bool:
        """Whether they ask questions, and so have a budget."""
        return self.visitor.role is Role.ANALYST


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
