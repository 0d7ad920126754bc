"""Questions on their way to a server, and how they are put to a session there."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast

import numpy as np
from pydantic import BeforeValidator, FailFast, Field, PlainValidator, WithJsonSchema, create_model, model_validator

from adomnia.asking.batch import MOST_QUESTIONS, bind_question, check_text
from adomnia.options import OPTIONS, QuestionOption
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


_KINDS: dict[str, Any] = {
    "amount": Amount,
    "distance": Amount,
    "share": Confidence,
    "truth": bool,
    "text": RequestId,
    "amounts": Weights,
    "values": Parameters,
}


def describe_option(name: str) -> Any:  # noqa: ANN401 - a field, as Pydantic says
    """The field of an option: a part of a question that is not named is what it is without."""
    row = OPTIONS[name]
    return Field(None if row.is_of_question else row.default, description=row.meaning)


def _read_kind(row: QuestionOption) -> Any:  # noqa: ANN401 - a type
    """How an option is read, by its kind."""
    match row.kind:
        case "whole number":
            bounds = {"type": "integer", "minimum": row.least, "maximum": row.most}
            return Annotated[Any, PlainValidator(read_json_number), WithJsonSchema(bounds)]
        case "choice":
            return Annotated[str, Field(max_length=_LONGEST_NAME, json_schema_extra={"enum": list(row.choices)})]
    return _KINDS[row.kind]


_OF_QUESTION = tuple(row.name for row in OPTIONS.values() if row.is_of_question)
if TYPE_CHECKING:
    _QuestionFields = Sent  # with a field for each part of a question, by the name of its row
else:
    _QuestionFields = create_model(
        "_QuestionFields",
        __base__=Sent,
        **{name: (_read_kind(OPTIONS[name]) | None, describe_option(name)) for name in _OF_QUESTION},
    )


class PaymentFields(_QuestionFields):
    """What is named beside the text of a question."""

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, body: object) -> object:
        if isinstance(body, dict):
            check_names(body, "`{}`")
        return body

    def payment(self) -> Payment:
        """What was named of it, as a session takes it."""
        named = {name: getattr(self, name) for name in _OF_QUESTION}
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
    named = {name: getattr(question, name) for name in _OF_QUESTION}
    said: Any = {name: value for name, value in named.items() if value != OPTIONS[name].default}
    return {"sql": question.text, **payment_body(said)}


def payment_body(payment: Payment) -> dict[str, Any]:
    """What is named beside a text, for JSON; exact."""
    body: dict[str, Any] = {name: value for name, value in payment.items() if value is not None}
    return {name: _write_option(OPTIONS[name], value) for name, value in body.items()}


def _write_option(row: QuestionOption, value: Any) -> Any:  # noqa: ANN401 - whatever may be named
    """What an option is sent as, by its kind."""
    match row.kind:
        case "amount" | "distance":
            return write_number(row.name, value)
        case "amounts":
            return {name: write_number(row.name, amount) for name, amount in value.items()}
        case "values" if isinstance(value, Mapping):
            return {str(name): write_parameter(each) for name, each in value.items()}
        case "values":
            return list(map(write_parameter, value))
    return value
