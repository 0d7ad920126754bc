"""Questions that are paid for together, and all that was named beside them: the text that a ledger keeps."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from hashlib import sha256
from typing import Any, cast

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.ledger.requests import Receipt
from adomnia.messages.texts import write
from adomnia.noise import SystemBits
from adomnia.options import OPTIONS
from adomnia.plans.plan import Plan, canonical
from adomnia.plans.public_columns import PublicRows
from adomnia.pricing.notes import list_notes
from adomnia.pricing.parts import identify, weigh_outputs
from adomnia.pricing.payment import check_confidence, check_rows, price_batch, read_price
from adomnia.pricing.precision import RowsNeeded
from adomnia.pricing.questions import Payment, Priced, Question, check_effort, check_inference
from adomnia.pricing.rules import (
    CURRENT,
    VERSIONS,
    Rules,
    join_sums,
    keep_quantiles,
    widen_keys,
    with_earlier_quantiles,
    with_joint_sums,
    with_whole_keys,
)
from adomnia.privacy.amounts import exact
from adomnia.privacy.events import Composed, Event, Price, Pure
from adomnia.sql.around import find_layers
from adomnia.sql.lower import MOST_NUMBERS, count_numbers, plan_question, require_plan
from adomnia.sql.methods.arguments import name_as_now
from adomnia.sql.reading.count_of_groups import count_of_groups
from adomnia.sql.reading.parameters import bind, translate_places
from adomnia.sql.reading.parse import parse
from adomnia.work import remember

MOST_QUESTIONS = 100
_KEPT_ALWAYS = ("effort", "interval")  # as questions were written first
_KEPT = 64  # plans of texts
_OF_DATA = "data"  # the inference where none is named


@dataclass(frozen=True)
class Batch:
    """One question, or several that are paid for together; `payment` is what was named for all of a batch."""

    questions: tuple[Question, ...]
    confidence: float
    version: int
    payment: Payment | None = None
    replay: bool = True

    @property
    def names_a_price(self) -> bool:
        """Whether the analyst said what to pay."""
        common = self.payment or Payment()
        named = any(common.get(name) is not None for name in ("epsilon", "rho", "error"))
        return named or not all(replace(question, delta=None).names_no_price for question in self.questions)

    @property
    def common_price(self) -> Price | None:
        """The price that was named for all questions together, if one was."""
        common = self.payment or Payment()
        epsilon, rho = common.get("epsilon"), common.get("rho")
        return None if epsilon is None and rho is None else read_price(epsilon, rho)

    def plans(self, catalog: Catalog) -> list[Plan]:
        """The plans of the questions; a Refusal where they are too large together."""
        plans, numbers = [], 0
        for question in self.questions:
            check_text(question)
            plans.append(require_plan(plan_text(self._with_common(question), catalog, self.confidence)))
            numbers += count_numbers(plans[-1])
            if numbers > MOST_NUMBERS:
                why = f"asks for more than {MOST_NUMBERS:,} numbers"
                raise Refusal("The batch", why, "take it apart", code="too_many_cells")
        return plans

    def _with_common(self, question: Question) -> Question:
        """The question with what was said of all: that none has an interval, or that all are about the population."""
        common = self.payment or Payment()
        said = common.get("inference", _OF_DATA)
        check_inference(said)
        inference = question.inference if said == _OF_DATA else said
        return replace(question, interval=question.interval and common.get("interval", True), inference=inference)

    def list_named(self, place: int) -> dict[str, Any]:
        """What was named beside a question and of all together, by the names of options, without what is usual.

        One that is alone is paid by what was named of all.
        """
        asked = self._with_common(self.questions[place])
        said = {row.name: getattr(asked if row.is_of_question else self, row.name, None) for row in OPTIONS.values()}
        named = {name: value for name, value in said.items() if value not in ({}, None, OPTIONS[name].default)}
        return named if len(self.questions) > 1 else {**(self.payment or {}), **named}

    def price(
        self, plans: Sequence[Plan], catalog: Catalog, price: Pure | None = None, rules: Rules = CURRENT
    ) -> list[Priced]:
        """The plans at the price that was named, or that a policy sets, measured as the rules say."""
        questions, payment = self.questions, self.payment
        if price is not None and payment is None:
            questions = tuple(replace(question, epsilon=price.epsilon) for question in questions)
        elif price is not None and payment is not None:
            payment = {**payment, "epsilon": price.epsilon}
        try:
            priced = price_batch(questions, plans, payment or Payment(), catalog, self.confidence, rules)
        except RowsNeeded as refusal:
            raise refusal.naming(count_of_groups(find_layers(parse(refusal.text), catalog)[-1])) from None
        return [replace(each, notes=list_notes(each.plan, catalog)) for each in priced]

    def price_as_before(
        self,
        catalog: Catalog,
        receipt: Receipt,
        identify: Callable[[Sequence[Plan], Sequence[Priced], Rules], bytes],
    ) -> list[Priced]:
        """The questions as they were measured for a receipt, by whichever rules; a Refusal where none has its key."""
        plans = self.plans(catalog)
        price = None if self.names_a_price else price_of(receipt.event)
        for rules in VERSIONS:
            priced = self.price(plans, catalog, price, rules)
            if identify(plans, priced, rules) == receipt.plan:
                return priced
        raise Refusal("The catalog", "means something else by it", "ask again", code="catalog_changed")

    def identity(self, asked: Sequence[Priced], request: str) -> bytes:
        """The key that the answer is stored under; with the request in it where it must be measured afresh."""
        identities = [identify(each.plan, each.price, self.version) for each in asked]
        if len(identities) == 1 and self.replay:
            return identities[0]
        return sha256(self._tag(request) + b"".join(identities)).digest()

    def unpriced_identity(self, plans: Sequence[Plan], catalog: Catalog, request: str, rules: Rules = CURRENT) -> bytes:
        """The key of an answer whose price a policy sets: all but the price and what follows from it.

        Ways of measuring follow from the terms and their weights, caps from the profiles of tables, and from the
        minimum frequency which values of keys are found. What rules measure otherwise than those of the first version
        has another key, so that an answer which those measured is never read as one of these.
        """
        facts = (tuple(table.profile for table in catalog.tables), catalog.minimum_frequency, self.version)
        wanted = [weigh_outputs(plan, each.weights or {}) for plan, each in zip(plans, self.questions, strict=True)]
        if widen_keys in rules.priced:
            wanted = list(map(with_whole_keys, wanted))
        if keep_quantiles in rules.priced:
            wanted = [with_earlier_quantiles(plan) for plan in wanted]
        split = tuple((plan.keys, plan.terms, plan.weights) for plan in wanted)
        paid = tuple((each.effort, _amount(each.delta)) for each in self.questions)
        common = (self.payment or Payment()).get("effort")
        said = canonical((facts, split, paid, common, self.payment is None))
        joint = b"joint" if join_sums in rules.priced and with_joint_sums(wanted) != wanted else b""
        return sha256(b"policy" + joint + self._tag(request) + said).digest()

    def to_text(self) -> str:
        """As ASCII text."""
        record: dict[str, Any] = {"questions": [_write_question(each) for each in self.questions]}
        record |= {"confidence": float(self.confidence), "version": self.version, "replay": self.replay}
        if self.payment is not None:
            record["payment"] = _write_amounts(self.payment)
        return json.dumps(record, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> "Batch":
        """From what `to_text` wrote, perhaps in an earlier version."""
        record = json.loads(text)
        asked = tuple(Question(**_read_amounts(each)) for each in record["questions"])
        questions = tuple(replace(each, text=name_as_now(each.text)) for each in asked)
        payment = cast("Payment", _read_amounts(record["payment"])) if "payment" in record else None
        return cls(questions, record["confidence"], record["version"], payment, record["replay"])

    def _tag(self, request: str) -> bytes:
        return b"batch" if self.replay else b"fresh" + sha256(request.encode(errors="replace")).digest()


def choose_request_id(named: str | None) -> str:
    """The request id that was named, or a fresh one that nobody can guess: by it the answer can be asked for again."""
    return SystemBits().words(2).tobytes().hex() if named is None else named


def plan_text(question: Question, catalog: Catalog, confidence: float) -> Plan | PublicRows:
    """The plan of a question; nothing is read."""
    check_text(question)
    check_confidence(confidence)
    check_effort(question.effort)
    check_rows(question.rows)
    if not isinstance(question.interval, bool):
        raise TypeError(f"Question interval must be True or False, got {question.interval!r}.")
    check_inference(question.inference)
    with translate_places(question.text):
        return _plan_once(_without_price(question), catalog, confidence)


def _without_price(question: Question) -> Question:
    """All that the plan of a question depends on."""
    finds = None if question.delta is None else 0
    return Question(question.text, delta=finds, interval=question.interval, inference=question.inference)


@remember(_KEPT)
def _plan_once(question: Question, catalog: Catalog, confidence: float) -> Plan | PublicRows:
    """The plan of a question: whoever moves a price, or pays it, asks for the same plan again."""
    return plan_question(
        parse(question.text),
        catalog,
        finds=question.delta is not None,
        confidence=confidence,
        interval=question.interval,
        inference=question.inference,
    )


def bind_question(question: Question) -> Question:
    """The question with constants in the places of its parameters: what is planned, priced and kept."""
    if getattr(question, "parameters", None) is None:
        return question
    check_text(question)
    return replace(question, text=bind(question.text, question.parameters), parameters=None)


def refuse_from_release(questions: Sequence[Question], payment: Payment | None) -> None:
    """Refuse to answer questions of a batch from releases: these cost nothing, whoever asks them one by one."""
    if any(getattr(each, "from_release", None) for each in questions) or (payment or Payment()).get("from_release"):
        fix = write("ask each question by itself, with {sql()}")
        raise Refusal(write("{from_release=}"), "is not for a batch, which is paid for", fix, code="batch_from_release")


def check_common(payment: Payment) -> None:
    """Refuse parameters of a whole batch: each question has its own."""
    if payment.get("parameters") is not None:
        fix = write("pass {parameters=} with each question")
        raise Refusal("parameters", "belong to one question", fix, code="bad_parameter")


def check_text(question: Question) -> None:
    """Refuse what is no question in SQL: a mistake of the program that asks."""
    if not isinstance(question, Question) or not isinstance(question.text, str):
        raise TypeError(f"Session takes questions as text, got {type(getattr(question, 'text', question)).__name__}.")


def price_of(event: Event) -> Pure:
    """The epsilon that was paid in all, where a policy set it: its parts add up to it exactly."""
    return Pure(_epsilon(event))


def _epsilon(event: Event) -> Fraction:
    if isinstance(event, Composed):
        return sum(map(_epsilon, event.events), Fraction(0))
    return event.epsilon  # type: ignore[union-attr]  # policies set prices in epsilon


def _amount(value: Any) -> str | None:  # noqa: ANN401 - any number
    return None if value is None else str(exact(value, "Question", "amount"))


def _write_question(question: Question) -> dict[str, Any]:
    """What is kept of a question: of options that were not there at first, those that are not what is usual."""
    said = {field.name: getattr(question, field.name) for field in fields(question)}
    del said["from_release"]  # what is paid for is from none
    usual = {
        name for name in said if name in OPTIONS and name not in _KEPT_ALWAYS and said[name] == OPTIONS[name].default
    }
    return _write_amounts({name: value for name, value in said.items() if name not in usual})


def _write_amounts(amounts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _write_value(name, value) for name, value in amounts.items() if value is not None}


def _write_value(name: str, value: Any) -> Any:  # noqa: ANN401 - whatever may be said
    match _kind_of(name):
        case "amount":
            return _amount(value)
        case "amounts":
            return {output: _amount(weight) for output, weight in value.items()}
    return value if isinstance(value, str | int) else float(value)


def _read_amounts(said: dict[str, Any]) -> dict[str, Any]:
    return {name: _read_value(name, value) for name, value in said.items() if value is not None}


def _read_value(name: str, value: Any) -> Any:  # noqa: ANN401 - whatever may be said
    match _kind_of(name):
        case "amount":
            return Fraction(value)
        case "amounts":
            return {output: Fraction(weight) for output, weight in value.items()}
    return value


def _kind_of(name: str) -> str:
    return OPTIONS[name].kind if name in OPTIONS else ""
