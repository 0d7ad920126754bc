"""What all requests and replies have in common: where they go, how large they are, and their models.

A reply is one model for both ways: a server writes it of what it is told of, a client reads that from it.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)

from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT
from adomnia.privacy.events import Event, from_record, to_record
from adomnia.privacy.filters import Left
from adomnia.wire.amounts import ExactText, count_cost

API = "/api/v1"  # what every address begins with
LARGEST_BODY = 2**20  # bytes of a request that asks something

_Part = TypeVar("_Part")


def _write_time(told: float | str) -> str:
    return told if isinstance(told, str) else datetime.fromtimestamp(told, UTC).isoformat(timespec="seconds")


Time: TypeAlias = Annotated[str, BeforeValidator(_write_time), Field(json_schema_extra={"format": "date-time"})]


class Sent(BaseModel):
    """A body that somebody sends: what it does not know, it refuses."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)


class Reply(BaseModel):
    """A body that the server gives; fields may be added to it."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    @classmethod
    def record(cls, value: object) -> dict[str, Any]:
        """What is told of a value, as plain data, without what it does not have."""
        return cls.model_validate(value).model_dump(exclude_unset=True)


KeptEvent: TypeAlias = Annotated[
    Event,
    PlainValidator(lambda kept: from_record(kept) if isinstance(kept, dict) else kept),
    PlainSerializer(to_record),
    WithJsonSchema({"additionalProperties": True, "type": "object"}),
]


class CostReply(Reply):
    """What something costs. All three currencies hold at once: epsilon is null where the event is not pure."""

    epsilon: ExactText | None
    rho: ExactText
    delta: ExactText
    event: KeptEvent = Field(description="The event as the ledger keeps it, with exact amounts.")

    @model_validator(mode="before")
    @classmethod
    def _count(cls, told: Event | dict[str, Any]) -> dict[str, Any]:
        """In the currencies and whole units of budgets: the exact sums of many parts can have thousands of digits."""
        if isinstance(told, dict):
            return told
        spent = count_cost(told)
        epsilon = spent.epsilon_units * EPSILON_UNIT if spent.in_epsilon else None
        rho, delta = spent.rho_units * EPSILON_UNIT, spent.delta_units * DELTA_UNIT
        return {"epsilon": epsilon, "rho": rho, "delta": delta, "event": told}


class LeftReply(Reply):
    """What is left: epsilon, or rho; and delta for either."""

    epsilon: ExactText
    rho: ExactText
    delta: ExactText

    def left(self) -> Left:
        """What was told of."""
        return Left(self.epsilon, self.rho, self.delta)


Rows: TypeAlias = Annotated[int, Field(ge=0)]


def require(part: _Part | None) -> _Part:
    """A part that belongs to this kind of a reply; a ValueError where it is left out."""
    if part is None:
        raise ValueError("Reply must have all parts of its kind, and lacks one.")
    return part
