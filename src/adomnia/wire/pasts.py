"""What was asked and paid for before."""

from typing import Any

from pydantic import Field, model_validator

from adomnia.session.accounts import Past
from adomnia.wire.answers import ReceiptReply
from adomnia.wire.models import CostReply, Reply


class PastReply(Reply):
    """Something that was paid for and answered."""

    request_id: str
    questions: list[str] = Field(description="The texts; of a batch, all of them.")
    version: int = Field(description="Of the data.")
    cost: CostReply
    receipt: ReceiptReply

    @model_validator(mode="before")
    @classmethod
    def _price(cls, told: Past | dict[str, Any]) -> dict[str, Any]:
        return {**vars(told), "cost": told.receipt.event} if isinstance(told, Past) else told

    def past(self) -> Past:
        """What was told of."""
        return Past(self.request_id, tuple(self.questions), self.version, self.receipt.receipt(self.cost))


class PastsReply(Reply):
    """A page of what an analyst has paid for and got, oldest first."""

    answers: list[PastReply]
    next: str | None = Field(description="The `after` of the page that follows; null where there is none.")


def pasts_record(pasts: list[Past]) -> dict[str, Any]:
    """A page of earlier requests as plain data."""
    return {"answers": list(map(PastReply.record, pasts)), "next": pasts[-1].request_id if pasts else None}
