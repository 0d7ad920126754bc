"""What is paid for a question: from the price that is named to the plan that is measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypedDict

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.plans.plan import Plan
from adomnia.plans.undeclared import Finding, tagged
from adomnia.pricing.caps import Cap, chosen, largest
from adomnia.pricing.effort import with_effort
from adomnia.pricing.findings import finding
from adomnia.pricing.parts import amount, paid, together, weighted
from adomnia.pricing.precision import RowsNeeded, price_for_error
from adomnia.pricing.presence import with_presence
from adomnia.pricing.ways import with_ways
from adomnia.privacy.amounts import Number
from adomnia.privacy.events import Concentrated, Price, Pure

_CURRENCIES = {"epsilon", "rho"}
_DEAREST = Fraction(10**100)
_ENOUGH_BITS = 440  # what the digits of any double within these bounds need
LARGEST_GROUP = 10**15  # rows, and no number whose digits alone would take for ever


class Payment(TypedDict, total=False):
    """What may be named beside the text of a question."""

    epsilon: Number | None
    rho: Number | None
    error: float | None
    weights: Mapping[str, Number] | None
    rows: int | None
    delta: Number | None
    effort: str


@dataclass(frozen=True)
class Question:
    """A text and what to pay for it: epsilon, rho, or the error that the answer may have.

    `weights` split the price over the outputs by their names. `rows` is how many rows a group is supposed to have,
    where the error to expect depends on it. `effort="high"` takes longer, and needs less noise.
    """

    text: str
    epsilon: Number | None = None
    rho: Number | None = None
    error: float | None = None
    weights: Mapping[str, Number] | None = None
    rows: int | None = None
    delta: Number | None = None
    effort: str = "normal"


@dataclass(frozen=True)
class Priced:
    """A plan with its price, and how many rows of a person count in each of its tables."""

    plan: Plan
    price: Price
    caps: tuple[Cap, ...] = ()
    finding: Finding | None = None  # of the values of keys that nobody declared, which is paid beside the price


def paid_batch(
    questions: Sequence[Question], plans: Sequence[Plan], payment: Payment, catalog: Catalog, confidence: float
) -> list[Priced]:
    """The plans of a batch: each at the price of its question, or all at one price."""
    payment = payment.copy()
    if (effort := payment.pop("effort", None)) is not None:
        questions = [replace(question, effort=effort) for question in questions]
    if not any(value is not None for value in payment.values()):
        return [paid_for(question, plan, catalog, confidence) for question, plan in zip(questions, plans, strict=True)]
    check_confidence(confidence)
    own = any(value is not None for name, value in payment.items() if name not in _CURRENCIES)
    if own or not all(map(is_free, questions)):
        why, fix = "has one price for all", "name epsilon= or rho= once, or a price for each question"
        raise Refusal("The batch", why, fix, code="bad_price")
    return paid_together(questions, plans, named_price(payment.get("epsilon"), payment.get("rho")), catalog)


def paid_for(question: Question, plan: Plan, catalog: Catalog, confidence: float) -> Priced:
    """The plan as it is measured at the price that a question names."""
    check_confidence(confidence)
    _check_rows(question.rows)
    if question.error is None:
        price = named_price(question.epsilon, question.rho)
        # Finding the values of keys is paid like one more measurement.
        parts = 1 if question.delta is None else 1 + len(paid(plan, price))
        rest = price * Fraction(max(1, parts - 1), parts)
        return _found(paid_together([question], [plan], rest, catalog)[0], price / parts, question.delta, catalog)
    if question.epsilon is not None or question.rho is not None:
        raise _no_price()
    asked = _within(question, plan, catalog, confidence)
    return _found(asked, asked.price / len(paid(asked.plan, asked.price)), question.delta, catalog)


def paid_together(questions: Sequence[Question], plans: Sequence[Plan], price: Price, catalog: Catalog) -> list[Priced]:
    """The plans as they are measured at one price for all; what is equal in two of them is measured once."""
    weighed = [weighted(plan, question.weights or {}) for question, plan in zip(questions, plans, strict=True)]
    efforts = [question.effort for question in questions]
    capped = [
        (plan, largest(plan, catalog)) if effort == "high" else chosen(plan, part, catalog)
        for plan, part, effort in zip(weighed, together(weighed, price), efforts, strict=True)
    ]
    ways = with_ways([plan for plan, _ in capped], price)
    if efforts == ["normal"]:
        ways = [with_presence(ways[0])]
    ways = [with_effort(plan, effort, price) for plan, effort in zip(ways, efforts, strict=True)]
    return [Priced(plan, part, caps) for plan, part, (_, caps) in zip(ways, together(ways, price), capped, strict=True)]


def unpriced(question: Question, plan: Plan) -> Plan:
    """The plan of a question that names no price, measured the way that it would be; a price may choose lower caps."""
    return with_presence(*with_ways([weighted(plan, question.weights or {})], Pure(1)))


def named_price(epsilon: Number | None, rho: Number | None) -> Price:
    """The price that is named in exactly one of two currencies."""
    if (epsilon is None) == (rho is None):
        raise _no_price()
    fix = "name a positive number, such as 0.5"
    try:
        price = Pure(epsilon) if rho is None else Concentrated(rho)  # type: ignore[arg-type]  # one is not None
    except ValueError as error:
        raise Refusal("The price", str(error).rstrip("."), fix, code="price") from None
    named = amount(price)
    if not 1 / _DEAREST <= named <= _DEAREST:
        raise Refusal("The price", "is not between 1e-100 and 1e100", fix, code="price")
    if max(named.numerator, named.denominator).bit_length() > _ENOUGH_BITS:
        raise Refusal("The price", "has more digits than any price needs", fix, code="price")
    return price


def _found(asked: Priced, part: Price, delta: Number | None, catalog: Catalog) -> Priced:
    """With how the values of open keys are found, for that part of the price and delta."""
    how = finding(asked.plan, part, delta, catalog)
    return asked if how is None else replace(asked, plan=tagged(asked.plan, how), finding=how)


def _within(question: Question, plan: Plan, catalog: Catalog, confidence: float) -> Priced:
    """The cheapest plan for an error. Its price sets the caps, and they the price: once around is near enough."""
    if question.weights:
        why, fix = "say how a price is split, and error= finds that itself", "give one of them"
        raise Refusal("The weights", why, fix, code="bad_weight")
    assert question.error is not None  # noqa: S101 - as the caller found
    try:
        _, price = price_for_error(plan, question.error, confidence, question.rows)
    except RowsNeeded as refusal:
        raise refusal.for_question(question.text) from None
    plan, caps = chosen(plan, price, catalog)
    (plan,) = with_ways([plan], price)
    plan, price = price_for_error(plan, question.error, confidence, question.rows)
    return Priced(with_effort(plan, question.effort, price), price, caps)


def is_free(question: Question) -> bool:
    """Whether a question names no price."""
    return question.epsilon is question.rho is question.error is question.delta is None


def check_confidence(confidence: float) -> None:
    """Refuse what is no confidence."""
    if not 0 < confidence < 1:
        raise Refusal(f"Confidence {confidence}", "is not between 0 and 1", "write 0.95 for 95%", code="confidence")


def _check_rows(rows: int | None) -> None:
    if rows is not None and (type(rows) is not int or not 1 <= rows <= LARGEST_GROUP):
        shown = f"rows={rows}" if type(rows) is not int or abs(rows) <= LARGEST_GROUP else "rows="
        raise Refusal(shown, "is not a whole number from 1 to 1e15", "write rows=1000", code="bad_rows")


def _no_price() -> Refusal:
    why, fix = "needs exactly one price", "pay with one of epsilon=, rho= or error="
    return Refusal("The question", why, fix, code="bad_price")
