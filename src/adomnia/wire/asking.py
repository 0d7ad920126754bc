"""Questions on their way to a server, and how they are put to a session there."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, TypeAlias, cast

import numpy as np
from pydantic import BeforeValidator, FailFast, Field, PlainValidator, WithJsonSchema, model_validator

from adomnia.asking.batch import MOST_QUESTIONS, bind_question, check_text
from adomnia.options import LARGEST_GROUP, OPTIONS
from adomnia.pricing.bills import Quote
from adomnia.pricing.questions import Payment, Question, check_names
from adomnia.session.answer import Answer
from adomnia.session.contract import Session
from adomnia.session.explanation import Explanation
from adomnia.sql.reading.parse import MOST_CHARACTERS
from adomnia.sql.reading.statements import without_explain
from adomnia.wire.amounts import Amount, read_float, read_json_number, write_number
from adomnia.wire.models import LARGEST_BODY, Sent

_MOST_LISTED = 1000  # questions or weights that are read at all; how many may be asked, the session says
_MOST_DIGITS = 20  # of a whole number that is sent as one
_LONGEST_NAME = 200
_AMOUNTS = tuple(row.name for row in OPTIONS.values() if row.kind in {"amount", "distance"})

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
Effort: TypeAlias = Annotated[
    str, Field(max_length=_LONGEST_NAME, json_schema_extra={"enum": list(OPTIONS["effort"].choices)})
]
Inference: TypeAlias = Annotated[
    str, Field(max_length=_LONGEST_NAME, json_schema_extra={"enum": list(OPTIONS["inference"].choices)})
]
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


def describe_option(name: str) -> Any:  # noqa: ANN401 - a field, as Pydantic says
    """The field of an option: a part of a question that is not named is what it is without."""
    row = OPTIONS[name]
    return Field(None if row.is_of_question else row.default, description=row.meaning)


class PaymentFields(Sent):
    """What is named beside the text of a question."""

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, body: object) -> object:
        if isinstance(body, dict):
            check_names(body, "`{}`")
        return body

    epsilon: Amount | None = describe_option("epsilon")
    rho: Amount | None = describe_option("rho")
    error: Amount | None = describe_option("error")
    weights: Weights | None = describe_option("weights")
    rows: GroupSize | None = describe_option("rows")
    delta: Amount | None = describe_option("delta")
    effort: Effort | None = describe_option("effort")
    interval: bool | None = describe_option("interval")
    inference: Inference | None = describe_option("inference")
    parameters: Parameters | None = describe_option("parameters")

    from_release: bool | None = describe_option("from_release")

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

    confidence: Confidence = describe_option("confidence")
    request_id: RequestId | None = describe_option("request_id")
    replay: bool = describe_option("replay")
    allow_uninformative: bool = describe_option("allow_uninformative")
    simultaneous: bool = describe_option("simultaneous")

    def put_to(self, session: Session) -> Answer:
        """The answer of a session."""
        return session.sql(
            self.sql,
            confidence=self.confidence,
            request_id=self.request_id,
            replay=self.replay,
            allow_uninformative=self.allow_uninformative,
            **self.payment(),
        )


class AskExplanation(AskedQuestion):
    """A question to explain, with a price or without."""

    confidence: Confidence = describe_option("confidence")

    def put_to(self, session: Session) -> Explanation:
        """The explanation of a session."""
        return session.explain(self.sql, confidence=self.confidence, **self.payment())


class AskBatch(PaymentFields):
    """Several questions to pay for at once: each names its price, or one price is split over all."""

    questions: Questions = Field(description="Texts, or questions with what each of them pays.")
    confidence: Confidence = describe_option("confidence")
    request_id: RequestId | None = describe_option("request_id")
    allow_uninformative: bool = describe_option("allow_uninformative")

    def put_to(self, session: Session) -> list[Answer]:
        """The answers of a session."""
        asked = questions_of(self.questions)
        return session.batch(
            asked,
            confidence=self.confidence,
            request_id=self.request_id,
            allow_uninformative=self.allow_uninformative,
            **self.payment(),
        )


class AskPrice(AskedQuestion):
    """A question whose price and error are wanted."""

    confidence: Confidence = describe_option("confidence")
    simultaneous: bool = describe_option("simultaneous")

    def put_to(self, session: Session) -> Quote:
        """The quote of a session."""
        return session.price(self.sql, confidence=self.confidence, simultaneous=self.simultaneous, **self.payment())


class AskBatchPrice(PaymentFields):
    """Several questions whose price is wanted as that of a batch."""

    questions: Questions = Field(description="Texts, or questions with what each of them pays.")
    confidence: Confidence = describe_option("confidence")
    simultaneous: bool = describe_option("simultaneous")

    def put_to(self, session: Session) -> Quote:
        """The quote of a session."""
        asked = questions_of(self.questions)
        return session.price(asked, confidence=self.confidence, simultaneous=self.simultaneous, **self.payment())


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
