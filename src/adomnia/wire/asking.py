"""Questions on their way to a server, and how they are put to a session there."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, TypeAlias, cast

import numpy as np
from pydantic import BeforeValidator, FailFast, Field, PlainValidator, WithJsonSchema

from adomnia.asking.batch import MOST_QUESTIONS, bind_question, check_text
from adomnia.explaining.explanations import without_explain
from adomnia.options import CONFIDENCE, LARGEST_GROUP
from adomnia.pricing.bills import Quote
from adomnia.pricing.questions import Payment, Question
from adomnia.session.answer import Answer
from adomnia.session.contract import Session
from adomnia.session.explanation import Explanation
from adomnia.sql.reading.parse import MOST_CHARACTERS
from adomnia.wire.amounts import Amount, read_float, read_json_number, write_number
from adomnia.wire.models import LARGEST_BODY, Sent

_MOST_LISTED = 1000  # questions or weights that are read at all; how many may be asked, the session says
_MOST_DIGITS = 20  # of a whole number that is sent as one
_LONGEST_NAME = 200
_EFFORTS = ["normal", "high"]
_INFERENCES = ["data", "population"]
_AMOUNTS = ("epsilon", "rho", "error", "delta")
_ANYWAY = "true: pays also for an answer that would say almost nothing, which is refused otherwise."

# The schema says what is right, and the session refuses what is not, in the same words as without a server.
Text: TypeAlias = Annotated[
    str,
    Field(max_length=LARGEST_BODY, json_schema_extra={"minLength": 1, "maxLength": MOST_CHARACTERS}),
]
RequestId: TypeAlias = Annotated[
    str, Field(max_length=LARGEST_BODY, json_schema_extra={"minLength": 1, "maxLength": _LONGEST_NAME})
]
Confidence: TypeAlias = Annotated[
    float,
    PlainValidator(read_float),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
]
GroupSize: TypeAlias = Annotated[
    Any, PlainValidator(read_json_number), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": LARGEST_GROUP})
]
Effort: TypeAlias = Annotated[str, Field(max_length=_LONGEST_NAME, json_schema_extra={"enum": _EFFORTS})]
Inference: TypeAlias = Annotated[str, Field(max_length=_LONGEST_NAME, json_schema_extra={"enum": _INFERENCES})]
OutputName: TypeAlias = Annotated[str, Field(max_length=_LONGEST_NAME)]


def _check_weights(weights: object) -> object:
    """Before any is looked at: each that is wrong is an error, and very many would keep everybody waiting."""
    if isinstance(weights, dict) and len(weights) > _MOST_LISTED:
        raise ValueError(f"must be at most {_MOST_LISTED} weights")
    return weights


Weights: TypeAlias = Annotated[
    dict[OutputName, Amount], Field(max_length=_MOST_LISTED), BeforeValidator(_check_weights)
]


def read_parameter(value: object) -> object:
    """The value of a parameter; dates are {"date": "2024-01-31"}, and local times {"timestamp": "..."}."""
    match value:
        case {"date": str(day), **others} if not others:
            return date.fromisoformat(day)
        case {"timestamp": str(moment), **others} if not others:
            return datetime.fromisoformat(moment)
        case None | bool() | str() | int() | float() | Decimal():
            return value
    raise ValueError(
        'must be a number, a text, true, false, null, {"date": "2024-01-31"} or {"timestamp": "2024-01-31T12:30:00"}'
    )


def write_parameter(value: object) -> object:
    """The value of a parameter for JSON; numbers in SQL are doubles."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, Decimal):
        whole = plain.is_finite() and plain.adjusted() < _MOST_DIGITS and plain == plain.to_integral_value()
        return int(plain) if whole else float(plain)
    if isinstance(plain, datetime):  # which is a date as well
        return {"timestamp": plain.isoformat()}
    return {"date": plain.isoformat()} if isinstance(plain, date) else plain


def _check_parameters(parameters: object) -> object:
    """Before any is looked at, as of weights; what is wrong is then said of what was sent, and not of each kind."""
    if parameters is None:
        return parameters
    if not isinstance(parameters, dict | list):
        raise ValueError("must be a list of values, or an object of values by their names")  # noqa: TRY004 - Pydantic's
    if len(parameters) > _MOST_LISTED:
        raise ValueError(f"must be at most {_MOST_LISTED} values")
    for value in parameters.values() if isinstance(parameters, dict) else parameters:
        read_parameter(value)
    return parameters


_TIME_SCHEMAS = [
    {
        "type": "object",
        "properties": {name: {"type": "string", **form}},
        "required": [name],
        "additionalProperties": False,
    }
    for name, form in (("date", {"format": "date"}), ("timestamp", {"description": "Local time, without an offset."}))
]
Parameter: TypeAlias = Annotated[
    Any,
    PlainValidator(read_parameter),
    WithJsonSchema({"anyOf": [*({"type": kind} for kind in ("number", "string", "boolean", "null")), *_TIME_SCHEMAS]}),
]
Parameters: TypeAlias = Annotated[
    list[Parameter] | dict[OutputName, Parameter], Field(max_length=_MOST_LISTED), BeforeValidator(_check_parameters)
]


class PaymentFields(Sent):
    """What is named beside the text of a question."""

    epsilon: Amount | None = Field(None, description="Pays for Laplace noise. Exactly one of epsilon, rho and error.")
    rho: Amount | None = Field(None, description="Pays for Gaussian noise.")
    error: Amount | None = Field(None, description="Pays the least epsilon that keeps every output within this error.")
    weights: Weights | None = Field(None, description="How the price is split over the outputs, by their names.")
    rows: GroupSize | None = Field(None, description="How many rows a group is supposed to have.")
    delta: Amount | None = Field(None, description="Pays for finding the values of keys that nobody declared.")
    effort: Effort | None = Field(None, description="high takes longer, and needs less noise.")
    interval: bool | None = Field(None, description="false: no interval of a quantile is bought, only its value.")
    inference: Inference | None = Field(
        None, description="population: intervals are about the population that the people are a sample of."
    )
    parameters: Parameters | None = Field(
        None, description="Of one question: the values of ? in their order, or of :name by their names."
    )

    from_release: bool | None = Field(
        None, description="true: a release answers it, at no price, or nothing does. Of one question."
    )

    def payment(self) -> Payment:
        """What was named of it, as a session takes it."""
        named = {name: getattr(self, name) for name in Payment.__annotations__}
        return cast("Payment", {name: value for name, value in named.items() if value is not None})


class AskedQuestion(PaymentFields):
    """One question of several."""

    sql: Text = Field(description="One SELECT.", examples=["SELECT COUNT(*) AS n FROM people"])

    def question(self) -> Question:
        """As a session takes it."""
        return Question(self.sql, **self.payment())


Questions: TypeAlias = Annotated[
    list[Text | AskedQuestion],
    Field(max_length=_MOST_LISTED, json_schema_extra={"maxItems": MOST_QUESTIONS}),
    FailFast(),
]


class Ask(AskedQuestion):
    """A question to pay for and answer."""

    confidence: Confidence = Field(CONFIDENCE, description="How surely the intervals hold the exact answer.")
    request_id: RequestId | None = Field(
        None,
        description="A name of your own: sent again with the same question, it is answered again and not paid.",
    )
    replay: bool = Field(True, description="An equal question at the same price gets the same answer, free.")
    anyway: bool = Field(False, description=_ANYWAY)
    together: bool = Field(False, description="Intervals that hold all groups of a column at once.")

    def put_to(self, session: Session) -> Answer:
        """The answer of a session."""
        return session.sql(
            self.sql,
            confidence=self.confidence,
            request_id=self.request_id,
            replay=self.replay,
            anyway=self.anyway,
            **self.payment(),
        )


class AskExplanation(AskedQuestion):
    """A question to explain, with a price or without."""

    confidence: Confidence = Field(CONFIDENCE, description="For the errors to expect.")

    def put_to(self, session: Session) -> Explanation:
        """The explanation of a session."""
        return session.explain(self.sql, confidence=self.confidence, **self.payment())


class AskBatch(PaymentFields):
    """Several questions to pay for at once: each names its price, or one price is split over all."""

    questions: Questions = Field(description="Texts, or questions with what each of them pays.")
    confidence: Confidence = Field(CONFIDENCE, description="How surely the intervals hold the exact answers.")
    request_id: RequestId | None = Field(None, description="A name of your own for the batch, as of a question.")
    anyway: bool = Field(False, description=_ANYWAY)

    def put_to(self, session: Session) -> list[Answer]:
        """The answers of a session."""
        asked = questions_of(self.questions)
        return session.batch(
            asked, confidence=self.confidence, request_id=self.request_id, anyway=self.anyway, **self.payment()
        )


class AskPrice(AskedQuestion):
    """A question whose price and error are wanted."""

    confidence: Confidence = Field(CONFIDENCE, description="How surely the errors are kept.")
    together: bool = Field(False, description="Errors that are kept in all groups at once.")

    def put_to(self, session: Session) -> Quote:
        """The quote of a session."""
        return session.price(self.sql, confidence=self.confidence, together=self.together, **self.payment())


class AskBatchPrice(PaymentFields):
    """Several questions whose price is wanted as that of a batch."""

    questions: Questions = Field(description="Texts, or questions with what each of them pays.")
    confidence: Confidence = Field(CONFIDENCE, description="How surely the errors are kept.")
    together: bool = Field(False, description="Errors that are kept in all groups at once.")

    def put_to(self, session: Session) -> Quote:
        """The quote of a session."""
        asked = questions_of(self.questions)
        return session.price(asked, confidence=self.confidence, together=self.together, **self.payment())


def questions_of(asked: list[str | AskedQuestion]) -> list[Question | str]:
    """The questions of a batch as a session takes them."""
    return [each if isinstance(each, str) else each.question() for each in asked]


def question_body(question: Question) -> dict[str, Any]:
    """A question as `AskedQuestion` reads it."""
    check_text(question)
    # What is wrong with parameters is refused here as it would be there.
    bind_question(replace(question, text=without_explain(question.text)))
    named: Any = {name: getattr(question, name) for name in Payment.__annotations__}
    if question.inference == "data":  # as it was sent before there was another
        del named["inference"]
    return {"sql": question.text, **payment_body(named)}


def payment_body(payment: Payment) -> dict[str, Any]:
    """What is named beside a text, for JSON; exact."""
    body: dict[str, Any] = {name: value for name, value in payment.items() if value is not None}
    for name in _AMOUNTS:
        if name in body:
            body[name] = write_number(name, body[name])
    if "parameters" in body:
        given = body["parameters"]
        named = (
            {str(name): write_parameter(value) for name, value in given.items()} if isinstance(given, Mapping) else None
        )
        body["parameters"] = list(map(write_parameter, given)) if named is None else named
    if "weights" in body:
        body["weights"] = {name: write_number("weights", weight) for name, weight in body["weights"].items()}
    return body
