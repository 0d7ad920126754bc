"""What every route asks of its request: the desk, the visitor, the dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from adomnia.errors import Refusal
from adomnia.server.access import Role
from adomnia.server.running.addresses import caller

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from adomnia.server.access import Visitor
    from adomnia.server.desk import Desk
    from adomnia.session.curator import Curator

_Given = TypeVar("_Given")


def desk_of(request: Request) -> Desk:
    """What this worker has at hand."""
    return cast("Desk", request.app.state.desk)


def visitor_of(request: Request) -> Visitor:
    """Who was let in; only routes that are not open to anybody ask."""
    return cast("Visitor", request.state.visitor)


def address_of(request: Request) -> str:
    """Where the request comes from."""
    return caller(request.scope, desk_of(request).settings)


def check_dataset(curator: Curator, dataset: str, visitor: Visitor) -> None:
    """Refuse a dataset that is not served, or not to this analyst: nobody learns which of the two it is."""
    stranger = visitor.role is Role.ANALYST and curator.catalog.analyst(visitor.name) is None
    if dataset != curator.catalog.name or stranger:
        fix = "take one that /api/v1/datasets lists"
        raise Refusal("A dataset of that name", "is not there for you", fix, code="unknown_dataset")


async def at_counter(request: Request, work: Callable[[], _Given]) -> _Given:
    """What the work gives, done in a thread when it is this visitor's turn."""
    return await desk_of(request).counter.run(visitor_of(request).name, work)


async def with_dataset(request: Request, dataset: str, look: Callable[[Curator], _Given]) -> _Given:
    """What a look at the dataset's public side gives, done at the counter."""
    desk, visitor = desk_of(request), visitor_of(request)

    def work() -> _Given:
        with desk.served.curator() as curator:
            check_dataset(curator, dataset, visitor)
            return look(curator)

    return await at_counter(request, work)
