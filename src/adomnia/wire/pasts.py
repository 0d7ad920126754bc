"""What was asked and paid for before."""

from typing import Any

from pydantic import Field

from adomnia.session.accounts import Past
from adomnia.wire.amounts import event_record
from adomnia.wire.answers import ReceiptReply, receipt_of, receipt_record
from adomnia.wire.models import CostReply, Reply


class PastReply(Reply):
    """Something that was paid for and answered."""

    request_id: str
    questions: list[str] = Field(description="The texts; of a batch, all of them.")
    version: int = Field(description="Of the data.")
    cost: CostReply
    receipt: ReceiptReply


class PastsReply(Reply):
    """A page of what an analyst has paid for and got, oldest first."""

    answers: list[PastReply]
    next: str | None = Field(description="The `after` of the page that follows; null where there is none.")


def past_record(past: Past) -> dict[str, Any]:
    """An earlier request as plain data."""
    told = {"request_id": past.request_id, "questions": list(past.questions), "version": past.version}
    return {**told, "cost": event_record(past.receipt.event), "receipt": receipt_record(past.receipt)}


def pasts_record(pasts: list[Past]) -> dict[str, Any]:
    """A page of earlier requests as plain data."""
    return {"answers": [past_record(past) for past in pasts], "next": pasts[-1].request_id if pasts else None}


def past_of(record: dict[str, Any]) -> Past:
    """The request that `past_record` wrote."""
    receipt = receipt_of(record["receipt"], record["cost"])
    return Past(record["request_id"], tuple(record["questions"]), record["version"], receipt)
