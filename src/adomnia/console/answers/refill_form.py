"""A question that was paid for as the fields of the form that asks it, so that it can be asked again or changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.privacy.amounts import exact
from adomnia.wire.amounts import name_price, text_of

if TYPE_CHECKING:
    from adomnia.session.recalled import Recalled


def list_fields(recalled: Recalled) -> dict[str, str]:
    """The fields by their names: the text, what was named to pay, and else what it cost."""
    question = recalled.question
    pay, paid = _read_payment(recalled)
    fields = {"sql": question.text, "pay": pay, "amount": paid}
    fields |= {"effort": question.effort, "inference": question.inference}
    if question.delta is not None:
        fields["delta"] = text_of(exact(question.delta, "Question", "delta"))
    return fields if question.rows is None else {**fields, "rows": str(question.rows)}


def _read_payment(recalled: Recalled) -> tuple[str, str]:
    """How it was paid for, and how much: of a question that the catalog reads otherwise now, what was named."""
    question, priced = recalled.question, recalled.priced
    if question.error is not None:
        return "error", text_of(exact(question.error, "Question", "error"))
    if priced is not None:
        word, paid = name_price(priced.price)
        return word, text_of(paid)
    named = "epsilon" if question.rho is None else "rho"
    given = getattr(question, named)
    return named, "" if given is None else text_of(exact(given, "Question", named))
