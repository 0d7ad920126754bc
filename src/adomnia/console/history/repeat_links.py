"""Links to the page of questions: what was asked before, with twice the sharpness, or just as it was."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from adomnia.wire.amounts import text_of

if TYPE_CHECKING:
    from adomnia.pricing.questions import Question

_LONGEST = 4000  # characters of an address that browsers and proxies surely take
_HALF_THE_ERROR = {"epsilon": Fraction(2), "rho": Fraction(4), "error": Fraction(1, 2)}


def link_sharper(question: Question) -> str:
    """Where to ask again at a price that about halves the error; empty where the question is too long for an address.

    >>> from adomnia.pricing.questions import Question
    >>> link_sharper(Question("SELECT 1", epsilon=Fraction(1, 4)))
    '/ask?sql=SELECT+1&pay=epsilon&amount=0.5'
    """
    return _link(question, _HALF_THE_ERROR)


def link_again(question: Question) -> str:
    """Where to ask the same at the same price."""
    return _link(question, dict.fromkeys(_HALF_THE_ERROR, Fraction(1)))


def _link(question: Question, factors: dict[str, Fraction]) -> str:
    fields = {"sql": question.text}
    for pay, factor in factors.items():
        amount = getattr(question, pay)
        if amount is not None:
            fields |= {"pay": pay, "amount": text_of(Fraction(str(amount)) * factor)}
    if question.rows is not None:
        fields["rows"] = str(question.rows)
    if question.inference != "data":
        fields["inference"] = question.inference
    if question.effort != "normal":
        fields["effort"] = question.effort
    address = f"/ask?{urlencode(fields)}"
    return address if len(address) <= _LONGEST else ""
