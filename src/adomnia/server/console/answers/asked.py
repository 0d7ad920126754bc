"""A question that was paid for as the fields of the form that asks it, so that it can be asked again or changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.pricing.parts import amount
from adomnia.privacy.amounts import exact
from adomnia.privacy.events import Pure
from adomnia.wire.amounts import text_of

if TYPE_CHECKING:
    from adomnia.session.recalled import Recalled

__all__ = ["list_fields"]


def list_fields(recalled: Recalled) -> dict[str, str]:
    """The fields by their names: the text, what was named to pay, and else what it cost."""
    question, price = recalled.question, recalled.priced.price
    if question.error is not None:
        pay, paid = "error", text_of(exact(question.error, "Question", "error"))
    else:
        pay, paid = ("epsilon" if isinstance(price, Pure) else "rho"), text_of(amount(price))
    fields = {"sql": question.text, "pay": pay, "amount": paid}
    fields |= {"effort": question.effort, "inference": question.inference}
    if question.delta is not None:
        fields["delta"] = text_of(exact(question.delta, "Question", "delta"))
    return fields if question.rows is None else {**fields, "rows": str(question.rows)}
