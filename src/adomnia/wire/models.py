"""What all requests and replies have in common: where they go, how large they are, and their models."""

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from adomnia.wire.amounts import ExactText

API = "/api/v1"  # what every address begins with
LARGEST_BODY = 2**20  # bytes of a request that asks something


class Sent(BaseModel):
    """A body that somebody sends: what it does not know, it refuses."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)


class Reply(BaseModel):
    """A body that the server gives; fields may be added to it."""

    model_config = ConfigDict(frozen=True)


class CostReply(Reply):
    """What something costs. All three currencies hold at once: epsilon is null where the event is not pure."""

    epsilon: ExactText | None
    rho: ExactText
    delta: ExactText
    event: dict[str, Any] = Field(description="The event as the ledger keeps it, with exact amounts.")


class LeftReply(Reply):
    """What is left: epsilon, or rho; and delta for either."""

    epsilon: ExactText
    rho: ExactText
    delta: ExactText


Rows: TypeAlias = Annotated[int, Field(ge=0)]
