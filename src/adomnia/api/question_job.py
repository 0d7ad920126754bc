"""Runs a question that may be paid for: in its time bucket, to its end, and counted however it ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adomnia.api.negotiation import JSON
from adomnia.api.problems import route_of
from adomnia.api.replies import EncodedReply, PiecewiseResponse, encode_within
from adomnia.api.requests import check_dataset
from adomnia.api.visits import Visit
from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.noise import SystemBits

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from adomnia.api.access import Visitor
    from adomnia.api.encoding import Pieces
    from adomnia.api.services import Services

__all__ = ["QuestionJob", "choose_id"]


@dataclass(frozen=True)
class QuestionJob:
    """A question to pay for: who asks it, about which dataset, under which request id."""

    services: Services
    visitor: Visitor
    dataset: str | None  # None: whichever is served
    request_id: str
    form: str = JSON
    headers: dict[str, str] = field(default_factory=dict)

    async def run(self, request: Request, ask: Callable[[Visit], Pieces]) -> Response:
        """Run the question and return the reply."""
        return PiecewiseResponse(await self.answer(request, ask), self.headers)

    async def answer(self, request: Request, ask: Callable[[Visit], Pieces]) -> EncodedReply:
        """Run the question and encode its reply; the question goes on to its end even if the caller hangs up."""
        route, request.state.question_id = route_of(request.scope), self.request_id
        try:
            return await self.services.time_buckets.run(
                self.visitor.name, request.state.arrived, lambda: self._ask(ask, route)
            )
        except Failure as failure:
            raise Failure(failure.request_id or self.request_id) from None

    def _ask(self, ask: Callable[[Visit], Pieces], route: str) -> EncodedReply:
        try:
            with self.services.dataset.lease() as edition:
                visit = Visit(self.services, self.visitor, edition)
                check_dataset(visit, self.dataset)
                return encode_within(self.services.answer_memory, lambda: ask(visit), self.form)
        except Refusal as refusal:
            self.services.metrics.count_refusal(refusal.code)
            raise
        except Unavailable:
            self.services.metrics.count_question("unavailable")
            raise
        except Exception as fault:  # noqa: BLE001 - what went wrong after data was read must not be shown
            self.services.metrics.count_question("failed")
            if not isinstance(fault, Failure):
                self.services.logs.log_fault(route, fault)
            raise Failure(getattr(fault, "request_id", None)) from None


def choose_id(request_id: str | None) -> str:
    """The request id, or a random one, by which a caller whose reply failed can still ask for the answer."""
    return SystemBits().words(2).tobytes().hex() if request_id is None else request_id
