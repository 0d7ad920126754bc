"""Work that costs nothing and reads no private rows: counted, and given up when nobody waits for it any more."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from starlette.responses import Response

from adomnia.api.replies import JSON, EncodedReply, PiecewiseResponse, encode_within
from adomnia.api.requests import read_dataset, services_of
from adomnia.work import MOST_STEPS, Abandoned, Work, limit, spend

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from adomnia.api.replies import Pieces
    from adomnia.api.requests import Visit

_HUNG_UP = 499  # nobody will see it, but the log does
_Result = TypeVar("_Result")


async def ask_free(
    request: Request, dataset: str | None, ask: Callable[[Visit], _Result], most_steps: int | None = MOST_STEPS
) -> _Result | Response:
    """Ask a dataset something; it never waits for questions that read data.

    It is given up when the caller hangs up. Without a number of steps, it is as large as what was paid for before.
    """
    work = Work(most_steps)

    def ask_counted(visit: Visit) -> _Result:
        with limit(work):
            spend(0)  # nobody may have waited for its turn
            return ask(visit)

    watch = asyncio.create_task(_abandon_with_caller(request, work))
    try:
        return await read_dataset(request, dataset, ask_counted)
    except Abandoned:
        return Response(status_code=_HUNG_UP)
    finally:
        watch.cancel()


async def reply_free(  # noqa: PLR0913, PLR0917 - its callers say as much as they need
    request: Request,
    dataset: str,
    ask: Callable[[Visit], Pieces],
    most_steps: int | None = MOST_STEPS,
    form: str = JSON,
    headers: dict[str, str] | None = None,
) -> Response:
    """The same, as a reply that is encoded within the memory for answers."""
    memory = services_of(request).answer_memory

    def encode(visit: Visit) -> EncodedReply:
        return encode_within(memory, lambda: ask(visit), form)

    reply = await ask_free(request, dataset, encode, most_steps)
    return reply if isinstance(reply, Response) else PiecewiseResponse(reply, headers)


async def _abandon_with_caller(request: Request, work: Work) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    work.abandon()
