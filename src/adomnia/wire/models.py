"""What all requests and replies have in common: where they go, how large they are, their models and sentences.

A reply is one model for both ways: a server writes it of what it is told of, a client reads that from it. Sentences are
in the words of JSON, with what they name beside, so that clients write their own words.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    TypeAdapter,
    WithJsonSchema,
    model_validator,
)

from adomnia.messages.references import Reference
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import Fact, Fix, Message, Note, note_record, show
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT
from adomnia.privacy.events import Event, from_record, to_record
from adomnia.privacy.filters import Left
from adomnia.tables import printable
from adomnia.wire.amounts import ExactText, count_cost

API = "/api/v1"  # what every address begins with
LARGEST_BODY = 2**20  # bytes of a request that asks something

_Part = TypeVar("_Part")


def _write_time(told: float | str) -> str:
    return told if isinstance(told, str) else datetime.fromtimestamp(told, UTC).isoformat(timespec="seconds")


Time: TypeAlias = Annotated[str, BeforeValidator(_write_time), Field(json_schema_extra={"format": "date-time"})]


class Sent(BaseModel):
    """A body that somebody sends: what it does not know, it refuses."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)


class Reply(BaseModel):
    """A body that the server gives; fields may be added to it."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    @classmethod
    def record(cls, value: object) -> dict[str, Any]:
        """What is told of a value, as plain data, without what it does not have."""
        return cls.model_validate(value).model_dump(exclude_unset=True)


KeptEvent: TypeAlias = Annotated[
    Event,
    PlainValidator(lambda kept: from_record(kept) if isinstance(kept, dict) else kept),
    PlainSerializer(to_record),
    WithJsonSchema({"additionalProperties": True, "type": "object"}),
]


class CostReply(Reply):
    """What something costs. All three currencies hold at once: epsilon is null where the event is not pure."""

    epsilon: ExactText | None
    rho: ExactText
    delta: ExactText
    event: KeptEvent = Field(description="The event as the ledger keeps it, with exact amounts.")

    @model_validator(mode="before")
    @classmethod
    def _count(cls, told: Event | dict[str, Any]) -> dict[str, Any]:
        """In the currencies and whole units of budgets: the exact sums of many parts can have thousands of digits."""
        if isinstance(told, dict):
            return told
        spent = count_cost(told)
        epsilon = spent.epsilon_units * EPSILON_UNIT if spent.in_epsilon else None
        rho, delta = spent.rho_units * EPSILON_UNIT, spent.delta_units * DELTA_UNIT
        return {"epsilon": epsilon, "rho": rho, "delta": delta, "event": told}


class LeftReply(Reply):
    """What is left: epsilon, or rho; and delta for either."""

    epsilon: ExactText
    rho: ExactText
    delta: ExactText

    def left(self) -> Left:
        """What was told of."""
        return Left(self.epsilon, self.rho, self.delta)


Rows: TypeAlias = Annotated[int, Field(ge=0)]


def require(part: _Part | None) -> _Part:
    """A part that belongs to this kind of a reply; a ValueError where it is left out."""
    if part is None:
        raise ValueError("Reply must have all parts of its kind, and lacks one.")
    return part


_REFERENCE: TypeAdapter[Reference] = TypeAdapter(Reference)
Named: TypeAlias = Annotated[
    Reference, BeforeValidator(lambda part: _REFERENCE.validate_python(part) if isinstance(part, dict) else part)
]


class TextReply(Reply):
    """A sentence of this reply that names options, calls or settings, or that programs can act on."""

    says: str = Field(description="The sentence as it stands in the reply.")
    parts: list[str | Named] = Field([], description="Texts, and what is named between them; none if nothing is.")
    action: str = Field("", description="Of a fix: one stable word for what can be done.")
    code: str = Field("", description="Of a note: one stable word for what is told.")
    facts: dict[str, Fact] = Field({}, description="What the action needs, or what the note tells.")


Texts: TypeAlias = Callable[[str], str]


def texts_record(texts: Iterable[str]) -> dict[str, Any]:
    """The field of a reply that says what its sentences are made of; none where all are plain."""
    told = [_reply(text) for text in dict.fromkeys(texts) if isinstance(text, Message)]
    more = [each for each in told if each.action or each.code or each.parts]
    return {"texts": list(map(_write, more))} if more else {}


def texts_of(texts: Iterable[TextReply]) -> Texts:
    """What finds the text that a sentence of a reply was; the sentence itself where it is plain or not known.

    Nothing in it could be obeyed by a terminal.
    """
    known = {each.says: _text(each) for each in texts}
    return lambda says: known[says] if says in known else printable(says)


def notes_of(told: Iterable[TextReply], notes: Iterable[str]) -> tuple[Note, ...]:
    """The notes of a reply; of those of which it tells no more, the sentences."""
    found = map(texts_of(told), notes)
    return tuple(each if isinstance(each, Note) else Note(each) for each in found)


def _reply(text: Message) -> TextReply:
    parts = list(text.parts) if any(not isinstance(part, str) for part in text.parts) else []
    more = note_record(text) if isinstance(text, Note) else {"action": text.action} if isinstance(text, Fix) else {}
    facts = dict(text.facts) if isinstance(text, Fix) else {}
    return TextReply(**{"facts": facts, **more, "says": show(text, Surface.JSON), "parts": parts})


def _write(told: TextReply) -> dict[str, Any]:
    """As plain data without what is usual; of what is named with its kind: calls and options have a name alone."""
    plain = told.model_dump(mode="json", exclude_defaults=True)
    named = zip(told.parts, plain.get("parts", ()), strict=True)
    parts = [each if isinstance(part, str) else {"kind": part.kind, **each} for part, each in named]
    return {**plain, "parts": parts} if parts else plain


def _text(told: TextReply) -> str:
    """The text, or what it says where it cannot be written, or it or its facts could be obeyed by a terminal."""
    try:
        text = Message(*(told.parts or [told.says]))
        shown = [text, show(text, Surface.COMMAND_LINE), told.action, told.code, *_list_facts(told.facts)]
    except LookupError:  # of a server of another version
        return printable(told.says)
    if not "".join(shown).replace("\n", "").isprintable():
        return printable(told.says)
    if told.code:
        return Note(text, told.code, **told.facts)
    return Fix(text, told.action, **told.facts) if told.action else text


def _list_facts(facts: Mapping[str, Fact]) -> Iterator[str]:
    for name, fact in facts.items():
        yield name
        yield from fact if isinstance(fact, list) else [str(fact)]
