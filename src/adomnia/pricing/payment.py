"""What is paid for a question: from the price that is named to the plan that is measured."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.messages.fixes import ADD_DELTA
from adomnia.messages.references import Option
from adomnia.messages.texts import Fix, Message, write
from adomnia.methods.analysis import Analysis
from adomnia.options import LARGEST_GROUP
from adomnia.plans.plan import Plan
from adomnia.plans.undeclared import tag_open_keys
from adomnia.pricing.findings import UNPRICED, price_finding, refuse_delta
from adomnia.pricing.parts import amount, portion, split_together
from adomnia.pricing.precision import RowsNeeded, price_for_error
from adomnia.pricing.questions import Payment, PlannedQuestion, Priced, Question
from adomnia.pricing.rules import CURRENT, Rules, rewrite
from adomnia.privacy.amounts import DELTA_UNIT, Number, exact
from adomnia.privacy.events import Concentrated, Price, Pure
from adomnia.statistics.contract import Statistic

_CURRENCIES = {"epsilon", "rho"}
_DEAREST = Fraction(10**100)
_LARGEST_DELTA = Fraction(1, 100)
_ENOUGH_BITS = 440  # what the digits of any double within these bounds need


def price_batch(  # noqa: PLR0913, PLR0917 - all that a price depends on
    questions: Sequence[Question],
    plans: Sequence[Plan],
    payment: Payment,
    catalog: Catalog,
    confidence: float,
    rules: Rules = CURRENT,
) -> list[Priced]:
    """The plans of a batch: each at the price of its question, or all at one price."""
    payment = payment.copy()
    payment.pop("interval", None)  # the plans have what these say
    payment.pop("inference", None)
    payment.pop("from_release", None)  # what has a price is from none
    if (effort := payment.pop("effort", None)) is not None:
        questions = [replace(question, effort=effort) for question in questions]
    if not any(value is not None for value in payment.values()):
        return [price_question(*each, catalog, confidence, rules) for each in zip(questions, plans, strict=True)]
    check_confidence(confidence)
    own = any(value is not None for name, value in payment.items() if name not in _CURRENCIES)
    if own or not all(question.names_no_price for question in questions):
        why, fix = "has one price for all", write("name {epsilon=} or {rho=} once, or a price for each question")
        raise Refusal("The batch", why, fix, code="bad_price")
    if any(map(needs_delta, plans)):
        why, fix = "has a question that needs a delta", write("name a price and {delta=} for each question")
        raise Refusal("The batch", why, fix, code="bad_price")
    return price_together(questions, plans, read_price(payment.get("epsilon"), payment.get("rho")), catalog, rules)


def price_question(
    question: Question, plan: Plan, catalog: Catalog, confidence: float, rules: Rules = CURRENT
) -> Priced:
    """The plan as it is measured at the price that a question names."""
    check_confidence(confidence)
    check_rows(question.rows)
    question, plan = name_delta(question, plan, catalog)
    if question.error is None:
        price = read_price(question.epsilon, question.rho)
        parts = _count_parts(question, plan, price, catalog, rules)
        rest = price * Fraction(parts - 1, parts) if parts > 1 else price
        (priced,) = price_together([question], [plan], rest, catalog, rules)
        return _with_finding(priced, price / parts, question, catalog)
    if question.epsilon is not None or question.rho is not None:
        raise _no_price()
    priced = _price_within(question, plan, catalog, confidence, rules)
    return _with_finding(priced, priced.price / len(portion(priced.plan)), question, catalog)


def _count_parts(question: Question, plan: Plan, price: Price, catalog: Catalog, rules: Rules) -> int:
    """In how many parts a price is split: finding the values of keys is paid like one more measurement."""
    if question.delta is None:
        return 1
    (draft,) = rewrite([PlannedQuestion(question, plan)], price, catalog, rules.before_caps)
    return 1 + len(portion(draft.plan))


def price_together(
    questions: Sequence[Question], plans: Sequence[Plan], price: Price, catalog: Catalog, rules: Rules = CURRENT
) -> list[Priced]:
    """The plans as they are measured at one price for all; what is equal in two of them is measured once."""
    asked = [PlannedQuestion(*each) for each in zip(questions, plans, strict=True)]
    drafts = rewrite(asked, price, catalog, rules.priced)
    parts = split_together([each.plan for each in drafts], price)
    return [Priced(each.plan, part, each.caps) for each, part in zip(drafts, parts, strict=True)]


def plan_without_price(question: Question, plan: Plan, catalog: Catalog) -> Plan:
    """The plan of a question that names no price, measured the way that it would be; a price may choose lower caps."""
    plan = with_delta(plan, UNPRICED)
    return rewrite([PlannedQuestion(question, plan)], Pure(1), catalog, CURRENT.without_price)[0].plan


def read_price(epsilon: Number | None, rho: Number | None) -> Price:
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


def _with_finding(priced: Priced, part: Price, question: Question, catalog: Catalog) -> Priced:
    """With how the values of open keys are found, for that part of the price and the delta of the question."""
    if question.delta is None:
        return priced
    finding = price_finding(priced.plan, part, question.delta, catalog)
    return replace(priced, plan=tag_open_keys(priced.plan, finding), finding=finding)


def name_delta(question: Question, plan: Plan, catalog: Catalog) -> tuple[Question, Plan]:
    """The plan with its delta, where a method takes it; the question then has none left for anything else."""
    if not needs_delta(plan):
        return question, plan
    if question.delta is None:
        allowed = catalog.budget.approximate
        fix = write("add {delta=1e-9}") if allowed else "choose another method, or have the owner allow delta"
        why = "is private but for a delta, and none was named"
        raise Refusal("The method", why, Fix(fix, ADD_DELTA), code="bad_price")
    return replace(question, delta=None), with_delta(plan, _read_delta(question.delta))


def needs_delta(plan: Plan) -> bool:
    """Whether something in a plan is private but for a delta."""
    return any(isinstance(each, Analysis) and each.needs_delta for each in plan.statistics)


def with_delta(plan: Plan, delta: Fraction) -> Plan:
    """The plan with a delta for whatever needs one."""

    def tell(statistic: Statistic) -> Statistic:
        return statistic.with_delta(delta) if isinstance(statistic, Analysis) and statistic.needs_delta else statistic

    return plan.with_statistics(tell) if needs_delta(plan) else plan


def _read_delta(delta: Number) -> Fraction:
    try:
        found = exact(delta, "Question", "delta")
    except (ValueError, TypeError):
        found = Fraction(-1)
    if not DELTA_UNIT <= found <= _LARGEST_DELTA:
        raise refuse_delta(delta, "0.01")
    return found


def _price_within(question: Question, plan: Plan, catalog: Catalog, confidence: float, rules: Rules) -> Priced:
    """The cheapest plan for an error. Its price sets the caps, and they the price: once around is near enough."""
    if question.weights:
        why, fix = write("say how a price is split, and {error=} finds that itself"), "give one of them"
        raise Refusal("The weights", why, fix, code="bad_weight")
    assert question.error is not None  # noqa: S101 - as the caller found
    try:
        split, price = price_for_error(plan, question.error, confidence, question.rows)
    except RowsNeeded as refusal:
        raise refusal.for_question(question.text) from None
    (draft,) = rewrite([PlannedQuestion(question, plan)], price, catalog, rules.before_error)
    if draft.plan != plan:
        split, price = price_for_error(draft.plan, question.error, confidence, question.rows)
    (draft,) = rewrite([replace(draft, plan=split)], price, catalog, rules.after_error)
    return Priced(draft.plan, price, draft.caps)


def check_confidence(confidence: float) -> None:
    """Refuse what is no confidence."""
    if not 0 < confidence < 1:
        raise Refusal(f"Confidence {confidence}", "is not between 0 and 1", "write 0.95 for 95%", code="confidence")


def check_rows(rows: int | None) -> None:
    """Refuse what is no number of rows."""
    if rows is not None and (type(rows) is not int or not 1 <= rows <= LARGEST_GROUP):
        shown = str(rows) if type(rows) is not int or abs(rows) <= LARGEST_GROUP else None
        named, fix = Message(Option("rows", shown)), write("write {rows=1000}")
        raise Refusal(named, "is not a whole number from 1 to 1e15", fix, code="bad_rows")


def _no_price() -> Refusal:
    why, fix = "needs exactly one price", write("pay with one of {epsilon=}, {rho=} or {error=}")
    return Refusal("The question", why, fix, code="bad_price")
